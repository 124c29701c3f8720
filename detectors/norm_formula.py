"""A norm is gain · (x - mean) / sqrt(var + eps) + bias, or the same of the root mean square, of each token alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.detector import SEQUENCES, Detector
from detectors.errors import NotObservable
from detectors.fixtures import Fixture
from detectors.observation import Observation, largest, relative
from detectors.subject import Norm

Array = NDArray[Any]

AMPLITUDES = (1e2, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Sizes of the inputs: at the first no epsilon in use matters, at the last hardly anything else does."""

TOKENS = 24

LARGEST = 1e-2
"""Epsilon at most: more than any norm in use has."""

LIKE = 1e-4
"""What a norm may leave of its changes when gain, bias and formula are fitted to it: float32 leaves 1e-6, other
things than norms leave 1e-2."""

SEEN = 1e-2
"""Outputs smaller than this, in units of gain and bias, have too few digits left."""

NEAR = 0.1
"""Of the way from the root of the unbiased variance to the right one, within which a gain counts as either."""

NONE = "no norm inside it can be called by itself"
SILENT = "its norm gives hardly anything but its bias"
UNLIKE = "its norm is no layer norm and no RMS norm of single tokens"


def measure(observation: Observation) -> float:
    """The largest relative deviation of a norm from its formula, over those that are of such a form at all."""
    values, reason = [], NONE
    for norm in observation.subject.norms.values():
        try:
            values.append(deviation(norm, observation.fixture, "causal" in observation.subject.declares))
        except NotObservable as error:
            reason = str(error)
    if not values:
        raise NotObservable(reason)
    return max(values)


def deviation(norm: Norm, fixture: Fixture, causal: bool) -> float:
    """How far one norm is off: from any epsilon under the root, from the biased variance, or from its own tokens.

    Raises NotObservable for what is no norm of the two forms: that may be meant.
    """
    x = inputs(fixture, norm.channels)
    y = norm.call(x)
    if y.shape != x.shape or not np.isfinite(y).all():
        raise NotObservable(UNLIKE)
    mixed = _mixed(norm, x, y)
    if mixed > LIKE and causal:
        return mixed
    return _off(np.asarray(x, dtype=np.float64), y, norm.gains)


def inputs(fixture: Fixture, channels: int) -> Array:
    """[amplitude, token, channel]: the same tokens at every amplitude, of different sizes and means."""
    drawn = fixture.draw("norm", TOKENS, channels) + np.linspace(-1, 1, TOKENS)[:, None]
    sizes = np.multiply.outer(AMPLITUDES, np.geomspace(0.5, 2, TOKENS))
    return np.asarray(sizes[:, :, None] * drawn, dtype=fixture.dtype)


def _mixed(norm: Norm, x: Array, y: Array) -> float:
    """Change of the earlier tokens when the last one is another."""
    moved = x.copy()
    moved[:, -1] = -2 * x[:, 0]
    return relative(norm.call(moved)[:, :-1] - y[:, :-1], y)


def _off(x: Array, y: Array, gains: tuple[Array, ...]) -> float:
    large = y[0]
    spread = largest(large - large.mean(axis=0))
    if not spread > LIKE * largest(large):
        raise NotObservable(SILENT)
    centred = x - x.mean(axis=-1, keepdims=True)
    for form in (centred, x):
        size = np.sqrt(np.square(form).mean(axis=-1))
        unit = form[0] / size[0][:, None]  # the same at every amplitude
        gain, bias = _fitted(unit, large)
        if np.allclose(gain * unit + bias, large, rtol=0, atol=LIKE * spread):
            break
    else:
        raise NotObservable(UNLIKE)
    along = gain * unit
    ratio = ((y - bias) * along).sum(axis=-1) / np.square(along).sum(axis=1)
    short = _short(gain, gains) if form is centred else 0.0
    seen = SEEN * (1 + largest(bias) / largest(gain))
    return max(_unexplained(size, ratio, seen), short)


def _fitted(unit: Array, y: Array) -> tuple[Array, Array]:
    """(gain, bias) [channel] of y = gain * unit + bias, least squares over the tokens."""
    apart = unit - unit.mean(axis=0)
    gain = (apart * y).sum(axis=0) / np.square(apart).sum(axis=0)
    return gain, y.mean(axis=0) - gain * unit.mean(axis=0)


def _unexplained(size: Array, ratio: Array, seen: float) -> float:
    """What the best epsilon leaves: `ratio` is 1 without one, and told apart from `seen` upwards.

    Under the root it is size / sqrt(size² + eps); a least size instead is sound too, as `normalize` has it.
    """
    roots = np.clip(np.square(size) * (1 / np.square(ratio) - 1), 0, LARGEST).ravel()
    floors = np.minimum(size / ratio, LARGEST**0.5).ravel()
    curves = [size / np.sqrt(np.square(size) + eps) for eps in roots]
    curves += [size / np.maximum(size, floor) for floor in floors]
    return min(largest((ratio - curve) / np.maximum(curve, seen)) for curve in curves)


def _short(gain: Array, gains: tuple[Array, ...]) -> float:
    """1 - sqrt((n - 1) / n) where the gain is short by that factor of one that it may have: the variance is unbiased.

    It may have any of its parameters, 1 + that, or 1.
    """
    lacking = 1 - (1 - 1 / len(gain)) ** 0.5
    known = [np.ones(1), *gains, *(1 + one for one in gains)]

    def near(factor: float) -> bool:
        return any(np.allclose(gain, factor * one, rtol=NEAR * lacking, atol=0) for one in known)

    return lacking if near(1 - lacking) and not near(1) else 0.0


DETECTOR = Detector(
    name="norm_formula",
    law={
        "en": "a norm divides each token by sqrt(var + eps), or by that of its mean square",
        "zh": "归一化把每个 token 除以 sqrt(方差 + eps)，或除以均方的同样形式",
    },
    unit="relative deviation",
    # Largest healthy value seen 3.2e-5; smallest faulty one 4e-3, with an epsilon of 1e-7 outside the root. One of 1e-8
    # there, as the first RMS norm had it, does no harm: 4e-4.
    threshold=1e-3,
    needs="norms",
    measure=measure,
    # It says nothing about the five, and must not move them apart.
    weight=0.1,
    kinds=SEQUENCES,
)
