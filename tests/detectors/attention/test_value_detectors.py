"""The contracts on attention's output for random values: duplication, first_token, zero_query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.attention import duplication, first_token, zero_query
from detectors.detector import Detector
from detectors.examination import measure
from detectors.fixtures import Fixture
from tests.detectors import toy

Array = NDArray[Any]


def everything(queries: int, keys: int) -> Array:
    return np.ones((queries, keys), bool)


def past(queries: int, keys: int) -> Array:
    return np.tri(queries, keys, keys - queries, bool)


def fixed(number: float) -> toy.Toy:
    """The toy with one factor on q.k whatever the extents."""
    return toy.Toy(factor=lambda heads, width: number)


def asked(detector: Detector, fixture: Fixture) -> list[tuple[Array, Array, Array]]:
    """Query, key and value of every call that a detector makes."""
    calls: list[tuple[Array, Array, Array]] = []

    def attention(query: Array, key: Array, value: Array) -> Array:
        calls.append((query, key, value))
        return value

    measure(toy.attends(attention), fixture, detector)
    return calls


def test_duplication_copies_the_features_four_times_and_halves_the_query(sample: Fixture) -> None:
    (query, key, value), (many_query, many_key, same_value) = sorted(
        asked(duplication.DETECTOR, sample), key=lambda call: call[0].shape[-1]
    )
    assert query.shape == key.shape == value.shape == (1, 4, 5, 3)
    np.testing.assert_allclose(many_query, np.concatenate([query / 2] * 4, axis=-1))
    np.testing.assert_array_equal(many_key, np.concatenate([key] * 4, axis=-1))
    np.testing.assert_array_equal(same_value, value)


def test_duplication_is_the_change_over_the_largest_value(sample: Fixture) -> None:
    # value times d_k: 12 v - 3 v over v
    subject = toy.attends(lambda query, key, value: value * query.shape[-1])
    assert toy.fired(subject, sample, duplication.DETECTOR) == pytest.approx(9)


@pytest.mark.parametrize(
    ("factor", "with_copies"),
    [
        # with four copies q.k doubles, so the factor acts as twice itself at the copied width, 12 for 3
        pytest.param(lambda heads, width: 1.0, 2.0, id="absent"),
        pytest.param(lambda heads, width: 1 / width, 2 / 12, id="twice"),
        pytest.param(lambda heads, width: width**0.5, 2 * 12**0.5, id="reciprocal"),
    ],
)
def test_duplication_fires_where_the_scale_does_not_follow_the_width(
    factor: Callable[[int, int], float], with_copies: float, sample: Fixture
) -> None:
    query, key, value = min(asked(duplication.DETECTOR, sample), key=lambda call: call[0].shape[-1])
    once = fixed(factor(4, 3)).attention(query, key, value)
    copied = fixed(with_copies).attention(query, key, value)
    expected = np.abs(copied - once).max() / np.abs(value).max()
    found = toy.fired(toy.Toy(factor=factor).subject(sample), sample, duplication.DETECTOR)
    assert found == pytest.approx(expected)


def test_duplication_cannot_see_a_scale_by_the_models_width(sample: Fixture) -> None:
    subject = toy.Toy(factor=lambda heads, width: (heads * width) ** -0.5).subject(sample)
    toy.quiet(subject, sample, duplication.DETECTOR)


def test_first_token_is_its_distance_from_its_own_value(sample: Fixture) -> None:
    (_, _, value) = asked(first_token.DETECTOR, sample)[0]
    expected = np.abs(value.mean(axis=2) - value[:, :, 0]).max() / np.abs(value).max()
    found = toy.fired(toy.averaging(everything), sample, first_token.DETECTOR)
    assert found == pytest.approx(expected)


def test_first_token_looks_at_the_first_token_alone(sample: Fixture) -> None:
    subject = toy.attends(lambda query, key, value: np.repeat(value[:, :, :1], query.shape[2], axis=2))
    assert toy.quiet(subject, sample, first_token.DETECTOR) == 0
    subject = toy.attends(lambda query, key, value: 3 * value)
    (_, _, value) = asked(first_token.DETECTOR, sample)[0]
    expected = 2 * np.abs(value[:, :, 0]).max() / np.abs(value).max()
    assert toy.fired(subject, sample, first_token.DETECTOR) == pytest.approx(expected)


def test_zero_query_asks_with_nothing_but_zeros(sample: Fixture) -> None:
    ((query, key, value),) = asked(zero_query.DETECTOR, sample)
    assert not query.any()
    assert query.shape == key.shape == value.shape == (1, 4, 5, 3)
    assert key.any()


def test_zero_query_is_quiet_on_the_mean_of_the_past_and_fires_on_that_of_all(sample: Fixture) -> None:
    ((_, _, value),) = asked(zero_query.DETECTOR, sample)
    means = np.stack([value[:, :, : t + 1].mean(axis=2) for t in range(5)], axis=2)
    expected = np.abs(value.mean(axis=2, keepdims=True) - means).max() / np.abs(value).max()
    found = toy.fired(toy.averaging(everything), sample, zero_query.DETECTOR)
    assert found == pytest.approx(expected)
    toy.quiet(toy.averaging(past), sample, zero_query.DETECTOR)


def test_zero_query_sees_a_constant_factor(sample: Fixture) -> None:
    ((_, _, value),) = asked(zero_query.DETECTOR, sample)
    means = np.stack([value[:, :, : t + 1].mean(axis=2) for t in range(5)], axis=2)
    halved = toy.Toy(weigh=lambda weights: weights / 2).subject(sample)
    expected = np.abs(means).max() / 2 / np.abs(value).max()
    assert toy.fired(halved, sample, zero_query.DETECTOR) == pytest.approx(expected)


DETECTORS = (duplication.DETECTOR, first_token.DETECTOR, zero_query.DETECTOR)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.name)
def test_nan_fires(detector: Detector, sample: Fixture) -> None:
    assert np.isnan(toy.fired(toy.attends(lambda query, key, value: value * np.nan), sample, detector))


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.name)
def test_without_access_to_attention_there_is_no_signal(detector: Detector, sample: Fixture) -> None:
    assert "attention cannot be called" in toy.unseen(toy.calls(lambda x: x), sample, detector)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.name)
def test_inputs_keep_the_dtype(detector: Detector) -> None:
    calls = asked(detector, Fixture(replace(toy.EXTENTS, dtype="float32"), 0))
    assert {array.dtype for call in calls for array in call} == {np.dtype("float32")}
