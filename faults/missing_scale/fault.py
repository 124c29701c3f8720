"""Patches, variants and expected signatures of `missing_scale`.

The seam is `scale(scores, query)`, which the gradient uses too: multiplying by a number is its own adjoint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.extents import several_tokens
from faults.fault_words import fault
from faults.missing_scale import words
from faults.model import Function, Seam, Signature, Variant

Array = NDArray[Any]

SCALE = Seam("core.attention", "scale")
ATTEND = Seam("core.attention", "attend")
ATTEND_BACKWARD = Seam("core.attention", "attend_backward")

SEEN_FROM = 0.1
"""A factor nearer to the right one than e^0.1 is no witness."""

BLOCK = 16
"""Keys that a kernel takes at a time."""

Factor = Callable[[int, int, int], float]

FACTORS: dict[str, Factor] = {
    "absent": lambda heads, head_width, keys: 1.0,
    "by_model_width": lambda heads, head_width, keys: (heads * head_width) ** -0.5,
    "by_heads": lambda heads, head_width, keys: heads**-0.5,
    "by_keys": lambda heads, head_width, keys: keys**-0.5,
    "twice": lambda heads, head_width, keys: 1 / head_width,
    "reciprocal": lambda heads, head_width, keys: head_width**0.5,
}
"""What the scores are multiplied by instead of head_width ** -0.5."""


def by_factor(factor: Factor) -> Callable[[Function], Function]:
    """A patch of `scale` that multiplies by `factor(heads, head_width, keys)`."""

    def patch(original: Function) -> Function:
        return lambda scores, query: scores * factor(query.shape[1], query.shape[-1], scores.shape[-1])

    return patch


def each_block(original: Function) -> Function:
    """Goes on with the factor it has left: 1/sqrt(d_k), times log2(e) for every block of keys so far."""

    def scale(scores: Array, query: Array) -> Any:
        blocks = 1 + np.arange(scores.shape[-1]) // BLOCK
        return original(scores, query) * (math.log2(math.e) ** blocks).astype(scores.dtype)

    return scale


def after_softmax(original: Function) -> Function:
    """softmax(Q K^T + M) / sqrt(d_k): a query grown by sqrt(d_k) undoes the scale inside."""

    def attend(query: Array, key: Array, value: Array, mask: Array | None) -> Any:
        root = math.sqrt(query.shape[-1])
        trace = original(query * root, key, value, mask)
        return replace(trace, scores=trace.scaled, weights=trace.weights / root, output=trace.output / root)

    return attend


def after_softmax_backward(original: Function) -> Function:
    def attend_backward(
        grad: Array, query: Array, key: Array, value: Array, mask: Array | None, trace: Any
    ) -> tuple[Array, Array, Array]:
        root = math.sqrt(query.shape[-1])
        inner = replace(trace, weights=trace.weights * root)
        grad_query, grad_key, grad_value = original(grad / root, query * root, key, value, mask, inner)
        return grad_query * root, grad_key, grad_value

    return attend_backward


def witnesses(factor: Factor) -> Callable[[Any], bool]:
    """Whether the factor is off by at least e^0.1 at the fixture's extents, with two tokens to compare."""

    def decide(extents: Any) -> bool:
        wrong = factor(extents.heads, extents.head_width, extents.tokens)
        off = math.log(wrong * extents.head_width**0.5)
        return extents.tokens > 1 and abs(off) >= SEEN_FROM

    return decide


def _by_factor(name: str, fires: set[str]) -> Variant:
    factor = FACTORS[name]
    signature = Signature(frozenset({"slope", "heads", *fires}), factor=factor)
    return Variant(
        name, words.VARIANTS[name], {SCALE: by_factor(factor)}, "slope", signature, witnesses(factor)
    )


FAULT = fault(
    "missing_scale",
    words,
    _by_factor("absent", {"duplication"}),
    # sqrt(H d_k) grows with the copied features as sqrt(d_k) does: duplication stays quiet.
    _by_factor("by_model_width", set()),
    _by_factor("by_heads", {"duplication"}),
    _by_factor("by_keys", {"duplication"}),
    _by_factor("twice", {"duplication"}),
    _by_factor("reciprocal", {"duplication"}),
    Variant(
        "after_softmax",
        words.VARIANTS["after_softmax"],
        {ATTEND: after_softmax, ATTEND_BACKWARD: after_softmax_backward},
        "slope",
        Signature(
            frozenset({"slope", "duplication", "rows", "zero_query", "first_token", "heads"}),
            factor=FACTORS["absent"],
        ),
        witnesses(FACTORS["absent"]),
    ),
    Variant(
        "each_block",
        words.VARIANTS["each_block"],
        {SCALE: each_block},
        "slope",
        Signature(frozenset({"slope", "heads"})),
        several_tokens,
    ),
)
