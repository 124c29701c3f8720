"""What a subject that came in 16 bits does in them: it is examined in 32, where more can be told apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.checking import BROKEN, Checked, Finding
from detectors.diagnosis import Candidate
from detectors.host import SubjectRaised

CONVERTED = " parameters were examined as float32"
"""How the note ends that says so, behind the type they came in."""

LACKING = re.compile(
    r"not (implemented|supported) for '?(Half|BFloat16)|\w+ does not support (Half|BFloat16)"
)
"""What PyTorch says where a machine cannot do an operation in 16 bits: nothing about the subject."""


@dataclass(frozen=True)
class Narrow:
    """One call in the 16 bits of `kind` (empty where there was none): the share of values lost, or what it raised."""

    kind: str = ""
    lost: float = 0.0
    raised: str = ""


def narrowed(notes: Iterable[str], call: Callable[[], NDArray[Any]]) -> tuple[Narrow, str]:
    """What `call` gave, which runs in 16 bits, and a note about it; nothing where no note speaks of a conversion."""
    kinds = [note.removesuffix(CONVERTED) for note in notes if note.endswith(CONVERTED)]
    if not kinds:
        return Narrow(), ""
    kind = kinds[0]
    try:
        lost = float(np.mean(~np.isfinite(call())))
    except SubjectRaised as error:
        if LACKING.search(str(error)):
            return Narrow(), f"this machine cannot run it in {kind}"
        return Narrow(kind, raised=str(error)), ""
    return Narrow(kind, lost), "" if lost else f"one call in {kind} itself gave finite numbers"


OVERFLOW = Candidate("not_finite", "in_places", 0.0)
"""What a subject looks like that loses numbers in its own precision, and only there."""


def in_its_own_precision(checked: Checked, narrow: Narrow) -> Checked:
    """The same where a call in 16 bits went well; else `finite`, or `shape` where it raised, is broken by that."""
    contract = "shape" if narrow.raised else "finite" if narrow.lost else ""
    if not contract or checked.finding(contract).verdict == BROKEN:
        return checked
    detector = checked.finding(contract).detector
    found = Finding(detector, narrow.lost or 1.0, BROKEN, f"in its own {narrow.kind}", None)
    findings = tuple(found if one.detector is detector else one for one in checked.findings)
    failures = (f"{narrow.kind}: {narrow.raised}", *checked.failures) if narrow.raised else checked.failures
    named = checked.named if narrow.raised or checked.named else (OVERFLOW.fault,)
    candidates = checked.candidates if named == checked.named else (OVERFLOW, *checked.candidates)
    return replace(
        checked, verdict=BROKEN, findings=findings, candidates=candidates, named=named, failures=failures
    )
