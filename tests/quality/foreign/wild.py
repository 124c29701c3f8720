"""All pairs after public reports, with their table."""

from __future__ import annotations

from tests.quality.foreign import score, wild_calls, wild_norms, wild_scores, wild_streams
from tests.quality.foreign.pairs import Pair, Row, row

PAIRS: tuple[Pair, ...] = (
    *wild_streams.RESIDUALS,
    *wild_scores.SCALES,
    *wild_scores.MASKS,
    *wild_streams.TRIANGLES,
    *wild_streams.HEADS,
    *wild_streams.RELATIVES,
    *wild_calls.PADDING,
    *wild_calls.CACHES,
    *wild_norms.FORMULAS,
)


def rows() -> list[Row]:
    """What became of every pair."""
    return [row(pair) for pair in PAIRS]


def named(found: list[Row]) -> list[score.Named]:
    """(family, what was said) of every pair."""
    return [(one.pair.family, one.said) for one in found]


def of_the_variant(found: list[Row]) -> tuple[int, int]:
    """(variants that were named, variants that the reports describe)."""
    told = [one for one in found if one.pair.variant]
    return sum(one.variant == one.pair.variant for one in told), len(told)
