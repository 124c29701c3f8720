"""From what was seen of the mutants to the rows of the report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from detectors.catalogue import BY_NAME, DETECTORS
from detectors.diagnosis import Expected, distance, rank
from detectors.examination import Examination
from detectors.fixtures import Fixture
from faults import mutants
from faults.model import Alone, DetectorInfo, Fault, FaultResult, Reading, Variant, VariantResult, Witness
from faults.mutants import Mutant

ALONE = ("shape", "rows", "future")
"""Tests that people have: of the output's shape, of row sums, of future invariance."""

NOTHING = "none"


def expected(faults: Iterable[Fault]) -> tuple[Expected, ...]:
    """The table of expected signatures, one row per variant."""
    return tuple(
        Expected(fault.name, variant.name, look.fires, look.patterns, look.factor)
        for fault in faults
        for variant in fault.variants
        for look in [variant.signature]
    )


class Naming:
    """Names faults from signals; examinations that look alike are compared with the table once."""

    def __init__(self, table: Sequence[Expected]) -> None:
        self._table = table
        self._known: dict[object, list[tuple[Expected, float]]] = {}
        self._names: dict[object, tuple[str, ...]] = {}

    def named(self, examination: Examination, without: tuple[str, str] | None = None) -> tuple[str, ...]:
        """The nearest faults, several for a tie; `without` leaves one (fault, variant) out of the table."""
        look = (examination.fired, examination.told, tuple(sorted(examination.patterns.items())))
        if (look, without) not in self._names:
            self._names[look, without] = self._nearest(examination, look, without)
        return self._names[look, without]

    def _nearest(
        self, examination: Examination, look: object, without: tuple[str, str] | None
    ) -> tuple[str, ...]:
        if look not in self._known:
            self._known[look] = [(row, distance(examination, row)) for row in self._table]
        kept = [(row, apart) for row, apart in self._known[look] if (row.fault, row.variant) != without]
        return rank(kept).named if examination.fired else ()


def variant_result(mutant: Mutant, naming: Naming, witness: Witness | None) -> VariantResult:
    """One row of the kill matrix."""
    fault, variant = mutant.fault.name, mutant.variant
    own = [naming.named(examination) for examination in mutant.faulty]
    blind = [naming.named(examination, (fault, variant.name)) for examination in mutant.faulty]
    lead = _reading(mutant)
    return VariantResult(
        fault=fault,
        variant=variant.name,
        summary=variant.summary,
        status=mutants.status(mutant),
        generated=mutant.generated,
        witnessing=len(mutant.fixtures),
        caught=mutant.caught,
        activations=sum(mutant.activations),
        reading=lead,
        margin=lead.margin(floor(mutant.fixtures)),
        kills=_counts(examination.fired for examination in mutant.faulty),
        observed=_counts(examination.observed for examination in mutant.faulty),
        named=own.count((fault,)),
        tied=sum(len(names) > 1 for names in own),
        named_without_own=blind.count((fault,)),
        restored=mutant.restored,
        witness=witness,
        reason=mutants.reason(mutant),
    )


def _counts(sets: Iterable[frozenset[str]]) -> Mapping[str, int]:
    counter = Counter(name for found in sets for name in found)
    return {detector.name: counter[detector.name] for detector in DETECTORS}


def _reading(mutant: Mutant) -> Reading:
    detector = BY_NAME[mutant.variant.lead]
    healthy = _measured(e.value(detector.name) for e in mutant.healthy)
    faulty = _measured(e.value(detector.name) for e in mutant.faulty)
    return Reading(
        detector.name, detector.unit, detector.threshold, max(healthy, default=0.0), min(faulty, default=None)
    )


def _measured(values: Iterable[float | None]) -> list[float]:
    """The values there are; NaN as infinite, since it fires and would be lost in min and max."""
    return [value if value == value else math.inf for value in values if value is not None]


def floor(fixtures: Iterable[Fixture]) -> float:
    """The unit roundoff of the coarsest dtype among the fixtures: no healthy value counts as smaller."""
    return max(
        (float(np.finfo(fixture.dtype).eps) for fixture in fixtures), default=float(np.finfo(float).eps)
    )


def fault_result(
    fault: Fault, found: Sequence[Mutant], rows: tuple[VariantResult, ...], naming: Naming
) -> FaultResult:
    """One fault with its variants, and the name that its signals got most often; several where they tie."""
    names = Counter(naming.named(examination) for mutant in found for examination in mutant.faulty)
    most = dict.fromkeys(
        name for named, count in names.items() if count == max(names.values()) for name in named
    )
    return FaultResult(
        fault.name,
        fault.title,
        fault.injected,
        fault.signal,
        fault.repair,
        " = ".join(most) or NOTHING,
        rows,
    )


def detector_infos(healthy: Sequence[Examination]) -> tuple[DetectorInfo, ...]:
    """Every detector with its largest healthy value and its false alarms."""
    return tuple(_info(at, healthy) for at in range(len(DETECTORS)))


def _info(at: int, healthy: Sequence[Examination]) -> DetectorInfo:
    detector = DETECTORS[at]
    signals = [examination.signals[at] for examination in healthy]
    values = _measured(signal.value for signal in signals)
    return DetectorInfo(
        detector.name,
        detector.law,
        detector.unit,
        detector.threshold,
        max(values, default=0.0),
        sum(signal.fired for signal in signals),
        len(values),
    )


def alone(found: Sequence[Mutant]) -> tuple[Alone, ...]:
    """What each of the usual tests would have caught by itself."""
    return tuple(_alone(name, [mutant for mutant in found if mutant.faulty]) for name in ALONE)


def _alone(name: str, found: Sequence[Mutant]) -> Alone:
    caught = {label(m.fault, m.variant): sum(name in e.fired for e in m.faulty) for m in found}
    sizes = {label(m.fault, m.variant): len(m.faulty) for m in found}
    always = tuple(key for key, count in caught.items() if count == sizes[key])
    sometimes = tuple(key for key, count in caught.items() if 0 < count < sizes[key])
    return Alone(name, always, sometimes, len(found))


def label(fault: Fault, variant: Variant) -> str:
    return f"{fault.name}/{variant.name}"
