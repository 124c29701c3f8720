"""Tables in every format: nothing in a cell may break the table."""

from __future__ import annotations

import subprocess
import sys

import pytest
import tabulate

from reports import table
from reports.wrap import width


def cells(line: str) -> list[str]:
    """The cells of a Markdown row, split where no backslash stands before the bar."""
    return [cell.strip() for cell in line.replace("\\|", "\0").strip("|").split("|")]


def test_a_bar_in_a_cell_stays_inside_the_cell_in_markdown() -> None:
    text = table.draw(["a", "b"], [["x|y", "z"]], [0, 0], "", "github")
    assert cells(text.splitlines()[2]) == ["x\0y", "z"]


def test_a_line_end_in_a_cell_does_not_end_the_markdown_row() -> None:
    lines = table.draw(["a"], [["x\ny"]], [0], "", "github").splitlines()
    assert len(lines) == 3
    assert cells(lines[2]) == ["x<br>y"]


@pytest.mark.parametrize(
    ("style", "shown"),
    [
        ("github", "a\\|b\\\\c\\*d\\`e X \"'&lt;<br>f"),
        ("html", "a|bc*d`e X &quot;&#x27;&lt;<br>f".replace("bc", "b\\c")),
        ("jira", "a&#124;b\\c*d`e X \"'< f"),
        ("latex", None),
        ("simple", "a|b\\c*d`e X \"'<"),
    ],
)
def test_what_a_format_would_take_for_its_own_is_written_as_it_asks(style: str, shown: str | None) -> None:
    text = table.draw(["h"], [["a|b\\c*d`e X \"'<\nf"]], [0], "", style)
    assert shown is None or shown in text
    assert "XX" not in text


def test_markdown_shows_a_tag_instead_of_obeying_it() -> None:
    assert "&lt;b&gt;" in table.draw(["a"], [["<b>"]], [0], "", "github")


@pytest.mark.parametrize("style", ["html", "unsafehtml"])
def test_html_escapes_cells_and_headers(style: str) -> None:
    text = table.draw(["<th>"], [["<script>&"]], [0], "", style)
    assert "<script>" not in text
    assert "&lt;script&gt;&amp;" in text
    assert "&lt;th&gt;" in text


def test_a_tab_in_a_cell_makes_no_second_column() -> None:
    assert table.draw(["a"], [["x\ty"]], [0], "", "tsv").splitlines()[1] == "x y"


@pytest.mark.parametrize("style", ["simple_grid", "grid", "outline", "psql", "rounded_grid"])
def test_lines_of_a_drawn_table_are_equally_wide_with_chinese_in_it(style: str) -> None:
    rows = [["未来位置概率非零、未来信息泄漏", "1"], ["mask", "逐位一致"]]
    lines = table.draw(["故障", "signal"], rows, [8, 0], "lr", style).splitlines()
    assert len({width(line) for line in lines}) == 1


def test_text_that_looks_like_a_number_stays_as_it_was_written() -> None:
    assert "1e-9" in table.draw(["a"], [["1e-9"]], [0], "r", "plain")


@pytest.mark.parametrize("style", table.FORMATS)
def test_every_format_holds_every_cell(style: str) -> None:
    text = table.draw(["head"], [["cell"]], [0], "", style)
    assert "head" in text
    assert "cell" in text


@pytest.mark.parametrize("style", [*table.FORMATS, table.LINES])
def test_tabulate_is_left_as_it_was_for_everybody_else(style: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulate, "MIN_PADDING", 5)
    table.draw(["head"], [["cell"]], [0], "", style)
    assert tabulate.MIN_PADDING == 5


def test_tabulate_is_left_as_it_was_after_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulate, "MIN_PADDING", 5)
    monkeypatch.setattr(tabulate, "tabulate", lambda *arguments, **named: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        table.draw(["head"], [["cell"]], [0], "", "grid")
    assert tabulate.MIN_PADDING == 5


def test_headers_are_no_wider_than_their_cells_ask_for() -> None:
    assert table.draw(["ab"], [["cd"]], [0], "", "github").splitlines()[0] == "| ab |"


def test_importing_the_reports_changes_nothing_of_tabulate() -> None:
    code = "import tabulate; before = tabulate.MIN_PADDING; import reports.table; print(before == tabulate.MIN_PADDING)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
