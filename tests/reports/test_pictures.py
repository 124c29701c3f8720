"""Static pictures: what is drawn, in both formats and languages, and the same bytes every time."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from faults import page_data
from faults.model import Report
from tests.reports.made_report import made_report

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reports import pictures

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn_from() -> Report:
    return replace(made_report(), page=page_data.part(made_report()))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_three_pictures_are_drawn_in_both_languages(drawn_from: Report, language: str) -> None:
    files = pictures.draw(drawn_from, "svg", language)
    assert sorted(files) == ["kill_matrix.svg", "saturation.svg", "visibility.svg"]
    for content in files.values():
        assert ElementTree.fromstring(content).tag == f"{SVG}svg"


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_same_report_gives_the_same_bytes(drawn_from: Report, kind: str) -> None:
    assert pictures.draw(drawn_from, kind, "en") == pictures.draw(drawn_from, kind, "en")


def test_the_kill_matrix_has_a_row_per_variant_and_a_column_per_detector_that_fired(
    drawn_from: Report,
) -> None:
    axis = pictures.kill_matrix(drawn_from, "en").axes[0]
    rows = [label.get_text() for label in axis.get_yticklabels()]
    assert rows == ["mask_adds_zero/zero", "mask_adds_zero/missing", "missing_scale/absent"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["future", "slope"]
    assert axis.images[0].get_array().tolist() == [[1, 0], [1, 0], [0, 1]]


def test_the_sound_block_stands_beside_the_faults_of_the_report(drawn_from: Report) -> None:
    axes = pictures.visibility(drawn_from, "en").axes
    assert [axis.get_title().strip() for axis in axes] == ["sound", "mask_adds_zero\nzero"]
    empty = [int((axis.images[0].get_array() == 0).sum()) for axis in axes]
    assert empty == [28, 0]


def test_the_saturation_is_drawn_over_every_head_width(drawn_from: Report) -> None:
    part = drawn_from.page
    assert part is not None
    axis = pictures.saturation(drawn_from, "en").axes[2]
    scaled, unscaled = (line.get_ydata().tolist() for line in axis.lines)
    assert scaled == [slope.scaled for slope in part.slopes]
    assert unscaled == [slope.unscaled for slope in part.slopes]


def test_a_report_without_the_pages_part_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="page part"):
        pictures.draw(made_report(), "png", "en")
