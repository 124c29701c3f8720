"""Calls with padding before the real tokens, shared by the contracts on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.errors import NotObservable
from detectors.fixtures import Fixture, frozen
from detectors.observation import Observation

Array = NDArray[Any]


def real(fixture: Fixture) -> Array:
    """[batch, token]: False for the padding, of another length in neighbouring sequences, at most half of the tokens.

    Raises NotObservable where there is one token.
    """
    batch, tokens = fixture.extents.batch, fixture.extents.tokens
    if tokens < 2:
        raise NotObservable("one token: there is nothing to pad")
    pads = 1 + np.arange(batch) % (tokens // 2)
    return frozen(np.arange(tokens) >= pads[:, None])


def replaced(fixture: Fixture) -> Array:
    """The tokens with others in place of the padding: random ones, or the next id each."""
    keep, x = real(fixture), fixture.x
    if fixture.extents.vocab:
        return frozen(np.where(keep, x, (x + 1) % fixture.extents.vocab))
    return frozen(np.where(keep[..., None], x, fixture.draw("padding", *x.shape)))


def output(observation: Observation) -> Array:
    """[batch, token, channel] for the fixture's tokens with padding."""
    return observation.once(_output)


def _output(observation: Observation) -> Array:
    return observation.padded(observation.fixture.x, real(observation.fixture))
