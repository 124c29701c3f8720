"""Hand-made variants, faults, examinations and report rows, small enough to be counted by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from detectors.catalogue import DETECTORS
from detectors.detector import Signal
from detectors.examination import Examination
from faults import registry
from faults.model import (
    Control,
    DetectorInfo,
    Fault,
    FaultResult,
    Function,
    Reading,
    Report,
    Seam,
    Signature,
    Status,
    Variant,
    VariantResult,
)

Patches = Mapping[Seam, Callable[[Function], Function]]

TEXT = {"en": "a text", "zh": "一句话"}

CASES = [(fault, variant) for fault in registry.all_faults() for variant in fault.variants]
"""Every variant of the registry with its fault."""

CASE_NAMES = [f"{fault.name}/{variant.name}" for fault, variant in CASES]


def always(extents: Any) -> bool:
    return True


def variant(patches: Patches, name: str = "made", **changes: Any) -> Variant:
    """A variant that every fixture witnesses, led by the per-head reference."""
    made = Variant(name, TEXT, patches, "heads", Signature(frozenset({"heads"})), always)
    return replace(made, **changes)


def fault(*variants: Variant, name: str = "made_up") -> Fault:
    return Fault(name, TEXT, TEXT, TEXT, TEXT, "", TEXT, TEXT, variants)


def declared(name: str) -> Variant:
    """A variant of the registry by its "fault/variant" name."""
    return CASES[CASE_NAMES.index(name)][1]


def examination(values: Mapping[str, float | None], patterns: Mapping[str, str] | None = None) -> Examination:
    """Every detector at 0 but those given; None is a measurement that could not be made."""
    signals = (Signal(detector, values.get(detector.name, 0.0)) for detector in DETECTORS)
    return Examination(tuple(signals), patterns or {}, ())


def firing(*names: str, patterns: Mapping[str, str] | None = None) -> Examination:
    """An examination in which just these detectors fire."""
    return examination(dict.fromkeys(names, 1e9), patterns)


def row(status: Status = Status.KILLED, **changes: Any) -> VariantResult:
    """One row of the kill matrix: killed on both of its fixtures, and restored to the bit."""
    reading = Reading("heads", "relative difference", 1e-3, 1e-16, 0.5)
    made = VariantResult(
        "made_up", "made", TEXT, status, 2, 2, 2, 8, reading, 15.0, {}, {}, 2, 0, 2, 0.0
    )  # fmt: skip
    named = changes.get("caught", 2)
    return replace(made, **{"named": named, "named_without_own": named, **changes})


def result(*rows: VariantResult, name: str = "made_up", diagnosis: str = "made_up") -> FaultResult:
    return FaultResult(name, TEXT, TEXT, TEXT, TEXT, diagnosis, rows)


def report(rows: Iterable[VariantResult] = (), **changes: Any) -> Report:
    """A report in which all is well, with these rows under one fault."""
    detectors = (DetectorInfo("heads", TEXT, "relative difference", 1e-3, 1e-16, 0, 4),)
    controls = (Control("no_op", Status.SURVIVED, Status.SURVIVED),)
    rows = tuple(rows)
    made = Report(0, 4, detectors, controls, (result(*rows),) if rows else (), ())
    return replace(made, **changes)
