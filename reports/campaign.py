"""A finished run as text: the report of `faults run`."""

from __future__ import annotations

from collections.abc import Sequence

from faults.model import Alone, FaultResult, Report, Status, Text, VariantResult
from reports import cells, details, figures
from reports.checks import checks
from reports.document import Block, Grid, Heading, Lines, draw
from reports.words import say, unit

FUTURE = "future"
"""The name in `Report.alone` of the test that replaces future tokens."""


def render(report: Report, problems: Sequence[Text], language: str, style: str, verbosity: int = 0) -> str:
    """The report in one language and style; `verbosity` -1 is the verdict alone, 1 adds every variant."""
    verdict = Lines([verdict_line(report, problems, language)], columns=0)
    if verbosity < 0 or not report.faults:
        return draw([verdict], style, language)
    blocks = [*_opening(report, language), *_tables(report, language), *_alone(report, language)]
    blocks += details.blocks(report, language) if verbosity else []
    blocks += [Heading(say("checks heading", language)), Lines(checks(report, language))]
    return draw([*blocks, *_verdict(problems, language), verdict], style, language)


def verdict_line(report: Report, problems: Sequence[Text], language: str) -> str:
    """The last line: passed, or the worst problem and how many more there are."""
    counts = {
        "variants": len(report.variants),
        "killed": sum(variant.status is Status.KILLED for variant in report.variants),
        "alarms": report.alarms,
    }
    if report.interrupted:
        return say("stopped", language, **counts)
    if problems:
        more = say("more", language, count=len(problems) - 1) if problems[1:] else ""
        return say("fail", language, problem=problems[0][language]) + more
    return say("pass" if report.faults else "empty", language, **counts)


def _opening(report: Report, language: str) -> list[Block]:
    counts = {"faults": len(report.faults), "variants": len(report.variants), "seed": report.seed}
    lines = [say("ran", language, examples=report.examples)]
    if report.interrupted:
        lines.append(say("interrupted", language))
    return [Heading(say("title", language, **counts), level=1), Lines(lines)]


def _tables(report: Report, language: str) -> list[Block]:
    return [
        Heading(say("faults heading", language)),
        _faults(report, language),
        Lines([say("fixtures note", language)]),
        Heading(say("signals heading", language)),
        _signals(report, language),
        Lines([say("signals note", language)]),
    ]


def _faults(report: Report, language: str) -> Grid:
    names = ("fault", "injected", "signal", "killed", "fixtures", "fixed", "named")
    rows = [_fault_row(fault, language) for fault in report.faults]
    return Grid([say(name, language) for name in names], rows, (16, 19, 19, 8, 11, 9, 16))


def _fault_row(fault: FaultResult, language: str) -> list[str]:
    killed = sum(variant.status is Status.KILLED for variant in fault.variants)
    counts = cells.counts(*map(fault.total, ("caught", "witnessing", "generated")))
    difference = cells.worst(variant.restored for variant in fault.variants)
    return [
        fault.name,
        fault.injected[language],
        fault.signal[language],
        figures.share(killed, len(fault.variants)),
        counts,
        cells.restored(difference, language),
        fault.diagnosis or "-",
    ]


def _signals(report: Report, language: str) -> Grid:
    names = ("fault", "detector", "healthy", "threshold", "faulty", "margin", "witness")
    rows = [_signal_row(fault, language) for fault in report.faults if fault.variants]
    return Grid([say(name, language) for name in names], rows, (16, 18, 9, 9, 9, 8, 32), "llrrrrl")


def _signal_row(fault: FaultResult, language: str) -> list[str]:
    first = fault.variants[0]
    alike = [variant for variant in fault.variants if variant.reading.detector == first.reading.detector]
    healthy = cells.worst(variant.reading.healthy for variant in alike)
    return [
        fault.name,
        f"{first.reading.detector}\n{unit(first.reading.unit, language)}".rstrip(),
        figures.value(healthy),
        figures.value(first.reading.threshold),
        figures.value(cells.least(variant.reading.faulty for variant in alike)),
        figures.decades(_margin(alike), healthy, say("exact", language)),
        cells.witness(first),
    ]


def _margin(variants: Sequence[VariantResult]) -> float | None:
    """The smallest margin; None as soon as one variant has none: leaving a survivor out would mislead."""
    margins = [variant.margin for variant in variants]
    return None if None in margins else cells.least(margins)


def _alone(report: Report, language: str) -> list[Block]:
    if not report.alone:
        return []
    names = [fault.name for fault in report.faults]
    rows = [_alone_row(test, report, language) for test in report.alone]
    headers = [say("test", language), say("total", language), *names]
    table = Grid(headers, rows, (18, 10, *(14 for _ in names)), "l" + "r" * (1 + len(names)))
    notes = [_future_note(test, language) for test in report.alone if test.name == FUTURE]
    return [Heading(say("alone heading", language)), table, Lines([say("alone legend", language), *notes])]


def _alone_row(test: Alone, report: Report, language: str) -> list[str]:
    shares = [_alone_share(test, fault.variants) for fault in report.faults]
    return [cells.test_name(test.name, language), _alone_share(test, report.variants), *shares]


def _alone_share(test: Alone, variants: Sequence[VariantResult]) -> str:
    names = {f"{variant.fault}/{variant.variant}" for variant in variants}
    chance = len(names.intersection(test.sometimes))
    return figures.share(len(names.intersection(test.caught)), len(names)) + (
        f" (+{chance})" if chance else ""
    )


def _future_note(test: Alone, language: str) -> str:
    missed = test.total - len(test.caught) - len(test.sometimes)
    return say("alone note", language, caught=len(test.caught), missed=missed, total=test.total)


def _verdict(problems: Sequence[Text], language: str) -> list[Block]:
    listed: list[Block] = []
    if problems:
        listed.append(Lines([problem[language] for problem in problems], columns=0))
    return [Heading(say("verdict heading", language)), *listed]
