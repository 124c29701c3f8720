"""The words of the project as types: faults, variants, statuses, reports. Standard library only.

Everything a report shows is in these types, so that a saved report can be drawn without running anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from faults.page_model import Demonstration as Demonstration
from faults.page_model import PagePart
from faults.page_model import Stage as Stage
from faults.page_model import Text as Text

SCHEMA_VERSION = 1

Function = Callable[..., Any]


class FaultsError(Exception):
    """Base of every error meant for a person: one line that says what was found and what is required."""

    exit_code = 3


class UsageError(FaultsError):
    """The command line, or a name in it, cannot be used as it stands (exit code 2)."""

    exit_code = 2


class Status(StrEnum):
    """How a mutant ended; decided in the order of `decide`, never by "not X"."""

    NOT_APPLICABLE = "not applicable"
    ERROR = "error"
    TIMEOUT = "timeout"
    NO_COVERAGE = "no coverage"
    KILLED = "killed"
    SURVIVED = "survived"


@dataclass(frozen=True)
class Seam:
    """A replaceable function, where a fault enters: `module.attribute`."""

    module: str
    attribute: str

    def __str__(self) -> str:
        return f"{self.module}.{self.attribute}"


@dataclass(frozen=True)
class Signature:
    """What an examination looks like under one variant: the detectors that fire and the visibility patterns.

    `patterns` maps a probe ("block", "attention", "huge", "short") to the pattern it shows there.
    """

    fires: frozenset[str]
    patterns: Mapping[str, str] = field(default_factory=dict)
    factor: Callable[[int, int, int], float] | None = None
    """What the scores are multiplied by, of heads, channels of one head, and keys; None where it is not one number."""


@dataclass(frozen=True)
class Variant:
    """One way of writing a fault: what it replaces, where it can be seen, and what it then looks like.

    `patches` maps each seam to a function original -> replacement. `witnesses` decides from the declared
    extents of a fixture alone whether the variant can show there. `lead` names the detector whose value is
    quoted as the failure signal.
    """

    name: str
    summary: Text
    patches: Mapping[Seam, Callable[[Function], Function]]
    lead: str
    signature: Signature
    witnesses: Callable[[Any], bool]
    no_gradient: str = ""
    """Why the faulty gradient cannot be compared with the healthy one; empty where it can."""


@dataclass(frozen=True)
class Fault:
    """A named defect of the registry."""

    name: str
    title: Text
    injected: Text
    signal: Text
    repair: Text
    formula: str
    enters: Text
    shapes: Text
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class Reading:
    """One detector over many fixtures: the largest healthy and the smallest faulty value against the threshold."""

    detector: str
    unit: str
    threshold: float
    healthy: float
    faulty: float | None

    def margin(self, floor: float) -> float | None:
        """log10(faulty / max(healthy, floor)) in decades; None where nothing faulty was measured."""
        if self.faulty is None or not self.faulty > 0:
            return None
        return math.log10(self.faulty / max(self.healthy, floor))


@dataclass(frozen=True)
class Witness:
    """The smallest fixture, in a fixed order, on which a variant is caught."""

    extents: Mapping[str, Any]
    seed: int
    detector: str
    value: float


@dataclass(frozen=True)
class VariantResult:
    """One row of the kill matrix: a variant over its fixtures."""

    fault: str
    variant: str
    summary: Text
    status: Status
    generated: int
    witnessing: int
    caught: int
    activations: int
    reading: Reading
    margin: float | None
    kills: Mapping[str, int]
    """Detector name -> number of witnessing fixtures on which it fired."""
    observed: Mapping[str, int]
    """Detector name -> number of witnessing fixtures on which it could be measured."""
    named: int
    """Witnessing fixtures on which the signals alone named this fault, without a tie."""
    tied: int
    named_without_own: int
    """The same with this variant's own signature removed from the table."""
    restored: float
    """Largest difference between healthy values before and after the fault; 0.0 is bit-identical."""
    witness: Witness | None = None
    reason: str = ""


@dataclass(frozen=True)
class FaultResult:
    """One fault of the registry with the results of its variants, ready to be drawn."""

    name: str
    title: Text
    injected: Text
    signal: Text
    repair: Text
    diagnosis: str
    """The fault named most often from the signals alone; several names joined by " = " are a tie."""
    variants: tuple[VariantResult, ...]

    def total(self, count: str) -> int:
        """Sum of one integer field over the variants, for example `total("caught")`."""
        return sum(int(getattr(variant, count)) for variant in self.variants)


@dataclass(frozen=True)
class DetectorInfo:
    """What a detector measures, in words."""

    name: str
    law: Text
    unit: str
    threshold: float
    healthy: float
    """Largest value on the healthy subject in this run."""
    alarms: int
    """Healthy fixtures on which it fired: every one is a false alarm."""
    fixtures: int


@dataclass(frozen=True)
class Control:
    """A fault whose end is known in advance: a no-op must survive, a must-die must be killed."""

    name: str
    expected: Status
    status: Status
    detail: str = ""

    @property
    def holds(self) -> bool:
        return self.status is self.expected


@dataclass(frozen=True)
class Alone:
    """What one kind of test alone would have caught, named after its detector: `shape`, `rows`, `future`."""

    name: str
    caught: tuple[str, ...]
    """`fault/variant` names that it catches on every witnessing fixture."""
    sometimes: tuple[str, ...]
    """The names that it catches on some witnessing fixtures and misses on others."""
    total: int


@dataclass(frozen=True)
class Report:
    """The baseline and all mutants of one run."""

    seed: int
    examples: int
    detectors: tuple[DetectorInfo, ...]
    controls: tuple[Control, ...]
    faults: tuple[FaultResult, ...]
    alone: tuple[Alone, ...]
    symptoms: tuple[Mapping[str, float], ...] = ()
    """Saturation over d_k, shown and never judged: head_width, and weight entropy, largest weight, gradient."""
    interrupted: bool = False
    page: PagePart | None = None
    """What `faults page` draws beyond these rows; `faults run --json` writes it too."""
    schema_version: int = SCHEMA_VERSION

    @property
    def variants(self) -> tuple[VariantResult, ...]:
        return tuple(variant for fault in self.faults for variant in fault.variants)

    @property
    def alarms(self) -> int:
        return sum(detector.alarms for detector in self.detectors)


def score(statuses: list[Status]) -> float | None:
    """(killed + timeout) / (killed + timeout + survived + no coverage), as Stryker defines it; None when 0 / 0."""
    dead = sum(status in (Status.KILLED, Status.TIMEOUT) for status in statuses)
    alive = sum(status in (Status.SURVIVED, Status.NO_COVERAGE) for status in statuses)
    return dead / (dead + alive) if dead + alive else None
