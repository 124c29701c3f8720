"""Attention inside a small GPT: rows of weights, the future, heads put together, and the chain from end to end."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core import attention, generate, heads, mask, model, optimizers, softmax
from core.block_config import BlockConfig
from core.model_config import ModelConfig

GPT = ModelConfig(
    vocabulary=17, width=12, layers=2, max_length=10, block=BlockConfig(heads=3, activation="gelu")
)
DTYPES = [np.float64, np.float32]


def drawn(seed: int, *shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(seed).standard_normal(shape)


# ---- attention


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("masked", ["nothing", "future", "padding", "future and padding"])
def test_each_row_of_weights_sums_to_one(dtype: type[np.floating[Any]], size: float, masked: str) -> None:
    query, key, value = (size * drawn(seed, 2, 3, 7, 4).astype(dtype) for seed in (1, 2, 3))
    padding = mask.padding_mask([7, 4], 7) if "padding" in masked else None
    weights = attention.attention_trace(query, key, value, padding, causal="future" in masked).weights
    assert weights.shape == (2, 3, 7, 7)
    assert weights.min() >= 0.0
    assert np.abs(weights.sum(axis=-1) - 1.0).max() < 1e-6


def test_softmax_gives_the_known_percentages() -> None:
    percent = 100 * softmax.softmax([1.0, 2.0, 0.5, 3.0])
    assert [f"{p:.1f}" for p in percent] == ["8.5", "23.2", "5.2", "63.1"]


def test_equal_keys_share_the_attention_equally_among_the_visible() -> None:
    query, key, value = drawn(1, 1, 1, 4, 2), np.ones((1, 1, 4, 2)), drawn(3, 1, 1, 4, 2)
    trace = attention.attention_trace(query, key, value, causal=True)
    shares = [[1.0, 0, 0, 0], [1 / 2, 1 / 2, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], [1 / 4, 1 / 4, 1 / 4, 1 / 4]]
    np.testing.assert_allclose(trace.weights[0, 0], shares, rtol=0, atol=1e-15)
    np.testing.assert_allclose(trace.output[0, 0, 2], value[0, 0, :3].mean(axis=0), rtol=0, atol=1e-15)


def test_heads_are_merged_to_the_width_of_the_embedding_with_their_order_kept() -> None:
    # Element [b, h, t, c] is the number b h t c, so that each one names its own place.
    b, h, t, c = np.ix_(range(2), range(3), range(5), range(4))
    merged = heads.merge_heads((1000 * b + 100 * h + 10 * t + c).astype(float))
    assert merged.shape == (2, 5, GPT.width)
    assert merged[1, 2].tolist() == [1020, 1021, 1022, 1023, 1120, 1121, 1122, 1123, 1220, 1221, 1222, 1223]


@pytest.mark.parametrize("dtype", DTYPES)
def test_splitting_and_merging_is_the_identity(dtype: type[np.floating[Any]]) -> None:
    x = drawn(1, 2, 5, GPT.width).astype(dtype)
    split = heads.split_heads(x, GPT.block.heads)
    assert split.shape == (2, 3, 5, 4)
    assert np.array_equal(heads.merge_heads(split), x)


# ---- the model


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
@pytest.mark.parametrize("kv_heads", [3, 1])
def test_replaced_future_tokens_leave_earlier_logits_unchanged(
    dtype: type[np.floating[Any]], positions: str, kv_heads: int
) -> None:
    config = replace(GPT, positions=positions, block=replace(GPT.block, kv_heads=kv_heads))
    parameters = model.init_model(config, seed=5, dtype=dtype)
    tokens = np.random.default_rng(5).integers(0, 17, (2, 10))
    before = model.logits(tokens, parameters, config)
    for first in range(1, 10):
        replaced = tokens.copy()
        replaced[:, first:] = 16 - replaced[:, first:]
        change = np.abs(model.logits(replaced, parameters, config) - before).max(axis=(0, 2))
        assert change[:first].max() < 1e-6
        # The replacement did something: what comes from there on is different.
        assert change[first:].max() > 1e-2


def test_tokens_become_logits_a_loss_an_update_and_a_continuation() -> None:
    sequence = [0, 3, 1, 4, 2]
    rows = np.array([[sequence[(start + t) % 5] for t in range(10)] for start in range(5)])
    parameters, state = model.init_model(GPT, seed=5), None

    scores = model.logits(rows[:, :-1], parameters, GPT)
    assert scores.shape == (5, 9, 17)
    loss, gradients = model.loss_and_gradients(rows[:, :-1], rows[:, 1:], parameters, GPT)
    assert loss == pytest.approx(model.cross_entropy(scores, rows[:, 1:]))
    # Untrained, near the loss of equal logits: ln 17 = 2.83.
    assert abs(loss - math.log(17)) < 1.0
    assert gradients.shapes == parameters.shapes

    for _ in range(60):
        _, gradients = model.loss_and_gradients(rows[:, :-1], rows[:, 1:], parameters, GPT)
        parameters, state = optimizers.adam_step(parameters, gradients, state, learning_rate=1e-2)
    trained, _ = model.loss_and_gradients(rows[:, :-1], rows[:, 1:], parameters, GPT)
    assert trained < 0.05

    continued = generate.generate([[3, 1], [2, 0]], parameters, GPT, new_tokens=8)
    assert continued.tolist() == [[3, 1, 4, 2, 0, 3, 1, 4, 2, 0], [2, 0, 3, 1, 4, 2, 0, 3, 1, 4]]
