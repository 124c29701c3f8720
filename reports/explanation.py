"""One fault explained, with numbers that can be followed by hand: what `faults show` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from faults.model import Demonstration, Fault, Stage
from reports import figures
from reports.document import READING, Block, Facts, Grid, Heading, Lines, draw
from reports.words import AXES, STAGES, say

Matrix = list[list[float]] | None

RUNS = ("before", "after", "repaired")


def render(shown: Sequence[tuple[Fault, Demonstration]], language: str, style: str) -> str:
    """Explanations of faults, each with the demonstration of one of its variants."""
    blocks: list[Block] = []
    for fault, demonstration in shown:
        blocks += [*_facts(fault, language), *_demonstration(demonstration, language)]
    return draw(blocks, style, language)


def _facts(fault: Fault, language: str) -> list[Block]:
    texts = {
        "injected": fault.injected[language],
        "formula": fault.formula,
        "shapes": fault.shapes[language],
        "enters": fault.enters[language],
        "signal": fault.signal[language],
        "repair": fault.repair[language],
    }
    ways = [(variant.name, variant.summary[language]) for variant in fault.variants]
    title = say("explained", language, name=fault.name, title=fault.title[language])
    return [
        Heading(title, level=1),
        Facts([(say(label, language), text) for label, text in texts.items()]),
        Heading(say("ways", language, count=len(ways))),
        Facts(ways),
    ]


def _demonstration(shown: Demonstration, language: str) -> list[Block]:
    sizes = figures.extents(shown.extents)
    blocks: list[Block] = [
        Heading(say("shown", language, variant=shown.variant, extents=sizes)),
        Lines([say("follow", language)], READING),
    ]
    for stage in shown.stages:
        blocks += _stage(stage, language)
    return [*blocks, Lines(_ending(shown, language), READING)]


def _stage(stage: Stage, language: str) -> list[Block]:
    row, column = (_spaced(AXES[axis][language] if axis in AXES else axis, language) for axis in stage.axes)
    name = STAGES[stage.name][language] if stage.name in STAGES else stage.name
    caption = say("stage", language, name=name, row=row, column=column)
    return [Heading(caption, level=3), _numbers(stage, row.strip(), language)]


def _spaced(axis: str, language: str) -> str:
    """English words inside a Chinese sentence stand a blank apart."""
    return f" {axis}" if language == "zh" and axis.isascii() else axis


def _numbers(stage: Stage, row: str, language: str) -> Grid:
    """Before, with the fault and repaired side by side; below each other where that is too wide."""
    matrices = {run: _cells(getattr(stage, run), stage.before) for run in RUNS}
    if stage.before == stage.after == stage.repaired:
        return _beside({"same": matrices["before"]}, row, language)
    beside = _beside(matrices, row, language)
    widest = sum(max(map(len, column)) + 3 for column in zip(*beside.rows, strict=True)) + 1
    return beside if widest <= READING else _below(matrices, row, language)


def _beside(matrices: dict[str, list[str] | None], row: str, language: str) -> Grid:
    count = max((len(lines) for lines in matrices.values() if lines), default=1)
    raised = say("raised", language)
    columns = [_filled(lines, count, raised) for lines in matrices.values()]
    rows = [[f"{row} {at}", *line] for at, line in enumerate(zip(*columns, strict=True))]
    headers = ["", *(say(run, language) for run in matrices)]
    return Grid(headers, rows, (0,) * len(headers), "l" + "r" * len(matrices))


def _filled(lines: list[str] | None, count: int, raised: str) -> list[str]:
    return [*(lines or [raised]), *[""] * count][:count]


def _below(matrices: dict[str, list[str] | None], row: str, language: str) -> Grid:
    rows = [
        [say(run, language) if not at else "", f"{row} {at}", line]
        for run, lines in matrices.items()
        for at, line in enumerate(lines or [say("raised", language)])
    ]
    return Grid(["", "", ""], rows, (0,) * 3, "llr")


def _cells(matrix: Matrix, healthy: Matrix) -> list[str] | None:
    """One text per row; columns line up, and a number that is not the healthy one carries a star."""
    if matrix is None:
        return None
    few = max(map(len, matrix), default=0) <= 3
    marked = [
        [
            _star(number, healthy, at, column) + _number(number, 3 if few else 2)
            for column, number in enumerate(line)
        ]
        for at, line in enumerate(matrix)
    ]
    widest = max((len(text) for line in marked for text in line), default=0)
    return [("  " if few else " ").join(text.rjust(widest) for text in line) for line in marked]


def _star(number: float, healthy: Matrix, row: int, column: int) -> str:
    """ "*" for a number that differs, or that the healthy matrix has no place for."""
    if healthy is None or row >= len(healthy) or column >= len(healthy[row]):
        return "*"
    return "" if number == healthy[row][column] else "*"


def _number(number: float, digits: int) -> str:
    """Fixed decimals; what they would show as 0 or blow up is written with an exponent."""
    if number == 0 or 10**-digits <= abs(number) < 1000 or not math.isfinite(number):
        return f"{number + 0.0:.{digits}f}"
    mantissa, exponent = f"{number:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _ending(shown: Demonstration, language: str) -> Sequence[str]:
    lines = [say("error", language, error=shown.error)] if shown.error else []
    values = {run: figures.value(getattr(shown, run)) for run in RUNS}
    lines.append(say("measured", language, detector=shown.detector, **values))
    if all(stage.repaired == stage.before for stage in shown.stages):
        lines.append(say("back", language))
    return lines
