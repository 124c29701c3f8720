"""The contracts on calls with a padding mask: padding, padded_reach, padded_rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import influence
from detectors.detector import Detector
from detectors.examination import measure
from detectors.fixtures import Fixture
from detectors.patterns import ALIVE
from detectors.second import padded_reach, padded_rows, padding
from tests.detectors import toy

Array = NDArray[Any]
Call = Callable[[Array, Array], Array]

ALL = (padding.DETECTOR, padded_reach.DETECTOR, padded_rows.DETECTOR)


def takes(call: Call) -> Any:
    """A subject whose padded call is the function given, and whose plain call hands x back."""
    return replace(toy.calls(lambda x: x), padded=call)


def mean(seen: Array, x: Array) -> Array:
    """The mean of what each query sees, [batch, query, key]; 0 where that is nothing."""
    found: Array = seen @ x / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return found


def causal(tokens: int) -> Array:
    return np.tri(tokens, dtype=bool)


def over_keys(x: Array, keep: Array) -> Array:
    return mean(causal(x.shape[1]) & keep[:, None], x)


def over_queries(x: Array, keep: Array) -> Array:
    return mean(causal(x.shape[1]) & keep[..., None], x)


def ignored(x: Array, keep: Array) -> Array:
    return mean(np.broadcast_to(causal(x.shape[1]), (len(x), x.shape[1], x.shape[1])), x)


def inverted(x: Array, keep: Array) -> Array:
    return over_keys(x, ~keep)


def hides_the_first(x: Array, keep: Array) -> Array:
    """One token too many."""
    return over_keys(x, keep & np.roll(keep, 1, axis=1))


def swapped(x: Array, keep: Array) -> Array:
    """Each sequence with the mask of the next one."""
    return over_keys(x, np.roll(keep, 1, axis=0))


def lost(x: Array, keep: Array) -> Array:
    """Rows that see nothing are no numbers."""
    seen = causal(x.shape[1]) & keep[:, None]
    with np.errstate(all="ignore"):
        return mean(seen, x) / seen.any(axis=-1, keepdims=True)


def both_ways(x: Array, keep: Array) -> Array:
    return mean(np.broadcast_to(keep[:, None], (len(x), x.shape[1], x.shape[1])), x)


@pytest.mark.parametrize(
    ("call", "broken"),
    [
        (over_keys, []),
        (both_ways, []),
        (ignored, ["padding"]),
        (over_queries, ["padding"]),
        (swapped, ["padding"]),
        (inverted, ["padding", "padded_reach"]),
        (hides_the_first, ["padded_reach"]),
        (lost, ["padded_rows"]),
        (lambda x, keep: x, ["padded_reach"]),
    ],
)
def test_each_way_to_get_a_padding_mask_wrong_breaks_its_contract(
    call: Call, broken: list[str], sample: Fixture
) -> None:
    found = {one.name: measure(takes(call), sample, one) for one in ALL}
    assert [name for name, signal in found.items() if signal.fired] == broken
    assert None not in [signal.value for signal in found.values()]


def test_padding_is_the_change_at_real_tokens_over_the_largest_output_there(sample: Fixture) -> None:
    totals: list[Array] = []

    def call(x: Array, keep: Array) -> Array:
        totals.append(x.sum(axis=(1, 2), keepdims=True))
        return np.where(keep[..., None], totals[-1], 1e9 * x)

    found = toy.fired(takes(call), sample, padding.DETECTOR)
    before, after = totals
    assert found == pytest.approx(np.abs(after - before).max() / np.abs(before).max())


def test_a_faint_trace_of_the_padding_breaks_the_contract(sample: Fixture) -> None:
    def faint(x: Array, keep: Array) -> Array:
        return over_keys(x, keep) + 1e-5 * ignored(x, keep)

    toy.fired(takes(faint), sample, padding.DETECTOR)


def test_padded_rows_is_the_share_of_values_that_are_no_numbers(sample: Fixture) -> None:
    # one token of padding before the first sequence, two before the second: 3 rows of 10
    assert toy.fired(takes(lost), sample, padded_rows.DETECTOR) == pytest.approx(0.3)


# sources 1 and 2 stand behind as many tokens of padding, sources 3 and 4 behind two: 3 + 2 + 1 pairs
@pytest.mark.parametrize(("call", "share"), [(inverted, 1), (hides_the_first, 5 / 6), (over_keys, 0)])
def test_padded_reach_is_the_share_of_real_pairs_without_influence(
    call: Call, share: float, sample: Fixture
) -> None:
    assert measure(takes(call), sample, padded_reach.DETECTOR).value == pytest.approx(share)


def test_padded_reach_hides_up_to_half_of_the_tokens_before_each_source(sample: Fixture) -> None:
    seen: list[Array] = []

    def call(x: Array, keep: Array) -> Array:
        assert np.array_equal(x, influence.nudged(sample))
        seen.append(keep)
        return over_keys(x, keep)

    toy.quiet(takes(call), sample, padded_reach.DETECTOR)
    (keep,) = seen
    # [sign, direction, source]
    assert (~keep).sum(axis=1).tolist() == [1, 1, 2, 2, 2] * 4
    assert (np.diff(keep.astype(int), axis=1) >= 0).all()


def test_padded_reach_weighs_each_row_by_the_number_of_real_tokens_it_sees(
    sample: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[Array, Array]] = []

    def over_the_median(weighed: Array, past: Array) -> Array:
        given.append((weighed, past))
        return np.full_like(weighed, ALIVE)

    monkeypatch.setattr(influence, "over_the_median", over_the_median)
    assert toy.fired(takes(over_keys), sample, padded_reach.DETECTOR) == 1
    ((weighed, past),) = given
    pairs = [[at, source] for at, source in np.argwhere(past)]
    assert pairs == [[2, 1], [3, 1], [3, 2], [4, 1], [4, 2], [4, 3]]
    assert weighed[past] == pytest.approx(np.full(6, weighed[2, 1]), rel=1e-6)
    # one of two real tokens moves both ways
    moves = influence.nudged(sample)[:, 0].reshape(2, 2, 5, -1)[..., 0, :]
    assert weighed[2, 1] == pytest.approx(np.abs(moves[0] - moves[1]).max())


def test_padded_reach_takes_its_median_from_real_pairs(sample: Fixture) -> None:
    def loud(x: Array, keep: Array) -> Array:
        return np.where(keep[..., None], over_keys(x, keep), 1e6 * x)

    toy.quiet(takes(loud), sample, padded_reach.DETECTOR)


@pytest.mark.parametrize("detector", ALL, ids=lambda detector: detector.name)
def test_without_a_declared_mask_nothing_is_observed(detector: Detector, sample: Fixture) -> None:
    reason = toy.unseen(toy.calls(lambda x: x), sample, detector)
    assert reason == "no padding mask is declared; say --padding NAME"


def test_a_padded_call_that_fails_breaks_the_contracts(sample: Fixture) -> None:
    for detector in ALL:
        assert toy.fired(takes(lambda x, keep: x + keep), sample, detector) == np.inf
        assert toy.unseen(replace(takes(over_keys), call=lambda x, weights: x[0]), sample, detector)


def test_too_few_tokens_show_no_padding() -> None:
    one, two = (Fixture(replace(toy.EXTENTS, tokens=tokens), 0) for tokens in (1, 2))
    for detector in (padding.DETECTOR, padded_rows.DETECTOR):
        assert toy.unseen(takes(over_keys), one, detector) == "one token: there is nothing to pad"
        toy.quiet(takes(over_keys), two, detector)
    for fixture in (one, two):
        reason = toy.unseen(takes(over_keys), fixture, padded_reach.DETECTOR)
        assert reason == "too few tokens: behind padding there is no past"
    three = Fixture(replace(toy.EXTENTS, tokens=3), 0)
    assert toy.fired(takes(inverted), three, padded_reach.DETECTOR) == 1


def test_padding_says_something_about_windows_and_about_what_is_not_causal(sample: Fixture) -> None:
    narrow = replace(takes(over_keys), declares=frozenset())
    assert toy.unseen(narrow, sample, padded_reach.DETECTOR) == "not applicable: it assumes unwindowed"
    for detector in (padding.DETECTOR, padded_rows.DETECTOR):
        toy.quiet(narrow, sample, detector)
    both = replace(takes(both_ways), declares=frozenset({"unwindowed"}))
    toy.quiet(both, sample, padded_reach.DETECTOR)
    for kind in ("self_attention", "model"):
        toy.quiet(replace(takes(over_keys), kind=kind), sample, padding.DETECTOR)
    alone = replace(takes(over_keys), kind="attention")
    for detector in ALL:
        assert toy.unseen(alone, sample, detector) == "not for a subject of kind attention"
