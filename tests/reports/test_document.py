"""Text around the tables follows the style of the tables."""

from __future__ import annotations

from reports.document import Block, Facts, Grid, Heading, Lines, draw

BLOCKS: list[Block] = [
    Heading("Title", level=1),
    Lines(["one <b>", "two | three"]),
    Facts([("label", "text"), ("longer label", "more")]),
    Grid(["head"], [["cell"]], [0]),
    Lines(["note"]),
]


def test_plain_text_keeps_notes_next_to_their_table() -> None:
    lines = draw(BLOCKS, "ascii", "en").splitlines()
    assert lines[:4] == ["Title", "=====", "one <b>", "two | three"]
    assert lines[5:7] == ["label         text", "longer label  more"]
    assert lines[-2:] == ["+------+", "note"]


def test_a_long_line_goes_on_indented() -> None:
    text = draw([Lines(["word " * 40])], "ascii", "en")
    assert [line[:6] for line in text.splitlines()] == ["word w", "  word"]


def test_markdown_has_headings_lists_and_no_tags() -> None:
    text = draw(BLOCKS, "github", "en")
    assert text.startswith("## Title\n\n- one &lt;b&gt;\n- two \\| three\n\n- **label**: text\n")


def test_latex_text_is_a_comment() -> None:
    text = draw(BLOCKS, "latex", "en")
    assert text.splitlines()[0] == "% Title"
    assert "\\begin{tabular}" in text


def test_a_page_names_its_language_and_its_title() -> None:
    text = draw(BLOCKS, "html", "zh")
    assert '<html lang="zh">' in text
    assert "<title>Title</title>" in text
    assert "<p>one &lt;b&gt;</p>" in text


def test_a_table_of_single_lines_needs_no_rules_between_rows() -> None:
    rows = [["a"], ["b"]]
    tight = draw([Grid(["head"], rows, [0])], "lines", "en").splitlines()
    loose = draw([Grid(["head"], [["a\nb"], ["c"]], [9])], "lines", "en").splitlines()
    assert len(tight) == 6
    assert len(loose) == 8


def test_the_body_of_a_page_has_one_element_for_each_line() -> None:
    blocks = [*BLOCKS[:3], Grid(["n"], [["1"]], [0], "r"), Lines(["note", "more"])]
    body = draw(blocks, "html", "en").partition("<body>\n")[2]
    assert body.splitlines() == [
        "<h1>Title</h1>",
        "<p>one &lt;b&gt;</p>",
        "<p>two | three</p>",
        "<p><b>label</b>: text</p>",
        "<p><b>longer label</b>: more</p>",
        "<table>",
        "<thead>",
        '<tr><th style="text-align: right;">n</th></tr>',
        "</thead>",
        "<tbody>",
        '<tr><td style="text-align: right;">1</td></tr>',
        "</tbody>",
        "</table>",
        "<p>note</p>",
        "<p>more</p>",
        "</body>",
        "</html>",
    ]


def test_a_page_without_a_heading_is_called_faults() -> None:
    assert "<title>faults</title>" in draw([Lines(["x"])], "html", "en")


def test_every_line_of_latex_text_is_a_comment() -> None:
    assert draw([Heading("Two words", level=1), Lines(["one two", "three"])], "latex", "en") == (
        "% Two words\n% =========\n\n% one two\n% three"
    )
