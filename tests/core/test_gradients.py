"""Every hand-written gradient against central differences, relative 1e-6 in float64."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from core import (
    activations,
    attention,
    block,
    feed_forward,
    heads,
    linear,
    model,
    norm,
    self_attention,
    softmax,
)
from core.arrays import FloatArray
from core.block import BlockConfig
from core.model_config import ModelConfig
from core.parameters import Parameters
from tests.core.finite_differences import assert_gradient, numeric_gradient

Map = Callable[[FloatArray], FloatArray]


def drawn(seed: int, *shape: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal(shape)


def weighed(grad: FloatArray, function: Map) -> Callable[[FloatArray], float]:
    """Return x -> sum(grad * function(x)), whose gradient is function's gradient for the given `grad`."""
    return lambda x: float((grad * function(x)).sum())


def test_a_wrong_gradient_is_noticed() -> None:
    x = drawn(1, 3)
    with pytest.raises(AssertionError, match="relative difference"):
        assert_gradient(2.00001 * x, lambda at: float((at**2).sum()), x)
    assert_gradient(2.0 * x, lambda at: float((at**2).sum()), x)


def test_central_differences_of_a_square_are_exact() -> None:
    assert numeric_gradient(lambda x: float((x**2).sum()), np.array([3.0, -4.0])) == pytest.approx(
        [6.0, -8.0]
    )


@pytest.mark.parametrize(
    ("function", "backward"),
    [
        (activations.relu, activations.relu_backward),
        (activations.gelu, activations.gelu_backward),
        (activations.silu, activations.silu_backward),
    ],
)
def test_activations(function: Map, backward: Callable[[FloatArray, FloatArray], FloatArray]) -> None:
    x, grad = 3.0 * drawn(1, 4, 5), drawn(2, 4, 5)
    assert_gradient(backward(grad, x), weighed(grad, function), x)


def test_swiglu() -> None:
    gate, value, grad = drawn(1, 3, 4), drawn(2, 3, 4), drawn(3, 3, 4)
    grad_gate, grad_value = activations.swiglu_backward(grad, gate, value)
    assert_gradient(grad_gate, weighed(grad, lambda g: activations.swiglu(g, value)), gate)
    assert_gradient(grad_value, weighed(grad, lambda v: activations.swiglu(gate, v)), value)


def test_softmax() -> None:
    logits, grad = drawn(1, 2, 3, 4), drawn(2, 2, 3, 4)
    exact = softmax.softmax_backward(grad, softmax.softmax(logits))
    assert_gradient(exact, weighed(grad, softmax.softmax), logits)


@pytest.mark.parametrize("function", [heads.split_heads, heads.merge_heads, heads.repeat_heads])
def test_head_rearrangements(function: Callable[..., FloatArray]) -> None:
    x = drawn(1, 2, 3, 6) if function is heads.split_heads else drawn(1, 2, 3, 4, 2)
    forward: Map = heads.merge_heads if function is heads.merge_heads else lambda at: function(at, 3)
    backward = getattr(heads, f"{function.__name__}_backward")
    grad = drawn(2, *forward(x).shape)
    assert_gradient(backward(grad, 3), weighed(grad, forward), x)


def test_linear() -> None:
    x, weight, bias, grad = drawn(1, 2, 3, 4), drawn(2, 4, 5), drawn(3, 5), drawn(4, 2, 3, 5)
    grad_x, grad_weight, grad_bias = linear.linear_backward(grad, x, weight)
    assert_gradient(grad_x, weighed(grad, lambda at: linear.linear(at, weight, bias)), x)
    assert_gradient(grad_weight, weighed(grad, lambda at: linear.linear(x, at, bias)), weight)
    assert_gradient(grad_bias, weighed(grad, lambda at: linear.linear(x, weight, at)), bias)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_layer_norm(eps: float) -> None:
    x, gain, shift, grad = drawn(1, 2, 3, 5), drawn(2, 5), drawn(3, 5), drawn(4, 2, 3, 5)
    grad_x, grad_gain, grad_shift = norm.layer_norm_backward(grad, x, gain, eps)
    assert_gradient(grad_x, weighed(grad, lambda at: norm.layer_norm(at, gain, shift, eps)), x)
    assert_gradient(grad_gain, weighed(grad, lambda at: norm.layer_norm(x, at, shift, eps)), gain)
    assert_gradient(grad_shift, weighed(grad, lambda at: norm.layer_norm(x, gain, at, eps)), shift)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_rms_norm(eps: float) -> None:
    x, gain, grad = drawn(1, 2, 3, 5), drawn(2, 5), drawn(4, 2, 3, 5)
    grad_x, grad_gain = norm.rms_norm_backward(grad, x, gain, eps)
    assert_gradient(grad_x, weighed(grad, lambda at: norm.rms_norm(at, gain, eps)), x)
    assert_gradient(grad_gain, weighed(grad, lambda at: norm.rms_norm(x, at, eps)), gain)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_with_other_values_and_a_longer_key_side(masked: bool) -> None:
    query, key, value = drawn(1, 2, 3, 4, 5), drawn(2, 2, 3, 6, 5), drawn(3, 2, 3, 6, 7)
    grad = drawn(4, 2, 3, 4, 7)
    # One row is masked altogether: it must not move anything.
    mask = np.where(np.arange(6) < np.arange(4)[:, None], 0.0, -np.inf) if masked else None
    trace = attention.attend(query, key, value, mask)
    grad_query, grad_key, grad_value = attention.attend_backward(grad, query, key, value, mask, trace)
    assert_gradient(grad_query, weighed(grad, lambda q: attention.attend(q, key, value, mask).output), query)
    assert_gradient(grad_key, weighed(grad, lambda k: attention.attend(query, k, value, mask).output), key)
    assert_gradient(grad_value, weighed(grad, lambda v: attention.attend(query, key, v, mask).output), value)


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_feed_forward(activation: str) -> None:
    columns = 10 if activation == "swiglu" else 5
    x, grad = drawn(1, 2, 3, 4), drawn(2, 2, 3, 4)
    parameters = Parameters(
        {"W1": drawn(3, 4, columns), "b1": drawn(4, columns), "W2": drawn(5, 5, 4), "b2": drawn(6, 4)}
    )
    trace = feed_forward.feed_forward_trace(x, parameters, activation)
    grad_x, gradients = feed_forward.feed_forward_backward(grad, parameters, activation, trace)

    def run(at: FloatArray, changed: Parameters) -> FloatArray:
        return feed_forward.feed_forward(at, changed, activation)

    assert_gradient(grad_x, weighed(grad, lambda at: run(at, parameters)), x)
    W1, b1, W2, b2 = parameters.values()
    assert_gradient(gradients["W1"], weighed(grad, lambda at: run(x, parameters.with_(W1=at))), W1)
    assert_gradient(gradients["b1"], weighed(grad, lambda at: run(x, parameters.with_(b1=at))), b1)
    assert_gradient(gradients["W2"], weighed(grad, lambda at: run(x, parameters.with_(W2=at))), W2)
    assert_gradient(gradients["b2"], weighed(grad, lambda at: run(x, parameters.with_(b2=at))), b2)


def test_self_attention() -> None:
    parameters = block.init_block(8, BlockConfig(4, kv_heads=2))
    x, grad, mask = drawn(1, 2, 3, 8), drawn(2, 2, 3, 8), np.where(np.tri(3) > 0, 0.0, -np.inf)
    trace = self_attention.self_attention_trace(x, parameters, 4, 2, mask)
    assert trace.mask is mask
    grad_x, gradients = self_attention.self_attention_backward(grad, parameters, 4, 2, trace)
    assert_gradient(
        grad_x, weighed(grad, lambda at: self_attention.self_attention(at, parameters, 4, 2, mask)), x
    )
    assert sorted(gradients) == ["Wk", "Wo", "Wq", "Wv", "bk", "bo", "bq", "bv"]


CONFIGURATIONS = [
    BlockConfig(4, kv_heads, place, kind, activation)
    for place, kind, activation, kv_heads in itertools.product(
        ("pre", "post"), ("layer", "rms"), ("relu", "gelu", "swiglu"), (None, 2, 1)
    )
] + [BlockConfig(4, 2, place, causal=False, eps=0.3) for place in ("pre", "post")]
CONFIGURATIONS += [BlockConfig(4, 2, norm_kind="rms", eps=0.3)]


@pytest.mark.parametrize("config", CONFIGURATIONS, ids=lambda c: "-".join(map(str, vars(c).values())))
def test_the_whole_block(config: BlockConfig) -> None:
    parameters, x, grad = block.init_block(8, config, hidden=3, seed=2), drawn(3, 2, 3, 8), drawn(4, 2, 3, 8)
    # The caller's mask closes the last key of the second sequence.
    mask = np.ones((2, 1, 1, 3), bool)
    mask[1, ..., 2] = False
    grad_x, gradients = block.block_backward(grad, block.block_trace(x, parameters, config, mask))
    assert list(gradients) == list(parameters)
    assert_gradient(grad_x, weighed(grad, lambda at: block.block(at, parameters, config, mask)), x)
    everything = np.concatenate([array.ravel() for array in parameters.values()])
    exact = np.concatenate([array.ravel() for array in gradients.values()])
    assert_gradient(
        exact, weighed(grad, lambda at: block.block(x, unpacked(at, parameters), config, mask)), everything
    )


def unpacked(flat: FloatArray, like: Parameters) -> Parameters:
    """Return the numbers of one vector under the roles, and in the shapes, of `like`."""
    ends = np.cumsum([array.size for array in like.values()])[:-1]
    pieces = np.split(flat, ends)
    return Parameters({r: p.reshape(like.shapes[r]) for r, p in zip(like, pieces, strict=True)})


def along(by_role: Parameters, move: Parameters) -> float:
    """How fast a value changes along `move`, from its gradients."""
    return sum(float((np.asarray(by_role[role]) * move[role]).sum()) for role in move)


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_a_large_epsilon_of_the_norms_is_that_of_their_gradients(kind: str) -> None:
    config = BlockConfig(2, norm_kind=kind, eps=0.25)
    parameters, x, grad = block.init_block(4, config, jitter=0.1), drawn(1, 1, 3, 4), drawn(2, 1, 3, 4)
    move_x, move = drawn(3, 1, 3, 4), parameters.map(lambda array: drawn(4, *array.shape))

    def value(step: float) -> float:
        moved = parameters.combine(lambda array, by: array + step * by, move)
        return float((grad * block.block(x + step * move_x, moved, config)).sum())

    trace = block.block_trace(x, parameters, config)
    assert trace.x is x
    grad_x, by_role = block.block_backward(grad, trace)
    exact = float((grad_x * move_x).sum()) + along(by_role, move)
    assert exact == pytest.approx((value(1e-5) - value(-1e-5)) / 2e-5, rel=1e-7)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_a_small_model_loses_as_its_gradients_say(kind: str, tied: bool) -> None:
    inner = BlockConfig(2, norm_kind=kind, eps=0.25)
    config = ModelConfig(vocabulary=5, width=4, layers=1, max_length=3, block=inner, tied=tied)
    parameters = model.init_model(config, jitter=0.1)
    tokens, targets = np.array([[0, 4, 1], [2, 2, 3]]), np.array([[4, 1, 3], [2, 3, 0]])
    move = parameters.map(lambda array: drawn(4, *array.shape))

    def value(step: float) -> float:
        moved = parameters.combine(lambda array, by: array + step * by, move)
        return model.cross_entropy(model.logits(tokens, moved, config), targets)

    loss, by_role = model.loss_and_gradients(tokens, targets, parameters, config)
    assert loss == value(0.0)
    assert set(by_role) == set(parameters)
    assert along(by_role, move) == pytest.approx((value(1e-5) - value(-1e-5)) / 2e-5, rel=1e-7)
