"""Patches, variants and expected signatures of `mask_adds_zero`.

The seam is `causal_mask(query_length, key_length, dtype)`; a constant has no gradient, so one patch is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.extents import several_tokens
from faults.fault_words import fault
from faults.mask_adds_zero import words
from faults.model import Function, Seam, Signature, Variant

Array = NDArray[Any]

MASK = Seam("core.mask", "causal_mask")
ADD = Seam("core.attention", "add_mask")
ATTEND = Seam("core.attention", "attend")
ATTEND_BACKWARD = Seam("core.attention", "attend_backward")


def filled(hidden: float, visible: float = 0.0) -> Callable[[Function], Function]:
    """A patch of `causal_mask` with other numbers where keys are hidden and visible."""

    def patch(original: Function) -> Function:
        def causal_mask(*arguments: Any, **named: Any) -> Array:
            mask = original(*arguments, **named)
            number = mask.dtype.type
            filled_in: Array = np.where(np.isneginf(mask), number(hidden), number(visible))
            return filled_in

        return causal_mask

    return patch


def missing(original: Function) -> Function:
    return lambda scaled, mask: scaled


def after_softmax(original: Function) -> Function:
    """softmax(Q K^T / sqrt(d_k)) * keep, the rows no longer summing to 1."""

    def attend(query: Array, key: Array, value: Array, mask: Array | None) -> Any:
        trace = original(query, key, value, None)
        weights = trace.weights * _keep(mask)
        return replace(trace, weights=weights, output=weights @ value)

    return attend


def after_softmax_backward(original: Function) -> Function:
    def attend_backward(
        grad: Array, query: Array, key: Array, value: Array, mask: Array | None, trace: Any
    ) -> tuple[Array, Array, Array]:
        full = np.exp(trace.scaled - trace.scaled.max(axis=-1, keepdims=True))
        full /= full.sum(axis=-1, keepdims=True)
        grad_weights = (grad @ value.swapaxes(-1, -2)) * _keep(mask)
        grad_scaled = full * (grad_weights - (grad_weights * full).sum(axis=-1, keepdims=True))
        grad_scores = grad_scaled * query.shape[-1] ** -0.5
        return grad_scores @ key, grad_scores.swapaxes(-1, -2) @ query, trace.weights.swapaxes(-1, -2) @ grad

    return attend_backward


def _keep(mask: Array | None) -> Any:
    return True if mask is None else ~np.isneginf(mask)


OPEN = frozenset({"future", "prefix", "heads", "future_weight", "first_token", "zero_query", "huge_logits"})
FULL = {"block": "full", "attention": "full", "huge": "full", "short": "full"}


def _variant(name: str, seam: Seam, patch: Callable[[Function], Function]) -> Variant:
    return Variant(name, words.VARIANTS[name], {seam: patch}, "future", Signature(OPEN, FULL), several_tokens)


FAULT = fault(
    "mask_adds_zero",
    words,
    _variant("zero", MASK, filled(0.0)),
    _variant("tiny", MASK, filled(1e-9)),
    _variant("one", MASK, filled(0.0, visible=1.0)),
    _variant("missing", ADD, missing),
    Variant(
        "weak",
        words.VARIANTS["weak"],
        {MASK: filled(-1e4)},
        "huge_logits",
        Signature(frozenset({"huge_logits"}), {"huge": "full"}),
        several_tokens,
        no_gradient="at moderate logits exp(-1e4) is exactly 0, so outputs and gradients are the healthy ones",
    ),
    Variant(
        "after_softmax",
        words.VARIANTS["after_softmax"],
        {ATTEND: after_softmax, ATTEND_BACKWARD: after_softmax_backward},
        "future",
        Signature(
            frozenset({"future", "prefix", "heads", "rows", "first_token", "zero_query"}),
            {"block": "full"},
        ),
        several_tokens,
    ),
)
