"""Where queries and keys are in weights that were turned and reshaped: worked out by hand on small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detectors.guest.places import laid, looked_at, numbered, oriented, turned

CAUSAL = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]])


def told(shape: tuple[int, ...]) -> Any:
    """Weights that are all different."""
    return np.arange(np.prod(shape), dtype=float).reshape(shape)


@pytest.mark.parametrize(
    ("numbers", "columns", "axis", "moved", "softmax"),
    [
        (numbered(2, 3), 3, -1, (0, 1), -1),
        (numbered(2, 3), 3, 0, (0, 1), -2),
        (numbered(2, 3).T, 3, 0, (1, 0), -1),
        (numbered(2, 3).T, 3, 1, (1, 0), -2),
        # [query, key, head]: the numbers of one head are those of the others.
        (np.stack([numbered(2, 3)] * 4, axis=-1), 3, 1, (2, 0, 1), -1),
        (np.stack([numbered(2, 3)] * 4, axis=-1), 3, 0, (2, 0, 1), -2),
        (np.stack([numbered(2, 3)] * 4, axis=-1), 3, 2, (2, 0, 1), -3),
        # [key, batch, query]: rows change along two axes, of which one is as long as the keys.
        (numbered(6, 3).reshape(2, 3, 3).transpose(2, 0, 1), 3, 0, (1, 2, 0), -1),
        # One query or one key: no number changes along that axis.
        (numbered(1, 3).T, 3, 0, (1, 0), -1),
        (numbered(3, 1), 1, 1, (0, 1), -1),
        (numbered(3, 1).T, 1, 0, (1, 0), -1),
    ],
)
def test_weights_are_laid_as_query_and_key(
    numbers: Any, columns: int, axis: int, moved: tuple[int, ...], softmax: int
) -> None:
    weights = told(numbers.shape)
    found, at = laid(weights, numbers, columns, axis)
    assert found.tolist() == weights.transpose(moved).tolist()
    assert at == softmax


@pytest.mark.parametrize(
    ("numbers", "axis", "softmax"),
    [
        (numbered(3, 2), 0, -2),  # of another shape
        (np.zeros((2, 3), int), -1, -1),  # of nothing
        (numbered(4, 3).reshape(2, 2, 3), 2, -1),  # rows along two axes, none as long as the keys
    ],
)
def test_where_the_numbers_tell_nothing_weights_stay_as_they_are(
    numbers: Any, axis: int, softmax: int
) -> None:
    weights = told((2, 3) if numbers.ndim == 2 else numbers.shape)
    found, at = laid(weights, numbers, 3, axis)
    assert found is weights
    assert at == softmax


def test_scores_are_turned_where_only_read_the_other_way_the_future_has_no_weight() -> None:
    assert turned(CAUSAL.T)
    assert turned(np.stack([CAUSAL.T] * 2))
    assert not turned(CAUSAL)
    assert not turned(np.eye(3))
    assert not turned(np.full((3, 3), 1 / 3))
    assert not turned(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))


def test_weights_are_read_as_query_and_key_and_the_softmax_as_over_keys_or_not() -> None:
    for weights, axis, read, over_keys in (
        (CAUSAL, -1, CAUSAL, True),
        (CAUSAL, -2, CAUSAL, False),
        (CAUSAL.T, -2, CAUSAL, True),
        (CAUSAL.T, -1, CAUSAL.T, True),
    ):
        found, over = oriented(weights, None, axis)
        assert (found.tolist(), over) == (read.tolist(), over_keys)
    found, over = oriented(CAUSAL.T, (numbered(3, 3).T, 3), 0)
    assert (found.tolist(), over) == (CAUSAL.tolist(), True)


def test_sums_future_and_own_token_of_weights() -> None:
    wrong = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]])
    assert looked_at(np.stack([CAUSAL, wrong])) == {
        "rows": 0.25,
        "future": 1.0,
        "own": pytest.approx(2 / 6),
        "shape": [2, 3, 3],
        "mean": ((CAUSAL + wrong) / 2).tolist(),
    }
    late = looked_at(np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]]))
    assert (late["rows"], late["future"], late["own"]) == (0.0, 0.0, 0.0)
