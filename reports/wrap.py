"""Line breaking by display width: Chinese has no spaces and each character is two columns wide."""

from __future__ import annotations

import re

from wcwidth import wcswidth

NOT_FIRST = "，。、；：？！）」』】》％%,.;:?!)]}’”"
"""Punctuation that must not begin a line; it hangs behind the character it belongs to."""

_PIECE = re.compile(
    rf"\s+|[\u2e80-\u9fff\uff00-\uffef][{re.escape(NOT_FIRST)}]*|[^\s\u2e80-\u9fff\uff00-\uffef]+"
)
"""Blanks, one wide character with the punctuation that follows it, or a run of narrow characters."""


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
    for piece in _PIECE.findall(text):
        if width(piece) <= columns:
            pieces.append(piece)
        else:
            pieces.extend(_cut(piece, columns))
    return pieces


def _cut(word: str, columns: int) -> list[str]:
    """A word wider than a line: broken behind "_", "/", "." or "-" where it can be, anywhere else."""
    parts: list[str] = re.findall(r"[^_/.\-]*[_/.\-]|[^_/.\-]+", word)
    return [part[at : at + columns] for part in parts for at in range(0, len(part), columns)]
