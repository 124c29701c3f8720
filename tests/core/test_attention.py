from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import attention
from core.arrays import FloatArray
from core.errors import CoreError

NO = -np.inf
# Two queries, two keys, four channels: 1/sqrt(4) halves the scores, chosen as twice a logarithm.
QUERY = np.array([[[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]]])
KEY = np.array([[[[2 * math.log(3.0), 0.0, 0.0, 5.0], [0.0, 2 * math.log(4.0), 0.0, 5.0]]]])
VALUE = np.array([[[[100.0, 0.0, 1.0], [0.0, 100.0, 1.0]]]])


def drawn(seed: int, *shape: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal(shape)


def looped(query: FloatArray, key: FloatArray, value: FloatArray, added: FloatArray) -> FloatArray:
    """Attention in Python numbers, one query at a time; key heads shared by runs of query heads."""
    batch, heads, queries, channels = query.shape
    output = np.zeros((batch, heads, queries, value.shape[3]))
    share = heads // key.shape[1]
    for b, h, q in np.ndindex(batch, heads, queries):
        keys, values = key[b, h // share], value[b, h // share]
        odds = [
            math.exp(
                sum(query[b, h, q, c] * k[c] for c in range(channels)) / math.sqrt(channels) + added[q, s]
            )
            for s, k in enumerate(keys)
        ]
        for odd, row in zip(odds, values, strict=True):
            output[b, h, q] += odd / math.fsum(odds) * row
    return output


def test_weights_and_output_by_hand() -> None:
    trace = attention.attention_trace(QUERY, KEY, VALUE)
    assert trace.scores[0, 0] == pytest.approx(np.array([[2 * math.log(3), 0], [0, 2 * math.log(4)]]))
    assert trace.scaled[0, 0] == pytest.approx(np.array([[math.log(3), 0], [0, math.log(4)]]))
    assert trace.masked is trace.scaled
    assert trace.weights[0, 0] == pytest.approx(np.array([[0.75, 0.25], [0.2, 0.8]]), rel=1e-14)
    assert trace.output[0, 0] == pytest.approx(np.array([[75.0, 25.0, 1.0], [20.0, 80.0, 1.0]]), rel=1e-14)


def test_a_causal_first_token_attends_to_itself_alone() -> None:
    trace = attention.attention_trace(QUERY, KEY, VALUE, causal=True)
    assert trace.masked[0, 0, 0].tolist() == [trace.scaled[0, 0, 0, 0], NO]
    assert trace.weights[0, 0, 0].tolist() == [1.0, 0.0]
    assert trace.output[0, 0, 0].tolist() == [100.0, 0.0, 1.0]
    assert trace.output[0, 0, 1] == pytest.approx([20.0, 80.0, 1.0], rel=1e-14)


def test_many_heads_shared_keys_and_a_longer_key_side_match_plain_loops() -> None:
    query, key, value = drawn(1, 2, 6, 3, 4), drawn(2, 2, 2, 5, 4), drawn(3, 2, 2, 5, 7)
    future = np.where(np.arange(5) <= np.arange(3)[:, None] + 2, 0.0, NO)
    output = attention.attention(query, key, value, causal=True)
    assert output.shape == (2, 6, 3, 7)
    assert output == pytest.approx(looped(query, key, value, future), rel=1e-12, abs=1e-14)
    open_output = attention.attention(query, key, value)
    assert open_output == pytest.approx(looped(query, key, value, np.zeros((3, 5))), rel=1e-12, abs=1e-14)


def test_a_mask_joins_the_causal_one() -> None:
    query = drawn(1, 1, 1, 3, 2)
    trace = attention.attention_trace(query, query, query, mask=[False, True, True], causal=True)
    assert (trace.weights[0, 0] > 0).tolist() == [
        [False, False, False],
        [False, True, False],
        [False, True, True],
    ]


def test_a_query_with_every_key_masked_gives_zeros() -> None:
    mask = np.array([[False, False], [True, True]])
    output = attention.attention(QUERY, KEY, VALUE, mask)
    assert output[0, 0, 0].tolist() == [0.0, 0.0, 0.0]
    assert output[0, 0, 1] == pytest.approx([20.0, 80.0, 1.0], rel=1e-14)


def test_rows_of_weights_sum_to_one() -> None:
    query = drawn(1, 2, 3, 17, 4)
    trace = attention.attention_trace(query, query, query, causal=True)
    assert np.abs(trace.weights.sum(axis=-1) - 1.0).max() < 1e-6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_intermediate_keeps_the_dtype(dtype: type[np.floating[Any]]) -> None:
    x = drawn(1, 1, 2, 3, 4).astype(dtype)
    trace = attention.attention_trace(x, x, x, mask=np.zeros((3, 3)), causal=True)
    assert {array.dtype for array in vars(trace).values()} == {np.dtype(dtype)}
    gradients = attention.attend_backward(x, x, x, x, None, trace)
    assert {array.dtype for array in gradients} == {np.dtype(dtype)}


def test_lists_of_whole_numbers_are_taken_as_floats() -> None:
    assert attention.attention([[[[1, 2]]]], [[[[3, 4]]]], [[[[5, 6]]]]).tolist() == [[[[5.0, 6.0]]]]


def test_a_saved_trace_holds_every_intermediate_under_its_name(tmp_path: Path) -> None:
    trace = attention.attention_trace(QUERY, KEY, VALUE, causal=True)
    trace.save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz") as stored:
        assert sorted(stored.files) == ["masked", "output", "scaled", "scores", "weights"]
        assert stored["weights"].tolist() == trace.weights.tolist()
        assert stored["scores"].tolist() == trace.scores.tolist()


def test_a_trace_is_frozen_and_another_one_is_not_equal() -> None:
    trace = attention.attention_trace(QUERY, KEY, VALUE)
    with pytest.raises(FrozenInstanceError):
        trace.__setattr__("output", QUERY)
    assert trace != attention.attention_trace(QUERY, KEY, VALUE)


@pytest.mark.parametrize(
    ("query", "key", "value", "found"),
    [
        ((2, 3, 4), (1, 1, 3, 4), (1, 1, 3, 4), r"query has shape \(2, 3, 4\), rank 3"),
        ((1, 1, 3, 4), (1, 1, 3), (1, 1, 3, 4), r"key has shape \(1, 1, 3\), rank 3"),
        ((1, 1, 3, 4), (1, 1, 3, 4), (3, 4), r"value has shape \(3, 4\), rank 2"),
        ((1, 1, 0, 4), (1, 1, 3, 4), (1, 1, 3, 4), "query is empty"),
    ],
)
def test_other_ranks_and_empty_arrays_are_refused(
    query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...], found: str
) -> None:
    with pytest.raises(CoreError, match=f"{found}.*required"):
        attention.attention(np.ones(query), np.ones(key), np.ones(value))


BATCHES = "batch sizes differ: {}; one batch size is required for all three"
VALUES = "keys and values differ in heads or tokens: {}; one value for each key is required"
CHANNELS = "queries and keys differ in channels: {}; equal channels are required"
GROUPS = "query heads are not a multiple of key heads: {}; groups of equal size are required"


@pytest.mark.parametrize(
    ("query", "key", "value", "message"),
    [
        ((2, 1, 3, 4), (1, 1, 3, 4), (1, 1, 3, 4), BATCHES),
        ((1, 1, 3, 4), (1, 1, 3, 4), (2, 1, 3, 4), BATCHES),
        ((1, 2, 3, 4), (1, 2, 3, 4), (1, 1, 3, 4), VALUES),
        ((1, 1, 3, 4), (1, 1, 3, 4), (1, 1, 2, 4), VALUES),
        ((1, 1, 3, 4), (1, 1, 3, 5), (1, 1, 3, 4), CHANNELS),
        ((1, 3, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4), GROUPS),
    ],
)
def test_shapes_that_do_not_fit_are_refused_with_all_three(
    query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...], message: str
) -> None:
    with pytest.raises(CoreError) as caught:
        attention.attention(np.ones(query), np.ones(key), np.ones(value))
    assert str(caught.value) == message.format(f"query {query}, key {key}, value {value}")


def test_a_mask_of_another_shape_is_refused() -> None:
    with pytest.raises(CoreError, match=r"broadcasts to the scores \(1, 1, 2, 2\)"):
        attention.attention(QUERY, KEY, VALUE, np.zeros((3, 2)))
