from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.attention import slope
from detectors.errors import NotObservable
from detectors.examination import measure
from detectors.fixtures import Fixture
from detectors.observation import Observation
from detectors.subject import CLAIMS, Subject
from tests.detectors import toy

Array = NDArray[Any]
Factor = Callable[[int, int], float]


def signal(factor: Factor, fixture: Fixture) -> float:
    found = measure(toy.Toy(factor=factor).subject(fixture), fixture, slope.DETECTOR)
    assert found.value is not None
    assert found.fired == (found.value > 0.05)
    return found.value


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        # four heads; d_k is 3, and 7 at the second width: the larger of the two deviations counts
        pytest.param(lambda heads, width: 1.0, math.log(math.sqrt(7)), id="absent"),
        pytest.param(lambda heads, width: 1 / width, math.log(math.sqrt(7)), id="twice"),
        pytest.param(lambda heads, width: math.sqrt(width), math.log(7), id="reciprocal"),
        pytest.param(lambda heads, width: (heads * width) ** -0.5, math.log(2), id="by the model's width"),
        pytest.param(lambda heads, width: heads**-0.5, math.log(math.sqrt(7) / 2), id="by the heads"),
        pytest.param(
            lambda heads, width: 0.3, math.log(0.3 * math.sqrt(3)) * -1, id="fixed, right for no width"
        ),
        pytest.param(
            lambda heads, width: 3**-0.5, math.log(math.sqrt(7 / 3)), id="fixed, right for one width"
        ),
    ],
)
def test_a_wrong_scale_is_off_by_the_logarithm_of_its_factor(
    factor: Factor, expected: float, sample: Fixture
) -> None:
    assert signal(factor, sample) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("factor", [lambda heads, width: -(width**-0.5), lambda heads, width: 0.0])
def test_weights_that_do_not_grow_with_the_product_are_infinitely_far_off(
    factor: Factor, sample: Fixture
) -> None:
    assert signal(factor, sample) == math.inf


@pytest.mark.parametrize("gain", [1.02, 0.98])
def test_a_factor_within_five_percent_is_let_pass(gain: float, sample: Fixture) -> None:
    assert signal(lambda heads, width: gain * width**-0.5, sample) == pytest.approx(0.02, abs=0.001)


def test_the_right_scale_is_exact_to_rounding_in_float32() -> None:
    fixture = Fixture(replace(toy.EXTENTS, dtype="float32"), 0)
    assert signal(lambda heads, width: width**-0.5, fixture) < 3e-6


def test_a_scale_after_the_softmax_has_the_slope_of_none(sample: Fixture) -> None:
    late = toy.Toy(factor=lambda heads, width: 1.0, weigh=lambda weights: weights / 2)
    assert toy.fired(late.subject(sample), sample, slope.DETECTOR) == pytest.approx(
        math.log(math.sqrt(7)), abs=1e-9
    )


def test_one_token_has_no_slope() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=1), 0)
    reason = toy.unseen(toy.Toy().subject(fixture), fixture, slope.DETECTOR)
    assert reason == "no row has two positive weights"


SITE = {"gain": 0.5, "head_width": 4, "normalised": False}


@pytest.mark.parametrize(
    ("gains", "expected"),
    [([0.5], 0.0), ([0.5, 1.0], math.log(2)), ([0.125, 0.5], math.log(4)), ([0.5, -0.5], math.inf)],
)
def test_of_operations_that_were_followed_the_worst_counts(
    gains: list[float], expected: float, sample: Fixture
) -> None:
    subject = Subject("block", lambda x, w: x, sites=lambda x: [{**SITE, "gain": gain} for gain in gains])
    assert measure(subject, sample, slope.DETECTOR).value == pytest.approx(expected)


def scale_of(
    factor: Factor, fixture: Fixture, claims: frozenset[str] = CLAIMS, **changes: Any
) -> slope.Scale:
    subject = replace(toy.Toy(factor=factor, **changes).subject(fixture), declares=claims)
    return slope.found(Observation(subject, fixture))


def test_what_the_scores_are_multiplied_by_is_found_where_it_is_furthest_off(sample: Fixture) -> None:
    # 0.3 is below 3 ** -0.5 by ln 1.92, and below 7 ** -0.5 by ln 1.26
    found = scale_of(lambda heads, width: 0.3, sample)
    assert (found.heads, found.head_width, found.keys, found.single) == (4, 3, 5, True)
    assert found.factor == pytest.approx(0.3)
    assert found.required == pytest.approx(0.57735)
    assert found.off == pytest.approx(math.log(0.57735 / 0.3), rel=1e-4)
    fixed = scale_of(lambda heads, width: 3**-0.5, sample)
    assert fixed.head_width == 7
    assert fixed.factor == pytest.approx(0.57735)
    assert fixed.required == pytest.approx(7**-0.5)


def test_one_width_is_all_there_is_where_no_other_will_do(sample: Fixture) -> None:
    assert scale_of(lambda heads, width: 1.0, sample, CLAIMS - {"any_width"}).head_width == 3


def test_of_operations_that_were_followed_the_worst_factor_is_found(sample: Fixture) -> None:
    sites = [SITE, {**SITE, "gain": 1.5, "head_width": 8}, {**SITE, "gain": 0.6}]
    subject = Subject("block", lambda x, w: x, sites=lambda x: sites)
    assert slope.found(Observation(subject, sample)) == slope.Scale(1.5, heads=4, head_width=8, keys=5)


def over_queries(weights: Array) -> Array:
    found: Array = weights / weights.sum(axis=-2, keepdims=True)
    return found


def twisted(amount: float) -> Callable[[Array], Array]:
    """Odd keys get a weight of another size, whatever their score."""
    return lambda weights: weights * np.exp(amount * (np.arange(weights.shape[-1]) % 2))


def test_a_factor_that_does_not_explain_the_weights_is_not_called_the_one(sample: Fixture) -> None:
    assert scale_of(lambda heads, width: 1.0, sample, weigh=lambda weights: weights / 2).single
    assert not scale_of(lambda heads, width: 1.0, sample, weigh=over_queries).single
    assert not scale_of(lambda heads, width: 1.0, sample, weigh=np.ones_like).single
    assert scale_of(lambda heads, width: 1.0, sample, weigh=twisted(0.15)).single
    assert not scale_of(lambda heads, width: 1.0, sample, weigh=twisted(0.3)).single


def test_normalised_queries_and_keys_have_no_scale_to_compare(sample: Fixture) -> None:
    subject = Subject("block", lambda x, w: x, sites=lambda x: [{**SITE, "normalised": True}])
    assert toy.unseen(subject, sample, slope.DETECTOR) == (
        "queries and keys are normalised before their product: the scale is another one"
    )


def test_the_slope_is_computed_in_64_bits_whatever_the_arrays_have() -> None:
    # 4097 * 4097 and 4097 * 4099 are odd and above 2^24: float32 holds neither
    query, key = (array.astype("f4") for array in (heads_of([4097.0]), heads_of([4097.0], [4099.0])))
    weights = heads_of([0.25, 0.75]).astype("f4")
    assert slope.slope(query, key, weights) == pytest.approx(math.log(3) / (2 * 4097), rel=1e-12)


def heads_of(*rows: list[float]) -> Array:
    return np.array([[rows]])


def test_the_slope_of_two_weights_is_their_log_ratio_over_the_difference_of_products() -> None:
    # products 0 and 2, weights 1/3 and 2/3: ln 2 / 2
    query, key = heads_of([2.0]), heads_of([0.0], [1.0])
    assert slope.slope(query, key, heads_of([1 / 3, 2 / 3])) == pytest.approx(math.log(2) / 2)


def test_each_row_has_a_constant_of_its_own() -> None:
    query, key = heads_of([1.0], [2.0]), heads_of([0.0], [1.0])
    e = math.e
    sound = heads_of([1 / (1 + e), e / (1 + e)], [1 / (1 + e**2), e**2 / (1 + e**2)])
    assert slope.slope(query, key, sound) == pytest.approx(1)
    assert slope.slope(query, key, sound * np.array([[0.5], [0.1]])) == pytest.approx(1)


def test_weights_that_are_not_positive_are_left_out() -> None:
    query, key = heads_of([1.0]), heads_of([0.0], [1.0], [5.0], [9.0])
    weights = heads_of([1.0, math.exp(0.25), 0.0, -1.0])
    assert slope.slope(query, key, weights) == pytest.approx(0.25)


def test_the_slope_is_a_least_squares_fit() -> None:
    # products -1, 0, 1 and ln(weight) 0, 0, 1: slope 1/2
    query, key = heads_of([1.0]), heads_of([-1.0], [0.0], [1.0])
    assert slope.slope(query, key, heads_of([1.0, 1.0, math.e])) == pytest.approx(0.5)


@pytest.mark.parametrize("row", [[1.0, 0.0], [0.0, 0.0], [np.nan, np.nan]])
def test_a_row_with_fewer_than_two_positive_weights_has_no_slope(row: list[float]) -> None:
    with pytest.raises(NotObservable, match=r"^no row has two positive weights$"):
        slope.slope(heads_of([1.0]), heads_of([0.0], [1.0]), heads_of(row))


def test_off_is_the_distance_from_one_over_the_root_of_the_width() -> None:
    assert slope.off(0.5, 4) == 0
    assert slope.off(1.0, 4) == slope.off(0.25, 4) == pytest.approx(math.log(2))
    assert slope.off(0.0, 4) == slope.off(-0.5, 4) == slope.off(math.nan, 4) == math.inf
