"""The attention branch of a block: projections, heads, attention, output projection; and its gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from core import attention, heads, linear
from core.arrays import FloatArray
from core.attention import AttentionTrace

# Scores of one part: with their scaled, masked and normalised copies they fit the second-level cache of one core.
SLICE_BYTES = 512 * 1024

Weights = Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class SelfAttentionTrace:
    """The intermediates of one branch. query, key, value: as attended, `[batch, head, token, channel]`."""

    x: FloatArray
    query: FloatArray
    key: FloatArray
    value: FloatArray
    mask: FloatArray | None
    attention: AttentionTrace
    merged: FloatArray  # [batch, token, channel]
    output: FloatArray


def self_attention(
    x: FloatArray, parameters: Weights, query_heads: int, kv_heads: int, mask: FloatArray | None
) -> FloatArray:
    """Return the branch's result `[batch, token, channel]`; the mask in additive form.

    Source: Vaswani et al. 2017, section 3.2.2; grouped queries, Ainslie et al. 2023, section 2.2.
    """
    query, key, value = project(x, parameters, query_heads, kv_heads)
    merged = heads.merge_heads(attend_in_slices(query, key, value, mask))
    return linear.linear(merged, parameters["Wo"], parameters.get("bo"))


def self_attention_trace(
    x: FloatArray, parameters: Weights, query_heads: int, kv_heads: int, mask: FloatArray | None
) -> SelfAttentionTrace:
    """Return the same as `self_attention` with every intermediate."""
    query, key, value = project(x, parameters, query_heads, kv_heads)
    attended = attention.attend(query, key, value, mask)
    merged = heads.merge_heads(attended.output)
    output = linear.linear(merged, parameters["Wo"], parameters.get("bo"))
    return SelfAttentionTrace(x, query, key, value, mask, attended, merged, output)


def self_attention_backward(
    grad: FloatArray, parameters: Weights, query_heads: int, kv_heads: int, trace: SelfAttentionTrace
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the gradient with respect to x, and those of the four weights and biases by role."""
    grad_merged, grad_Wo, grad_bo = linear.linear_backward(grad, trace.merged, parameters["Wo"])
    grad_q, grad_k, grad_v = attention.attend_backward(
        heads.merge_heads_backward(grad_merged, query_heads),
        trace.query,
        trace.key,
        trace.value,
        trace.mask,
        trace.attention,
    )
    groups = query_heads // kv_heads
    flat_q = heads.split_heads_backward(grad_q, query_heads)
    flat_k = heads.split_heads_backward(heads.repeat_heads_backward(grad_k, groups), kv_heads)
    flat_v = heads.split_heads_backward(heads.repeat_heads_backward(grad_v, groups), kv_heads)
    from_q, grad_Wq, grad_bq = linear.linear_backward(flat_q, trace.x, parameters["Wq"])
    from_k, grad_Wk, grad_bk = linear.linear_backward(flat_k, trace.x, parameters["Wk"])
    from_v, grad_Wv, grad_bv = linear.linear_backward(flat_v, trace.x, parameters["Wv"])
    weights = {"Wq": grad_Wq, "Wk": grad_Wk, "Wv": grad_Wv, "Wo": grad_Wo}
    return from_q + from_k + from_v, weights | {"bq": grad_bq, "bk": grad_bk, "bv": grad_bv, "bo": grad_bo}


def attend_in_slices(
    query: FloatArray, key: FloatArray, value: FloatArray, mask: FloatArray | None
) -> FloatArray:
    """Return the output of `attention.attend`, large batches and head counts in parts that stay in cache.

    A part is some whole batch elements or some whole heads of one, at least one head. Small calls are one part.
    """
    batch, head, queries, _ = query.shape
    one_head = queries * key.shape[2] * query.itemsize
    if batch * head * one_head <= SLICE_BYTES:
        return attention.attend(query, key, value, mask).output
    heads_at_once = min(head, max(1, SLICE_BYTES // one_head))
    batch_at_once = max(1, SLICE_BYTES // (one_head * head))
    output = np.empty((batch, head, queries, value.shape[3]), query.dtype)
    for b, h in product(range(0, batch, batch_at_once), range(0, head, heads_at_once)):
        part = slice(b, b + batch_at_once), slice(h, h + heads_at_once)
        output[part] = attention.attend(query[part], key[part], value[part], _part_of_mask(mask, part)).output
    return output


def project(
    x: FloatArray, parameters: Weights, query_heads: int, kv_heads: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return query, key and value `[batch, head, token, channel]`, keys and values repeated by group."""
    groups = query_heads // kv_heads
    query = heads.split_heads(linear.linear(x, parameters["Wq"], parameters.get("bq")), query_heads)
    key = heads.split_heads(linear.linear(x, parameters["Wk"], parameters.get("bk")), kv_heads)
    value = heads.split_heads(linear.linear(x, parameters["Wv"], parameters.get("bv")), kv_heads)
    return query, heads.repeat_heads(key, groups), heads.repeat_heads(value, groups)


def _part_of_mask(mask: FloatArray | None, part: tuple[slice, slice]) -> FloatArray | None:
    if mask is None or mask.ndim < 3:
        return mask
    batch, head = part
    if mask.ndim == 4 and mask.shape[0] != 1:
        mask = mask[batch]
    return mask[..., head, :, :] if mask.shape[-3] != 1 else mask
