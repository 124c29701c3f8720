"""Array types, and the checks made once at a public entry."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import CoreError

FloatArray: TypeAlias = NDArray[np.floating[Any]]
BoolArray: TypeAlias = NDArray[np.bool_]
Floating: TypeAlias = type[np.floating[Any]] | np.dtype[Any]


def floats(value: ArrayLike, name: str) -> FloatArray:
    """Return `value` as a float array: floats keep their dtype, integers and booleans become float64.

    Raises CoreError when `value` is empty, ragged or not numeric.
    """
    array = _as_array(value, name)
    if array.size == 0:
        raise CoreError(
            f"{name} is empty (shape {array.shape}); at least one element is required on each axis"
        )
    if array.dtype.kind == "f":
        return array
    if array.dtype.kind not in ("i", "u", "b"):
        raise CoreError(
            f"{name} has dtype {array.dtype}; real numbers are required; convert it to float first"
        )
    return np.asarray(array, np.float64)


def ranked(value: ArrayLike, name: str, axes: str) -> FloatArray:
    """Return `floats(value)`, which must have the axes named in `axes`, e.g. "batch, token, channel"."""
    array = floats(value, name)
    required = axes.count(",") + 1
    if array.ndim != required:
        raise CoreError(
            f"{name} has shape {array.shape}, rank {array.ndim}; rank {required} [{axes}] is required; "
            "add or merge axes before the call"
        )
    return array


def _as_array(value: ArrayLike, name: str) -> NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError as error:
        raise CoreError(
            f"{name} cannot be made an array; rows of equal length are required; pad or cut them"
        ) from error
