from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core import softmax as stage
from core.errors import CoreError


def test_softmax_gives_the_published_percentages() -> None:
    percent = 100.0 * stage.softmax([1, 2, 0.5, 3])
    assert percent.round(1).tolist() == [8.5, 23.2, 5.2, 63.1]


def test_log_odds_come_back() -> None:
    weights = stage.softmax(np.log([1.0, 2.0, 5.0]))
    assert weights == pytest.approx([0.125, 0.25, 0.625], rel=1e-14)


def test_temperature_divides_the_logits() -> None:
    # At temperature 1/2 the odds are squared: 1 : 4 : 25.
    weights = stage.softmax(np.log([1.0, 2.0, 5.0]), temperature=0.5)
    assert weights == pytest.approx([1 / 30, 4 / 30, 25 / 30], rel=1e-14)


def test_temperature_two_takes_the_root_of_the_odds() -> None:
    assert stage.softmax(np.log([1.0, 16.0]), temperature=2.0) == pytest.approx([0.2, 0.8], rel=1e-14)


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, math.nan])
def test_a_temperature_that_is_not_positive_and_finite_is_refused(temperature: float) -> None:
    with pytest.raises(CoreError, match=r"temperature is .*above 0 is required"):
        stage.softmax([1.0, 2.0], temperature)


def test_another_axis_can_be_normalised() -> None:
    logits = np.log([[1.0, 9.0], [3.0, 1.0]])
    assert stage.softmax(logits, axis=0) == pytest.approx(np.array([[0.25, 0.9], [0.75, 0.1]]), rel=1e-14)


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_that_does_not_exist_is_refused(axis: int) -> None:
    with pytest.raises(CoreError, match=f"axis is {axis}"):
        stage.softmax(np.ones((2, 2)), axis=axis)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logits_of_any_finite_size_neither_overflow_nor_change_the_dtype(
    dtype: type[np.floating[Any]],
) -> None:
    largest = np.finfo(dtype).max
    weights = stage.softmax(np.array([[largest, -largest], [1e4, 1e4], [-1e4, -1e4]], dtype))
    assert weights.tolist() == [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]
    assert weights.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_fully_masked_row_gives_zeros_and_leaves_the_others_alone(dtype: type[np.floating[Any]]) -> None:
    weights = stage.softmax(np.array([[-np.inf, -np.inf], [-np.inf, 7.0]], dtype))
    assert weights.tolist() == [[0.0, 0.0], [0.0, 1.0]]


def test_nan_stays_visible() -> None:
    weights = stage.softmax(np.array([[np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0]]))
    assert np.isnan(weights[0]).all()
    assert np.isnan(weights[1, 0])
    assert weights[2].tolist() == [0.5, 0.5]


def test_empty_logits_are_refused_by_name() -> None:
    with pytest.raises(CoreError, match=r"^logits is empty \(shape \(0,\)\)"):
        stage.softmax([])


def test_the_logits_are_left_as_they_were() -> None:
    logits = np.array([[1.0, 2.0]])
    stage.softmax(logits)
    assert logits.tolist() == [[1.0, 2.0]]


def test_moving_all_logits_together_has_no_gradient() -> None:
    # weights (1/4, 3/4), grad (1, 5): w * (g - w.g) = (1/4 * (1 - 4), 3/4 * (5 - 4)).
    gradient = stage.softmax_backward(np.array([1.0, 5.0]), np.array([0.25, 0.75]))
    assert gradient.tolist() == [-0.75, 0.75]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("temperature", [1e-30, 1e-308, 5e-324])
def test_the_coldest_temperatures_leave_the_largest_logits_alone(
    dtype: type[np.floating[Any]], temperature: float
) -> None:
    weights = stage.softmax(np.array([[1, 2, 3], [5, 5, -np.inf]], dtype), temperature)
    assert weights.tolist() == [[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]]
    assert weights.dtype == dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_hottest_temperatures_share_the_weight_among_the_keys_that_are_not_masked(
    dtype: type[np.floating[Any]],
) -> None:
    weights = stage.softmax(np.array([[1, 2, -np.inf], [-np.inf, -np.inf, -np.inf]], dtype), 1e308)
    assert weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]
