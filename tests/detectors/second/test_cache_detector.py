"""The contract on calls that continue another: cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.fixtures import Fixture
from detectors.second import cache
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]


def total(x: Array) -> Array:
    found: Array = np.cumsum(x, axis=1)
    return found


def stepping(step: Callable[[Array, Any], tuple[Array, Any]]) -> Subject:
    """A running sum, and the same by steps."""

    def continued(chunks: Sequence[Array]) -> Array:
        outputs, kept = [], None
        for chunk in chunks:
            output, kept = step(chunk, kept)
            outputs.append(output)
        return np.concatenate(outputs, axis=1)

    return replace(toy.calls(total), continued=continued)


def right(x: Array, kept: Any) -> tuple[Array, Any]:
    found = total(x) + (0 if kept is None else kept)
    return found, found[:, -1:]


def never_appended(x: Array, kept: Any) -> tuple[Array, Any]:
    found, new = right(x, kept)
    return found, new if kept is None else kept


def wrong_from_the_third(x: Array, kept: Any) -> tuple[Array, Any]:
    """(sum, steps so far): what the second continuation does to the cache."""
    found, new = right(x, None if kept is None else kept[0])
    steps = 0 if kept is None else kept[1] + 1
    return found, (new + 0.5 * (steps == 2), steps)


def test_a_step_that_goes_on_where_it_stopped_holds(sample: Fixture) -> None:
    assert toy.quiet(stepping(right), sample, cache.DETECTOR) < 1e-12


def test_what_shows_only_from_the_second_or_third_step_on_breaks_the_contract(sample: Fixture) -> None:
    toy.fired(stepping(never_appended), sample, cache.DETECTOR)
    value = toy.fired(stepping(wrong_from_the_third), sample, cache.DETECTOR)
    # the last of five outputs is off by 0.5
    assert value == pytest.approx(0.5 / np.abs(total(sample.x)).max())


def test_a_step_that_fails_breaks_the_contract(sample: Fixture) -> None:
    def raises(x: Array, kept: Any) -> tuple[Array, Any]:
        if kept is not None:
            raise ValueError("a mask of another size")
        return right(x, kept)

    assert toy.fired(stepping(raises), sample, cache.DETECTOR) == np.inf


def test_a_step_that_gives_no_number_differs_without_bound(sample: Fixture) -> None:
    def empty(x: Array, kept: Any) -> tuple[Array, Any]:
        found, new = right(x, kept)
        return (found if kept is None else found * np.nan), new

    assert toy.fired(stepping(empty), sample, cache.DETECTOR) == np.inf


@pytest.mark.parametrize(("tokens", "first"), [(2, 1), (3, 1), (5, 2), (9, 4)])
def test_the_first_half_is_fed_at_once_and_then_token_by_token(tokens: int, first: int) -> None:
    fixture, fed = Fixture(replace(toy.EXTENTS, tokens=tokens), 0), []

    def step(x: Array, kept: Any) -> tuple[Array, Any]:
        fed.append(x)
        return right(x, kept)

    toy.quiet(stepping(step), fixture, cache.DETECTOR)
    assert [chunk.shape[1] for chunk in fed] == [first] + [1] * (tokens - first)
    assert np.array_equal(np.concatenate(fed, axis=1), fixture.x)


def test_without_a_step_or_a_second_token_nothing_is_observed(sample: Fixture) -> None:
    reason = toy.unseen(toy.calls(total), sample, cache.DETECTOR)
    assert reason == "no cache is declared; give 'step' beside 'call'"
    one = Fixture(replace(toy.EXTENTS, tokens=1), 0)
    assert toy.unseen(stepping(right), one, cache.DETECTOR) == "one token: there is nothing to continue with"


def test_a_cache_is_for_causal_sequences(sample: Fixture) -> None:
    assert cache.DETECTOR.kinds == {"block", "self_attention", "model"}
    open_ = replace(stepping(right), declares=frozenset())
    assert toy.unseen(open_, sample, cache.DETECTOR) == "not applicable: it assumes causal"
