"""Rows and sentences that several of the reports share."""

from __future__ import annotations

from collections.abc import Sequence

from faults.model import Control, Status
from faults.mutation.model import Mutant, Row, ScoreReport
from reports import figures
from reports.mutation.words import COLUMNS, say
from reports.words import STATUS

RARE = ("unchecked", "error", "skipped")
"""Columns left out where they are all 0."""


def columns(rows: Sequence[Row]) -> list[str]:
    """The columns a table needs; "unchecked" always, since a reader must see that it is 0."""
    return [name for name in COLUMNS if name not in RARE[1:] or any(getattr(row, name) for row in rows)]


def cells(row: Row, names: Sequence[str]) -> list[str]:
    """One row as text."""
    return [_cell(row, name) for name in names]


def _cell(row: Row, name: str) -> str:
    if name == "score":
        return percent(row)
    if name == "cost":
        return f"{row.seconds / row.timed:.2f}" if row.timed else "-"
    return str(getattr(row, name))


def percent(row: Row) -> str:
    """The score in percent, rounded down; "n/a" where nothing could be judged."""
    return figures.percent(row.killed + row.timeout, judged(row))


def judged(row: Row) -> int:
    """The mutants the score is about."""
    return row.killed + row.timeout + row.survived + row.no_tests


def partial(report: ScoreReport, language: str) -> list[str]:
    """One sentence for each reason why the report is not about everything."""
    run = report.run
    since = [say("partial", language, since=run.since)] if run.since else []
    return since + ([say("partial part", language, part=run.part)] if run.part else [])


def checks(report: ScoreReport, language: str) -> list[str]:
    """One sentence each about controls, equivalents, cost and the comparison with the fault variants."""
    lines = [_control(control, language) for control in report.run.controls]
    if report.total.equivalent:
        count, mutants = report.total.equivalent, report.total.mutants
        share = figures.percent(count, mutants)
        lines.append(say("equivalents", language, count=count, mutants=mutants, percent=share))
    lines += _cost(report, language) + _likeness(report, language)
    return [*lines, *(note[language] for note in report.judgement.notes)]


def _control(control: Control, language: str) -> str:
    return say(
        "control" if control.holds else "control broken",
        language,
        name=control.name,
        status=STATUS[control.status][language],
        expected=STATUS[control.expected][language],
        detail=control.detail,
    ).rstrip()


def _cost(report: ScoreReport, language: str) -> list[str]:
    total = report.total
    if not total.timed:
        return []
    minutes = None if report.run.seconds is None else f"{report.run.seconds / 60:.1f}"
    wall = say("wall", language, minutes=minutes) if minutes else ""
    each = f"{total.seconds / total.timed:.2f}"
    return [say("cost", language, seconds=f"{total.seconds:.0f}", timed=total.timed, each=each, wall=wall)]


def _likeness(report: ScoreReport, language: str) -> list[str]:
    if report.run.compared is None:
        return []
    written = sum(bool(entry.keys) for entry in report.run.likeness)
    variants = len(report.run.likeness)
    return [say("likeness", language, variants=variants, written=written, compared=report.run.compared)]


def survivor(mutant: Mutant, language: str) -> str:
    """The line above the diff of a survivor."""
    status = STATUS[mutant.status or Status.ERROR][language]
    where = {"path": mutant.change.path, "line": mutant.change.place.line}
    return say("survivor", language, status=status, name=mutant.name, **where)


def reached(mutant: Mutant, language: str, most: int) -> str:
    """The tests that reached a survivor, at most so many by name."""
    if not mutant.tests:
        return say("unreached", language)
    more = len(mutant.tests) - most
    named = ", ".join(mutant.tests[:most]) + (say("more", language, count=more) if more > 0 else "")
    return say("reached", language, count=len(mutant.tests), tests=named)


def verdict(report: ScoreReport, language: str) -> str:
    """The last line: passed, or the worst problem and how many more there are."""
    problems = report.judgement.problems
    if problems:
        others = say("others", language, count=len(problems) - 1) if problems[1:] else ""
        return say("fail", language, problem=problems[0][language]) + others
    killed = report.total.killed + report.total.timeout
    return say("pass", language, killed=killed, judged=judged(report.total), percent=percent(report.total))
