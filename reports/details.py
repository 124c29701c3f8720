"""What `-v` adds: every variant, the kill matrix, the detectors, the symptoms."""

from __future__ import annotations

from faults.model import DetectorInfo, Report, VariantResult
from reports import cells, figures
from reports.document import Block, Grid, Heading, Lines
from reports.words import STATUS, say


def blocks(report: Report, language: str) -> list[Block]:
    """All tables of the long form."""
    tables: list[tuple[str, Block]] = [
        ("variants heading", _variants(report, language)),
        ("diagnosis heading", _diagnosis(report, language)),
        ("matrix heading", _matrix(report, language)),
        ("detectors heading", _detectors(report, language)),
    ]
    if report.symptoms:
        tables.append(("symptoms heading", _symptoms(report, language)))
    named = [block for heading, table in tables for block in (Heading(say(heading, language)), table)]
    named.insert(6, Lines([say("matrix note", language)]))
    return named


def _grid(
    names: tuple[str, ...], rows: list[list[str]], widths: tuple[int, ...], align: str, lang: str
) -> Grid:
    return Grid([say(name, lang) for name in names], rows, widths, align)


def _variants(report: Report, language: str) -> Grid:
    names = ("variant", "summary", "status", "lead", "healthy", "faulty", "margin", "fixtures")
    rows = [_variant_row(variant, language) for variant in report.variants]
    return _grid(names, rows, (16, 24, 10, 15, 8, 8, 8, 11), "llllrrrl", language)


def _variant_row(variant: VariantResult, language: str) -> list[str]:
    reading, status = variant.reading, STATUS[variant.status][language]
    return [
        f"{variant.fault}/{variant.variant}",
        variant.summary[language],
        f"{status}: {variant.reason}" if variant.reason else status,
        reading.detector,
        figures.value(reading.healthy),
        figures.value(reading.faulty),
        figures.decades(variant.margin, reading.healthy, say("exact", language)),
        cells.counts(variant.caught, variant.witnessing, variant.generated),
    ]


def _diagnosis(report: Report, language: str) -> Grid:
    names = ("variant", "named", "tie", "without", "fixed", "witness")
    rows = [_diagnosis_row(variant, language) for variant in report.variants]
    return _grid(names, rows, (16, 10, 5, 12, 14, 44), "lrrrll", language)


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


def _matrix(report: Report, language: str) -> Grid:
    detectors = [detector.name for detector in report.detectors]
    rows = [
        [f"{variant.fault}/{variant.variant}", *(_kills(variant, name) for name in detectors)]
        for variant in report.variants
    ]
    widths = (16, *(7 for _ in detectors))
    return Grid([say("variant", language), *detectors], rows, widths, "l" + "r" * len(detectors))


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
        f"{detector.name}\n{detector.unit}".rstrip(),
        detector.law[language],
        figures.value(detector.threshold),
        figures.value(detector.healthy),
        figures.share(detector.alarms, detector.fixtures),
    ]


def _symptoms(report: Report, language: str) -> Grid:
    names = list(report.symptoms[0])
    rows = [[_symptom(row[name]) for name in names] for row in report.symptoms]
    return Grid(names, rows, [16] * len(names), "r" * len(names))


def _symptom(number: float) -> str:
    return figures.value(number)
