"""The contracts on plain calls: finite, repeatability, batch, shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.block import batch, finite, repeatability, shape
from detectors.examination import examine
from detectors.fixtures import Fixture
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]


def spoilt(*bad: float) -> Subject:
    """x with its first values replaced."""

    def function(x: Array) -> Array:
        y = x.copy()
        y.flat[: len(bad)] = bad
        return y

    return toy.calls(function)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_is_the_share_of_values_that_are_not(bad: float, sample: Fixture) -> None:
    # 2 sequences of 5 tokens of 12 channels
    assert toy.fired(spoilt(bad), sample, finite.DETECTOR) == pytest.approx(1 / 120)
    assert toy.fired(spoilt(bad, bad, bad), sample, finite.DETECTOR) == pytest.approx(3 / 120)


def test_finite_lets_any_number_pass(sample: Fixture) -> None:
    assert toy.quiet(spoilt(1e300, -1e300, 0.0), sample, finite.DETECTOR) == 0


def counting(step: Callable[[Array, int], Array]) -> Subject:
    """A subject that changes with the number of its calls."""
    calls: list[int] = []

    def function(x: Array) -> Array:
        calls.append(1)
        return step(x.copy(), len(calls))

    return toy.calls(function)


def test_repeatability_is_the_share_of_values_that_differ(sample: Fixture) -> None:
    def one_value(x: Array, number: int) -> Array:
        x[1, 2, 3] = number
        return x

    assert toy.fired(counting(lambda x, number: x + number), sample, repeatability.DETECTOR) == 1
    assert toy.fired(counting(one_value), sample, repeatability.DETECTOR) == pytest.approx(1 / 120)


def test_repeatability_sees_the_last_bit(sample: Fixture) -> None:
    subject = counting(lambda x, number: x * (1 + number * np.finfo(float).eps))
    toy.fired(subject, sample, repeatability.DETECTOR)


def test_repeatability_does_not_mind_nan_that_stays(sample: Fixture) -> None:
    def sometimes(x: Array, number: int) -> Array:
        return x * np.nan if number == 2 else x

    assert toy.quiet(spoilt(np.nan), sample, repeatability.DETECTOR) == 0
    assert toy.fired(counting(sometimes), sample, repeatability.DETECTOR) == 1


def test_repeatability_is_not_fooled_by_a_buffer_used_again(sample: Fixture) -> None:
    buffer = np.zeros_like(sample.x)

    def fill(x: Array, number: int) -> Array:
        buffer[:] = x + number
        return buffer

    assert toy.fired(counting(fill), sample, repeatability.DETECTOR) == 1


def test_batch_is_the_change_of_a_sequence_computed_alone(sample: Fixture) -> None:
    # alone x, together 2 x: |x - 2 x| over |2 x|
    assert toy.fired(toy.calls(lambda x: x * len(x)), sample, batch.DETECTOR) == pytest.approx(0.5)


def test_batch_sees_a_mean_over_the_sequences(sample: Fixture) -> None:
    subject = toy.calls(lambda x: x + x.mean(axis=0))
    first, last = sample.x
    mean = (first + last) / 2
    # alone 2 x, together x + mean
    expected = max(np.abs(own - mean).max() / np.abs(own + mean).max() for own in (first, last))
    assert toy.fired(subject, sample, batch.DETECTOR) == pytest.approx(expected)


@pytest.mark.parametrize("way", [1, -1], ids=["from the sequences before", "from the sequences after"])
def test_batch_sees_attention_that_runs_over_the_batch_instead_of_the_tokens(way: int) -> None:
    # Batch and tokens confused under a causal mask: the first sequence (or the last) sees itself alone.
    fixture = Fixture(replace(toy.EXTENTS, batch=3), 0)
    toy.fired(toy.calls(lambda x: np.cumsum(x[::way], axis=0)[::way]), fixture, batch.DETECTOR)


@pytest.mark.parametrize("at", [0, -1])
def test_batch_sees_nan_in_either_comparison(at: int, sample: Fixture) -> None:
    def function(x: Array) -> Array:
        alone = len(x) == 1 and np.array_equal(x[0], sample.x[at])
        return x * np.nan if alone else x

    assert np.isnan(toy.fired(toy.calls(function), sample, batch.DETECTOR))


def test_one_sequence_has_nothing_to_interact_with() -> None:
    fixture = Fixture(replace(toy.EXTENTS, batch=1), 0)
    reason = toy.unseen(toy.calls(lambda x: x), fixture, batch.DETECTOR)
    assert reason == "one sequence: there is nothing to interact with"


def test_batch_does_not_mind_sequences_that_keep_to_themselves(sample: Fixture) -> None:
    assert toy.quiet(toy.calls(lambda x: x + x.sum(axis=1, keepdims=True)), sample, batch.DETECTOR) == 0


def test_shape_counts_the_calls_that_failed(sample: Fixture) -> None:
    # The plain call fails; with as many tokens as heads it works.
    subject = toy.calls(lambda x: x if x.shape[1] == 4 else x[:, :1])
    assert toy.fired(subject, sample, shape.DETECTOR) == 1
    assert toy.quiet(toy.calls(lambda x: x), sample, shape.DETECTOR) == 0


def test_shape_counts_what_failed_in_all_other_measurements(sample: Fixture) -> None:
    def whole_batches_only(x: Array) -> Array:
        if len(x) == 1:
            raise ValueError("one sequence")
        return x

    # Sequences computed alone fail, and nothing else: the first of them ends the comparison.
    assert examine(toy.calls(whole_batches_only), sample).value("shape") == 1


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda x: np.concatenate([x, x], axis=-1), id="joined"),
        pytest.param(lambda x: x.swapaxes(0, 1), id="sequence first"),
        pytest.param(lambda x: x[None], id="one axis more"),
        pytest.param(lambda x: x.reshape(-1), id="flat"),
        pytest.param(lambda x: None, id="nothing"),
    ],
)
def test_shape_fires_however_the_output_is_wrong(wrong: Callable[[Array], Array], sample: Fixture) -> None:
    toy.fired(toy.calls(wrong), sample, shape.DETECTOR)
