"""Patches, variants and expected signatures of `head_seq_swap`.

The seams are `split_heads(x, heads)`, `merge_heads(x)` and `repeat_heads(x, groups)`. Each wrong version is a
permutation or a sum, patched together with its adjoint, the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from faults.fault_words import fault
from faults.head_seq_swap import words
from faults.model import Function, Seam, Signature, Variant

Patch = Callable[[Function], Function]

REST = -1
"""In a shape: whatever is left."""

SPLIT, SPLIT_BACKWARD = Seam("core.heads", "split_heads"), Seam("core.heads", "split_heads_backward")
MERGE, MERGE_BACKWARD = Seam("core.heads", "merge_heads"), Seam("core.heads", "merge_heads_backward")
REPEAT, REPEAT_BACKWARD = Seam("core.heads", "repeat_heads"), Seam("core.heads", "repeat_heads_backward")


def split(original: Function) -> Function:
    """[batch, token, D] read as [batch, head, token, channel] without a transpose."""
    return lambda x, heads: x.reshape(x.shape[0], heads, x.shape[1], REST)


def split_backward(original: Function) -> Function:
    return lambda grad, heads: grad.reshape(grad.shape[0], grad.shape[2], REST)


def merge(original: Function) -> Function:
    """[batch, head, token, channel] read as [batch, token, D] without a transpose."""
    return lambda x: x.reshape(x.shape[0], x.shape[2], REST)


def merge_backward(original: Function) -> Function:
    return lambda grad, heads: grad.reshape(grad.shape[0], heads, grad.shape[1], REST)


def batch(original: Function) -> Function:
    """[batch * head, token, channel] read as [head, batch, token, channel] and merged from there."""

    def merge_heads(x: Any) -> Any:
        count, heads, tokens, channels = x.shape
        swapped = x.reshape(heads, count, tokens, channels)
        return swapped.transpose(1, 2, 0, 3).reshape(count, tokens, REST)

    return merge_heads


def batch_backward(original: Function) -> Function:
    def merge_heads_backward(grad: Any, heads: int) -> Any:
        count, tokens, _ = grad.shape
        swapped = grad.reshape(count, tokens, heads, REST).transpose(2, 0, 1, 3)
        return swapped.reshape(count, heads, tokens, REST)

    return merge_heads_backward


def stacked(original: Function) -> Function:
    """Heads along a new first axis, [head, batch, token, channel], read as [batch, token, D]."""
    return lambda x: x.transpose(1, 0, 2, 3).reshape(x.shape[0], x.shape[2], REST)


def stacked_backward(original: Function) -> Function:
    def merge_heads_backward(grad: Any, heads: int) -> Any:
        count, tokens, _ = grad.shape
        return grad.reshape(heads, count, tokens, REST).transpose(1, 0, 2, 3)

    return merge_heads_backward


def unmoved_split(original: Function) -> Function:
    """[batch, token, head, channel]: the head axis stays behind the tokens."""
    return lambda x, heads: x.reshape(*x.shape[:2], heads, REST)


def unmoved_merge(original: Function) -> Function:
    return lambda x: x.reshape(*x.shape[:2], REST)


def unmoved_merge_backward(original: Function) -> Function:
    return lambda grad, heads: grad.reshape(*grad.shape[:2], heads, REST)


def unmoved_repeat_backward(original: Function) -> Function:
    return lambda grad, groups: grad.reshape(*grad.shape[:2], REST, groups, grad.shape[3]).sum(axis=3)


def tiled(original: Function) -> Function:
    return lambda x, groups: np.tile(x, (1, groups, 1, 1))


def tiled_backward(original: Function) -> Function:
    def repeat_heads_backward(grad: Any, groups: int) -> Any:
        batch, heads, *rest = grad.shape
        return grad.reshape(batch, groups, heads // groups, *rest).sum(axis=1)

    return repeat_heads_backward


def axes_differ(extents: Any) -> bool:
    """With one head or one token a reshape and a transpose are the same."""
    return bool(extents.heads > 1 and extents.tokens > 1)


SPLITS: Mapping[Seam, Patch] = {SPLIT: split, SPLIT_BACKWARD: split_backward}
MERGES: Mapping[Seam, Patch] = {MERGE: merge, MERGE_BACKWARD: merge_backward}
UNMOVED: Mapping[Seam, Patch] = {
    SPLIT: unmoved_split,
    SPLIT_BACKWARD: lambda original: lambda grad, heads: grad.reshape(*grad.shape[:2], REST),
    MERGE: unmoved_merge,
    MERGE_BACKWARD: unmoved_merge_backward,
    REPEAT: lambda original: lambda x, groups: np.repeat(x, groups, axis=2),
    REPEAT_BACKWARD: unmoved_repeat_backward,
}


MIXED = {"batch", "future", "attention_branch"}
"""What breaks where the sequences of a batch change each other: everything that puts two inputs into one call."""


def _variant(
    name: str,
    patches: Mapping[Seam, Patch],
    fires: set[str],
    patterns: Mapping[str, str],
    witnesses: Callable[[Any], bool] = axes_differ,
) -> Variant:
    signature = Signature(frozenset({"heads", "isolation", *fires}), patterns)
    return Variant(name, words.VARIANTS[name], patches, "heads", signature, witnesses)


FAULT = fault(
    "head_seq_swap",
    words,
    # A plain reshape on both sides keeps the causal order: only blocks of tokens see each other, no leak.
    _variant("both", {**SPLITS, **MERGES}, {"reach", "prefix"}, {"block": "scrambled"}),
    _variant("split", SPLITS, {"future", "prefix"}, {"block": "scrambled"}),
    _variant("merge", MERGES, {"future", "prefix"}, {"block": "scrambled"}),
    _variant(
        "untransposed",
        UNMOVED,
        {"reach", "shape"},
        {"block": "scrambled", "calls": "fail unless square"},
    ),
    _variant(
        "tiled",
        {REPEAT: tiled, REPEAT_BACKWARD: tiled_backward},
        set(),
        {},
        witnesses=lambda extents: 1 < extents.kv_heads < extents.heads,
    ),
    _variant(
        "batch",
        {MERGE: batch, MERGE_BACKWARD: batch_backward},
        MIXED,
        {"block": "full"},
        witnesses=lambda extents: extents.heads > 1 and extents.batch > 1,
    ),
    _variant(
        "stacked",
        {MERGE: stacked, MERGE_BACKWARD: stacked_backward},
        MIXED | {"prefix", "order"},
        {"block": "full"},
        witnesses=lambda extents: extents.heads > 1 and (extents.batch > 1 or extents.tokens > 1),
    ),
)
