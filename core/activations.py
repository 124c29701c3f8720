"""Position-wise nonlinearities and their exact derivatives, for arrays of any shape."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from core import arrays
from core.arrays import FloatArray

GELU_SLOPE = math.sqrt(2.0 / math.pi)
GELU_CUBIC = 0.044715


def relu(x: ArrayLike) -> FloatArray:
    """Return max(x, 0). Source: Vaswani et al. 2017, section 3.3."""
    return np.maximum(arrays.floats(x, "x"), 0.0)


def relu_backward(grad: FloatArray, x: FloatArray) -> FloatArray:
    """Return the gradient of `relu` at `x`; 0 at x = 0."""
    return grad * (x > 0)


def gelu(x: ArrayLike) -> FloatArray:
    """Return x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).

    The tanh approximation, as in GPT-2, not the exact x * Phi(x).
    Source: Hendrycks and Gimpel 2016, section 2.
    """
    x = arrays.floats(x, "x")
    y = _gelu_tanh(x)
    y += 1.0
    y *= x
    y *= 0.5
    return y


def gelu_backward(grad: FloatArray, x: FloatArray) -> FloatArray:
    """Return the gradient of `gelu` (the tanh approximation) at `x`."""
    tanh = _gelu_tanh(x)
    inner_slope = GELU_SLOPE * (1.0 + 3.0 * GELU_CUBIC * x * x)
    return grad * (0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * inner_slope)


def silu(x: ArrayLike) -> FloatArray:
    """Return x * sigmoid(x) = x / (1 + exp(-x)). Source: Elfwing et al. 2017, equation 6."""
    x = arrays.floats(x, "x")
    y: FloatArray = x / _one_plus_decay(x)
    return y


def silu_backward(grad: FloatArray, x: FloatArray) -> FloatArray:
    """Return the gradient of `silu` at `x`: sigmoid(x) * (1 + x * sigmoid(-x))."""
    return grad * (1.0 + x / _one_plus_decay(-x)) / _one_plus_decay(x)


def swiglu(gate: ArrayLike, value: ArrayLike) -> FloatArray:
    """Return silu(gate) * value. Source: Shazeer 2020, "GLU Variants Improve Transformer", equation 5."""
    y = silu(gate)
    y *= arrays.floats(value, "value")
    return y


def swiglu_backward(grad: FloatArray, gate: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the gradients of `swiglu` with respect to the gate and to the value."""
    return silu_backward(grad * value, gate), grad * silu(gate)


def _gelu_tanh(x: FloatArray) -> FloatArray:
    # One buffer for the whole polynomial: (cubic * x^2 + 1) * slope * x.
    inner = x * x
    inner *= GELU_CUBIC * GELU_SLOPE
    inner += GELU_SLOPE
    inner *= x
    return np.tanh(inner)


def _one_plus_decay(x: FloatArray) -> FloatArray:
    # 1 + exp(-x), the reciprocal of the sigmoid. Far below zero it is infinite, and what is divided by it is 0.
    y = np.negative(x)
    with np.errstate(over="ignore"):
        np.exp(y, out=y)
    y += 1.0
    return y
