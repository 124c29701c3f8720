"""Normalisation over the channels (the last axis) and its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core import arrays
from core.arrays import FloatArray
from core.errors import CoreError


def layer_norm(x: ArrayLike, gain: FloatArray, shift: FloatArray | None, eps: float = 1e-5) -> FloatArray:
    """Return gain * (x - mean) / sqrt(variance + eps) + shift, over the last axis; shape as x.

    The variance is the biased one (divided by the channels). No shift: None.
    Raises CoreError when gain or shift is not `[channel]`.
    Source: Ba, Kiros and Hinton 2016, "Layer Normalization", equations 3 and 4.
    """
    x = arrays.floats(x, "x")
    _check(x, gain, shift)
    y, deviation = _centred(x, eps)
    y /= deviation
    y *= gain
    if shift is not None:
        y += shift
    return y


def layer_norm_backward(
    grad: FloatArray, x: FloatArray, gain: FloatArray, eps: float = 1e-5
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the gradients of `layer_norm` with respect to x, gain and shift."""
    normal, deviation = _centred(x, eps)
    normal /= deviation
    grad_normal = grad * gain
    # What moves the mean or the variance is projected out: those two directions leave the output unchanged.
    grad_x = grad_normal - _mean(grad_normal) - normal * _mean(grad_normal * normal)
    grad_x /= deviation
    return grad_x, _per_channel(grad * normal), _per_channel(grad)


def rms_norm(x: ArrayLike, gain: FloatArray, eps: float = 1e-5) -> FloatArray:
    """Return gain * x / sqrt(mean(x^2) + eps), over the last axis; shape as x.

    Raises CoreError when gain is not `[channel]`. Source: Zhang and Sennrich 2019, equation 4.
    """
    x = arrays.floats(x, "x")
    _check(x, gain, None)
    y = x / _root(x * x, eps)
    y *= gain
    return y


def rms_norm_backward(
    grad: FloatArray, x: FloatArray, gain: FloatArray, eps: float = 1e-5
) -> tuple[FloatArray, FloatArray]:
    """Return the gradients of `rms_norm` with respect to x and gain."""
    root = _root(x * x, eps)
    normal = x / root
    grad_normal = grad * gain
    grad_x = (grad_normal - normal * _mean(grad_normal * normal)) / root
    return grad_x, _per_channel(grad * normal)


def _centred(x: FloatArray, eps: float) -> tuple[FloatArray, FloatArray]:
    centred: FloatArray = x - _mean(x)
    return centred, _root(centred * centred, eps)


def _root(squares: FloatArray, eps: float) -> FloatArray:
    root = _mean(squares)
    root += eps
    return np.sqrt(root)


def _mean(x: FloatArray) -> FloatArray:
    # add.reduce and a division by hand: np.mean does the same behind several microseconds of Python.
    total: FloatArray = np.add.reduce(x, axis=-1, keepdims=True)
    total /= x.shape[-1]
    return total


def _per_channel(grad: FloatArray) -> FloatArray:
    total: FloatArray = grad.sum(axis=tuple(range(grad.ndim - 1)))
    return total


def _check(x: FloatArray, gain: FloatArray, shift: FloatArray | None) -> None:
    channels = x.shape[-1:]
    if gain.shape != channels or (shift is not None and shift.shape != channels):
        found = f"gain {gain.shape}" if shift is None else f"gain {gain.shape}, shift {shift.shape}"
        raise CoreError(
            f"x has {channels} channels, {found}; one gain and shift for each channel is required"
        )
