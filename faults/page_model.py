"""What the page draws beyond the rows of a report, as types. Standard library only.

A saved report holds one `PagePart`, so that the page can be drawn again without running anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Text = Mapping[str, str]
"""One sentence in every language of the program: {"en": ..., "zh": ...}."""

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Stage:
    """One array of the tiny example, healthy, under the fault and repaired; None where that run raised."""

    name: str
    axes: tuple[str, str]
    """What rows and columns are, for example ("query", "key")."""
    before: list[list[float]] | None
    after: list[list[float]] | None
    repaired: list[list[float]] | None


@dataclass(frozen=True)
class Demonstration:
    """A fault on one fixture small enough to be followed by hand."""

    fault: str
    variant: str
    extents: Mapping[str, Any]
    stages: tuple[Stage, ...]
    detector: str
    before: float
    after: float
    repaired: float
    error: str = ""
    """What the faulty block raised, when it raised."""


@dataclass(frozen=True)
class Look:
    """Who sees whom through one probe: [query, key], with the name of the pattern; None where it raised."""

    probe: str
    """ "block", "attention", "huge" or "short"."""
    pattern: str
    matrix: Matrix | None
    reason: str = ""
    """Why there is no matrix."""


@dataclass(frozen=True)
class Sight:
    """The four looks of one variant."""

    fault: str
    variant: str
    looks: tuple[Look, ...]


@dataclass(frozen=True)
class Explained:
    """Where a fault enters and what the sound code computes there."""

    fault: str
    formula: str
    enters: Text
    shapes: Text


@dataclass(frozen=True)
class Slope:
    """w(1 - w) of each query's largest weight, averaged: the slope of that weight in its own logit."""

    head_width: float
    scaled: float
    unscaled: float


@dataclass(frozen=True)
class Question:
    """One question of the self-test; the answer's figures are computed, never typed in."""

    name: str
    question: Text
    answer: Text
    figures: Mapping[str, float]


@dataclass(frozen=True)
class PagePart:
    """Everything the page draws that the rows of the report do not hold."""

    extents: Mapping[str, Any]
    """Of the fixture that the looks are taken on."""
    healthy: tuple[Look, ...]
    sights: tuple[Sight, ...]
    demonstrations: tuple[Demonstration, ...]
    explained: tuple[Explained, ...]
    slopes: tuple[Slope, ...]
    positions: Matrix
    """Sinusoidal position vectors, [token, channel]."""
    questions: tuple[Question, ...]
