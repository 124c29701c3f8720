"""Static pictures: what is drawn, in both formats and languages, and the same bytes every time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from faults import page_data
from faults.model import Report
from tests.reports.made_report import made_report

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from matplotlib.colors import to_hex

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


def words(texts: Any) -> list[str]:
    return [text.get_text() for text in texts]


def test_squares_are_empty_at_zero_and_the_stronger_the_darker(drawn_from: Report) -> None:
    part = drawn_from.page
    assert part is not None
    for axis, colour in zip(pictures.visibility(drawn_from, "en").axes, ("#1f5f9e", "#b04a05"), strict=True):
        image = axis.images[0]
        assert (image.norm.vmin, image.norm.vmax) == (0, 1)
        assert [to_hex(image.cmap(end)) for end in (0.0, 1.0)] == ["#efede7", colour]
    matrix, tones = part.healthy[0].matrix, pictures.visibility(drawn_from, "en").axes[0].images[0]
    assert matrix is not None
    for row, shades in zip(matrix, tones.get_array().tolist(), strict=True):
        # The square root lifts what is faint; 0.12 keeps it apart from nothing.
        assert shades == pytest.approx([0.12 + 0.88 * min(x, 1) ** 0.5 if x > 0 else 0 for x in row])


@pytest.mark.parametrize(
    ("language", "title", "query"), [("en", "Who sees whom: ", "query"), ("zh", "谁看得见谁：", "query")]
)
def test_axes_and_titles_of_the_visibility_are_named(
    drawn_from: Report, language: str, title: str, query: str
) -> None:
    figure = pictures.visibility(drawn_from, language)
    assert figure.get_suptitle().startswith(title)
    first, second = figure.axes
    assert (first.get_xlabel(), first.get_ylabel()) == ("key", query)
    assert (second.get_xlabel(), second.get_ylabel()) == ("", "")
    assert figure.get_size_inches().tolist() == [4.2, 2.75]


def test_lines_stand_between_the_squares_and_no_frame_around_them(drawn_from: Report) -> None:
    axis = pictures.visibility(drawn_from, "en").axes[0]
    upright, level = ([path.tolist() for path in lines.get_segments()] for lines in axis.collections)
    assert upright == [[[at + 0.5, -0.5], [at + 0.5, 7.5]] for at in range(7)]
    assert level == [[[-0.5, at + 0.5], [7.5, at + 0.5]] for at in range(7)]
    assert {to_hex(lines.get_color()[0]) for lines in axis.collections} == {"#ffffff"}
    assert not any(spine.get_visible() for spine in axis.spines.values())
    assert words(axis.get_xticklabels()) == words(axis.get_yticklabels()) == []


def test_the_curves_of_the_saturation_are_named_and_start_at_zero(drawn_from: Report) -> None:
    part = drawn_from.page
    assert part is not None
    figure = pictures.saturation(drawn_from, "en")
    assert [axis.get_title() for axis in figure.axes] == [
        "entropy of the weights, bits",
        "largest weight w",
        "its gradient w(1 - w)",
    ]
    widths = [slope.head_width for slope in part.slopes]
    for axis in figure.axes:
        assert (axis.get_xlabel(), axis.get_xscale(), axis.get_ylim()[0]) == ("d_k", "log", 0)
        assert axis.xaxis.get_transform().base == 2
        assert words(axis.get_xticklabels()) == [f"{width:g}" for width in widths]
        assert [line.get_xdata().tolist() for line in axis.lines] == [widths] * 2
        assert [to_hex(line.get_color()) for line in axis.lines] == ["#1f5f9e", "#b04a05"]
        assert [(line.get_marker(), line.get_linestyle()) for line in axis.lines] == [("o", "-"), ("s", "--")]
        shown = [name for name, spine in axis.spines.items() if spine.get_visible()]
        assert shown == ["left", "bottom"]
    legends = [axis.get_legend() for axis in figure.axes]
    assert words(legends[0].get_texts()) == ["with 1/sqrt(d_k)", "without"]
    assert legends[1:] == [None, None]
    assert [len(axis.lines) for axis in pictures.saturation(drawn_from, "zh").axes] == [2, 2, 2]


def test_symptoms_are_drawn_where_they_were_measured(drawn_from: Report) -> None:
    part = drawn_from.page
    assert part is not None
    first, second = (slope.head_width for slope in part.slopes[:2])
    rows = (
        {"head_width": float(first), "scaled_entropy": 1.5, "unscaled_entropy": 0.5},
        {"head_width": float(second), "scaled_entropy": 1.75},
    )
    axis = pictures.saturation(replace(drawn_from, symptoms=rows), "en").axes[0]
    scaled, unscaled = (line.get_ydata().tolist() for line in axis.lines)
    assert scaled[:2] == [1.5, 1.75]
    assert unscaled[0] == 0.5
    assert all(math.isnan(value) for value in [*scaled[2:], *unscaled[1:]])


def test_a_share_is_of_the_fixtures_on_which_the_detector_was_observed(drawn_from: Report) -> None:
    first = drawn_from.faults[0]
    half = replace(first.variants[0], kills={"future": 3, "slope": 1}, observed={"future": 6})
    figure = pictures.kill_matrix(
        replace(
            drawn_from, faults=(replace(first, variants=(half, *first.variants[1:])), drawn_from.faults[1])
        ),
        "en",
    )
    axis = figure.axes[0]
    assert axis.images[0].get_array().tolist() == [[0.5, 0], [1, 0], [0, 1]]
    assert axis.get_title() == "share of fixtures on which the detector fired"
    assert (axis.images[0].norm.vmin, axis.images[0].norm.vmax) == (0, 1)
    assert axis.get_aspect() == "auto"
    assert to_hex(axis.images[0].cmap(1.0)) == "#1f5f9e"
    # A line where the second fault begins, below the two variants of the first.
    assert [line.get_ydata() for line in axis.lines] == [[1.5, 1.5]]
    assert figure.get_size_inches().tolist() == pytest.approx([0.36 * 2 + 3.2, 0.24 * 3 + 1.9])


def test_pictures_carry_no_date_and_no_name_of_a_program(drawn_from: Report) -> None:
    svg = pictures.draw(drawn_from, "svg", "en")["kill_matrix.svg"]
    png = pictures.draw(drawn_from, "png", "en")["kill_matrix.png"]
    assert b"<dc:date>" not in svg
    assert b"Software" not in png
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (int((0.36 * 2 + 3.2) * 160), int((0.24 * 3 + 1.9) * 160))
