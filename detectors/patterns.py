"""The shape of a visibility matrix, in one word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import influence, probes
from detectors.errors import NotObservable
from detectors.observation import Observation

Array = NDArray[Any]

ALIVE = 1e-3
"""Share of the median influence below which a pair counts as dead: healthy >= 0.028, dead exactly 0."""

LEAKING = 1e-6
"""The same for the future, which is exactly 0 in sound code: a faint leak is a leak."""

CAUSAL, FULL, TRIANGLE, NOTHING, SCRAMBLED = "causal", "full", "triangle", "nothing", "scrambled"


def pattern(alive: Array, offset: int = 0, columns: list[int] | None = None) -> str:
    """Names a boolean matrix [query, key]: query t should see the keys s <= t + offset.

    "causal": just that. "full": everything. "triangle": a triangle, but mirrored or displaced. "nothing": no pair.
    "scrambled": none of these, as when heads and tokens are confused. `columns` are the keys measured.
    """
    queries, keys = alive.shape
    at = np.arange(keys) if columns is None else np.array(columns)
    distance = at - np.arange(queries)[:, None] - offset
    if np.array_equal(alive, distance <= 0):
        return CAUSAL
    if alive.all() or not alive.any():
        return FULL if alive.all() else NOTHING
    seen, hidden = distance[alive], distance[~alive]
    # One edge parts them: every living pair lies on one side of it, every dead one on the other.
    return TRIANGLE if seen.max() < hidden.min() or hidden.max() < seen.min() else SCRAMBLED


def patterns(observation: Observation) -> dict[str, str]:
    """The patterns that could be seen: through the block, and through attention on three probes."""
    found: dict[str, str] = {}
    for name, look in _LOOKS.items():
        try:
            found[name] = look(observation)
        except NotObservable:
            continue
    return found


def _block(observation: Observation) -> str:
    columns = influence.sources(observation.fixture.extents.tokens)
    reached = influence.reach(observation)
    ahead = np.array(columns) - np.arange(len(reached))[:, None]
    alive = reached > np.where(np.sign(ahead) == 1, LEAKING, ALIVE)
    if not influence.visibility(observation).any():
        return NOTHING
    # The skip connection fills the diagonal of a block, whatever attention does there.
    return pattern(alive | (ahead == 0), columns=columns)


def _attention(observation: Observation) -> str:
    return pattern(_everywhere(probes.weights(observation)))


def _everywhere(weights: Array) -> Array:
    """[query, key]: where the weight is positive in every head of every sequence."""
    alive: Array = np.all(weights > 0, axis=(0, 1))
    return alive


def _huge(observation: Observation) -> str:
    return pattern(
        probes.peaks(observation) > 0, columns=influence.sources(observation.fixture.extents.tokens)
    )


def _short(observation: Observation) -> str:
    if "cached" not in observation.subject.declares:
        raise NotObservable
    tokens = observation.fixture.extents.tokens
    weights = probes.short_weights(observation)
    return pattern(_everywhere(weights), offset=tokens - weights.shape[2])


_LOOKS = {"block": _block, "attention": _attention, "huge": _huge, "short": _short}
