from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core import block
from core.arrays import FloatArray
from core.block import BlockConfig
from core.errors import CoreError
from core.parameters import Parameters


def drawn(seed: int, *shape: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal(shape)


def looped(x: FloatArray, p: Parameters, config: BlockConfig) -> FloatArray:
    """The causal block token by token and head by head, from the formulas alone."""
    return np.stack([_looped_tokens(tokens, p, config) for tokens in x])


def _looped_tokens(x: FloatArray, p: Parameters, config: BlockConfig) -> FloatArray:
    def norm(h: FloatArray, number: str) -> FloatArray:
        centre = h.mean(axis=1, keepdims=True) * (config.norm_kind == "layer")
        spread = np.sqrt(((h - centre) ** 2).mean(axis=1, keepdims=True) + config.eps)
        scaled: FloatArray = (h - centre) / spread * p["gain" + number]
        return scaled + p.get("shift" + number, np.zeros(1))

    def attend(h: FloatArray) -> FloatArray:
        return _looped_attention(h, p, config)

    def feed(h: FloatArray) -> FloatArray:
        return _activated(h @ p["W1"] + p["b1"], config.activation) @ p["W2"] + p["b2"]

    if config.norm == "pre":
        h = x + attend(norm(x, "1"))
        return h + feed(norm(h, "2"))
    middle = norm(x + attend(x), "1")
    return norm(middle + feed(middle), "2")


def _looped_attention(h: FloatArray, p: Parameters, config: BlockConfig) -> FloatArray:
    query, key, value = (h @ p["W" + role] + p["b" + role] for role in "qkv")
    channels = h.shape[1] // config.heads
    share = config.heads // config.key_heads
    merged = np.zeros_like(query)
    for head in range(config.heads):
        own = slice(head * channels, (head + 1) * channels)
        shared = slice(head // share * channels, (head // share + 1) * channels)
        for t in range(len(h)):
            logits = [float(query[t, own] @ key[s, shared]) / math.sqrt(channels) for s in range(t + 1)]
            odds = np.array([math.exp(logit) for logit in logits])
            merged[t, own] = odds / odds.sum() @ value[: t + 1, shared]
    return merged @ p["Wo"] + p["bo"]


def _activated(z: FloatArray, activation: str) -> FloatArray:
    if activation == "relu":
        return np.where(z > 0, z, 0.0)
    if activation == "gelu":
        return 0.5 * z * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (z + 0.044715 * z**3)))
    gate, value = np.split(z, 2, axis=-1)
    return gate / (1.0 + np.exp(-gate)) * value


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("norm_kind", ["layer", "rms"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
@pytest.mark.parametrize("kv_heads", [None, 1, 2])
def test_the_block_equals_plain_loops(
    norm: str, norm_kind: str, activation: str, kv_heads: int | None
) -> None:
    config = BlockConfig(4, kv_heads, norm, norm_kind, activation)
    parameters, x = block.init_block(12, config, hidden=10, seed=3), drawn(4, 2, 5, 12)
    y = block.block(x, parameters, config)
    assert y == pytest.approx(looped(x, parameters, config), rel=1e-11, abs=1e-12)
    assert np.array_equal(block.block_trace(x, parameters, config).y, y)


def test_absent_biases_count_as_zero() -> None:
    config = BlockConfig(2)
    parameters, x = block.init_block(4, config), drawn(1, 1, 3, 4)
    biases = [role for role in parameters if role[0] in "bs"]
    zeroed = parameters.with_(**{role: np.zeros(parameters.shapes[role]) for role in biases})
    bare = parameters.without(*biases)
    assert np.array_equal(block.block(x, bare, config), block.block(x, zeroed, config))
    _, gradients = block.block_backward(x, block.block_trace(x, bare, config))
    assert list(gradients) == list(bare)


def test_later_tokens_do_not_reach_earlier_ones() -> None:
    config = BlockConfig(2)
    parameters, x = block.init_block(8, config), drawn(1, 2, 6, 8)
    moved = x.copy()
    moved[:, 4:] += drawn(2, 2, 2, 8)
    before, after = block.block(x, parameters, config), block.block(moved, parameters, config)
    assert np.array_equal(before[:, :4], after[:, :4])
    assert (before[:, 4:] != after[:, 4:]).any(axis=-1).all()


def test_without_a_mask_every_token_reaches_every_other() -> None:
    config = BlockConfig(2, causal=False)
    parameters, x = block.init_block(8, config), drawn(1, 1, 4, 8)
    moved = x.copy()
    moved[:, 3] += drawn(2, 8)
    assert (block.block(x, parameters, config) != block.block(moved, parameters, config)).any(axis=-1).all()


@pytest.mark.parametrize("causal", [True, False])
def test_a_mask_of_the_caller_is_respected(causal: bool) -> None:
    config = BlockConfig(2, causal=causal)
    parameters, x = block.init_block(8, config), drawn(1, 2, 4, 8)
    mask = np.ones((2, 1, 1, 4), bool)
    mask[1, ..., 0] = False
    trace = block.block_trace(x, parameters, config, mask)
    assert (trace.attention.weights[1, ..., 0] == 0.0).all()
    assert (trace.attention.weights[0, ..., 0] > 0.0).all()
    assert (trace.attention.weights[0, :, 0, 1] > 0.0).all() != causal
    assert np.array_equal(trace.y, block.block(x, parameters, config, mask))


def test_the_trace_shows_what_was_attended() -> None:
    config = BlockConfig(4, kv_heads=2, norm="post")
    parameters, x = block.init_block(8, config), drawn(1, 2, 3, 8)
    trace = block.block_trace(x, parameters, config)
    keys = (x @ parameters["Wk"] + parameters["bk"]).reshape(2, 3, 2, 2)
    assert trace.query.shape == trace.key.shape == trace.value.shape == (2, 4, 3, 2)
    assert trace.key[:, 1] == pytest.approx(keys[:, :, 0], rel=1e-12)
    assert trace.key[:, 2] == pytest.approx(keys[:, :, 1], rel=1e-12)
    assert np.array_equal(trace.value[:, 2], trace.value[:, 3])
    assert trace.attention.weights.shape == (2, 4, 3, 3)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_dtype_goes_in_and_comes_out(norm: str, activation: str, dtype: type[np.floating[Any]]) -> None:
    config = BlockConfig(2, norm=norm, activation=activation)
    parameters, x = block.init_block(8, config, dtype=dtype), drawn(1, 2, 3, 8).astype(dtype)
    trace = block.block_trace(x, parameters, config, np.zeros((3, 3)))
    grad_x, gradients = block.block_backward(x, trace)
    assert {array.dtype for array in (trace.y, grad_x, *gradients.values())} == {np.dtype(dtype)}
    assert block.block(x, parameters, config).dtype == dtype


def test_the_wider_dtype_of_input_and_parameters_wins() -> None:
    config = BlockConfig(2)
    wide, x = block.init_block(4, config), drawn(1, 1, 3, 4)
    narrow = block.init_block(4, config, dtype=np.float32)
    narrow_x = x.astype(np.float32)
    assert np.array_equal(
        block.block(narrow_x, wide, config), block.block(narrow_x.astype(np.float64), wide, config)
    )
    assert block.block(narrow_x, wide, config).dtype == np.float64
    assert block.block(x, narrow, config).dtype == np.float64
    assert block.block(x.astype(np.float16), narrow, config).dtype == np.float32


def test_the_input_is_left_as_it_was() -> None:
    for norm in ("pre", "post"):
        config = BlockConfig(2, norm=norm)
        x = drawn(1, 1, 3, 4)
        kept = x.copy()
        block.block(x, block.init_block(4, config), config)
        assert np.array_equal(x, kept)


@pytest.mark.parametrize(
    ("x", "found"),
    [
        (np.ones((3, 4)), r"x has shape \(3, 4\), rank 2; rank 3 \[batch, token, channel\]"),
        (np.ones((1, 0, 4)), "x is empty"),
        (np.array([[["a"]]]), "x has dtype"),
        (np.ones((1, 3, 5)), "width is 5, heads 2"),
        (
            np.ones((1, 3, 6)),
            r"Wq has shape \(4, 4\); \(6, 6\) is required; the roles are Wq \(6, 6\), bq \(6,\), Wk",
        ),
    ],
)
def test_an_input_that_does_not_fit_is_refused(x: Any, found: str) -> None:
    config = BlockConfig(2)
    with pytest.raises(CoreError, match=f"{found}.*") as caught:
        block.block(x, block.init_block(4, config), config)
    assert "required" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "found"),
    [("W2", "W2 is missing or no matrix"), ("Wk", "Wk is missing"), ("gain1", "gain1 is missing")],
)
def test_a_missing_weight_or_gain_is_named(missing: str, found: str) -> None:
    config = BlockConfig(2)
    parameters = block.init_block(4, config).without(missing)
    with pytest.raises(CoreError, match=f"{found}.*required.*roles"):
        block.block(np.ones((1, 3, 4)), parameters, config)


def test_a_role_the_block_does_not_have_is_refused() -> None:
    layer = block.init_block(4, BlockConfig(2))
    with pytest.raises(CoreError, match=r"shift1 \(4,\) is no role of this block"):
        block.block(np.ones((1, 3, 4)), layer, BlockConfig(2, norm_kind="rms"))


def test_a_matrix_where_a_vector_is_required_is_refused() -> None:
    config = BlockConfig(2)
    parameters = Parameters({**block.init_block(4, config), "b2": np.ones((3, 4))})
    with pytest.raises(CoreError, match=r"b2 has shape \(3, 4\); \(4,\) is required"):
        block.block(np.ones((1, 3, 4)), parameters, config)
    with pytest.raises(CoreError, match="W2 is missing or no matrix"):
        block.block(np.ones((1, 3, 4)), Parameters({**parameters, "W2": np.ones(4)}), config)


def test_a_mask_that_does_not_broadcast_is_refused() -> None:
    config = BlockConfig(2)
    with pytest.raises(CoreError, match=r"mask has shape \(2, 2\).*scores \(1, 2, 3, 3\)"):
        block.block(np.ones((1, 3, 4)), block.init_block(4, config), config, np.zeros((2, 2)))


def test_a_gradient_of_another_shape_is_refused() -> None:
    config = BlockConfig(2)
    trace = block.block_trace(np.ones((1, 3, 4)), block.init_block(4, config), config)
    with pytest.raises(
        CoreError, match=r"^grad_y has shape \(3, 4\); the shape of y, \(1, 3, 4\), is required"
    ):
        block.block_backward(np.ones((3, 4)), trace)
    with pytest.raises(CoreError, match=r"^grad_y is empty"):
        block.block_backward([], trace)
