"""The linear map y = x W + b; weights act on the right."""

from __future__ import annotations

import numpy as np

from core.arrays import FloatArray
from core.errors import CoreError


def linear(x: FloatArray, weight: FloatArray, bias: FloatArray | None) -> FloatArray:
    """Return x W + b `[batch, token, out]`; x `[batch, token, in]`, W `[in, out]`, b `[out]` or None.

    Raises CoreError when W does not read as many channels as x has.
    """
    if weight.shape[:-1] != x.shape[-1:]:
        raise CoreError(
            f"x has shape {x.shape}, W {weight.shape}; W [in, out] with as many rows as x has channels is required"
        )
    # One product for each batch element: in a product of all rows the rounding of a row depends on how many rows
    # come before it, and equal tokens of two batch elements would differ in the last bit.
    y: FloatArray = np.matmul(x, weight)
    if bias is not None:
        y += bias
    return y


def linear_backward(
    grad: FloatArray, x: FloatArray, weight: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the gradients of `linear` with respect to x, W and b."""
    leading = tuple(range(grad.ndim - 1))
    grad_weight: FloatArray = np.tensordot(x, grad, (leading, leading))
    return np.matmul(grad, weight.T), grad_weight, grad.sum(axis=leading)
