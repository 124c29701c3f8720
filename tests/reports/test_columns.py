"""How wide the tables of the reports are when every cell is full, and on which side their columns stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from faults.model import Alone, Fault, Reading, Report, Seam, Signature, Variant, Witness
from reports import campaign, details, listing
from reports.document import Block, Grid
from reports.table import LINES, draw
from reports.wrap import width
from tests.reports.made_report import variant

LONG = "x" * 99
WORDS = {"en": LONG, "zh": LONG}


def widths(grid: Grid) -> list[int]:
    """The letters between the lines of a table that is drawn."""
    text = draw(grid.headers, grid.rows, grid.widths, grid.align, LINES)
    return [width(column) - 2 for column in text.splitlines()[0].strip("┌┐").split("┬")]


def sides(grid: Grid) -> str:
    """One letter for each column, l or r, as its Markdown says."""
    line = draw(grid.headers, grid.rows, grid.widths, grid.align, "pipe").splitlines()[1]
    return "".join("r" if cell.endswith("-:") else "l" for cell in line.strip("|").split("|"))


def grids(blocks: Sequence[Block]) -> list[Grid]:
    return [block for block in blocks if isinstance(block, Grid)]


@pytest.fixture
def full(report: Report) -> Report:
    """A report of one fault in which all that is text is long."""
    first = variant(
        LONG, LONG, LONG, restored=1.25e-100, margin=1e-9, witness=Witness({LONG: 1}, 7, LONG, 0.25),
        reading=Reading(LONG, "relative", 1.25e-100, 1.25e-101, 1.25e-102),
    )  # fmt: skip
    fault = replace(
        report.faults[0], name=LONG, injected=WORDS, signal=WORDS, diagnosis=LONG, variants=(first,)
    )
    return replace(report, faults=(fault,))


def same(function: Any) -> Any:
    """Patches nothing."""
    return function


SEAM = Seam("core." + LONG, "f")
FAULT = Fault(
    LONG,
    WORDS,
    WORDS,
    WORDS,
    WORDS,
    "M",
    WORDS,
    WORDS,
    (Variant(LONG, WORDS, {SEAM: same}, LONG, Signature(frozenset()), lambda extents: True),),
)


def test_a_full_table_of_faults_is_120_wide(full: Report) -> None:
    grid = campaign._faults(full, "en")
    assert widths(grid) == [16, 19, 19, 8, 11, 9, 16]
    assert sum(widths(grid)) + 3 * 7 + 1 == 120
    assert sides(grid) == "lllllll"


def test_the_figures_of_a_signal_stand_on_the_right_and_its_witness_has_most_room(full: Report) -> None:
    grid = campaign._signals(full, "en")
    assert (widths(grid), sides(grid)) == ([16, 18, 8, 9, 8, 7, 32], "llrrrrl")


def test_a_test_alone_has_one_narrow_column_for_each_fault(full: Report) -> None:
    alone = replace(full, alone=(Alone(LONG, (), (), 1),), faults=full.faults * 2)
    (grid,) = grids(campaign._alone(alone, "en"))
    assert (widths(grid), sides(grid)) == ([18, 10, 14, 14], "lrrr")


def test_the_list_of_faults_and_that_of_variants_leave_room_for_words() -> None:
    grid = listing._faults([FAULT], "en")
    assert (widths(grid), sides(grid)) == ([16, 8, 26, 28, 24], "lrlll")
    grid = listing._variants([FAULT], "en")
    assert (widths(grid), sides(grid)) == ([20, 40, 30, 16], "llll")


def test_seams_stand_below_each_other() -> None:
    variants = tuple(
        replace(FAULT.variants[0], patches={Seam("a", "f"): same, Seam("b", name): same}) for name in "gh"
    )
    fault = replace(FAULT, variants=variants)
    assert listing._faults([fault], "en").rows[0][2] == "a.f\nb.g\nb.h"
    assert [row[2] for row in listing._variants([fault], "en").rows] == ["a.f\nb.g", "a.f\nb.h"]


def test_the_tables_of_the_long_form_are_near_120_wide_too(full: Report) -> None:
    detector = replace(full.detectors[0], name=LONG, law=WORDS)
    variants, diagnosis, matrix, detectors, _ = grids(
        details.blocks(replace(full, detectors=(detector,)), "en")
    )
    assert (widths(variants), sides(variants)) == ([17, 23, 6, 15, 8, 8, 7, 11], "llllrrrl")
    assert (widths(diagnosis), sides(diagnosis)) == ([17, 10, 4, 11, 13, 44], "lrrrll")
    assert (widths(detectors), sides(detectors)) == ([20, 56, 9, 8, 12], "llrrr")
    assert sides(matrix) == "lr"


@pytest.mark.parametrize(("count", "each"), [(1, 12), (6, 12), (7, 10), (12, 5)])
def test_a_kill_matrix_shares_its_width_among_the_variants(full: Report, count: int, each: int) -> None:
    fault = replace(full.faults[0], variants=full.faults[0].variants * count)
    detector = replace(full.detectors[0], name=LONG)
    (matrix,) = grids(details._matrix(replace(fault), (detector,), "en"))
    assert widths(matrix) == [20, *[each] * count]


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_a_page_is_in_the_language_of_its_report(report: Report, verbosity: int) -> None:
    problem = {"en": "the score is too low", "zh": "得分过低"}
    assert '<html lang="zh">' in campaign.render(report, [problem], "zh", "html", verbosity)
    assert '<html lang="zh">' in listing.render([FAULT], "zh", "html", verbosity)


def test_a_list_of_variants_stands_below_that_of_faults() -> None:
    text = listing.render([FAULT], "en", "github", 1)
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "## Faults 1, variants 1",
        "### Variants",
    ]
