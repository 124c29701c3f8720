"""Two measures the chapter of attention starts from: the dot product and the self-information."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from core import arrays
from core.errors import CoreError


def dot_product(a: ArrayLike, b: ArrayLike) -> float:
    """Return sum_i a_i * b_i of two vectors `[channel]`.

    For independent components of mean 0 and variance 1 it has mean 0 and standard deviation sqrt(channels):
    only a vector's product with itself grows linearly. Raises CoreError unless a and b are vectors of equal
    length.
    """
    left, right = arrays.ranked(a, "a", "channel"), arrays.ranked(b, "b", "channel")
    if left.shape != right.shape:
        raise CoreError(
            f"a has {left.size} channels and b has {right.size}; equal lengths are required; project one"
        )
    return float(np.dot(left, right))


def self_information(p: float) -> float:
    """Return -log2(p), in bits, of an event of probability `p`.

    Raises CoreError unless 0 < p <= 1.
    Source: Shannon 1948, "A Mathematical Theory of Communication", section 6.
    """
    if not 0 <= p <= 1:
        raise CoreError(f"p is {p}; a probability 0 < p <= 1 is required; normalise it first")
    if p == 0:
        raise CoreError("p is 0: an impossible event has no finite self-information; give 0 < p <= 1")
    return -math.log2(p) + 0.0
