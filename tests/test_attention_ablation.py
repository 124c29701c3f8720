"""What each part is for: take it out at its seam, measure the damage, put it back and see it gone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from core import attention, block, mask, residual
from core.arrays import FloatArray
from core.block import BlockTrace
from core.block_config import BlockConfig

SEED = 5
CONFIG = BlockConfig(heads=4)
X = np.random.default_rng(SEED).standard_normal((2, 8, 16))
PARAMETERS = block.init_block(16, CONFIG, seed=SEED)


@contextmanager
def replaced(module: Any, name: str, function: Callable[..., Any]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, function)
        yield


def traced(x: FloatArray = X) -> BlockTrace:
    return block.block_trace(x, PARAMETERS, CONFIG)


def prefix_change(length: int) -> float:
    """The largest change of the first `length` outputs when all later tokens are replaced."""
    other = X.copy()
    other[:, length:] = 3.0 * np.random.default_rng(SEED + 1).standard_normal(other[:, length:].shape)
    return float(np.abs(traced(other).y - traced().y)[:, :length].max())


def no_scale(scores: FloatArray, query: FloatArray) -> FloatArray:
    return scores


def no_mask(query_length: int, key_length: int, dtype: Any = np.float64) -> FloatArray:
    return np.zeros((query_length, key_length), dtype)


def no_skip(x: FloatArray, skip: FloatArray, normalise: Any, branch: Any) -> FloatArray:
    result: FloatArray = branch(normalise(x))
    return result


def flipped(query_length: int, key_length: int, dtype: Any = np.float64) -> FloatArray:
    return np.where(np.tri(query_length, key_length, -1, dtype=bool), -np.inf, 0.0).astype(dtype)


ABLATIONS: list[tuple[Any, str, Callable[..., Any]]] = [
    (attention, "scale", no_scale),
    (mask, "causal_mask", no_mask),
    (residual, "pre_norm", no_skip),
]


# ---- future-token perturbation


@pytest.mark.parametrize("length", range(1, 8))
def test_replaced_future_tokens_change_nothing_before_them(length: int) -> None:
    assert prefix_change(length) == 0.0


@pytest.mark.parametrize("length", range(1, 8))
def test_without_the_mask_the_future_reaches_the_prefix(length: int) -> None:
    with replaced(mask, "causal_mask", no_mask):
        assert prefix_change(length) > 1e-5


def test_without_the_mask_the_future_has_weight() -> None:
    future = ~np.tri(8, dtype=bool)
    assert float(traced().attention.weights[..., future].max()) == 0.0
    with replaced(mask, "causal_mask", no_mask):
        assert float(traced().attention.weights[..., future].min()) > 0.0


def test_flipped_triangle_hands_the_past_to_the_future() -> None:
    with replaced(mask, "causal_mask", flipped):
        weights = traced().attention.weights
        assert prefix_change(4) > 1e-5
    assert float(weights[..., np.tri(8, k=-1, dtype=bool)].max()) == 0.0
    # The last token sees itself alone now, the first one everything.
    assert np.all(weights[:, :, -1, -1] == 1.0)
    assert float(weights[:, :, 0].min()) > 0.0


# ---- scale


def test_without_the_scale_the_weights_differ() -> None:
    healthy = traced().attention.weights
    with replaced(attention, "scale", no_scale):
        assert float(np.abs(traced().attention.weights - healthy).max()) > 0.01


def test_without_the_scale_wide_heads_look_at_almost_one_key() -> None:
    # d_k = 256: dot products of independent normal vectors have the standard deviation sqrt(256) = 16.
    query, key = np.random.default_rng(SEED).standard_normal((2, 1, 4, 64, 256))
    healthy = attention.attention_trace(query, key, key)
    with replaced(attention, "scale", no_scale):
        ablated = attention.attention_trace(query, key, key)
    assert float(healthy.scores.std()) == pytest.approx(16.0, rel=0.05)
    assert float(healthy.scaled.std()) == pytest.approx(1.0, rel=0.05)
    assert float(np.median(healthy.weights.max(axis=-1))) < 0.3
    assert float(np.median(ablated.weights.max(axis=-1))) > 0.9


def test_scale_ablation_is_a_scale_of_the_queries_and_no_more() -> None:
    healthy = traced().y
    halved = PARAMETERS.with_(Wq=PARAMETERS["Wq"] / math.sqrt(4), bq=PARAMETERS["bq"] / math.sqrt(4))
    with replaced(attention, "scale", no_scale):
        assert np.abs(block.block(X, halved, CONFIG) - healthy).max() < 1e-12


# ---- residual


def test_without_the_skip_connections_the_output_differs() -> None:
    healthy = traced().y
    with replaced(residual, "pre_norm", no_skip):
        assert float(np.abs(traced().y - healthy).max()) > 1e-5


def test_without_the_skip_connections_the_size_of_the_input_is_lost() -> None:
    def growth() -> float:
        return float(np.linalg.norm(traced(100.0 * X).y) / np.linalg.norm(traced(10.0 * X).y))

    assert growth() == pytest.approx(10.0, rel=0.2)
    with replaced(residual, "pre_norm", no_skip):
        assert growth() == pytest.approx(1.0, rel=0.01)


# ---- repair


@pytest.mark.parametrize(("module", "name", "function"), ABLATIONS, ids=[name for _, name, _ in ABLATIONS])
def test_part_put_back_gives_the_same_bits_again(
    module: Any, name: str, function: Callable[..., Any]
) -> None:
    original, healthy = getattr(module, name), traced()
    with replaced(module, name, function):
        assert not np.array_equal(traced().y, healthy.y)
    assert getattr(module, name) is original
    assert np.array_equal(traced().y, healthy.y)
    assert np.array_equal(traced().attention.weights, healthy.attention.weights)
