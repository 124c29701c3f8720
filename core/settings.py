"""Checks of single settings: counts, rates, number formats, and objects of the right type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from core.errors import CoreError


def whole(value: Any, name: str, least: int) -> int:
    """Return `value` as an int. Raises CoreError unless it is an integer (no boolean) of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise CoreError(f"{name} is {value!r}; an integer of at least {least} is required; pass such an int")
    return int(value)


def real(value: Any, name: str, least: float) -> float:
    """Return `value` as a float. Raises CoreError unless it is a finite real number of at least `least`."""
    found = _float(value)
    if not least <= found < math.inf:
        raise CoreError(
            f"{name} is {value!r}; a finite number of at least {least:g} is required; pass a float"
        )
    return found


def _float(value: Any) -> float:
    """The number as a float; NaN for what is none, infinity for an integer beyond the largest float."""
    if isinstance(value, bool) or not isinstance(value, float | int | np.floating | np.integer):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def instance(value: object, name: str, required: type) -> None:
    """Raise CoreError unless `value` is of the type `required`."""
    if not isinstance(value, required):
        raise CoreError(
            f"{name} is a {type(value).__name__}; a {required.__name__} is required; make one of it first"
        )


def float_dtype(value: DTypeLike, name: str = "dtype") -> np.dtype[np.floating[Any]]:
    """Return `value` as a NumPy dtype. Raises CoreError unless it is a floating type."""
    try:
        dtype: np.dtype[Any] = np.dtype(value)
    except TypeError as error:
        raise CoreError(f"{name} is {value!r}; a floating type is required; pass np.float64") from error
    if dtype.kind != "f":
        raise CoreError(f"{name} is {dtype}; a floating type is required; pass np.float64")
    return dtype
