"""Controls: faults whose end is known in advance. They show that a run can both pass and fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from detectors.examination import Examination
from detectors.fixtures import Fixture
from faults import mutants
from faults.model import Control, Fault, Function, Seam, Signature, Status, Variant

SEAMS = (
    Seam("core.residual", "pre_norm"),
    Seam("core.residual", "compose"),
    Seam("core.attention", "scale"),
    Seam("core.attention", "add_mask"),
    Seam("core.attention", "attend"),
    Seam("core.mask", "causal_mask"),
    Seam("core.heads", "split_heads"),
    Seam("core.heads", "merge_heads"),
    Seam("core.heads", "repeat_heads"),
)
"""Every seam of the forward pass."""


def unchanged(original: Function) -> Function:
    """A patch that changes nothing but goes through the injection like any other."""
    return lambda *arguments, **named: original(*arguments, **named)


def disconnected(original: Function) -> Function:
    """A patch that no contract suite may miss: attention gives zeros."""
    return lambda weights, value: original(weights, value) * 0


def always(extents: Any) -> bool:
    return True


NOTHING = Signature(frozenset())
"""A control is no fault: nobody looks for it, and nothing is said of it."""

NO_OP = Variant("no_op", {}, dict.fromkeys(SEAMS, unchanged), "", NOTHING, always)
DISCONNECTED = {Seam("core.attention", "weighted_sum"): disconnected}
MUST_DIE = Variant("must_die", {}, DISCONNECTED, "", NOTHING, always)


def run(fixtures: Sequence[Fixture], healthy: Sequence[Examination]) -> tuple[Control, ...]:
    """Both controls on the fixtures given: the no-op must survive with the very same values."""
    return (
        _control(NO_OP, Status.SURVIVED, fixtures, healthy),
        _control(MUST_DIE, Status.KILLED, fixtures, healthy),
    )


def _control(
    variant: Variant, expected: Status, fixtures: Sequence[Fixture], healthy: Sequence[Examination]
) -> Control:
    mutant = mutants.observe(_FAULT, variant, fixtures, healthy)
    status = mutants.status(mutant)
    if (
        expected is Status.SURVIVED
        and status is expected
        and _values(mutant.faulty) != _values(mutant.healthy)
    ):
        return Control(variant.name, expected, Status.KILLED, "survived, but not bit-identically")
    return Control(variant.name, expected, status, mutant.error)


def _values(examinations: Sequence[Examination]) -> list[list[float | None]]:
    return [[signal.value for signal in examination.signals] for examination in examinations]


_FAULT = Fault("control", {}, {}, {}, {}, "", {}, {}, (NO_OP, MUST_DIE))
