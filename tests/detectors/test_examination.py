from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.block import finite, shape
from detectors.catalogue import BY_NAME, DETECTORS
from detectors.detector import Signal
from detectors.examination import Examination, examine, measure
from detectors.fixtures import Extents, Fixture
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]


@pytest.mark.parametrize("extents", toy.SOUND, ids=str)
def test_a_sound_block_is_quiet_without_a_failed_call(extents: Extents) -> None:
    fixture = Fixture(extents, 0)
    found = examine(toy.Toy().subject(fixture), fixture)
    assert found.fired == frozenset()
    assert found.failures == ()
    assert set(found.patterns.values()) == {"causal"}
    assert "calls" not in found.patterns


def test_signals_come_in_the_order_of_the_catalogue(sample: Fixture) -> None:
    found = examine(toy.Toy().subject(sample), sample)
    assert [signal.detector for signal in found.signals] == list(DETECTORS)
    assert found.observed == {detector.name for detector in DETECTORS}


def test_only_the_detectors_asked_for_are_measured(sample: Fixture) -> None:
    found = examine(toy.calls(lambda x: x * np.nan), sample, (finite.DETECTOR,))
    assert [signal.detector.name for signal in found.signals] == ["finite"]
    assert found.fired == {"finite"}
    assert found.value("finite") == 1.0


def test_what_could_not_be_measured_has_a_reason_and_no_value(sample: Fixture) -> None:
    found = examine(toy.calls(lambda x: x), sample)
    signal = next(signal for signal in found.signals if signal.detector.name == "slope")
    assert (signal.value, signal.fired) == (None, False)
    assert (
        signal.reason == "the subject's attention cannot be called by itself, nor its operations be followed"
    )
    assert "slope" not in found.observed
    assert found.value("slope") is None


def test_what_does_not_apply_has_a_reason_and_no_value(sample: Fixture) -> None:
    subject = replace(toy.calls(lambda x: x * np.nan), declares=frozenset())
    found = measure(subject, sample, BY_NAME["future"])
    assert found == Signal(BY_NAME["future"], None, "not applicable: it assumes causal")


def test_nan_and_what_could_not_be_measured_tell_nothing() -> None:
    values = {"rows": float("nan"), "slope": None, "future": float("inf"), "finite": 0.0}
    found = Examination(tuple(Signal(BY_NAME[name], value) for name, value in values.items()), {}, ())
    assert found.fired == {"rows", "future"}
    assert found.told == {"future", "finite"}


def test_examinations_repeat_to_the_bit(sample: Fixture) -> None:
    first, again = (examine(toy.Toy().subject(sample), Fixture(toy.EXTENTS, 1)) for _ in range(2))
    assert first == again


def raises_unless_square(x: Array, weights: Mapping[str, Array]) -> Array:
    if x.shape[1] != 4:
        raise ValueError(f"axes: {x.shape[1]} tokens")
    return x


def test_code_that_works_only_with_as_many_tokens_as_heads_is_examined_there(sample: Fixture) -> None:
    found = examine(Subject("square", raises_unless_square, sample.weights), sample)
    assert found.patterns["calls"] == "fail unless square"
    assert found.failures[0] == "ValueError: axes: 5 tokens"
    assert found.value("finite") == 0
    assert {"shape", "reach"} <= found.fired


def test_measuring_one_detector_falls_back_to_the_square_as_well(sample: Fixture) -> None:
    subject = Subject("square", raises_unless_square, sample.weights)
    assert measure(subject, sample, finite.DETECTOR).value == 0
    assert measure(subject, sample, shape.DETECTOR).value == 1


def test_code_that_works_nowhere_fails_with_every_call_counted(sample: Fixture) -> None:
    def nowhere(x: Array) -> Array:
        raise ValueError("no")

    found = examine(toy.calls(nowhere), sample)
    assert found.patterns == {"calls": "fail"}
    assert found.fired == {"shape"}
    assert set(found.failures) == {"ValueError: no"}
    # The plain call here and in the square; then future, reach, skip, each with inputs of its own.
    assert found.value("shape") == len(found.failures) == 5


def test_where_plain_calls_work_nothing_is_said_of_calls(sample: Fixture) -> None:
    def large_batches_fail(x: Array) -> Array:
        if len(x) > 2:
            raise MemoryError
        return x

    found = examine(toy.calls(large_batches_fail), sample)
    assert "calls" not in found.patterns
    assert "shape" in found.fired
    assert found.value("finite") == 0


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("at", [1, 2, 5])
def test_an_interruption_passes_through(interruption: type[BaseException], at: int, sample: Fixture) -> None:
    calls: list[int] = []

    def function(x: Array) -> Array:
        calls.append(1)
        if len(calls) == at:
            raise interruption
        return x

    with pytest.raises(interruption):
        examine(toy.calls(function), sample)


def test_numpy_warnings_of_the_subject_do_not_show_and_its_settings_are_left_alone(sample: Fixture) -> None:
    before = np.geterr()
    found = examine(toy.calls(lambda x: np.sqrt(-np.abs(x)) / np.zeros_like(x)), sample)
    assert "finite" in found.fired
    assert measure(toy.calls(lambda x: x / np.zeros_like(x)), sample, finite.DETECTOR).value == 1
    assert np.geterr() == before


def watched(fixture: Fixture) -> tuple[Subject, list[Array]]:
    """The toy, and every array that is handed to it."""
    given: list[Array] = []

    def call(x: Array, weights: Mapping[str, Array]) -> Array:
        given.extend([x, *weights.values()])
        return toy.Toy().block(fixture, x, {**fixture.weights, **weights})

    def attention(query: Array, key: Array, value: Array) -> Array:
        given.extend([query, key, value])
        return toy.Toy().attention(query, key, value)

    return Subject("watched", call, fixture.weights, attention), given


@pytest.mark.parametrize("extents", toy.SOUND, ids=str)
def test_a_subject_is_handed_read_only_arrays_of_the_declared_dtype_alone(extents: Extents) -> None:
    fixture = Fixture(extents, 0)
    subject, given = watched(fixture)
    examine(subject, fixture)
    assert len(given) > 20
    assert {array.dtype for array in given} == {fixture.dtype}
    assert not any(array.flags.writeable for array in given)


def test_a_subject_that_writes_into_its_input_is_found_out(sample: Fixture) -> None:
    def function(x: Array) -> Array:
        x += 1
        return x

    before = sample.x.copy()
    found = examine(toy.calls(function), sample)
    assert "shape" in found.fired
    assert "read-only" in found.failures[0]
    np.testing.assert_array_equal(sample.x, before)


DEFECTS: dict[str, tuple[toy.Toy, set[str]]] = {
    "no mask": (
        toy.Toy(hidden=lambda queries, keys: np.zeros((queries, keys), bool)),
        {"future", "prefix", "heads", "future_weight", "first_token", "zero_query", "huge_logits"},
    ),
    "weak fill": (toy.Toy(fill=toy.added(-1e4)), {"huge_logits"}),
    "no scale": (toy.Toy(factor=lambda heads, width: 1.0), {"heads", "slope", "duplication"}),
    "tiled": (toy.Toy(spread=lambda x, groups: np.concatenate([x] * groups, axis=1)), {"heads", "isolation"}),
    "wrong corner": (
        toy.Toy(hidden=lambda queries, keys: np.triu(np.ones((queries, keys), bool), 1)),
        {"short_queries"},
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_defect_fires_its_own_contracts_and_no_others(defect: str, dtype: str) -> None:
    made, fires = DEFECTS[defect]
    fixture = Fixture(replace(toy.EXTENTS, dtype=dtype, batch=3), 0)
    assert examine(made.subject(fixture), fixture).fired == fires


def test_at_the_level_call_only_the_contracts_on_calls_are_observed(sample: Fixture) -> None:
    found = examine(toy.calls(lambda x: x), sample)
    on_calls = {"finite", "repeatability", "batch", "future", "reach", "prefix", "skip", "shape"}
    assert found.observed == on_calls
    assert found.fired == {"reach"}
    assert found.value("reach") == 1.0
