"""Hypothesis strategies for fixtures, and a seeded draw from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from detectors.fixtures import DTYPES, NORMS, Extents, Fixture

Choice = TypeVar("Choice")

HEADS = ((4, 2), (6, 2), (6, 3), (8, 2), (8, 4), (6, 3), (4, 2), (3, 3), (2, 2))
"""(heads, key/value heads): mostly grouped (1 < Hkv < H), else as many as there are heads."""

BATCHES = (2, 3, 1)
"""Several sequences first, where Hypothesis is thrifty: a single one shows nothing of what mixes them."""

FEW = (5, 4, 7, 6, 9, 8, 3)
"""Three at least: with two tokens one key too many is the same as no mask."""

LONG = (16, 33, 64)
GAINS = (0.1, 0.5, 1.0, 1.0, 3.0)
"""Factors on Wq and Wk: from nearly uniform weights to nearly one-hot ones."""

BITS = 48
"""Far more than all the choices need, so that every option of one is as likely as the next."""

SEEDS = 2**20
"""Seeds set aside for each draw: two draws share no fixture."""


class Bits:
    """A number that one choice after another is taken from."""

    def __init__(self, bits: Sequence[bool]) -> None:
        self._number = sum(bit << at for at, bit in enumerate(bits))

    def below(self, count: int) -> int:
        """The next number from 0 to count - 1."""
        self._number, found = divmod(self._number, count)
        return found

    def one_of(self, options: Sequence[Choice]) -> Choice:
        return options[self.below(len(options))]


def token_counts(heads: int) -> tuple[int, ...]:
    """Tokens: few, the square case T == H more often than chance, and now and then up to 64."""
    return (*FEW, heads + (heads < 3), *FEW, heads + (heads < 3), *LONG)


def extents() -> st.SearchStrategy[Extents]:
    """Distinct extents above 1 and the square case, both precisions, one sequence and several, extreme logits.

    Drawn bit by bit: for every other kind of value Hypothesis now and then takes a constant from the source of
    whatever modules are loaded, and keeps those in a folder `.hypothesis`. The same seed would give other extents
    in another program, and after any edit.
    """
    return st.lists(st.booleans(), min_size=BITS, max_size=BITS).map(Bits).map(_extents)


def _extents(bits: Bits) -> Extents:
    heads, kv_heads = bits.one_of(HEADS)
    return Extents(
        batch=bits.one_of(BATCHES),
        tokens=bits.one_of(token_counts(heads)),
        heads=heads,
        kv_heads=kv_heads,
        head_width=bits.one_of((2, 3, 4, 5)),
        hidden=bits.one_of((7, 12)),
        dtype=bits.one_of(DTYPES),
        norm_kind=bits.one_of(NORMS),
        gain=bits.one_of(GAINS),
    )


def drawn(examples: int, start: int) -> tuple[Fixture, ...]:
    """`examples` fixtures, the same for the same `start`, without any stored example in between.

    Hypothesis draws the extents, and likes to repeat itself; the seeds are counted, so that no fixture comes twice.
    """
    found: list[Fixture] = []

    @seed(start)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(extents())
    def keep(sizes: Extents) -> None:
        found.append(Fixture(sizes, start * SEEDS + len(found)))

    keep()
    return tuple(found[:examples])
