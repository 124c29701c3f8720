"""The smallest witness: the first fixture, in order of size, on which a variant's lead detector fires."""

from __future__ import annotations

from itertools import product

from detectors.catalogue import BY_NAME
from detectors.examination import measure
from detectors.fixtures import Extents, Fixture
from faults import reference
from faults.injection import inject
from faults.model import Variant, Witness

SEED = 0
HIDDEN = 3


def ladder() -> tuple[Extents, ...]:
    """Extents from small to larger: by batch * tokens * width, then by each extent."""
    found = [
        Extents(batch, tokens, heads, kv_heads, head_width, HIDDEN)
        for batch, tokens, heads, head_width in product((1, 2), (1, 2, 3), (1, 2, 3, 4), (1, 2, 3))
        for kv_heads in (1, 2, 3, 4)
        if heads % kv_heads == 0
    ]
    return tuple(sorted(found, key=_size))


def _size(extents: Extents) -> tuple[int, ...]:
    total = extents.batch * extents.tokens * extents.width
    return total, extents.batch, extents.tokens, extents.heads, extents.head_width, -extents.kv_heads


class Search:
    """Keeps the fixtures it has made, since many variants stop at the same rungs."""

    def __init__(self) -> None:
        self._ladder = ladder()
        self._fixtures: dict[Extents, Fixture] = {}

    def smallest(self, variant: Variant) -> Witness | None:
        """The first rung where the lead detector fires; None where it fires on none."""
        with inject(variant):
            return next(filter(None, (self._caught(variant, rung) for rung in self._ladder)), None)

    def _caught(self, variant: Variant, extents: Extents) -> Witness | None:
        if not variant.witnesses(extents):
            return None
        fixture = self._fixture(extents)
        signal = measure(reference.subject(fixture), fixture, BY_NAME[variant.lead])
        if not signal.fired or signal.value is None:
            return None
        return Witness(extents.as_dict(), SEED, variant.lead, signal.value)

    def _fixture(self, extents: Extents) -> Fixture:
        if extents not in self._fixtures:
            self._fixtures[extents] = Fixture(extents, SEED)
        return self._fixtures[extents]
