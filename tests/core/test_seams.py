"""A function that is replaced on its module is the one that runs: this is how a fault enters."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from core import block, residual
from core.arrays import FloatArray
from core.block import BlockConfig
from core.errors import CoreError

FORWARD = [
    ("attention", "attend"),
    ("attention", "raw_scores"),
    ("attention", "scale"),
    ("attention", "add_mask"),
    ("attention", "weighted_sum"),
    ("feed_forward", "feed_forward"),
    ("heads", "split_heads"),
    ("heads", "repeat_heads"),
    ("heads", "merge_heads"),
    ("linear", "linear"),
    ("mask", "causal_mask"),
    ("mask", "causal_allowed"),
    ("norm", "layer_norm"),
    ("residual", "compose"),
    ("residual", "pre_norm"),
    ("self_attention", "self_attention"),
    ("softmax", "softmax"),
]
BACKWARD = [
    ("attention", "attend_backward"),
    ("attention", "scale"),
    ("activations", "gelu_backward"),
    ("feed_forward", "feed_forward_backward"),
    ("heads", "split_heads_backward"),
    ("heads", "repeat_heads_backward"),
    ("heads", "merge_heads_backward"),
    ("linear", "linear_backward"),
    ("norm", "layer_norm_backward"),
    ("residual", "compose_backward"),
    ("residual", "pre_norm_backward"),
    ("self_attention", "self_attention_backward"),
    ("softmax", "softmax_backward"),
]
CONFIG = BlockConfig(4, kv_heads=2, activation="gelu")
X = np.random.default_rng(1).standard_normal((2, 3, 8))


class ReplacedError(Exception):
    """Raised by the stand-in."""


def replace(monkeypatch: pytest.MonkeyPatch, module: str, name: str) -> None:
    def stand_in(*_: Any, **__: Any) -> Any:
        raise ReplacedError

    monkeypatch.setattr(import_module(f"core.{module}"), name, stand_in)


@pytest.mark.parametrize(("module", "name"), FORWARD)
def test_the_forward_pass_runs_the_replaced_function(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    parameters = block.init_block(8, CONFIG)
    replace(monkeypatch, module, name)
    with pytest.raises(ReplacedError):
        block.block(X, parameters, CONFIG)


@pytest.mark.parametrize(("module", "name"), BACKWARD)
def test_the_backward_pass_runs_the_replaced_function(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    trace = block.block_trace(X, block.init_block(8, CONFIG), CONFIG)
    replace(monkeypatch, module, name)
    with pytest.raises(ReplacedError):
        block.block_backward(X, trace)


def test_post_norm_is_a_seam_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    config = BlockConfig(2, norm="post")
    parameters = block.init_block(8, config)
    trace = block.block_trace(X, parameters, config)
    replace(monkeypatch, "residual", "post_norm")
    replace(monkeypatch, "residual", "post_norm_backward")
    with pytest.raises(ReplacedError):
        block.block(X, parameters, config)
    with pytest.raises(ReplacedError):
        block.block_backward(X, trace)


def test_a_skip_from_the_blocks_input_is_written_by_one_forward_and_one_backward_seam(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compose(x: FloatArray, first: residual.Sublayer, second: residual.Sublayer) -> FloatArray:
        return second(first(x, x), x)

    def compose_backward(
        grad: FloatArray, first: residual.SublayerBackward, second: residual.SublayerBackward
    ) -> FloatArray:
        grad_read, grad_outer = second(grad)
        grad_read, grad_skip = first(grad_read)
        return grad_read + grad_skip + grad_outer

    healthy = block.block(X, block.init_block(8, CONFIG), CONFIG)
    monkeypatch.setattr(residual, "compose", compose)
    monkeypatch.setattr(residual, "compose_backward", compose_backward)
    assert not np.allclose(block.block(X, block.init_block(8, CONFIG), CONFIG), healthy)
    assert_gradient_of_the_faulty_block()


def test_a_norm_on_the_skip_keeps_its_own_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    def pre_norm(x: FloatArray, skip: FloatArray, norm: residual.Map, branch: residual.Map) -> FloatArray:
        normal = norm(x)
        return normal + branch(normal)

    def pre_norm_backward(
        grad: FloatArray, norm_backward: residual.Map, branch_backward: residual.Map
    ) -> tuple[FloatArray, FloatArray]:
        return norm_backward(grad + branch_backward(grad)), np.zeros_like(grad)

    monkeypatch.setattr(residual, "pre_norm", pre_norm)
    monkeypatch.setattr(residual, "pre_norm_backward", pre_norm_backward)
    assert_gradient_of_the_faulty_block()


def test_a_norm_used_twice_backward_adds_both_gradients_of_its_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    def pre_norm_backward(
        grad: FloatArray, norm_backward: residual.Map, branch_backward: residual.Map
    ) -> tuple[FloatArray, FloatArray]:
        return norm_backward(0.25 * branch_backward(grad)) + norm_backward(0.75 * branch_backward(grad)), grad

    trace = block.block_trace(X, block.init_block(8, CONFIG), CONFIG)
    _, once = block.block_backward(X, trace)
    monkeypatch.setattr(residual, "pre_norm_backward", pre_norm_backward)
    _, twice = block.block_backward(X, trace)
    assert twice["gain1"] == pytest.approx(once["gain1"], rel=1e-10, abs=1e-12)
    assert twice["gain2"] == pytest.approx(once["gain2"], rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("which", [0, 1])
def test_a_block_that_leaves_a_sublayer_out_has_no_trace(monkeypatch: pytest.MonkeyPatch, which: int) -> None:
    def only_one(x: FloatArray, *sublayers: Callable[..., FloatArray]) -> FloatArray:
        return sublayers[which](x, x)

    monkeypatch.setattr(residual, "compose", only_one)
    with pytest.raises(
        CoreError, match=r"^a sublayer was not run; both are required for a trace; call both in compose$"
    ):
        block.block_trace(X, block.init_block(8, CONFIG), CONFIG)


def assert_gradient_of_the_faulty_block() -> None:
    """Compare one random direction of x and of all parameters with central differences."""
    random = np.random.default_rng(5)
    parameters, grad_y = block.init_block(8, CONFIG), random.standard_normal(X.shape)
    move_x = random.standard_normal(X.shape)
    move = parameters.map(lambda array: random.standard_normal(array.shape))

    def value(step: float) -> float:
        moved = parameters.combine(lambda array, by: array + step * by, move)
        return float((grad_y * block.block(X + step * move_x, moved, CONFIG)).sum())

    numeric = (value(1e-5) - value(-1e-5)) / 2e-5
    grad_x, gradients = block.block_backward(grad_y, block.block_trace(X, parameters, CONFIG))
    exact = float((grad_x * move_x).sum()) + sum(float((gradients[r] * move[r]).sum()) for r in parameters)
    assert exact == pytest.approx(numeric, rel=1e-6)
