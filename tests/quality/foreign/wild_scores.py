"""Pairs after reports about the scale (F2) and the mask (F3): mostly attention that is called with q, k and v."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.quality.foreign.numpy_pieces import (
    Array,
    Attention,
    Masked,
    ahead,
    block,
    by_key_width,
    model,
    softmax,
)
from tests.quality.foreign.pairs import Pair

ATTENTION = {"kind": "attention", "heads": 4}


# --- scale --------------------------------------------------------------------------------------------------------


def scaled(report: str, variant: str, factor: Callable[[Array], float]) -> Pair:
    """Attention that multiplies its scores by a factor of q's extents."""
    wrong = Attention(scale=lambda scores, query: scores * scores.dtype.type(factor(query)))
    return Pair(report, lambda: wrong, Attention, "missing_scale", variant, ATTENTION)


def streamed(growth: float) -> Callable[[Array, Array, Array], Array]:
    """Four keys at a time, the scale multiplied by `growth` before each."""

    def attention(query: Array, key: Array, value: Array) -> Array:
        scale, parts = query.shape[-1] ** -0.5, []
        for at in range(0, key.shape[2], 4):
            scale *= growth
            parts.append(query @ key[:, :, at : at + 4].swapaxes(-1, -2) * query.dtype.type(scale))
        scores = np.concatenate(parts, axis=-1)
        output: Array = softmax(np.where(ahead(scores) > 0, -np.inf, scores).astype(query.dtype)) @ value
        return output

    return attention


def prescaled(again: Callable[[Array], float]) -> Callable[[Array, Array, Array], Array]:
    """q is scaled before it is handed to attention that multiplies its scores by `again`."""
    inner = Attention(scale=lambda scores, query: scores * scores.dtype.type(again(query)))
    return lambda query, key, value: inner(by_key_width(query, query), key, value)


def root(query: Array) -> float:
    return float(query.shape[-1] ** -0.5)


def whole_width(query: Array) -> float:
    return float((query.shape[1] * query.shape[-1]) ** -0.5)


SCALES = (
    scaled("F2-026", "reciprocal", lambda query: 1 / root(query)),
    scaled("F2-028", "absent", lambda query: 1.0),
    scaled("F2-029", "absent", lambda query: 1.0),
    scaled("F2-030", "by_model_width", whole_width),
    Pair(
        "F2-032",
        lambda: prescaled(root),
        lambda: prescaled(lambda query: 1.0),
        "missing_scale",
        "twice",
        ATTENTION,
    ),
    scaled("F2-034", "reciprocal", lambda query: 1 / root(query)),
    Pair(
        "F2-038",
        lambda: streamed(np.log2(np.e)),
        lambda: streamed(1.0),
        "missing_scale",
        "each_block",
        ATTENTION,
    ),
    scaled("F2-039", "twice", lambda query: root(query) ** 2),
    scaled("F2-040", "by_model_width", whole_width),
    scaled("F2-041", "by_model_width", whole_width),
)


# --- mask ---------------------------------------------------------------------------------------------------------


def filled(report: str, variant: str, number: float) -> Pair:
    """Attention with its own triangle, which puts `number` in place of the hidden scores."""
    wrong = Attention(hide=lambda scores: np.where(ahead(scores) > 0, scores.dtype.type(number), scores))
    return Pair(report, lambda: wrong, Attention, "mask_adds_zero", variant, ATTENTION)


def taken(
    report: str,
    variant: str,
    apply: Callable[[Array, Array], Array],
    family: str = "mask_adds_zero",
) -> Pair:
    """Attention that takes a boolean mask, True for what may be seen."""
    return Pair(report, lambda: Masked(apply), Masked, family, variant, {**ATTENTION, "mask": "keep"})


def inverted(scores: Array, mask: Array) -> Array:
    return np.where(mask, scores.dtype.type(-np.inf), scores)


def as_number(scores: Array, mask: Array) -> Array:
    added: Array = scores + mask.astype(scores.dtype)
    return added


def ignored(scores: Array, mask: Array) -> Array:
    return scores


def upper_kept(scores: Array) -> Array:
    return np.where(ahead(scores) > 0, scores, scores.dtype.type(-np.inf))


def zeroed(weights: Array) -> Array:
    return np.where(ahead(weights) > 0, weights.dtype.type(0), weights)


def open_scores(scores: Array) -> Array:
    return scores


OPEN = Attention(hide=open_scores)
BEHIND = Attention(hide=open_scores, after=zeroed)
RAISED = Attention(
    hide=open_scores, after=lambda weights: np.where(ahead(weights) > 0, weights.dtype.type(np.inf), weights)
)


def own(report: str, variant: str, wrong: Attention, family: str = "mask_adds_zero") -> Pair:
    """Attention with its own triangle."""
    return Pair(report, lambda: wrong, Attention, family, variant, ATTENTION)


TURNED = "flipped_triangle"


MASKS = (
    filled("F3-042", "tiny", -1e-9),
    filled("F3-043", "tiny", 1e-9),
    taken("F3-044", "tiny", lambda scores, mask: np.where(mask, scores, scores.dtype.type(-1e-9))),
    taken("F3-045", "tiny", lambda scores, mask: np.where(mask, scores, scores.dtype.type(-1e-7))),
    taken("F3-046", "zero", lambda scores, mask: np.where(mask, scores, mask * scores.dtype.type(-1e8))),
    filled("F3-047", "weak", -1e4),
    filled("F3-049", "weak", -1e4),
    # A causal mask with its polarity inverted is the triangle the wrong way round: the present is ruled by the future.
    taken("F3-051", "inverted", inverted, TURNED),
    own("F3-052", "inverted", Attention(hide=upper_kept), TURNED),
    taken("F3-053", "inverted", inverted, TURNED),
    taken("F3-055", "inverted", inverted, TURNED),
    taken("F3-056", "one", as_number),
    taken("F3-057", "one", as_number),
    own("F3-059", "after_softmax", BEHIND),
    own("F3-060", "after_softmax", RAISED),
    own("F3-062", "missing", OPEN),
    taken("F3-066", "missing", ignored),
    taken("F3-067", "missing", ignored),
    Pair("F3-069", model(block(mixing=OPEN)), model(), "mask_adds_zero", "missing"),
    Pair("F3-070", block(mixing=OPEN), block(), "mask_adds_zero", "missing"),
    taken("F3-074", "one", as_number),
    taken("F3-076", "kept_hidden", lambda scores, mask: scores + mask * scores.dtype.type(-1e9), TURNED),
    Pair("F3-077", model(block(mixing=OPEN)), model(), "mask_adds_zero", "missing"),
)
