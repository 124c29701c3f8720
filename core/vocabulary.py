"""Token ids: integers that name the entries of a vocabulary."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.errors import CoreError

Tokens: TypeAlias = NDArray[np.integer[Any]]


def token_ids(tokens: ArrayLike, name: str, size: int) -> Tokens:
    """Return `tokens` as an integer array of any shape.

    Raises CoreError when it is empty, ragged, not of an integer type, or holds an id outside [0, size).
    """
    ids = _integers(tokens, name)
    least, largest = ids.min(), ids.max()
    if least < 0 or largest >= size:
        raise CoreError(
            f"{name} run from {least} to {largest}; ids from 0 to {size - 1} are required; "
            "use the vocabulary the model was made for"
        )
    return ids


def token_batch(tokens: ArrayLike, name: str, size: int) -> Tokens:
    """Return `token_ids` after checking that they are `[batch, token]`. Raises CoreError for another rank."""
    ids = token_ids(tokens, name, size)
    if ids.ndim != 2:
        raise CoreError(
            f"{name} have shape {ids.shape}; rank 2 [batch, token] is required; add or merge axes"
        )
    return ids


def _integers(tokens: ArrayLike, name: str) -> Tokens:
    try:
        ids = np.asarray(tokens)
    except ValueError as error:
        raise CoreError(f"{name} are ragged; rows of equal length are required; pad or cut them") from error
    if ids.size == 0:
        raise CoreError(f"{name} are empty (shape {ids.shape}); at least one id is required; add one")
    if not np.issubdtype(ids.dtype, np.integer):
        raise CoreError(f"{name} have dtype {ids.dtype}; integer ids are required; convert them first")
    return ids
