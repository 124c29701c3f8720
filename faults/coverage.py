"""Which of the five faults could have shown in an examination, and why the others could not.

A variant could have shown where one of the contracts that it breaks was measured. A fault was looked for where its
first variant, the one it is named after, could have shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from detectors import looked_for
from detectors.checking import Checked, Finding
from detectors.declaration import Declaration
from detectors.fixtures import Fixture
from faults.answers import ABSENT, CHECKED, HIDDEN, PART, Coverage
from faults.model import Fault, Variant

SIZES = "it changes nothing at the declared sizes"


def coverage(
    checked: Checked, declared: Declaration, faults: Iterable[Fault], fixtures: Sequence[Fixture]
) -> tuple[Coverage, ...]:
    """One entry for each fault. The sizes of the `fixtures` decide what could show at all; with none everything."""
    return tuple(_covered(fault, checked, declared, fixtures) for fault in faults)


def _covered(fault: Fault, checked: Checked, declared: Declaration, fixtures: Sequence[Fixture]) -> Coverage:
    elsewhere = looked_for.outside(fault.name, checked)
    if elsewhere:
        return Coverage(fault.name, ABSENT, elsewhere)
    possible = [one for one in fault.variants if _possible(one, checked, declared, fixtures)]
    if not possible:
        return Coverage(fault.name, ABSENT, SIZES)
    hidden = tuple(one.name for one in possible if not looked_for.shown(_broken_by(one, checked)))
    if not hidden:
        return Coverage(fault.name, CHECKED)
    state = HIDDEN if possible[0].name in hidden else PART
    first = next(one for one in possible if one.name in hidden)
    return Coverage(fault.name, state, looked_for.reason(_broken_by(first, checked)), hidden)


def _possible(variant: Variant, checked: Checked, declared: Declaration, fixtures: Sequence[Fixture]) -> bool:
    """Whether the variant could be in this subject, and could show at these sizes."""
    if variant.lead == "short_queries" and "cached" not in checked.subject.declares:
        return False
    # The fixtures of a subject whose heads nobody counted have one.
    sized = declared.heads is not None or checked.subject.kind == "attention"
    return not (sized and fixtures) or any(variant.witnesses(fixture.extents) for fixture in fixtures)


def _broken_by(variant: Variant, checked: Checked) -> list[Finding]:
    return [one for one in checked.findings if one.detector.name in variant.signature.fires]
