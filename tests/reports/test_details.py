"""The long form of a campaign, block by block: every figure stands in its own column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from faults.model import Reading, Report, Status
from reports import details
from reports.document import Block, Grid, Heading, Lines
from tests.reports.made_report import variant

ZERO = "mask_adds_zero/zero"


def table(blocks: list[Block], heading: str) -> Grid:
    """The table under a heading that begins so."""
    at = next(
        at for at, one in enumerate(blocks) if isinstance(one, Heading) and one.text.startswith(heading)
    )
    found = blocks[at + 1]
    assert isinstance(found, Grid)
    return found


def with_variant(report: Report, **changes: Any) -> Report:
    """The report with one variant only, changed."""
    only = variant("mask_adds_zero", "zero", "future", **changes)
    return replace(report, faults=(replace(report.faults[0], variants=(only,)),))


def row(report: Report, heading: str, language: str = "en") -> list[str]:
    (found,) = table(details.blocks(report, language), heading).rows
    return list(found)


def test_a_variant_has_its_status_its_signal_and_its_fixtures(report: Report) -> None:
    reading = Reading("rows", "relative", 1e-9, 2e-6, 0.25)
    changed = with_variant(report, reading=reading, margin=5.1, caught=7, witnessing=9, generated=10)
    assert row(changed, "Variants") == [
        ZERO,
        "zero in words",
        "killed",
        "rows",
        "2e-6",
        "0.25",
        "5.1",
        "7/9/10",
    ]
    exact = with_variant(report, status=Status.ERROR, reason="it raised")
    assert row(exact, "Variants")[1:3] == ["zero in words\n[it raised]", "error"]
    assert row(exact, "Variants")[6] == "exact"
    assert row(exact, "各变体", "zh")[1] == "zero 的写法\n[it raised]"


def test_a_diagnosis_has_how_often_it_was_named_and_the_smallest_witness(report: Report) -> None:
    changed = with_variant(report, named=8, tied=1, named_without_own=6, restored=0.5)
    found = row(changed, "Diagnosis")
    assert found[:4] == [ZERO, "8/9", "1", "6/9"]
    assert "0.5" in found[4]
    assert found[5] == "B=1 T=2 H=1 Hkv=1 d_k=2 float64 seed=7\nfuture = 0.25"
    assert row(with_variant(report, witness=None), "Diagnosis")[5] == "-"


def test_the_kill_matrix_has_a_row_for_each_detector_that_fired(report: Report) -> None:
    blocks = details.blocks(report, "en")
    found = table(blocks, "Kill matrix: mask_adds_zero")
    assert found.headers[1:] == ["zero", "missing"]
    assert found.rows == [["future", "9/9", "9/9"]]
    notes = [line for block in blocks if isinstance(block, Lines) for line in block.lines]
    assert any(line == "Never fired here: slope." for line in notes)


@pytest.mark.parametrize(
    ("kills", "observed", "cell"),
    [
        ({"future": 2}, {"future": 9}, "2/9"),
        ({}, {"future": 9}, "."),
        ({}, {}, "-"),
        ({"future": 1}, {}, "-"),
    ],
)
def test_a_cell_says_how_many_died_of_those_that_were_measured(
    kills: dict[str, int], observed: dict[str, int], cell: str
) -> None:
    made = variant("mask_adds_zero", "zero", "future", kills=kills, observed=observed)
    assert details._kills(made, "future") == cell


@pytest.mark.parametrize(("silent", "words"), [([], "-"), (["slope", "rows"], "slope, rows")])
def test_detectors_that_were_silent_on_a_fault_are_named_under_its_matrix(
    report: Report, silent: list[str], words: str
) -> None:
    detectors = [report.detectors[0], *(replace(report.detectors[1], name=name) for name in silent)]
    _, _, note = details._matrix(report.faults[0], detectors, "en")
    assert isinstance(note, Lines)
    assert note.lines == [f"Never fired here: {words}."]


@pytest.mark.parametrize(("variants", "width"), [(1, 12), (2, 12), (8, 9), (12, 5)])
def test_the_columns_of_the_matrix_share_96_places(report: Report, variants: int, width: int) -> None:
    many = tuple(variant("f", f"v{at}", "future") for at in range(variants))
    _, grid, _ = details._matrix(replace(report.faults[0], variants=many), report.detectors, "en")
    assert isinstance(grid, Grid)
    assert list(grid.widths) == [20] + [width] * variants
    assert grid.align == "l" + "r" * variants


def test_a_detector_has_its_law_its_threshold_and_what_sound_code_gave(report: Report) -> None:
    slope = replace(report.detectors[1], alarms=1)
    found = row(replace(report, detectors=(slope,)), "Detectors")
    assert found == ["slope\nlog ratio", "log-weights have slope 1/sqrt(d_k)", "1e-4", "3e-6", "1/10"]
    assert row(replace(report, detectors=(replace(slope, unit=""),)), "Detectors")[0] == "slope"


def test_the_symptoms_come_last_where_they_were_measured(report: Report) -> None:
    rows = ({"head_width": 64.0, "unheard": 0.25},)
    *_, heading, found, _ = details.blocks(replace(report, symptoms=rows), "en")
    assert isinstance(heading, Heading)
    assert isinstance(found, Grid)
    assert list(found.headers) == ["d_k", "unheard"]
    assert found.rows == [["64", "0.25"]]
    assert (list(found.widths), found.align) == ([10, 10], "rr")
    assert isinstance(details.blocks(replace(report, symptoms=()), "en")[-1], Grid)


def test_numbers_stand_on_the_right(report: Report) -> None:
    blocks = details.blocks(report, "en")
    aligned = [block.align for block in blocks if isinstance(block, Grid)]
    assert aligned == ["llllrrrl", "lrrrll", "lrr", "lr", "llrrr", "rr"]
