"""What is said of one subject that was checked: the verdict, the defect it looks like, the repair, the witness."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from detectors.checking import BROKEN, FRAGILE, SOUND, UNDECIDED, Checked, Finding, smallest
from detectors.declaration import Declaration
from detectors.diagnosis import Candidate
from detectors.fixtures import Fixture
from faults import relatives
from faults.model import Fault, Text

UNUSABLE = "unusable"
"""Verdict on a subject that could not be built, or could not be called."""

GOOD, BAD, USAGE, NO_SUBJECT = 0, 1, 2, 3


@dataclass(frozen=True)
class Named:
    """A defect with its nearest variant: in words, how to repair it, and whether it is one of the five."""

    fault: str
    variant: str
    distance: float
    wrong: Text
    repair: Text
    own: bool


@dataclass(frozen=True)
class Witness:
    """The smallest fixture on which the leading contract is broken."""

    finding: Finding
    fixture: Fixture


@dataclass(frozen=True)
class Answer:
    """One subject's part of the report. checked is None where there was nothing to measure: `cause` says why.

    code: the exit code of that. nearest: the defects named, several where they tie. runner_up: the next one.
    advice: what to declare where the subject is meant to be as it is. questions: what has to be declared to go on.
    """

    subject: str
    checked: Checked | None = None
    declared: Declaration | None = None
    cause: str = ""
    code: int = GOOD
    notes: tuple[str, ...] = ()
    nearest: tuple[Named, ...] = ()
    runner_up: Named | None = None
    witness: Witness | None = None
    advice: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        """sound, fragile, broken, undecided or unusable."""
        return self.checked.verdict if self.checked is not None else UNUSABLE

    def exit_code(self, strict: bool) -> int:
        """0 unless something is broken (1), or was fragile or undecided under `strict` (1), or worse."""
        if self.checked is None:
            return self.code
        bad = (BROKEN, FRAGILE, UNDECIDED) if strict else (BROKEN,)
        return BAD if self.verdict in bad else GOOD


def answer(
    name: str, checked: Checked, declared: Declaration, faults: Iterable[Fault], notes: Iterable[str] = ()
) -> Answer:
    """The answer for a subject that could be measured."""
    known = {fault.name: fault for fault in faults}
    nearest = tuple(_named(found, known) for found in _nearest(checked))
    others = [
        found for found in checked.candidates if found.fault not in checked.named and found.distance < 1
    ]
    return Answer(
        subject=name,
        checked=checked,
        declared=declared,
        notes=tuple(notes),
        nearest=nearest,
        runner_up=_named(others[0], known) if others and nearest else None,
        witness=_witness(checked),
        advice=_advice(checked, declared),
    )


def _nearest(checked: Checked) -> list[Candidate]:
    return [found for found in checked.candidates if found.fault in checked.named]


def _named(found: Candidate, known: dict[str, Fault]) -> Named:
    relative = relatives.find(found.fault)
    if relative is not None:
        return Named(found.fault, found.variant, found.distance, relative.wrong, relative.repair, own=False)
    fault = known[found.fault]
    summary = next(variant.summary for variant in fault.variants if variant.name == found.variant)
    wrong = {language: f"{fault.title[language]}: {summary[language]}" for language in summary}
    return Named(found.fault, found.variant, found.distance, wrong, fault.repair, own=True)


def _witness(checked: Checked) -> Witness | None:
    """Of the contract that says most about which fault it is."""
    if checked.verdict == SOUND or not checked.broken:
        return None
    leading = max(checked.broken, key=lambda finding: finding.detector.weight)
    fixture = smallest(checked.subject, leading)
    return Witness(leading, fixture) if fixture is not None else None


FLAGS = (
    (("future", "future_weight", "first_token", "prefix"), "causal", "--no-causal"),
    (("reach",), "window", "--window N"),
    (("short_queries",), "cached", "--no-cached"),
    (("skip", "gradient_flow"), "norm", "--norm post, --design scaled"),
    (("attention_branch", "feed_forward_branch"), "norm", "--norm post"),
    (("order",), "design", "--design parallel"),
)
"""Contracts, the declared key they depend on, and the flags that say the subject is meant to be so."""


def _advice(checked: Checked, declared: Declaration) -> tuple[str, ...]:
    broken = {finding.detector.name for finding in checked.broken}
    unset = Declaration()
    return tuple(
        flags
        for names, key, flags in FLAGS
        if broken & set(names) and getattr(declared, key) == getattr(unset, key)
    )
