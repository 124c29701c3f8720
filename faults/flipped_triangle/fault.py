"""Patches, variants and expected signatures of `flipped_triangle`.

The seam is `causal_mask(query_length, key_length, dtype)`; a constant has no gradient, so one patch is enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.extents import several_tokens
from faults.fault_words import fault
from faults.flipped_triangle import words
from faults.model import Function, Seam, Signature, Variant

Array = NDArray[Any]

MASK = Seam("core.mask", "causal_mask")


def hidden_where(hides: Callable[[Array, int], Array]) -> Callable[[Function], Function]:
    """A patch of `causal_mask`: `hides(s - t, keys - queries)` says which keys get minus infinity."""

    def patch(original: Function) -> Function:
        def causal_mask(query_length: int, key_length: int, dtype: Any = np.float64) -> Array:
            ahead = np.arange(key_length) - np.arange(query_length)[:, None]
            hidden = hides(ahead, key_length - query_length)
            return np.where(hidden, -np.inf, 0.0).astype(dtype)

        return causal_mask

    return patch


def _variant(
    name: str,
    hides: Callable[[Array, int], Array],
    lead: str,
    signature: Signature,
    witnesses: Callable[[Any], bool] = several_tokens,
    no_gradient: str = "",
) -> Variant:
    patches = {MASK: hidden_where(hides)}
    return Variant(name, words.VARIANTS[name], patches, lead, signature, witnesses, no_gradient)


DISPLACED = frozenset(
    {"future", "prefix", "heads", "future_weight", "first_token", "zero_query", "huge_logits"}
)
TURNED = {"block": "triangle", "attention": "triangle", "huge": "triangle", "short": "triangle"}

FAULT = fault(
    "flipped_triangle",
    words,
    _variant(
        "flipped", lambda ahead, offset: ahead < offset, "reach", Signature(DISPLACED | {"reach"}, TURNED)
    ),
    _variant("one_too_far", lambda ahead, offset: ahead > offset + 1, "future", Signature(DISPLACED, TURNED)),
    _variant(
        "diagonal_lost",
        lambda ahead, offset: ahead >= offset,
        "self_weight",
        Signature(
            frozenset({"self_weight", "rows", "first_token", "zero_query", "heads"}),
            {"attention": "triangle", "huge": "triangle", "short": "triangle"},
        ),
        witnesses=lambda extents: True,
    ),
    _variant(
        "wrong_corner",
        lambda ahead, offset: ahead > 0,
        "short_queries",
        Signature(frozenset({"short_queries"}), {"short": "triangle"}),
        no_gradient="with as many queries as keys both corners are the same mask",
    ),
)
