"""The mutation score in a terminal: tables, every survivor as a small diff, checks, the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from faults.mutation.model import Mutant, Origin, ScoreReport
from reports import table
from reports.mutation import cells
from reports.mutation.words import COLUMNS, say
from reports.words import STATUS
from reports.wrap import wrap

WIDTH = 100
LONGEST = 56
"""Letters of a test's name in a table."""

FEW = 3
"""Tests named under a survivor; with -v all."""

Rows = Sequence[Sequence[str]]


def render(report: ScoreReport, language: str, style: str, verbosity: int = 0) -> str:
    """The report in one language; `verbosity` -1 is the verdict alone, 1 names every test of a survivor."""
    verdict = cells.verdict(report, language)
    if verbosity < 0 or not report.total.mutants:
        return verdict
    parts = [
        say("title", language),
        *cells.partial(report, language),
        *_tables(report, language, style),
        "\n".join(wrap(say("note", language), WIDTH)),
        *survivors(report, language, verbosity),
        "\n".join([say("checks heading", language), *cells.checks(report, language)]),
        "\n".join(problem[language] for problem in report.judgement.problems),
        verdict,
    ]
    return "\n\n".join(part for part in parts if part)


def _tables(report: ScoreReport, language: str, style: str) -> list[str]:
    found = []
    if report.parts:
        found.append(say("parts heading", language) + "\n" + parts(report, language, style))
    found.append(say("modules heading", language) + "\n" + modules(report, language, style))
    if report.variants:
        found.append(say("variants heading", language) + "\n" + variants(report, language, style))
    return found


def modules(report: ScoreReport, language: str, style: str) -> str:
    """One row for each module, and the total."""
    rows = [*report.modules, *report.variants, report.total]
    names = cells.columns(rows)
    total = [say("total", language), *cells.cells(report.total, names)[1:]]
    body = [*(cells.cells(row, names) for row in report.modules), total]
    return _draw([COLUMNS[name][language] for name in names], body, style, names)


def parts(report: ScoreReport, language: str, style: str) -> str:
    """One row for each part, with the score it must reach."""
    rows = [row for _, row in report.parts]
    names = cells.columns(rows)
    body = [[*cells.cells(row, names), f"{part.at_least:g} %"] for part, row in report.parts]
    headers = [say("part", language), *(COLUMNS[name][language] for name in names[1:]), say("bar", language)]
    return _draw(headers, body, style, [*names, "bar"])


def variants(report: ScoreReport, language: str, style: str) -> str:
    """One row for each fault variant: how the contract suite took it, and what mutmut makes of it."""
    alike = {entry.variant: entry.keys for entry in report.run.likeness}
    compared = report.run.compared is not None
    body = [
        [*_variant(mutant, language), *_like(alike.get(mutant.key, ()), language, compared)]
        for mutant in report.run.mutants
        if mutant.origin is Origin.SEMANTIC
    ]
    headers = [say(name, language) for name in ("variant", "status", "killed by")]
    headers += [say("side by side", language)] if compared else []
    return _draw(headers, body, style, ["name"] * len(headers))


def _variant(mutant: Mutant, language: str) -> list[str]:
    """Name, status and the test that killed it, without its folders."""
    status = STATUS[mutant.status][language] if mutant.status else COLUMNS["unchecked"][language]
    file, separator, test = mutant.killed_by.partition("::")
    killer = f"{file.rpartition('/')[2]}{separator}{test}"
    return [mutant.key, status, killer if len(killer) <= LONGEST else f"{killer[: LONGEST - 1]}…"]


def _like(keys: Sequence[str], language: str, compared: bool) -> list[str]:
    if not compared:
        return []
    return [say("writes", language, count=len(keys), key=keys[0]) if keys else say("nothing", language)]


def _draw(headers: Sequence[str], body: Rows, style: str, names: Sequence[str]) -> str:
    align = "".join("l" if name == "name" else "r" for name in names)
    return table.draw(headers, body, [0] * len(headers), align, style)


def survivors(report: ScoreReport, language: str, verbosity: int) -> list[str]:
    """Every survivor with its diff."""
    if not report.survivors:
        return []
    heading = say("survivors heading", language, count=len(report.survivors))
    return [heading, *(_survivor(mutant, language, verbosity) for mutant in report.survivors)]


def _survivor(mutant: Mutant, language: str, verbosity: int) -> str:
    most = len(mutant.tests) if verbosity > 0 else FEW
    what = mutant.change.diff or f"{mutant.change.before} -> {mutant.change.after}"
    lines = [cells.survivor(mutant, language), say("key", language, key=mutant.key)]
    return "\n".join([*lines, what, cells.reached(mutant, language, most)])
