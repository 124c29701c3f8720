"""The contract of the block, each part against plain loops over single numbers, written here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core import attention, block, heads, mask, norm
from core.arrays import FloatArray
from core.block_config import BlockConfig
from core.parameters import Parameters

BATCH, TOKEN, WIDTH, HEADS, HIDDEN = 2, 5, 12, 3, 7
CHANNEL = WIDTH // HEADS
EPS = 1e-5
Row = list[float]

CONFIG = BlockConfig(HEADS)
X = np.random.default_rng(5).standard_normal((BATCH, TOKEN, WIDTH))
PARAMETERS = block.init_block(WIDTH, CONFIG, HIDDEN, seed=5)
ATTENTION_SILENT = PARAMETERS.with_(Wo=np.zeros((WIDTH, WIDTH)), bo=np.zeros(WIDTH))
FEED_FORWARD_SILENT = PARAMETERS.with_(W2=np.zeros((HIDDEN, WIDTH)), b2=np.zeros(WIDTH))


# ---- the plain reference: no arrays, one number at a time


def affine(row: Row, weight: FloatArray, bias: FloatArray) -> Row:
    columns = range(weight.shape[1])
    return [sum(row[i] * float(weight[i, j]) for i in range(len(row))) + float(bias[j]) for j in columns]


def normalised(row: Row, gain: FloatArray, shift: FloatArray) -> Row:
    mean = sum(row) / len(row)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in row) / len(row) + EPS)
    return [
        (value - mean) / deviation * float(g) + float(s) for value, g, s in zip(row, gain, shift, strict=True)
    ]


def one_head(queries: list[Row], keys: list[Row], values: list[Row]) -> list[Row]:
    rows = []
    for t, query in enumerate(queries):
        visible = range(t + 1)
        odds = [
            math.exp(sum(q * k for q, k in zip(query, keys[s], strict=True)) / math.sqrt(len(query)))
            for s in visible
        ]
        rows.append([sum(odds[s] * values[s][c] for s in visible) / sum(odds) for c in range(len(values[0]))])
    return rows


def attention_branch(rows: list[Row], p: Parameters) -> list[Row]:
    queries, keys, values = ([affine(row, p["W" + r], p["b" + r]) for row in rows] for r in "qkv")
    joined: list[Row] = [[] for _ in rows]
    for head in range(HEADS):
        own = slice(head * CHANNEL, (head + 1) * CHANNEL)
        outputs = one_head(*([row[own] for row in of] for of in (queries, keys, values)))
        joined = [row + more for row, more in zip(joined, outputs, strict=True)]
    return [affine(row, p["Wo"], p["bo"]) for row in joined]


def feed_forward_branch(row: Row, p: Parameters) -> Row:
    return affine([max(value, 0.0) for value in affine(row, p["W1"], p["b1"])], p["W2"], p["b2"])


def plus(row: Row, other: Row) -> Row:
    return [a + b for a, b in zip(row, other, strict=True)]


def pre_norm_block(rows: list[Row], p: Parameters) -> list[Row]:
    read = [normalised(row, p["gain1"], p["shift1"]) for row in rows]
    middle = [plus(row, more) for row, more in zip(rows, attention_branch(read, p), strict=True)]
    return [plus(h, feed_forward_branch(normalised(h, p["gain2"], p["shift2"]), p)) for h in middle]


def in_plain_loops(x: FloatArray, p: Parameters) -> FloatArray:
    return np.array([pre_norm_block(rows, p) for rows in x.tolist()])


# ---- the residual contract


def test_block_equals_the_plain_pre_norm_block() -> None:
    assert np.abs(block.block(X, PARAMETERS, CONFIG) - in_plain_loops(X, PARAMETERS)).max() < 1e-12


def test_silent_branches_hand_the_input_through_bit_by_bit() -> None:
    both = ATTENTION_SILENT.with_(W2=np.zeros((HIDDEN, WIDTH)), b2=np.zeros(WIDTH))
    assert np.array_equal(block.block(X, both, CONFIG), X)


def test_attention_alone_adds_attention_of_the_normalised_input() -> None:
    added = block.block(X, FEED_FORWARD_SILENT, CONFIG) - X
    for b, rows in enumerate(X.tolist()):
        read = [normalised(row, PARAMETERS["gain1"], PARAMETERS["shift1"]) for row in rows]
        assert np.abs(added[b] - attention_branch(read, PARAMETERS)).max() < 1e-12


def test_feed_forward_alone_adds_the_network_of_the_normalised_input() -> None:
    added = block.block(X, ATTENTION_SILENT, CONFIG) - X
    for index in np.ndindex(BATCH, TOKEN):
        read = normalised(X[index].tolist(), PARAMETERS["gain2"], PARAMETERS["shift2"])
        assert np.abs(added[index] - feed_forward_branch(read, PARAMETERS)).max() < 1e-12


def test_block_is_the_feed_forward_sublayer_after_the_attention_sublayer() -> None:
    middle = block.block(X, FEED_FORWARD_SILENT, CONFIG)
    expected = block.block(middle, ATTENTION_SILENT, CONFIG)
    assert np.abs(block.block(X, PARAMETERS, CONFIG) - expected).max() < 1e-12


def test_large_input_passes_a_pre_norm_block_and_not_a_post_norm_one() -> None:
    # The branches see a normalised input, so that their part does not grow: (f(2cx) - f(cx)) / c tends to x.
    def slope(config: BlockConfig) -> FloatArray:
        return (block.block(2e3 * X, PARAMETERS, config) - block.block(1e3 * X, PARAMETERS, config)) / 1e3

    assert np.abs(slope(CONFIG) - X).max() < 1e-4
    assert np.abs(slope(BlockConfig(HEADS, norm="post")) - X).max() > 0.5


# ---- shapes


def test_every_intermediate_has_the_declared_shape() -> None:
    trace = block.block_trace(X, PARAMETERS, CONFIG)
    by_head, scores = (BATCH, HEADS, TOKEN, CHANNEL), (BATCH, HEADS, TOKEN, TOKEN)
    assert [part.shape for part in (trace.query, trace.key, trace.value)] == [by_head] * 3
    inner = trace.attention
    assert [part.shape for part in (inner.scores, inner.scaled, inner.masked, inner.weights)] == [scores] * 4
    assert inner.output.shape == by_head
    assert trace.self_attention.merged.shape == (BATCH, TOKEN, WIDTH)
    assert trace.y.shape == X.shape


@pytest.mark.parametrize("shape", [(1, 1, 12), (3, 1, 12), (1, 9, 12), (3, 3, 12), (12, 12, 12)])
def test_block_keeps_the_shape_of_its_input(shape: tuple[int, ...]) -> None:
    assert block.block(np.ones(shape), PARAMETERS, CONFIG).shape == shape


# ---- the norm contract


def test_layer_norm_gives_mean_zero_and_variance_one_before_gain_and_shift() -> None:
    x = 3.0 + 10.0 * X
    y = norm.layer_norm(x, np.ones(WIDTH), np.zeros(WIDTH), EPS)
    assert np.abs(y.mean(axis=-1)).max() < 1e-12
    assert np.abs(y.var(axis=-1) - 1.0).max() < 1e-6
    gain, shift = np.arange(1.0, 13.0), np.arange(12.0)
    assert np.abs(norm.layer_norm(x, gain, shift, EPS) - (y * gain + shift)).max() < 1e-12


def test_layer_norm_and_rms_norm_equal_the_plain_loops() -> None:
    gain, shift = PARAMETERS["gain1"], PARAMETERS["shift1"]
    layer, rms = norm.layer_norm(X, gain, shift, EPS), norm.rms_norm(X, gain, EPS)
    for index in np.ndindex(BATCH, TOKEN):
        row = X[index].tolist()
        root = math.sqrt(sum(value * value for value in row) / WIDTH + EPS)
        assert np.abs(layer[index] - normalised(row, gain, shift)).max() < 1e-12
        assert (
            np.abs(rms[index] - [v / root * float(g) for v, g in zip(row, gain, strict=True)]).max() < 1e-12
        )


def test_branches_do_not_see_the_size_of_the_input() -> None:
    big = block.block(60.0 * X, ATTENTION_SILENT, CONFIG) - 60.0 * X
    bigger = block.block(240.0 * X, ATTENTION_SILENT, CONFIG) - 240.0 * X
    assert np.abs(big - bigger).max() < 1e-6


# ---- scores and mask


def test_scale_is_applied_to_the_dot_products_and_before_the_mask() -> None:
    trace = block.block_trace(X, PARAMETERS, CONFIG)
    query, key, inner = trace.query, trace.key, trace.attention
    for b, h, t, s in np.ndindex(BATCH, HEADS, TOKEN, TOKEN):
        product = sum(float(query[b, h, t, c]) * float(key[b, h, s, c]) for c in range(CHANNEL))
        assert abs(inner.scores[b, h, t, s] - product) < 1e-12
        assert abs(inner.scaled[b, h, t, s] - product / 2.0) < 1e-12  # sqrt(4)
        assert inner.masked[b, h, t, s] == (inner.scaled[b, h, t, s] if s <= t else -math.inf)


def test_third_axis_is_the_query_and_the_fourth_the_key() -> None:
    weights = block.block_trace(X, PARAMETERS, CONFIG).attention.weights
    for t, s in np.ndindex(TOKEN, TOKEN):
        seen = weights[:, :, t, s]
        assert np.all(seen > 0.0) if s <= t else np.all(seen == 0.0)


def test_mask_is_the_same_as_booleans_as_numbers_and_broadcast() -> None:
    query, key, value = np.random.default_rng(1).standard_normal((3, BATCH, HEADS, TOKEN, CHANNEL))
    expected = attention.attention(query, key, value, causal=True)
    allowed = np.tri(TOKEN, dtype=bool)
    additive = np.where(allowed, 0.0, -np.inf)
    full = np.broadcast_to(allowed, (BATCH, HEADS, TOKEN, TOKEN))
    for form in (allowed, additive, allowed[None, None], full, mask.causal_mask(TOKEN, TOKEN)):
        assert np.array_equal(attention.attention(query, key, value, form), expected)


# ---- heads


def test_split_heads_reads_consecutive_channels_of_the_same_token() -> None:
    numbered = np.arange(float(BATCH * TOKEN * WIDTH)).reshape(BATCH, TOKEN, WIDTH)
    split = heads.split_heads(numbered, HEADS)
    for b, h, t, c in np.ndindex(BATCH, HEADS, TOKEN, CHANNEL):
        assert split[b, h, t, c] == (b * TOKEN + t) * WIDTH + h * CHANNEL + c


@pytest.mark.parametrize("token", [HEADS, TOKEN])  # as many tokens as heads hides no mistaken axis
def test_attention_of_all_heads_equals_head_after_head_in_plain_loops(token: int) -> None:
    query, key, value = np.random.default_rng(2).standard_normal((3, BATCH, HEADS, token, CHANNEL))
    together = attention.attention(query, key, value, causal=True)
    for b, h in np.ndindex(BATCH, HEADS):
        alone = one_head(*(part[b, h].tolist() for part in (query, key, value)))
        assert np.abs(together[b, h] - alone).max() < 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_block_keeps_the_number_type(dtype: type[np.floating[Any]]) -> None:
    single = block.init_block(WIDTH, CONFIG, HIDDEN, seed=5, dtype=dtype)
    y = block.block(X.astype(dtype), single, CONFIG)
    assert y.dtype == dtype
    assert np.abs(y - in_plain_loops(X, PARAMETERS)).max() < 1e-5
