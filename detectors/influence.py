"""Who sees whom: the visibility matrices, shared by the contracts on future, reach and pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.fixtures import Fixture, frozen
from detectors.observation import Observation

Array = NDArray[Any]

ALL_TOKENS_UP_TO = 16
SPREAD = 5


def sources(tokens: int) -> list[int]:
    """The tokens that are moved: all of them, or five spread from first to last when there are many."""
    if tokens <= ALL_TOKENS_UP_TO:
        return list(range(tokens))
    return sorted({round(step * (tokens - 1) / (SPREAD - 1)) for step in range(SPREAD)})


def visibility(observation: Observation) -> Array:
    """[query, source]: change of output t when source s alone moves in a random direction, over the largest.

    One batched call with one copy per source and one untouched. A constant shift would be invisible behind
    LayerNorm, hence the random direction.
    """
    return observation.once(_visibility)


def _visibility(observation: Observation) -> Array:
    outputs = observation.block(_moved(observation.fixture))
    changes: Array = np.abs(outputs[1:] - outputs[0]).max(axis=-1).T
    top = changes.max()
    return changes / top if top > 0 else changes


def _moved(fixture: Fixture) -> Array:
    moving = sources(fixture.extents.tokens)
    copies = np.repeat(fixture.x[:1], len(moving) + 1, axis=0)
    if fixture.extents.vocab:
        copies[np.arange(1, len(moving) + 1), moving] = _others(fixture.x[0, moving], fixture.extents.vocab)
        return frozen(copies)
    directions = fixture.draw("directions", len(moving), fixture.extents.width)
    copies[np.arange(1, len(moving) + 1), moving] += directions
    return frozen(copies)


def reach(observation: Observation) -> Array:
    """[query, source]: influence of a small move of one token among identical ones, times t + 1, over the median.

    Among identical tokens every visible key has the same weight 1 / (t + 1), so a healthy influence never
    vanishes, however large the logits; among random ones it does. Central difference, the larger of two
    directions. The median is that of the living pairs of different tokens; without one the matrix is zero.
    """
    return observation.once(_reach)


def _reach(observation: Observation) -> Array:
    tokens, moving = observation.fixture.extents.tokens, sources(observation.fixture.extents.tokens)
    outputs = observation.block(nudged(observation.fixture))
    influence = change(outputs, len(moving)) * np.arange(1, tokens + 1)[:, None]
    return over_the_median(influence, np.arange(tokens)[:, None] != np.array(moving))


def change(outputs: Array, moving: int) -> Array:
    """[query, source]: what the move of a source changes, for outputs of the tokens in `nudged`."""
    plus, minus = outputs.reshape(2, 2, moving, *outputs.shape[1:])
    found: Array = np.abs(plus - minus).max(axis=-1).max(axis=0).T
    return found


def over_the_median(influence: Array, pairs: Array) -> Array:
    """The influences over the median of those that live among these pairs; 0 without one."""
    living = influence[pairs & (influence > 0)]
    return influence / np.median(living) if living.size else np.zeros_like(influence)


def nudged(fixture: Fixture) -> Array:
    """[sign, direction, source, token, channel], flattened to a batch; token ids are replaced instead of nudged."""
    if fixture.extents.vocab:
        return _replaced(fixture)
    tokens, width = fixture.extents.tokens, fixture.extents.width
    moving = sources(tokens)
    step = 1e-4 if fixture.dtype == np.float64 else 1e-2
    copies = np.broadcast_to(fixture.draw("alike", width), (2, 2, len(moving), tokens, width)).copy()
    directions = fixture.draw("nudges", 2, 1, width) * fixture.dtype.type(step)
    copies[0][:, np.arange(len(moving)), moving] += directions
    copies[1][:, np.arange(len(moving)), moving] -= directions
    return frozen(copies.reshape(4 * len(moving), tokens, width))


def _replaced(fixture: Fixture) -> Array:
    """[sign, direction, source, token]: identical ids with one replaced, by two others, and with none."""
    tokens, vocab = fixture.extents.tokens, fixture.extents.vocab
    moving, alike = sources(tokens), fixture.x[0, 0]
    copies = np.full((2, 2, len(moving), tokens), alike)
    copies[0][:, np.arange(len(moving)), moving] = (alike + np.array([[1], [2]])) % vocab
    return frozen(copies.reshape(4 * len(moving), tokens))


def _others(ids: Array, vocab: int) -> Array:
    """Another id for each, of at least two."""
    return (ids + 1 + np.arange(len(ids)) % (vocab - 1)) % vocab
