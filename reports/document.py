"""A report as a list of blocks, and the output styles it can be drawn in.

A style is the name of one of tabulate's table formats; the text around the tables follows it: Markdown for
"github" and "pipe", a whole page for "html", comments for the LaTeX formats, plain lines for everything else.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reports import table
from reports.wrap import pad, width, wrap

COLUMNS = 118
"""Widest line of running text; tables are planned to stay near it."""

READING = 100
"""Widest line of an explanation."""

MARKDOWN = ("github", "pipe")
PAGE = ("html", "unsafehtml")
LOOSE = ("rst", "asciidoc", "orgtbl", "mediawiki")
"""Markup in which a table needs an empty line around it."""


@dataclass(frozen=True)
class Heading:
    """The name of what follows; level 1 is the whole document's."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Lines:
    """Sentences, each on a line of its own; longer than `columns` they go on indented, with 0 they never break."""

    lines: Sequence[str]
    columns: int = COLUMNS


@dataclass(frozen=True)
class Grid:
    """A table: headers, rows of ready text, and per column the widest line (0: as wide as it needs)."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    widths: Sequence[int]
    align: str = ""
    """One letter per column, "l" or "r"; all left when empty."""


@dataclass(frozen=True)
class Facts:
    """Pairs of a label and what there is to say under it."""

    pairs: Sequence[tuple[str, str]]


Block = Heading | Lines | Facts | Grid


def draw(blocks: Sequence[Block], style: str, language: str) -> str:
    """The whole text in one style, without a line end behind the last line."""
    if style in PAGE:
        return _page(blocks, language)
    text = ""
    for before, block in zip([None, *blocks], blocks, strict=False):
        text += _gap(before, block, style) + _draw_block(block, style)
    return text


def _gap(before: Block | None, block: Block, style: str) -> str:
    """An empty line between sections; below a heading or table only where the markup needs one."""
    if before is None:
        return ""
    close = isinstance(before, Heading) or (isinstance(before, Grid) and isinstance(block, Lines))
    return "\n" if close and _text_style(style) is _plain and style not in LOOSE else "\n\n"


def _draw_block(block: Block, style: str) -> str:
    if isinstance(block, Grid):
        return table.draw(block.headers, block.rows, block.widths, block.align, style)
    return _text_style(style)(block)


def _text_style(style: str) -> Callable[[Heading | Lines | Facts], str]:
    if style in MARKDOWN:
        return _markdown
    return _latex if style.startswith("latex") else _plain


def _plain(block: Heading | Lines | Facts) -> str:
    if isinstance(block, Heading):
        return block.text if block.level > 1 else f"{block.text}\n{'=' * width(block.text)}"
    if isinstance(block, Facts):
        return _columns(block.pairs)
    return "\n".join(_broken(line, block.columns) for line in block.lines)


def _broken(line: str, columns: int) -> str:
    return "\n  ".join(wrap(line, columns - 2)) if columns else line


def _columns(pairs: Sequence[tuple[str, str]]) -> str:
    """Labels on the left, texts broken by width on the right."""
    left = max((width(label) for label, _ in pairs), default=0) + 2
    broken = [(label, wrap(text, READING - left)) for label, text in pairs]
    lines = [
        pad(label if not at else "", left) + part for label, parts in broken for at, part in enumerate(parts)
    ]
    return "\n".join(lines)


def _markdown(block: Heading | Lines | Facts) -> str:
    if isinstance(block, Facts):
        pairs = [(table.markdown(label), table.markdown(text)) for label, text in block.pairs]
        return "\n".join(f"- **{label}**: {text}" for label, text in pairs)
    if isinstance(block, Heading):
        return f"#{'#' * block.level} {table.markdown(block.text)}"
    bullet = "- " if len(block.lines) > 1 else ""
    return "\n".join(bullet + table.markdown(line) for line in block.lines)


def _latex(block: Heading | Lines | Facts) -> str:
    return "\n".join(f"% {line}" for line in _plain(block).split("\n"))


def _page(blocks: Sequence[Block], language: str) -> str:
    title = next((block.text for block in blocks if isinstance(block, Heading)), "faults")
    head = (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    )
    return "\n".join([head, *map(_page_block, blocks), "</body>\n</html>"])


def _page_block(block: Block) -> str:
    if isinstance(block, Grid):
        return table.draw(block.headers, block.rows, block.widths, block.align, "unsafehtml")
    if isinstance(block, Heading):
        return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
    if isinstance(block, Facts):
        pairs = [(html.escape(label), html.escape(text)) for label, text in block.pairs]
        return "\n".join(f"<p><b>{label}</b>: {text}</p>" for label, text in pairs)
    return "\n".join(f"<p>{html.escape(line)}</p>" for line in block.lines)


_STYLE = (
    "body { font-family: sans-serif; margin: 2em; } table { border-collapse: collapse; margin: 1em 0; } "
    "th, td { border: 1px solid #999; padding: .3em .6em; text-align: left; vertical-align: top; }"
)
