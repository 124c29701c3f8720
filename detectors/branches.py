"""The two branches of a pre-norm block, each seen alone by silencing the other's output weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.fixtures import Fixture, frozen
from detectors.observation import Observation, largest

Array = NDArray[Any]

RMS = 30.0
"""Far above 1, so that a norm's epsilon (1e-12 .. 1e-3) does not show."""

GROWTH = 4.0


def silent(observation: Observation, sublayers: str) -> dict[str, Array]:
    """Zero output weight and bias: "o" silences attention, "2" the feed-forward network.

    Raises NotObservable where the subject's output weights cannot be written.
    """
    weights = observation.weights(*(f"W{which}" for which in sublayers))
    roles = [f"{kind}{which}" for which in sublayers for kind in ("W", "b") if f"{kind}{which}" in weights]
    return {role: frozen(np.zeros_like(weights[role])) for role in roles}


def after_attention(observation: Observation) -> Array:
    """[which, batch, token, channel]: f(z; W2 = b2 = 0) for z = x at rms 30, the same grown, and the plain x."""
    return observation.once(_after_attention)


def _after_attention(observation: Observation) -> Array:
    return _run(observation, _inputs(observation.fixture), silent(observation, "2"))


def after_feed_forward(observation: Observation) -> Array:
    """[which, batch, token, channel]: f(z; Wo = bo = 0) for x at rms 30, the same grown, and the plain x's output
    of the attention sublayer, so that the third is the two sublayers in sequence."""
    return observation.once(_after_feed_forward)


def _after_feed_forward(observation: Observation) -> Array:
    inputs = frozen(np.stack([*_inputs(observation.fixture)[:2], after_attention(observation)[2]]))
    return _run(observation, inputs, silent(observation, "o"))


def _run(observation: Observation, inputs: Array, weights: dict[str, Array]) -> Array:
    return observation.block(frozen(np.concatenate(inputs)), weights).reshape(inputs.shape)


def _inputs(fixture: Fixture) -> Array:
    """x at rms 30; grown fourfold, and shifted too for LayerNorm, which forgets a constant; and x as it is."""
    unit = fixture.x / np.sqrt(np.mean(fixture.x**2)) * fixture.dtype.type(RMS)
    shift = RMS if fixture.extents.norm_kind == "layer" else 0.0
    return frozen(np.stack([unit, unit * fixture.dtype.type(GROWTH) + fixture.dtype.type(shift), fixture.x]))


def change(observation: Observation, outputs: Array) -> float:
    """Relative change of the branch, f(z) - z, under growth; 1 where the branch gives nothing at all."""
    plain, grown = outputs[:2] - _inputs(observation.fixture)[:2]
    whole = max(largest(plain), largest(grown))
    return largest(plain - grown) / whole if whole != 0 else 1.0
