"""How well faults are named: precision and recall of each family, and their mean."""

from __future__ import annotations

from collections.abc import Iterable

Named = tuple[str, str]
"""(what it is, what was said)."""


def f1(family: str, found: Iterable[Named]) -> float:
    """2 TP / (2 TP + FP + FN) of one family; 0 where it is neither there nor said."""
    pairs = list(found)
    right = sum(is_ == said == family for is_, said in pairs)
    wrong = sum((is_ == family) != (said == family) for is_, said in pairs)
    return 2 * right / (2 * right + wrong) if right + wrong else 0.0


def macro_f1(found: Iterable[Named]) -> float:
    """The mean over all families that there are. Source: Opitz and Burst 2019, "Macro F1 and Macro F1"."""
    pairs = list(found)
    families = sorted({is_ for is_, _ in pairs})
    return sum(f1(family, pairs) for family in families) / len(families)
