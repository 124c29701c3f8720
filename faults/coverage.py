"""Which of the five faults could have shown in an examination, and why the others could not.

A variant could have shown where one of the contracts that it breaks was measured. A fault was looked for where its
first variant, the one it is named after, could have shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from detectors.checking import ASSUMED, UNSEEN, Checked, Finding
from detectors.declaration import Declaration
from detectors.fixtures import Fixture
from faults.answers import ABSENT, CHECKED, HIDDEN, PART, Coverage
from faults.model import Fault, Variant

ELSEWHERE = {
    "residual_shape": (("attention", "self_attention"), "a subject of kind {kind} has no residual"),
    "head_seq_swap": (("attention",), "a subject of kind {kind} is given its heads"),
}
"""Faults that are outside some kinds of subjects, and why."""

CAUSAL = ("mask_adds_zero", "flipped_triangle")
"""Faults of a causal mask."""

SIZES = "it changes nothing at the declared sizes"


def coverage(
    checked: Checked, declared: Declaration, faults: Iterable[Fault], fixtures: Sequence[Fixture]
) -> tuple[Coverage, ...]:
    """One entry for each fault. The sizes of the `fixtures` decide what could show at all; with none everything."""
    return tuple(_covered(fault, checked, declared, fixtures) for fault in faults)


def _covered(fault: Fault, checked: Checked, declared: Declaration, fixtures: Sequence[Fixture]) -> Coverage:
    outside = _outside(fault.name, checked)
    if outside:
        return Coverage(fault.name, ABSENT, outside)
    possible = [one for one in fault.variants if _possible(one, checked, declared, fixtures)]
    if not possible:
        return Coverage(fault.name, ABSENT, SIZES)
    hidden = tuple(one.name for one in possible if not _shows(one, checked))
    if not hidden:
        return Coverage(fault.name, CHECKED)
    state = HIDDEN if possible[0].name in hidden else PART
    first = next(one for one in possible if one.name in hidden)
    return Coverage(fault.name, state, _reason(first, checked), hidden)


def _outside(fault: str, checked: Checked) -> str:
    kind = checked.subject.kind
    kinds, reason = ELSEWHERE.get(fault, ((), ""))
    if kind in kinds:
        return reason.format(kind=kind)
    return ASSUMED["causal"] if fault in CAUSAL and "causal" not in checked.subject.declares else ""


def _possible(variant: Variant, checked: Checked, declared: Declaration, fixtures: Sequence[Fixture]) -> bool:
    """Whether the variant could be in this subject, and could show at these sizes."""
    if variant.lead == "short_queries" and "cached" not in checked.subject.declares:
        return False
    # The fixtures of a subject whose heads nobody counted have one.
    sized = declared.heads is not None or checked.subject.kind == "attention"
    return not (sized and fixtures) or any(variant.witnesses(fixture.extents) for fixture in fixtures)


def _broken_by(variant: Variant, checked: Checked) -> list[Finding]:
    return [one for one in checked.findings if one.detector.name in variant.signature.fires]


def _shows(variant: Variant, checked: Checked) -> bool:
    return any(finding.value is not None for finding in _broken_by(variant, checked))


FAILED = "the call failed"


def _reason(variant: Variant, checked: Checked) -> str:
    """Why the variant could not have shown: a failed call before all else, then what could have been measured."""
    findings = _broken_by(variant, checked)
    if any(one.reason.startswith(FAILED) for one in findings):
        return FAILED
    ranked = sorted(findings, key=lambda one: (one.verdict != UNSEEN, -one.detector.weight))
    return ranked[0].reason if ranked else ""
