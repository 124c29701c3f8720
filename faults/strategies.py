"""Hypothesis strategies for fixtures, and a seeded draw from them."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from detectors.fixtures import DTYPES, NORMS, Extents, Fixture

FEW = (5, 4, 7, 6, 9, 8, 3)
"""Three at least: with two tokens one key too many is the same as no mask."""

LONG = (16, 33, 64)
GAINS = (0.1, 0.5, 1.0, 1.0, 3.0)
"""Factors on Wq and Wk: from nearly uniform weights to nearly one-hot ones."""


def head_counts() -> st.SearchStrategy[tuple[int, int]]:
    """(heads, key/value heads): mostly grouped (1 < Hkv < H), else as many as there are heads."""
    return st.sampled_from([(4, 2), (6, 2), (6, 3), (8, 2), (8, 4), (6, 3), (4, 2), (3, 3), (2, 2)])


def token_counts(heads: int) -> st.SearchStrategy[int]:
    """Tokens: few, the square case T == H more often than chance, and now and then up to 64."""
    return st.sampled_from((*FEW, heads + (heads < 3), *FEW, heads + (heads < 3), *LONG))


@st.composite
def extents(draw: st.DrawFn) -> Extents:
    """Distinct extents above 1 and the square case, both precisions, one sequence and several, extreme logits."""
    heads, kv_heads = draw(head_counts())
    return Extents(
        batch=draw(st.integers(1, 3)),
        tokens=draw(token_counts(heads)),
        heads=heads,
        kv_heads=kv_heads,
        head_width=draw(st.sampled_from([2, 3, 4, 5])),
        hidden=draw(st.sampled_from([7, 12])),
        dtype=draw(st.sampled_from(DTYPES)),
        norm_kind=draw(st.sampled_from(NORMS)),
        gain=draw(st.sampled_from(GAINS)),
    )


def fixtures() -> st.SearchStrategy[Fixture]:
    """Fixtures with their own seed for the numbers in them."""
    return st.builds(Fixture, extents(), st.integers(0, 2**31 - 1))


def drawn(examples: int, start: int) -> tuple[Fixture, ...]:
    """`examples` fixtures, the same for the same `start`, without any stored example in between."""
    found: list[Fixture] = []

    @seed(start)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(fixtures())
    def keep(fixture: Fixture) -> None:
        found.append(fixture)

    keep()
    return tuple(found[:examples])
