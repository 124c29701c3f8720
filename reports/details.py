"""What `-v` adds: every variant, the kill matrix, the detectors, the symptoms."""

from __future__ import annotations

from collections.abc import Sequence

from faults.model import DetectorInfo, FaultResult, Report, VariantResult
from reports import cells, figures
from reports.document import Block, Grid, Heading, Lines
from reports.words import STATUS, SYMPTOMS, say, unit


def blocks(report: Report, language: str) -> list[Block]:
    """All tables of the long form."""
    return [
        Heading(say("variants heading", language)),
        _variants(report, language),
        Heading(say("diagnosis heading", language)),
        _diagnosis(report, language),
        *(block for fault in report.faults for block in _matrix(fault, report.detectors, language)),
        Lines([say("matrix note", language)]),
        Heading(say("detectors heading", language)),
        _detectors(report, language),
        *_symptoms(report, language),
    ]


def _grid(
    names: tuple[str, ...], rows: list[list[str]], widths: tuple[int, ...], align: str, lang: str
) -> Grid:
    return Grid([say(name, lang) for name in names], rows, widths, align)


def _variants(report: Report, language: str) -> Grid:
    names = ("variant", "summary", "status", "lead", "healthy", "faulty", "margin", "fixtures")
    rows = [_variant_row(variant, language) for variant in report.variants]
    return _grid(names, rows, (17, 23, 10, 15, 8, 8, 8, 11), "llllrrrl", language)


def _variant_row(variant: VariantResult, language: str) -> list[str]:
    reading, summary = variant.reading, variant.summary[language]
    return [
        f"{variant.fault}/{variant.variant}",
        f"{summary}\n[{variant.reason}]" if variant.reason else summary,
        STATUS[variant.status][language],
        reading.detector,
        figures.value(reading.healthy),
        figures.value(reading.faulty),
        figures.decades(variant.margin, reading.healthy, say("exact", language)),
        cells.counts(variant.caught, variant.witnessing, variant.generated),
    ]


def _diagnosis(report: Report, language: str) -> Grid:
    names = ("variant", "named", "tie", "without", "fixed", "witness")
    rows = [_diagnosis_row(variant, language) for variant in report.variants]
    return _grid(names, rows, (17, 10, 5, 12, 14, 44), "lrrrll", language)


def _diagnosis_row(variant: VariantResult, language: str) -> list[str]:
    found = variant.witness
    caught = f"\n{found.detector} = {figures.value(found.value)}" if found else ""
    return [
        f"{variant.fault}/{variant.variant}",
        figures.share(variant.named, variant.witnessing),
        str(variant.tied),
        figures.share(variant.named_without_own, variant.witnessing),
        cells.restored(variant.restored, language),
        cells.witness(variant) + caught,
    ]


def _matrix(fault: FaultResult, detectors: Sequence[DetectorInfo], language: str) -> list[Block]:
    """The kill matrix of one fault: a row per detector that fired on it, a column per variant."""
    heading = Heading(say("matrix", language, fault=fault.name))
    names = [detector.name for detector in detectors]
    silent = [name for name in names if not any(variant.kills.get(name) for variant in fault.variants)]
    rows = [
        [name, *(_kills(variant, name) for variant in fault.variants)] for name in names if name not in silent
    ]
    headers = [say("detector alone", language), *(variant.variant for variant in fault.variants)]
    width = min(12, 96 // max(len(fault.variants), 1) - 3)
    table = Grid(headers, rows, (20, *(width for _ in fault.variants)), "l" + "r" * len(fault.variants))
    return [heading, table, Lines([say("silent", language, names=", ".join(silent) or "-")])]


def _kills(variant: VariantResult, detector: str) -> str:
    observed, kills = variant.observed.get(detector, 0), variant.kills.get(detector, 0)
    if not observed:
        return "-"
    return figures.share(kills, observed) if kills else "."


def _detectors(report: Report, language: str) -> Grid:
    names = ("detector", "law", "threshold", "healthy", "alarms")
    rows = [_detector_row(detector, language) for detector in report.detectors]
    return _grid(names, rows, (20, 56, 10, 10, 12), "llrrr", language)


def _detector_row(detector: DetectorInfo, language: str) -> list[str]:
    return [
        f"{detector.name}\n{unit(detector.unit, language)}".rstrip(),
        detector.law[language],
        figures.value(detector.threshold),
        figures.value(detector.healthy),
        figures.share(detector.alarms, detector.fixtures),
    ]


def _symptoms(report: Report, language: str) -> list[Block]:
    if not report.symptoms:
        return []
    names = list(report.symptoms[0])
    headers = [SYMPTOMS[name][language] if name in SYMPTOMS else name for name in names]
    rows = [[figures.value(row[name]) for name in names] for row in report.symptoms]
    table = Grid(headers, rows, [10] * len(names), "r" * len(names))
    return [Heading(say("symptoms heading", language)), table, Lines([say("symptoms note", language)])]
