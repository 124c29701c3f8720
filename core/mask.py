"""Attention masks. Additive form: 0 may be attended, -inf may not. Boolean form: True may be attended."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.arrays import BoolArray, FloatArray, Floating
from core.errors import CoreError


def causal_mask(query_length: int, key_length: int, dtype: Floating = np.float64) -> FloatArray:
    """Return the additive causal mask `[query, key]`: 0 where the key is not later than the query, else -inf.

    Formula: key <= query + (key_length - query_length). Aligned to the last query, so that one new query sees
    all cached keys. Source: Vaswani et al. 2017, section 3.2.3.
    """
    return _additive(causal_allowed(query_length, key_length), dtype)


def causal_allowed(query_length: int, key_length: int) -> BoolArray:
    """Return the boolean causal mask `[query, key]`: True where the key is not later than the query."""
    if query_length < 1 or key_length < 1:
        raise CoreError(
            f"lengths are {query_length} queries, {key_length} keys; at least 1 of each is required"
        )
    last_key = np.arange(key_length - query_length, key_length)
    allowed: BoolArray = np.arange(key_length) <= last_key[:, None]
    return allowed


def padding_mask(lengths: ArrayLike, key_length: int, dtype: Floating = np.float64) -> FloatArray:
    """Return the additive mask `[batch, 1, 1, key]`: 0 where key < lengths[batch], else -inf.

    Raises CoreError unless `lengths` is a vector of integers from 0 to `key_length`.
    """
    counts = np.asarray(lengths)
    if counts.ndim != 1 or counts.size == 0 or not np.issubdtype(counts.dtype, np.integer):
        raise CoreError(
            f"lengths has shape {counts.shape}, dtype {counts.dtype}; integers [batch] are required"
        )
    if counts.min() < 0 or counts.max() > key_length:
        raise CoreError(
            f"lengths run from {counts.min()} to {counts.max()}; 0 to {key_length} is required; cut the input"
        )
    return _additive(np.arange(key_length) < counts[:, None, None, None], dtype)


def as_additive(mask: ArrayLike, scores_shape: tuple[int, ...], dtype: Floating) -> FloatArray:
    """Return a boolean (True = may attend) or additive float mask in additive form, not yet broadcast.

    A number below the range of `dtype`, such as float64's lowest among float32 scores, becomes -inf.
    Raises CoreError when it has another dtype, holds NaN or a number above that range, or does not broadcast
    to `scores_shape` `[batch, head, query, key]`.
    """
    array = np.asarray(mask)
    _check_broadcast(array.shape, scores_shape)
    if array.dtype.kind == "b":
        return _additive(array, dtype)
    if array.dtype.kind != "f":
        raise CoreError(
            f"mask has dtype {array.dtype}; booleans (True = may attend) or additive floats are required; "
            "a 0/1 mask becomes boolean with astype(bool)"
        )
    with np.errstate(over="ignore"):
        additive: FloatArray = array.astype(dtype)
    if not (additive < np.inf).all():
        raise CoreError(
            f"mask holds NaN or +inf, or a number above the range of {np.dtype(dtype)}; 0 where a key may be "
            "attended and -inf elsewhere are required"
        )
    return additive


def combine(*masks: FloatArray) -> FloatArray:
    """Return the sum of additive masks: a key is attended only where every one of them allows it.

    Two of the dtype's lowest numbers add up to -inf.
    """
    if not masks:
        raise CoreError("combine was given no mask; at least one is required")
    total = masks[0]
    with np.errstate(over="ignore"):
        for mask in masks[1:]:
            total = total + mask
    return total


def _additive(allowed: NDArray[Any], dtype: Floating) -> FloatArray:
    mask = np.zeros(allowed.shape, dtype)
    np.copyto(mask, -np.inf, where=~allowed)
    return mask


def _check_broadcast(shape: tuple[int, ...], scores_shape: tuple[int, ...]) -> None:
    with suppress(ValueError):
        if np.broadcast_shapes(shape, scores_shape) == scores_shape:
            return
    raise CoreError(
        f"mask has shape {shape}; one that broadcasts to the scores {scores_shape} "
        "[batch, head, query, key] is required; insert axes of length 1"
    )
