"""A pair after one public report: the code with the defect, the same code without it, and what should be said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from detectors import checking, foreign
from detectors.checking import Checked
from detectors.foreign import Foreign
from detectors.testing import NO_TARGET, Here
from faults import registry, relatives, results

Make = Callable[[], Any]


@dataclass(frozen=True)
class Pair:
    """report: its number in the collection. wrong, right: functions that make the two subjects. family, variant: what
    it is; the variant is empty where the report describes one that has no name. declared: what a user says of both."""

    report: str
    wrong: Make
    right: Make
    family: str
    variant: str = ""
    declared: Mapping[str, Any] = field(default_factory=dict)


def examined(subject: Any, declared: Mapping[str, Any]) -> Checked:
    """Verdict and diagnosis, as `check` gives them, in this process."""
    here = Foreign(host := Here(subject), foreign.load(host, NO_TARGET), declared)
    return checking.check(
        here.subject("subject"),
        here.fixtures(),
        (*results.expected(registry.all_faults()), *relatives.OTHERWISE),
        relatives=relatives.expected(),
        questions=here.questions,
        limits=here.limits,
    )


@dataclass(frozen=True)
class Row:
    """What became of one pair: `said` is the family that was named, or "-", with its nearest variant."""

    pair: Pair
    detected: bool
    said: str
    variant: str
    broken: tuple[str, ...]
    verdict: str
    """Of the half without the defect."""


def row(pair: Pair) -> Row:
    """The same pair is examined once."""
    if pair.report not in _ROWS:
        _ROWS[pair.report] = _row(pair)
    return _ROWS[pair.report]


_ROWS: dict[str, Row] = {}


def _row(pair: Pair) -> Row:
    wrong, right = examined(pair.wrong(), pair.declared), examined(pair.right(), pair.declared)
    named = wrong.named[0] if len(wrong.named) == 1 else " = ".join(wrong.named) or "-"
    nearest = next((found.variant for found in wrong.candidates if found.fault == named), "")
    return Row(pair, bool(wrong.broken), named, nearest, _names(wrong), right.verdict)


def _names(checked: Checked) -> tuple[str, ...]:
    return tuple(finding.detector.name for finding in checked.broken)
