"""The contracts that are read off the weight matrix: rows, axis, future and self weight, short queries, huge logits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.attention import axis, future_weight, huge_logits, rows, self_weight, short_queries
from detectors.examination import measure
from detectors.fixtures import Fixture
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]


def weighing(change: Any, fixture: Fixture) -> Subject:
    """The toy with its weights changed after the softmax."""
    return toy.Toy(weigh=change).subject(fixture)


def constant(weights: Any) -> Subject:
    """Attention that gives these weights [query, key] whatever it is asked, as it would for V = identity."""

    def attention(query: Array, key: Array, value: Array) -> Array:
        shape = (*query.shape[:3], key.shape[2])
        return np.broadcast_to(np.asarray(weights, float)[-shape[2] :], shape)

    return toy.attends(attention)


def visible(queries: int, keys: int) -> Array:
    return np.tri(queries, keys, keys - queries, bool)


def everything(queries: int, keys: int) -> Array:
    return np.ones((queries, keys), bool)


@pytest.mark.parametrize(("factor", "expected"), [(3**-0.5, 1 - 3**-0.5), (1.25, 0.25), (0.0, 1.0)])
def test_rows_fires_by_how_far_the_sum_is_from_one(factor: float, expected: float, sample: Fixture) -> None:
    subject = weighing(lambda weights: weights * factor, sample)
    assert toy.fired(subject, sample, rows.DETECTOR) == pytest.approx(expected)


def test_rows_takes_the_worst_row_of_any_head(sample: Fixture) -> None:
    def change(weights: Array) -> Array:
        weights = weights.copy()
        weights[:, 3, 2] *= 1.5
        return weights

    assert toy.fired(weighing(change, sample), sample, rows.DETECTOR) == pytest.approx(0.5)


def test_rows_does_not_care_where_the_weight_lies(sample: Fixture) -> None:
    toy.quiet(toy.averaging(everything), sample, rows.DETECTOR)


def test_future_weight_is_the_largest_weight_above_the_diagonal(sample: Fixture) -> None:
    value = toy.fired(toy.averaging(everything), sample, future_weight.DETECTOR)
    assert value == pytest.approx(1 / 5)


@pytest.mark.parametrize("pair", [(1, 3), (0, 1), (3, 4), (0, 4)])
@pytest.mark.parametrize("weight", [1e-30, -0.5])
def test_future_weight_fires_on_the_faintest_weight_and_on_a_negative_one(
    weight: float, pair: tuple[int, int], sample: Fixture
) -> None:
    weights = np.tril(np.full((5, 5), 0.2))
    weights[pair] = weight
    assert toy.fired(constant(weights), sample, future_weight.DETECTOR) == abs(weight)


def test_future_weight_does_not_care_about_the_past(sample: Fixture) -> None:
    assert toy.quiet(constant(np.eye(5)), sample, future_weight.DETECTOR) == 0


def test_self_weight_is_the_share_of_tokens_that_do_not_see_themselves(sample: Fixture) -> None:
    strict = np.tril(np.ones((5, 5)), -1)
    assert toy.fired(constant(strict), sample, self_weight.DETECTOR) == 1
    one_blind = np.tril(np.ones((5, 5)))
    one_blind[2, 2] = 0
    assert toy.fired(constant(one_blind), sample, self_weight.DETECTOR) == pytest.approx(1 / 5)


def test_self_weight_looks_at_every_head(sample: Fixture) -> None:
    def change(weights: Array) -> Array:
        weights = weights.copy()
        weights[:, 3, 4, 4] = 0
        return weights

    # one of 4 heads times 5 tokens
    assert toy.fired(weighing(change, sample), sample, self_weight.DETECTOR) == pytest.approx(1 / 20)


def test_self_weight_counts_nan_as_blind(sample: Fixture) -> None:
    assert toy.fired(constant(np.full((5, 5), np.nan)), sample, self_weight.DETECTOR) == 1


def test_short_queries_in_the_wrong_corner_differ_by_two_thirds(sample: Fixture) -> None:
    # Of 5 tokens the last 3 are asked. Token 2 sees 3 keys, 1/3 each; in the wrong corner 1 key with weight 1.
    wrong = toy.averaging(lambda queries, keys: np.tri(queries, keys, dtype=bool))
    assert toy.fired(wrong, sample, short_queries.DETECTOR) == pytest.approx(2 / 3)


def test_short_queries_that_fail_are_not_observable(sample: Fixture) -> None:
    def square_only(query: Array, key: Array, value: Array) -> Array:
        if query.shape != key.shape:
            raise ValueError("square only")
        return value

    assert "ValueError: square only" in toy.unseen(toy.attends(square_only), sample, short_queries.DETECTOR)


def test_short_queries_need_two_tokens() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=1), 0)
    assert toy.unseen(toy.averaging(visible), fixture, short_queries.DETECTOR).startswith("one token")


def test_huge_logits_read_the_weight_on_the_future_source(sample: Fixture) -> None:
    value = toy.fired(toy.averaging(everything), sample, huge_logits.DETECTOR)
    assert value == pytest.approx(1 / 5)


@pytest.mark.parametrize(
    ("fill", "smallest"),
    # Added, the future key is still the largest by far. In its place, all the hidden keys share the weight, 4 at most.
    [pytest.param(toy.added(-1e4), 1.0, id="added"), pytest.param(toy.replaced(-1e4), 0.25, id="replaced")],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_huge_logits_break_a_weak_fill(fill: Any, smallest: float, dtype: str) -> None:
    fixture = Fixture(replace(toy.EXTENTS, dtype=dtype), 0)
    assert toy.fired(toy.Toy(fill=fill).subject(fixture), fixture, huge_logits.DETECTOR) >= smallest


@pytest.mark.parametrize("fill", [toy.added(-1e9), toy.replaced(-1e9)], ids=["added", "replaced"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_huge_logits_leave_a_strong_fill_alone(fill: Any, dtype: str) -> None:
    fixture = Fixture(replace(toy.EXTENTS, dtype=dtype), 0)
    assert toy.quiet(toy.Toy(fill=fill).subject(fixture), fixture, huge_logits.DETECTOR) == 0


def test_huge_logits_see_a_leak_beside_overflow(sample: Fixture) -> None:
    weights = np.where(np.tri(5, dtype=bool), 0.2, np.nan)
    weights[0, 4] = 1e-12
    assert toy.fired(constant(weights), sample, huge_logits.DETECTOR) == 1e-12


def test_huge_logits_call_nothing_but_nan_an_overflow(sample: Fixture) -> None:
    weights = np.where(np.tri(5, dtype=bool), 0.2, np.nan)
    reason = toy.unseen(constant(weights), sample, huge_logits.DETECTOR)
    assert reason == "weights are not finite at logits of 1e6: overflow"


def test_huge_logits_let_nan_in_the_past_pass(sample: Fixture) -> None:
    weights = np.where(np.tri(5, dtype=bool), np.nan, 0.0)
    assert toy.quiet(constant(weights), sample, huge_logits.DETECTOR) == 0


def test_huge_logits_of_one_token_have_no_future() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=1), 0)
    assert toy.quiet(toy.averaging(everything), fixture, huge_logits.DETECTOR) == 0


@pytest.mark.parametrize("module", [rows, future_weight])
def test_nan_weights_fire(module: Any, sample: Fixture) -> None:
    assert math.isnan(toy.fired(constant(np.full((5, 5), np.nan)), sample, module.DETECTOR))


@pytest.mark.parametrize("module", [rows, axis, future_weight, self_weight, short_queries, huge_logits])
def test_without_access_to_attention_there_is_no_signal(module: Any, sample: Fixture) -> None:
    assert "attention cannot be called" in toy.unseen(toy.calls(lambda x: x), sample, module.DETECTOR)


def by_columns(heads: list[int], fixture: Fixture) -> Subject:
    """The toy without a mask whose softmax runs over the queries in some heads."""

    def attention(query: Array, key: Array, value: Array) -> Array:
        odds = np.exp(np.einsum("bhtc,bhsc->bhts", query, key))
        over = [
            odds[:, head] / odds[:, head].sum(axis=-2 if head in heads else -1, keepdims=True)
            for head in range(4)
        ]
        weights: Array = np.stack(over, axis=1)
        return weights @ value

    return toy.attends(attention)


@pytest.mark.parametrize(("heads", "expected"), [([0, 1, 2, 3], 1.0), ([2], 0.25)])
def test_axis_is_the_share_of_heads_whose_columns_sum_to_one_instead_of_their_rows(
    heads: list[int], expected: float, sample: Fixture
) -> None:
    assert toy.fired(by_columns(heads, sample), sample, axis.DETECTOR) == expected


def test_axis_is_quiet_where_rows_sum_to_one_or_neither_does(sample: Fixture) -> None:
    assert toy.quiet(by_columns([], sample), sample, axis.DETECTOR) == 0
    assert toy.quiet(constant(np.eye(5)), sample, axis.DETECTOR) == 0
    assert toy.quiet(constant(np.full((5, 5), 0.5)), sample, axis.DETECTOR) == 0


@pytest.mark.parametrize(
    ("rows_off", "columns_off", "expected"),
    [
        # up to 2^-10 is rounding, on either side
        (2.0**-10, 0.0, 0.0),
        (2.0**-9, 0.0, 1.0),
        (0.5, 2.0**-10, 1.0),
        (0.5, 2.0**-9, 0.0),
    ],
)
def test_axis_takes_a_thousandth_for_rounding(
    rows_off: float, columns_off: float, expected: float, sample: Fixture
) -> None:
    weights = np.eye(5)
    weights[0, 0] += columns_off
    weights[0, 1], weights[1, 1] = rows_off - columns_off, 1 - rows_off + columns_off
    # the first row is off by rows_off, the first column by columns_off, and no row or column by more
    assert measure(constant(weights), sample, axis.DETECTOR).value == expected


def test_axis_of_operations_that_were_followed_is_the_share_of_them(sample: Fixture) -> None:
    sites = [{"last_axis": True}, {"last_axis": True}, {"last_axis": False}, {"last_axis": True}]
    subject = Subject("block", lambda x, weights: x, sites=lambda x: sites)
    assert toy.fired(subject, sample, axis.DETECTOR) == 0.25
