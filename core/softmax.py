"""The softmax over the last axis (or another) and its gradient."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from core import arrays
from core.arrays import FloatArray
from core.errors import CoreError


def softmax(logits: ArrayLike, temperature: float = 1.0, axis: int = -1) -> FloatArray:
    """Return exp(z_i) / sum_j exp(z_j), z = logits / temperature, along `axis`; same shape and dtype.

    The largest logit is subtracted first, so finite logits never overflow, at no temperature. A row of nothing
    but -inf (all keys masked) gives zeros: finite, attending to nothing. NaN or +inf in a row gives NaN there.
    Raises CoreError when the temperature is not positive and finite, or `axis` does not exist.
    """
    logits = arrays.floats(logits, "logits")
    if not -logits.ndim <= axis < logits.ndim:
        raise CoreError(f"axis is {axis} for logits of shape {logits.shape}; name one of its axes")
    # The lowest finite number as the least maximum: -inf minus it stays -inf, where -inf - -inf would be NaN.
    largest = np.maximum.reduce(logits, axis=axis, keepdims=True, initial=_lowest(logits))
    with np.errstate(over="ignore", invalid="ignore"):
        weights = logits - largest
    if temperature != 1.0:
        _divide(weights, _checked_temperature(temperature))
    np.exp(weights, out=weights)
    total = np.add.reduce(weights, axis=axis, keepdims=True)
    # The largest logit contributes exp(0) = 1: only a fully masked row is below 1, and 0 / 1 keeps it 0.
    np.maximum(total, 1.0, out=total)
    weights /= total
    return weights


def softmax_backward(grad: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the gradient with respect to the logits: w * (g - sum_j g_j w_j), last axis, temperature 1."""
    product = grad * weights
    product -= weights * np.add.reduce(product, axis=-1, keepdims=True)
    return product


def _lowest(logits: FloatArray) -> float:
    return float(np.finfo(logits.dtype).min)


def _divide(below: FloatArray, heat: float) -> None:
    """Divide in place what lies below the largest logit; the largest, 0, stays 0 whatever the temperature.

    A temperature that the dtype rounds to 0 sends all others to -inf, its limit; one above the dtype's range
    acts as the largest number, so that a masked -inf stays -inf.
    """
    number = below.dtype.type(min(heat, float(np.finfo(below.dtype).max)))
    with np.errstate(over="ignore", divide="ignore"):
        np.divide(below, number, out=below, where=below != 0)


def _checked_temperature(temperature: float) -> float:
    if not (temperature > 0 and math.isfinite(temperature)):
        raise CoreError(
            f"temperature is {temperature}; a finite number above 0 is required; for the limit 0 use argmax"
        )
    return float(temperature)
