"""What a call in 16 bits adds to an examination in 32: numbers lost there, or an exception there alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.checking import Checked, check
from detectors.diagnosis import Candidate, Expected
from detectors.fixtures import Fixture
from detectors.host import SubjectRaised
from detectors.precision import Narrow, in_its_own_precision, narrowed
from tests.detectors import toy

Array = NDArray[Any]

CONVERTED = "bfloat16 parameters were examined as float32"


def gives(*values: float) -> Any:
    return lambda: np.array(values)


def raises(text: str) -> Any:
    def call() -> Array:
        raise SubjectRaised(text)

    return call


@pytest.mark.parametrize(
    ("call", "narrow", "note"),
    [
        (gives(1, 2), Narrow("bfloat16", 0.0, ""), "one call in bfloat16 itself gave finite numbers"),
        (gives(1, np.inf, np.nan, 2, 3, 4, 5, 6), Narrow("bfloat16", 0.25, ""), ""),
        (raises("ValueError: shapes"), Narrow("bfloat16", 0.0, "ValueError: shapes"), ""),
        (
            raises("RuntimeError: \"addmm\" not implemented for 'Half'"),
            Narrow("", 0.0, ""),
            "this machine cannot run it in bfloat16",
        ),
        (
            raises("RuntimeError: softmax does not support BFloat16"),
            Narrow("", 0.0, ""),
            "this machine cannot run it in bfloat16",
        ),
    ],
)
def test_what_one_call_in_16_bits_gave_is_kept(call: Any, narrow: Narrow, note: str) -> None:
    assert narrowed(["the call writes into its input", CONVERTED], call) == (narrow, note)


def test_nothing_is_called_where_nothing_was_converted() -> None:
    assert narrowed(["the call writes into its input"], raises("never")) == (Narrow("", 0.0, ""), "")
    assert Narrow() == Narrow("", 0.0, "")


SOUND = Fixture(toy.EXTENTS, 1)
LEAK = Expected("leak", "all", frozenset({"future", "prefix"}), {"block": "full"})


def sound() -> Checked:
    return check(toy.Toy().subject(SOUND), [SOUND], [LEAK])


def leaky() -> Checked:
    return check(toy.calls(lambda x: x + np.tanh(x.mean(axis=1, keepdims=True))), [SOUND], [LEAK])


def verdicts(found: Checked) -> dict[str, str]:
    return {finding.detector.name: finding.verdict for finding in found.findings}


@pytest.mark.parametrize("narrow", [Narrow(), Narrow("float16")])
def test_a_call_that_went_well_changes_nothing(narrow: Narrow) -> None:
    found = sound()
    assert in_its_own_precision(found, narrow) is found


def test_numbers_lost_in_16_bits_break_the_contract_on_finite_ones() -> None:
    before = sound()
    found = in_its_own_precision(before, Narrow("float16", lost=0.25))
    assert found.verdict == "broken"
    finite = found.finding("finite")
    assert (finite.value, finite.verdict, finite.reason) == (0.25, "broken", "in its own float16")
    assert finite.fixture is None
    assert verdicts(found) == {**verdicts(before), "finite": "broken"}
    assert found.named == ("not_finite",)
    assert found.candidates == (Candidate("not_finite", "in_places", 0.0), *before.candidates)
    assert found.failures == before.failures
    assert (found.subject, found.patterns) == (before.subject, before.patterns)


def test_an_exception_in_16_bits_breaks_the_contract_on_the_shape() -> None:
    before = replace(sound(), failures=("ValueError: before",))
    found = in_its_own_precision(before, Narrow("float16", raised="RuntimeError: boom"))
    assert found.verdict == "broken"
    shape = found.finding("shape")
    assert (shape.value, shape.verdict, shape.reason) == (1.0, "broken", "in its own float16")
    assert verdicts(found) == {**verdicts(before), "shape": "broken"}
    assert found.failures == ("float16: RuntimeError: boom", "ValueError: before")
    assert (found.named, found.candidates) == (before.named, before.candidates)


def test_what_is_broken_in_32_bits_already_keeps_its_name() -> None:
    before = leaky()
    found = in_its_own_precision(before, Narrow("float16", lost=0.5))
    assert found.named == before.named == ("leak",)
    assert found.candidates == before.candidates
    assert found.finding("finite").value == 0.5


def test_a_contract_broken_in_32_bits_stays_as_it_was_found() -> None:
    before = check(toy.calls(lambda x: x * np.nan), [SOUND])
    assert in_its_own_precision(before, Narrow("float16", lost=0.5)) is before
