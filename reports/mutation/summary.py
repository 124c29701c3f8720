"""The mutation score as a GitHub job summary: Markdown, under the limit of 1 MiB."""

from __future__ import annotations

from faults.mutation.model import Mutant, ScoreReport
from reports.mutation import cells, terminal
from reports.mutation.words import say
from reports.table import markdown

LIMIT = 1024 * 1024
"""Bytes that GitHub takes for one step."""

ROOM = 4096
"""Bytes kept free for the line that says what was cut."""

STYLE = "github"
FEW = 5


def to_summary(report: ScoreReport, language: str, used: int = 0) -> str:
    """The whole summary; survivors that do not fit are counted. `used` bytes are in the file already."""
    parts = [f"# {say('title', language)}", f"**{markdown(cells.verdict(report, language))}**"]
    parts += map(markdown, cells.partial(report, language))
    parts += _tables(report, language)
    parts.append("\n".join(f"- {markdown(line)}" for line in cells.checks(report, language)))
    parts += [f"- {markdown(problem[language])}" for problem in report.judgement.problems[:100]]
    return _fitting(parts, report, language, LIMIT - ROOM - used)


def _tables(report: ScoreReport, language: str) -> list[str]:
    found = []
    if report.parts:
        found.append(terminal.parts(report, language, STYLE))
    found.append(terminal.modules(report, language, STYLE))
    if report.variants:
        found += [f"## {say('variants heading', language)}", terminal.variants(report, language, STYLE)]
    return [*found, markdown(say("note", language))]


def _fitting(parts: list[str], report: ScoreReport, language: str, room: int) -> str:
    """The parts and as many survivors as there is room for."""
    text = "\n\n".join(parts) + "\n"
    survivors = report.survivors
    if survivors:
        text += f"\n## {say('survivors heading', language, count=len(survivors))}\n"
    for at, mutant in enumerate(survivors):
        piece = _survivor(mutant, language)
        if len((text + piece).encode()) > room:
            return cut(text, room) + f"\n{say('cut', language, count=len(survivors) - at)}\n"
        text += piece
    return cut(text, room)


def cut(text: str, room: int) -> str:
    """The text itself, or as many whole lines as fit into so many bytes."""
    if len(text.encode()) <= room:
        return text
    return text.encode()[: max(room, 0)].decode("utf-8", "ignore").rpartition("\n")[0] + "\n"


def _survivor(mutant: Mutant, language: str) -> str:
    what = mutant.change.diff or f"{mutant.change.before} -> {mutant.change.after}"
    fence = "`" * max(3, _longest(what) + 1)
    title = markdown(cells.survivor(mutant, language))
    tests = markdown(cells.reached(mutant, language, FEW))
    return f"\n{title}\n\n{fence}diff\n{what}\n{fence}\n\n{tests}\n"


def _longest(text: str) -> int:
    """Length of the longest run of backticks."""
    runs = "".join(letter if letter == "`" else " " for letter in text).split()
    return max(map(len, runs), default=0)
