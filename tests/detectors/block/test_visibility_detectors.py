"""The contracts on who sees whom: future, reach, prefix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import influence
from detectors.block import future, prefix, reach
from detectors.detector import Detector
from detectors.examination import measure
from detectors.fixtures import Fixture
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]


def seeing(weights: Array) -> Subject:
    """y[t] = sum over s of weights[t, s] * x[s]."""
    return toy.calls(lambda x: np.einsum("ts,bsd->btd", weights[: x.shape[1], : x.shape[1]], x))


CAUSAL = np.tril(np.ones((5, 5)))
MEAN = CAUSAL / np.arange(1, 6)[:, None]


def moves(fixture: Fixture) -> Array:
    """How far each token is moved, read off the calls that are made."""
    calls: list[Array] = []

    def function(x: Array) -> Array:
        calls.append(x)
        return x

    toy.quiet(toy.calls(function), fixture, future.DETECTOR)
    copies = calls[-1]
    sizes: Array = np.abs(copies[1:] - copies[0]).max(axis=(1, 2))
    return sizes


def test_future_is_the_largest_change_above_the_diagonal_over_the_largest_of_all(sample: Fixture) -> None:
    leaking = CAUSAL.copy()
    leaking[1, 3] = 0.25
    sizes = moves(sample)
    expected = 0.25 * sizes[3] / sizes.max()
    assert toy.fired(seeing(leaking), sample, future.DETECTOR) == pytest.approx(expected)


@pytest.mark.parametrize("pair", [(0, 1), (0, 4), (3, 4)])
def test_future_sees_a_faint_leak_at_any_pair(pair: tuple[int, int], sample: Fixture) -> None:
    leaking = CAUSAL.copy()
    leaking[pair] = 1e-5
    toy.fired(seeing(leaking), sample, future.DETECTOR)


def test_future_looks_at_the_future_alone(sample: Fixture) -> None:
    assert toy.quiet(seeing(CAUSAL), sample, future.DETECTOR) == 0
    assert toy.quiet(seeing(np.eye(5)), sample, future.DETECTOR) == 0
    assert toy.quiet(toy.calls(np.zeros_like), sample, future.DETECTOR) == 0


def test_future_of_one_token_is_zero() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=1), 0)
    assert toy.quiet(toy.calls(lambda x: x), fixture, future.DETECTOR) == 0


def test_future_sees_a_leak_into_a_long_sequence() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=33), 0)
    weights = np.tril(np.ones((33, 33)))
    weights[30, 32] = 1e-3  # the last token is always among those that are moved
    toy.fired(seeing(weights), fixture, future.DETECTOR)


def test_reach_is_the_share_of_dead_pairs_below_the_diagonal(sample: Fixture) -> None:
    deaf = MEAN.copy()
    deaf[2:, 1] = 0  # 3 of the 10 pairs
    assert toy.fired(seeing(deaf), sample, reach.DETECTOR) == pytest.approx(0.3)
    deaf = MEAN.copy()
    deaf[4, 0] = 0
    assert toy.fired(seeing(deaf), sample, reach.DETECTOR) == pytest.approx(0.1)


def test_reach_does_not_care_about_the_diagonal_or_the_future(sample: Fixture) -> None:
    assert toy.quiet(seeing(MEAN), sample, reach.DETECTOR) == 0
    assert toy.quiet(seeing(np.tril(MEAN, -1)), sample, reach.DETECTOR) == 0
    assert toy.quiet(seeing(np.ones((5, 5))), sample, reach.DETECTOR) == 0


def test_reach_is_one_where_tokens_keep_to_themselves(sample: Fixture) -> None:
    assert toy.fired(toy.calls(lambda x: x), sample, reach.DETECTOR) == 1
    assert toy.fired(seeing(np.triu(np.ones((5, 5)))), sample, reach.DETECTOR) == 1


def test_reach_of_one_token_is_not_observable() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=1), 0)
    assert toy.unseen(toy.calls(lambda x: x), fixture, reach.DETECTOR) == "one token: there is no past"


def test_reach_takes_a_thousandth_of_the_median_for_dead(
    sample: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for share, dead in ((1e-3, 1), (0.00101, 0)):
        monkeypatch.setattr(influence, "reach", lambda observation, share=share: np.full((5, 5), share))
        assert measure(toy.calls(lambda x: x), sample, reach.DETECTOR).value == dead


@pytest.mark.parametrize(
    ("tokens", "first"), [(2, 1), (3, 1), (5, 2), (7, 3)], ids=lambda number: str(number)
)
def test_prefix_is_the_change_of_the_first_tokens_computed_alone(tokens: int, first: int) -> None:
    # alone `first` times x, within the whole `tokens` times x
    fixture = Fixture(replace(toy.EXTENTS, tokens=tokens), 0)
    subject = toy.calls(lambda x: x * x.shape[1])
    assert toy.fired(subject, fixture, prefix.DETECTOR) == pytest.approx((tokens - first) / tokens)


@pytest.mark.parametrize("tokens", range(2, 12))
def test_prefix_is_always_shorter_than_the_whole(tokens: int) -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=tokens), 0)
    toy.fired(toy.calls(lambda x: x * x.shape[1]), fixture, prefix.DETECTOR)


def test_prefix_does_not_mind_the_past(sample: Fixture) -> None:
    assert toy.quiet(seeing(MEAN), sample, prefix.DETECTOR) < 1e-12


def test_prefix_of_one_token_is_not_observable() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=1), 0)
    reason = toy.unseen(toy.calls(lambda x: x), fixture, prefix.DETECTOR)
    assert reason == "one token: there is no shorter prefix"


@pytest.mark.parametrize("module", [future, reach, prefix])
def test_nan_fires(module: Any, sample: Fixture) -> None:
    detector: Detector = module.DETECTOR
    toy.fired(toy.calls(lambda x: x * np.nan), sample, detector)


@pytest.mark.parametrize("module", [future, reach, prefix])
def test_no_access_but_calling_is_needed(module: Any, sample: Fixture) -> None:
    assert module.DETECTOR.needs == "call"
    toy.quiet(seeing(MEAN), sample, module.DETECTOR)
