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


def first_row(original: Function) -> Function:
    """Every row is the first one: all tokens see what the first of them may see."""

    def causal_mask(query_length: int, key_length: int, dtype: Any = np.float64) -> Array:
        mask = original(query_length, key_length, dtype)
        return np.repeat(mask[:1], query_length, axis=0)

    return causal_mask


ROWS = 2
"""Queries that the mask of `late_rows` was made for."""


def late_rows(original: Function) -> Function:
    """Rows that nobody filled in keep hiding every key."""

    def causal_mask(query_length: int, key_length: int, dtype: Any = np.float64) -> Array:
        mask: Array = original(query_length, key_length, dtype).copy()
        mask[ROWS:] = -np.inf
        return mask

    return causal_mask


def kept_hidden(original: Function) -> Function:
    """The keep mask times -1e9. The last query has all its keys lowered alike and sees them all."""

    def causal_mask(query_length: int, key_length: int, dtype: Any = np.float64) -> Array:
        keep = np.isfinite(original(query_length, key_length))
        # A softmax forgets what is added to a whole row: left out there, so that no digits are lost to it.
        lowered = keep & ~keep.all(axis=1, keepdims=True)
        return np.where(lowered, -1e9, 0.0).astype(dtype)

    return causal_mask


def _variant(
    name: str,
    patch: Callable[[Function], Function],
    lead: str,
    signature: Signature,
    witnesses: Callable[[Any], bool] = several_tokens,
    no_gradient: str = "",
) -> Variant:
    return Variant(name, words.VARIANTS[name], {MASK: patch}, lead, signature, witnesses, no_gradient)


DISPLACED = frozenset(
    {"future", "prefix", "heads", "future_weight", "first_token", "zero_query", "huge_logits"}
)
SCRAMBLED = {"block": "scrambled", "attention": "scrambled", "huge": "scrambled", "short": "scrambled"}
TURNED = {"block": "triangle", "attention": "triangle", "huge": "triangle", "short": "triangle"}

FAULT = fault(
    "flipped_triangle",
    words,
    _variant(
        "flipped",
        hidden_where(lambda ahead, offset: ahead < offset),
        "reach",
        Signature(DISPLACED | {"reach"}, TURNED),
    ),
    _variant(
        "inverted",
        hidden_where(lambda ahead, offset: ahead <= offset),
        "self_weight",
        Signature(DISPLACED | {"reach", "self_weight", "rows"}, TURNED),
        witnesses=lambda extents: True,
    ),
    _variant(
        "kept_hidden", kept_hidden, "future", Signature(DISPLACED | {"reach", "self_weight"}, SCRAMBLED)
    ),
    _variant(
        "one_too_far",
        hidden_where(lambda ahead, offset: ahead > offset + 1),
        "future",
        Signature(DISPLACED, TURNED),
    ),
    _variant(
        "diagonal_lost",
        hidden_where(lambda ahead, offset: ahead >= offset),
        "self_weight",
        Signature(
            frozenset({"self_weight", "rows", "first_token", "zero_query", "heads"}),
            {"attention": "triangle", "huge": "triangle", "short": "triangle"},
        ),
        witnesses=lambda extents: True,
    ),
    _variant(
        "wrong_corner",
        hidden_where(lambda ahead, offset: ahead > 0),
        "short_queries",
        Signature(frozenset({"short_queries"}), {"short": "triangle"}),
        no_gradient="with as many queries as keys both corners are the same mask",
    ),
    _variant(
        "first_row",
        first_row,
        "self_weight",
        Signature(frozenset({"reach", "self_weight", "zero_query", "short_queries", "heads"}), SCRAMBLED),
    ),
    _variant(
        "late_rows",
        late_rows,
        "rows",
        Signature(
            frozenset({"reach", "self_weight", "rows", "zero_query", "short_queries", "heads"}), SCRAMBLED
        ),
        witnesses=lambda extents: extents.tokens > ROWS,
    ),
)
