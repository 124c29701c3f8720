"""Line breaking by display width: Chinese has no spaces and each character is two columns wide."""

from __future__ import annotations

import re

from wcwidth import wcswidth

OPENING = "（「『【《“‘(["
"""Must not end a line: it goes with what it opens."""

CLOSING = "，。、；：？！）」』】》％”’%,.;:?!)]}／"
"""Must not begin a line: it hangs behind what it belongs to."""

_WIDE = "\u2e80-\u9fff\uff00-\uffef"
_PIECE = re.compile(
    rf"\s+|[{re.escape(OPENING)}]*(?:[{_WIDE}]|[^\s{_WIDE}]+)?[{re.escape(CLOSING)}]*", re.ASCII
)
"""Blanks, or one wide character or a run of narrow ones with the punctuation around it."""


def width(text: str) -> int:
    """Columns a text takes in a terminal; control characters count as nothing."""
    columns = int(wcswidth(text))
    return columns if columns >= 0 else sum(max(int(wcswidth(letter)), 0) for letter in text)


def wrap(text: str, columns: int) -> list[str]:
    """The lines of a text, none wider than `columns` unless punctuation hangs; its own line ends are kept."""
    return [line for part in text.split("\n") for line in _wrap_line(part, columns)]


def pad(text: str, columns: int) -> str:
    """The text with blanks behind it up to a display width."""
    return text + " " * max(columns - width(text), 0)


def cut(text: str, columns: int) -> str:
    """The text itself where it fits, else as much of it as does with "..." behind."""
    if width(text) <= columns:
        return text
    kept = text
    while width(kept) > columns - 3:
        kept = kept[:-1]
    return kept.rstrip() + "..."


def _wrap_line(text: str, columns: int) -> list[str]:
    lines = [""]
    for piece in _pieces(text, columns):
        if width(lines[-1] + piece.rstrip()) > columns and lines[-1]:
            lines.append("")
        if lines[-1] or not piece.isspace():
            lines[-1] += piece
    return [line.rstrip() for line in lines]


def _pieces(text: str, columns: int) -> list[str]:
    pieces: list[str] = []
    for piece in filter(None, _PIECE.findall(text)):
        if width(piece) <= columns:
            pieces.append(piece)
        else:
            pieces.extend(_cut(piece, columns))
    return pieces


def _cut(word: str, columns: int) -> list[str]:
    """A word wider than a line: broken behind "/", else behind "_", "." or "-", else anywhere."""
    paths: list[str] = re.findall(r"[^/]*/|[^/]+", word)
    parts = [part for path in paths for part in _parts(path, columns)]
    return [part[at : at + columns] for part in parts for at in range(0, len(part), columns)]


def _parts(path: str, columns: int) -> list[str]:
    found: list[str] = re.findall(r"[^_.\-]*[_.\-]|[^_.\-]+", path)
    return [path] if width(path) <= columns else found
