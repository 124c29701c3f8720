"""Gradients by central differences: the independent source every hand-written gradient is held against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.arrays import FloatArray

STEP = 1e-5
TOLERANCE = 1e-6


def numeric_gradient(function: Callable[[FloatArray], float], x: FloatArray) -> FloatArray:
    """Return (f(x + h e_i) - f(x - h e_i)) / 2h for every element i of x."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[index] += STEP
        below[index] -= STEP
        gradient[index] = (function(above) - function(below)) / (2.0 * STEP)
    return gradient


def assert_gradient(exact: FloatArray, function: Callable[[FloatArray], float], x: FloatArray) -> None:
    """Check a gradient, element by element, against central differences, relative to its largest element."""
    numeric = numeric_gradient(function, x)
    assert exact.shape == x.shape
    worst = float(np.abs(exact - numeric).max()) / float(np.abs(numeric).max())
    assert worst <= TOLERANCE, f"relative difference {worst:.1e}"
