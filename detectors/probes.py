"""Probes of attention by itself: with V = identity the output *is* the weight matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.errors import NotObservable
from detectors.fixtures import Fixture, frozen
from detectors.influence import sources
from detectors.observation import Observation, plain

Array = NDArray[Any]

PEAK_LOGIT = 1e6
"""Inside [2e4, 1e8]: beats a fill of -1e4 at any wrong scale in use, and never one of -1e9."""


def weights(observation: Observation) -> Array:
    """[1, head, query, key]: attention's weights at moderate logits, at the fixture's own d_k."""
    return observation.once(_probe, observation.fixture.extents.head_width)


def wide_weights(observation: Observation) -> Array:
    """The same at a second d_k, unlike the first and unlike the number of heads."""
    return observation.once(_probe, second_width(observation.fixture))


def second_width(fixture: Fixture) -> int:
    """2 d_k + 1, or one more where that is the number of heads."""
    width = 2 * fixture.extents.head_width + 1
    return width + (width == fixture.extents.heads)


def query_key(fixture: Fixture, head_width: int) -> tuple[Array, Array]:
    """Random query and key [1, head, token, channel] of amplitude d_k^(-1/4): q.k has unit variance at any d_k."""
    shape = (1, fixture.extents.heads, fixture.extents.tokens, head_width)
    size = fixture.dtype.type(head_width**-0.25)
    query, key = fixture.draw("probe query", *shape), fixture.draw("probe key", *shape)
    return frozen(query * size), frozen(key * size)


def identity(fixture: Fixture, batch: int = 1) -> Array:
    """V = identity [batch, head, key, key]."""
    tokens, heads = fixture.extents.tokens, fixture.extents.heads
    shape = (batch, heads, tokens, tokens)
    return frozen(np.broadcast_to(np.eye(tokens, dtype=fixture.dtype), shape).copy())


def plain_output(observation: Observation) -> Array:
    """[1, head, query, channel]: attention's output for the fixture's random query, key and value."""
    return observation.once(_plain_output)


def _plain_output(observation: Observation) -> Array:
    return observation.attend(*plain(observation.fixture))


def _probe(observation: Observation, head_width: int) -> Array:
    query, key = query_key(observation.fixture, head_width)
    return observation.attend(query, key, identity(observation.fixture))


def short_weights(observation: Observation) -> Array:
    """[1, head, query, key] with only the last queries asked, as when earlier keys come from a cache."""
    return observation.once(_short)


def _short(observation: Observation) -> Array:
    fixture = observation.fixture
    if fixture.extents.tokens < 2:
        raise NotObservable("one token: there is no shorter query")
    query, key = query_key(fixture, fixture.extents.head_width)
    return observation.attend(query[:, :, short_start(fixture) :], key, identity(fixture))


def short_start(fixture: Fixture) -> int:
    """The first query that is asked: about half of them are, and never all where there are two."""
    return fixture.extents.tokens // 2


def peaks(observation: Observation) -> Array:
    """[query, source]: weight on source s when its logit is 1e6 and all others are -1e6, the largest over heads.

    The others are low so that a weak fill shows however it is written: added to the future logit it leaves that the
    largest, put in its place it lies above the visible ones. NaN is kept.
    """
    return observation.once(_peaks)


def _peaks(observation: Observation) -> Array:
    fixture = observation.fixture
    moving = sources(fixture.extents.tokens)
    query, key = _huge(fixture, moving)
    output = observation.attend(query, key, identity(fixture, len(moving)))
    return np.stack([output[at, :, :, source].max(axis=0) for at, source in enumerate(moving)], axis=1)


def _huge(fixture: Fixture, moving: list[int]) -> tuple[Array, Array]:
    extents = fixture.extents
    shape = (len(moving), extents.heads, extents.tokens, extents.head_width)
    size = PEAK_LOGIT**0.5 * extents.head_width**-0.25
    key = np.full(shape, -size, fixture.dtype)
    for at, source in enumerate(moving):
        key[at, :, source] = size
    return frozen(np.full(shape, size, fixture.dtype)), frozen(key)
