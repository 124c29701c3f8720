"""Contracts in somebody's own test suite: `check_subject` for one examination, or one test per contract.

    from detectors.testing import parametrize_with_contracts

    @parametrize_with_contracts({"block": lambda: Block(Config())}, heads=4, norm="pre")
    def test_contracts(contract):
        contract.check()

The subject lives in the test's own process; nothing of pytest is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import checking, foreign, looked_for
from detectors.checking import BROKEN, HOLDS, NAMES, SOUND, UNDECIDED, Checked
from detectors.declaration import Question
from detectors.diagnosis import Expected
from detectors.errors import DetectorError
from detectors.foreign import Foreign, Target
from detectors.guest import program, subjects
from detectors.guest.refusal import Refused, worded
from detectors.host import Answer, GuestError, SubjectRaised
from detectors.precision import in_its_own_precision

Array = NDArray[Any]

NO_TARGET = Target("", "")


class Here:
    """A host in this very process: it holds a subject that is there already."""

    def __init__(self, subject: Any) -> None:
        self._state = {"subject": subject}

    def restorer(self) -> Callable[[], None]:
        """What gives the subject back its modes and its precision. Raises GuestError where it cannot be called."""
        try:
            return subjects.restorer(self._state["subject"])
        except Refused as error:
            raise GuestError(str(error)) from None

    def request(self, header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
        """(header, arrays) of the answer. Raises SubjectRaised or GuestError."""
        try:
            return program.answer(self._state, dict(header), [np.ascontiguousarray(one) for one in arrays])
        except Refused as error:
            raise GuestError(str(error)) from None
        except Exception as error:  # whatever somebody's code raises is a finding about it
            raise SubjectRaised(worded(error)) from error


def check_subject(
    subject: Any, *, seed: int = 0, expected: Iterable[Expected] = (), **declared: Any
) -> Checked:
    """The examination of a callable, module or mapping in this process; `declared` as in `Declaration`.

    Sound only where each of the five faults was looked for; else undecided, and `unseen` says which was not and why.
    A torch module is in eval mode meanwhile. expected: signatures of faults, for a diagnosis. Raises DetectorError
    where the subject cannot be used, or something has to be declared that cannot be inferred.
    """
    host = Here(subject)
    restore = host.restorer()
    try:
        return _checked(Foreign(host, foreign.load(host, NO_TARGET), declared), seed, expected)
    finally:
        restore()


def _checked(here: Foreign, seed: int, expected: Iterable[Expected]) -> Checked:
    if here.problem:
        raise GuestError(here.problem)
    found = checking.check(
        here.subject("subject"),
        here.fixtures(seed),
        expected,
        questions=here.questions,
        limits=here.limits,
        roundoff=here.roundoff,
    )
    if here.problem:
        raise GuestError(here.problem)
    return _decided(in_its_own_precision(found, here.narrow), here.declared.heads)


def _decided(found: Checked, heads: int | None) -> Checked:
    unseen = looked_for.unseen(found, heads)
    verdict = UNDECIDED if found.verdict == SOUND and unseen else found.verdict
    return replace(found, verdict=verdict, unseen=unseen)


@dataclass(frozen=True)
class Examined:
    """A named subject that is built and examined once, when its first contract is asked."""

    name: str
    make: Callable[[], Any]
    declared: Mapping[str, Any]

    @cached_property
    def checked(self) -> Checked:
        return check_subject(self.make(), **self.declared)


@dataclass(frozen=True)
class Contract:
    """One contract on one subject, as a test. expected: why it is expected to be broken; empty where it is not."""

    name: str
    subject: Examined = field(repr=False)
    expected: str

    def check(self) -> None:
        """Passes where the contract holds, skips where it says nothing or could not be observed, fails where it is
        broken. An expected failure is strict: a contract that holds, or cannot be observed, fails too."""
        import pytest

        finding = self.subject.checked.finding(self.name)
        if self.expected:
            if finding.verdict == BROKEN:
                pytest.xfail(self.expected)
            pytest.fail(
                f"{self.name}: found {finding.verdict}, required: broken, since {self.expected}",
                pytrace=False,
            )
        if finding.verdict == BROKEN:
            pytest.fail(self._broken(finding), pytrace=False)
        if finding.verdict != HOLDS:
            pytest.skip(f"{finding.verdict}: {finding.reason}")

    def _broken(self, finding: checking.Finding) -> str:
        detector = finding.detector
        found = f"found {finding.value:.3g} {detector.unit}, required: at most {detector.threshold:g}"
        return f"{self.name}: {detector.law['en']}: {found}"


def contracts(
    subjects: Mapping[str, Callable[[], Any]],
    expected_failures: Mapping[str, str] | None = None,
    **declared: Any,
) -> list[Contract]:
    """Every contract on every subject; `subjects` maps names to functions that make them.

    expected_failures: contract -> reason. Raises DetectorError for a contract that does not exist.
    """
    reasons = expected_failures or {}
    unknown = sorted(set(reasons) - set(NAMES))
    if unknown:
        raise DetectorError(f"no contract is called {unknown[0]!r}; required: some of {', '.join(NAMES)}")
    empty = sorted(name for name, reason in reasons.items() if not reason)
    if empty:
        raise DetectorError(
            f"expected failure {empty[0]!r}: found no reason, required: a sentence that says why"
        )
    if not callable(next(iter(subjects.values()), None)):
        raise Question("subjects: required: a mapping from names to functions that make a subject")
    examined = [Examined(name, make, declared) for name, make in subjects.items()]
    return [Contract(name, one, reasons.get(name, "")) for one in examined for name in NAMES]


def parametrize_with_contracts(
    subjects: Mapping[str, Callable[[], Any]],
    expected_failures: Mapping[str, str] | None = None,
    **declared: Any,
) -> Any:
    """A decorator for a test of one argument `contract`: one test id for each contract, such as "block-future"."""
    import pytest

    made = contracts(subjects, expected_failures, **declared)
    return pytest.mark.parametrize("contract", made, ids=[f"{one.subject.name}-{one.name}" for one in made])
