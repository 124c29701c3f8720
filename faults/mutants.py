"""One variant on its fixtures: injected, examined, undone, and what that came to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.examination import Examination, examine
from detectors.fixtures import Fixture
from faults import reference
from faults.injection import inject, unreached_copies
from faults.model import Fault, Status, Variant

Array = NDArray[Any]


@dataclass
class Mutant:
    """What was seen of one variant; the lists run over its witnessing fixtures."""

    fault: Fault
    variant: Variant
    generated: int
    fixtures: list[Fixture]
    healthy: list[Examination]
    faulty: list[Examination] = field(default_factory=list)
    activations: list[int] = field(default_factory=list)
    restored: float = 0.0
    error: str = ""

    @property
    def caught(self) -> int:
        """Fixtures on which at least one detector fired."""
        return sum(bool(examination.fired) for examination in self.faulty)


def examined(fixture: Fixture) -> Examination:
    """The reference subject, built afresh, on one fixture."""
    return examine(reference.subject(fixture), fixture)


def observe(
    fault: Fault, variant: Variant, fixtures: Sequence[Fixture], healthy: Sequence[Examination]
) -> Mutant:
    """Injects the variant, examines every fixture that can witness it, restores, and measures the baseline again."""
    pairs = [pair for pair in zip(fixtures, healthy, strict=True) if variant.witnesses(pair[0].extents)]
    mutant = Mutant(
        fault, variant, len(fixtures), [f for f, _ in pairs], [examination for _, examination in pairs]
    )
    for fixture in mutant.fixtures:
        baseline(fixture)
    try:
        _inject_and_examine(mutant)
    except Exception as error:  # the campaign goes on; the row says ERROR and the run fails
        mutant.error = f"{type(error).__name__}: {error}"
    mutant.restored = _restored(mutant)
    return mutant


def _inject_and_examine(mutant: Mutant) -> None:
    with inject(mutant.variant) as injected:
        for fixture in mutant.fixtures:
            injected.reset()
            mutant.faulty.append(examined(fixture))
            mutant.activations.append(injected.activations)


def output(fixture: Fixture) -> Array:
    """The reference block's output for the fixture's tokens, [batch, token, channel]."""
    return reference.output(fixture)


def baseline(fixture: Fixture) -> Array:
    """The output before anything was injected, computed once: what every later variant leaves behind shows too."""
    return fixture.once(output)


def _restored(mutant: Mutant) -> float:
    """Largest difference of any output, and of any signal on the first fixture, from before the fault."""
    apart = [_difference(output(fixture), baseline(fixture)) for fixture in mutant.fixtures]
    if mutant.fixtures:
        apart += _apart(mutant.healthy[0], examined(mutant.fixtures[0]))
    # np.max, not max: a value that is no number must come through.
    return float(np.max(apart, initial=0.0))


def _difference(now: Array, was: Array) -> float:
    """0.0 for the very same bits, else the largest difference; infinite where no number says how far."""
    if now.dtype == was.dtype and now.shape == was.shape and now.tobytes() == was.tobytes():
        return 0.0
    apart = float(np.abs(now - was).max()) if now.shape == was.shape else math.inf
    return apart if apart > 0 else math.inf


def _apart(before: Examination, after: Examination) -> list[float]:
    pairs = [(signal.value, after.value(signal.detector.name)) for signal in before.signals]
    return [
        abs(was - now) if was is not None and now is not None else math.inf
        for was, now in pairs
        if was != now
    ]


def status(mutant: Mutant) -> Status:
    """How it ended, in this order: no fixture can witness it, a crash, never reached, caught everywhere, survived."""
    if not mutant.fixtures:
        return Status.NOT_APPLICABLE
    if mutant.error or _failures(mutant):
        return Status.ERROR
    if not all(mutant.activations):
        return Status.NO_COVERAGE
    return Status.KILLED if mutant.caught == len(mutant.fixtures) else Status.SURVIVED


def _failures(mutant: Mutant) -> list[str]:
    """What calls raised under a variant that is not expected to raise: the patch is broken, not the block."""
    if "shape" in mutant.variant.signature.fires:
        return []
    return [failure for examination in mutant.faulty for failure in examination.failures]


def reason(mutant: Mutant) -> str:
    """One line about a mutant that did not die; empty for one that did."""
    found = status(mutant)
    if found is Status.ERROR:
        return mutant.error or f"a call failed that this variant should let pass: {_failures(mutant)[0]}"
    if found is Status.NOT_APPLICABLE:
        return f"none of {mutant.generated} fixtures can witness it"
    if found is Status.NO_COVERAGE:
        missing, fixtures = mutant.activations.count(0), len(mutant.fixtures)
        unreached = f"the patched code was not reached on {missing} of {fixtures} fixtures"
        copies = sorted({copy for seam in mutant.variant.patches for copy in unreached_copies(seam)})
        return unreached + (
            f"; copies of it that cannot be replaced are kept in: {', '.join(copies)}" if copies else ""
        )
    missed = len(mutant.fixtures) - mutant.caught
    return f"missed on {missed} of {len(mutant.fixtures)} witnessing fixtures" if missed else ""
