"""Tables by tabulate, with what it leaves to its caller: escaping, and wrapping by display width."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import tabulate

from reports.wrap import wrap

FORMATS = tuple(tabulate.tabulate_formats)

LINES, ASCII = "lines", "ascii"
"""Our own two styles: a grid where cells have several lines, an outline where every row is one line."""

_OWN = {LINES: ("simple_grid", "simple_outline"), ASCII: ("grid", "outline")}

_DRAWN = ("grid", "outline", "simple", "plain", "psql", "presto", "pretty", "rst", *_OWN)
"""Formats whose name ends so draw a cell of several lines as such; all others need it on one line."""

_ALIGN = {"l": "left", "r": "right"}


def draw(
    headers: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], align: str, style: str
) -> str:
    """One table in a format of tabulate; numbers arrive as text and stay exactly as they are.

    `widths` gives the widest line of each column, 0 for no limit; `align` one letter "l" or "r" for each.
    """
    prepare = _prepare(style)
    body = [[prepare(cell, size) for cell, size in zip(row, widths, strict=True)] for row in rows]
    head = [prepare(cell, size) for cell, size in zip(headers, widths, strict=True)]
    aligned = tuple(_ALIGN[letter] for letter in align or "l" * len(headers))
    style = _format(style, body)
    with _headers_as_wide_as_cells():
        return tabulate.tabulate(body, headers=head, tablefmt=style, disable_numparse=True, colalign=aligned)


@contextmanager
def _headers_as_wide_as_cells() -> Iterator[None]:
    """tabulate keeps headers two columns wider than cells, of no use to wrapped ones, and takes no argument for it."""
    before = tabulate.MIN_PADDING
    tabulate.MIN_PADDING = 0
    try:
        yield
    finally:
        tabulate.MIN_PADDING = before


def _format(style: str, body: Sequence[Sequence[str]]) -> str:
    """The format of tabulate for a style; cells of a page are escaped before they come here."""
    if style in _OWN:
        grid, outline = _OWN[style]
        return grid if any("\n" in cell for row in body for cell in row) else outline
    return "unsafehtml" if style == "html" else style


def markdown(text: str) -> str:
    """Text that a Markdown reader shows as it is: no HTML, no cell or line end inside."""
    for mark in "\\|*`":
        text = text.replace(mark, f"\\{mark}")
    return html.escape(text, quote=False).replace("\n", "<br>")


def _prepare(style: str) -> Callable[[str, int], str]:
    if style.endswith(_DRAWN):
        return lambda text, size: "\n".join(wrap(text, size)) if size else text
    escape = _ESCAPES.get(style, _one_line)
    return lambda text, size: escape(text)


def _one_line(text: str) -> str:
    return text.replace("\n", " ")


def _page(text: str) -> str:
    return html.escape(text).replace("\n", "<br>")


def _bars(text: str) -> str:
    return _one_line(text).replace("|", "&#124;")


_ESCAPES: dict[str, Callable[[str], str]] = {
    "github": markdown,
    "pipe": markdown,
    "html": _page,
    "unsafehtml": _page,
    "tsv": lambda text: " ".join(text.split()),
    "orgtbl": lambda text: text.replace("|", "\\vert{}").replace("\n", " "),
    **dict.fromkeys(("asciidoc", "jira", "mediawiki", "moinmoin", "textile", "youtrack"), _bars),
}
