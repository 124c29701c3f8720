"""Cells that several tables share."""

from __future__ import annotations

import math
from collections.abc import Iterable

from faults.model import VariantResult
from reports import figures
from reports.words import TESTS, say


def worst(values: Iterable[float]) -> float:
    """The largest value, NaN if one of them is NaN, 0 of none."""
    values = list(values)
    return math.nan if any(map(math.isnan, values)) else max(values, default=0.0)


def least(values: Iterable[float | None]) -> float | None:
    """The smallest value that was measured, None if none was."""
    return min((value for value in values if value is not None), default=None)


def restored(difference: float, language: str) -> str:
    """Whether the fix gave the healthy values back: "bit-identical", or how far from it."""
    if difference == 0:
        return say("identical", language)
    return say("differs", language, value=figures.value(difference))


def counts(caught: int, witnessing: int, generated: int) -> str:
    """Fixtures caught, witnessing and generated."""
    return f"{caught}/{witnessing}/{generated}"


def witness(variant: VariantResult) -> str:
    """The smallest fixture on which a variant is caught: extents and seed."""
    found = variant.witness
    return f"{figures.extents(found.extents)} seed={found.seed}" if found else "-"


def test_name(name: str, language: str) -> str:
    """A kind of test in words; its own name where there are none."""
    return TESTS[name][language] if name in TESTS else name
