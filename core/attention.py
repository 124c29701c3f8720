"""Scaled dot-product attention, every intermediate of it, and its gradient.

Formula: softmax(Q K^T / sqrt(d_k) + mask) V. Source: Vaswani et al. 2017, section 3.2.1, equation 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from core import arrays, heads, softmax
from core import mask as masks
from core.arrays import FloatArray
from core.errors import CoreError

AXES = "batch, head, token, channel"


@dataclass(frozen=True, eq=False)
class AttentionTrace:
    """Every intermediate of one attention call; all `[batch, head, query, key]` but the output."""

    scores: FloatArray
    scaled: FloatArray
    masked: FloatArray
    weights: FloatArray
    output: FloatArray  # [batch, head, query, channel of the values]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the five arrays to an .npz file, under their names here."""
        np.savez(path, **vars(self))


def raw_scores(query: FloatArray, key: FloatArray) -> FloatArray:
    """Return Q K^T `[batch, head, query, key]`: one dot product for each pair of a query and a key."""
    scores: FloatArray = np.matmul(query, key.swapaxes(2, 3))
    return scores


def scale(scores: FloatArray, query: FloatArray) -> FloatArray:
    """Return scores / sqrt(d_k), d_k the channels of one query. Self-adjoint: its gradient is itself."""
    return scores * (1.0 / math.sqrt(query.shape[-1]))


def add_mask(scaled: FloatArray, mask: FloatArray | None) -> FloatArray:
    """Return scaled + mask, the mask in additive form; `scaled` itself without a mask."""
    return scaled if mask is None else scaled + mask


def weighted_sum(weights: FloatArray, value: FloatArray) -> FloatArray:
    """Return weights V `[batch, head, query, channel]`."""
    output: FloatArray = np.matmul(weights, value)
    return output


def attend(query: FloatArray, key: FloatArray, value: FloatArray, mask: FloatArray | None) -> AttentionTrace:
    """Return the trace of one attention, all heads given, without checks: for callers who checked already."""
    scores = raw_scores(query, key)
    scaled = scale(scores, query)
    masked = add_mask(scaled, mask)
    weights = softmax.softmax(masked)
    return AttentionTrace(scores, scaled, masked, weights, weighted_sum(weights, value))


def attend_backward(
    grad_output: FloatArray,
    query: FloatArray,
    key: FloatArray,
    value: FloatArray,
    mask: FloatArray | None,
    trace: AttentionTrace,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the gradients of `attend` with respect to query, key and value; shapes as theirs."""
    grad_weights = np.matmul(grad_output, value.swapaxes(2, 3))
    grad_value = np.matmul(trace.weights.swapaxes(2, 3), grad_output)
    # The mask is a constant that was added: what reaches the scaled scores passes through it unchanged.
    grad_scores = scale(softmax.softmax_backward(grad_weights, trace.weights), query)
    return np.matmul(grad_scores, key), np.matmul(grad_scores.swapaxes(2, 3), query), grad_value


def attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None = None, causal: bool = False
) -> FloatArray:
    """Return softmax(Q K^T / sqrt(d_k) + mask) V `[batch, head, query, channel]`.

    Query, key, value `[batch, head, token, channel]`. The values may have other channels than the keys, the
    keys another length than the queries, and fewer heads than they (grouped queries). The mask is boolean
    (True = may attend) or additive. A query with every key masked gives zeros.
    Raises CoreError for shapes that do not fit.
    """
    return attention_trace(query, key, value, mask, causal).output


def attention_trace(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, mask: ArrayLike | None = None, causal: bool = False
) -> AttentionTrace:
    """Return the same as `attention` with every intermediate."""
    q, k, v = (arrays.ranked(a, n, AXES) for a, n in ((query, "query"), (key, "key"), (value, "value")))
    _check_shapes(q.shape, k.shape, v.shape)
    groups = q.shape[1] // k.shape[1]
    added = _total_mask(q, k, mask, causal)
    return attend(q, heads.repeat_heads(k, groups), heads.repeat_heads(v, groups), added)


def _check_shapes(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> None:
    found = f"query {query}, key {key}, value {value}"
    if not query[0] == key[0] == value[0]:
        raise CoreError(f"batch sizes differ: {found}; one batch size is required for all three")
    if key[1:3] != value[1:3]:
        raise CoreError(
            f"keys and values differ in heads or tokens: {found}; one value for each key is required"
        )
    if query[3] != key[3]:
        raise CoreError(f"queries and keys differ in channels: {found}; equal channels are required")
    if query[1] % key[1]:
        raise CoreError(
            f"query heads are not a multiple of key heads: {found}; groups of equal size are required"
        )


def _total_mask(
    query: FloatArray, key: FloatArray, mask: ArrayLike | None, causal: bool
) -> FloatArray | None:
    shape = (*query.shape[:3], key.shape[2])
    added = None if mask is None else masks.as_additive(mask, shape, query.dtype)
    if not causal:
        return added
    triangle = masks.causal_mask(shape[2], shape[3], query.dtype)
    return triangle if added is None else masks.combine(triangle, added)
