"""Pairs after reports about residuals (F1), triangles (F4), heads (F5) and their relatives (R)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.quality.foreign.numpy_pieces import (
    HEAD_WIDTH,
    WIDTH,
    Array,
    Attention,
    Block,
    ahead,
    block,
    model,
    softmax,
)
from tests.quality.foreign.pairs import Pair
from tests.quality.foreign.wild_scores import ATTENTION

# --- residual -----------------------------------------------------------------------------------------------------

CONTEXT = np.random.default_rng(9).standard_normal((1, 6, WIDTH)).astype(np.float32)


def with_context(skip: float) -> Callable[[Block, Array, Array], Array]:
    """Between the sublayers, attention to a fixed context; `skip` is 0 where its result replaces the stream."""

    def second(self: Block, h: Array, x: Array) -> Array:
        drawn = np.tanh(self.normalised("1", h)) @ CONTEXT[0, :, :].T @ CONTEXT[0] / WIDTH
        h = skip * h + drawn
        return h + self.feed(self.normalised("2", h))

    return second


def called(**pieces: Any) -> Callable[[], dict[str, Any]]:
    """The block as a function of x alone: nobody can write its weights."""
    return lambda: {
        "kind": "block",
        "call": block(**pieces)().call,
        "width": WIDTH,
        "heads": 4,
        "norm": "pre",
    }


def feed_skip_after_norm(self: Block, h: Array, x: Array) -> Array:
    h = self.normalised("2", h)
    return h + self.feed(h)


def first_after_norm(self: Block, x: Array) -> Array:
    x = self.normalised("1", x)
    return x + self.attend(x)


RESIDUALS = (
    Pair(
        "F1-002",
        block(second=lambda self, h, x: x + self.feed(self.normalised("2", h))),
        block(),
        "residual_shape",
        "ffn_from_input",
    ),
    Pair("F1-004", block(second=feed_skip_after_norm), block(), "residual_shape", "after_norm"),
    Pair(
        "F1-008",
        called(second=with_context(0.0)),
        called(second=with_context(1.0)),
        "residual_shape",
        "dropped",
    ),
    Pair(
        "F1-013",
        block(first=lambda self, x: x + self.mixed(self.normalised("1", x), x, x)),
        block(),
        "branch_without_norm",
    ),
    Pair(
        "F1-017",
        block(first=first_after_norm, second=feed_skip_after_norm),
        block(),
        "residual_shape",
        "after_norm",
    ),
    Pair("F1-022", block(normalised=lambda self, which, x: x), block(), "residual_shape", "norm_unused"),
)


# --- triangle -----------------------------------------------------------------------------------------------------


def triangle(report: str, variant: str, hides: Callable[[Array], Array]) -> Pair:
    """Attention that hides where `hides` of its scores is True."""
    wrong = Attention(hide=lambda scores: np.where(hides(scores), scores.dtype.type(-np.inf), scores))
    declared = {**ATTENTION, "cached": True} if variant == "wrong_corner" else ATTENTION
    return Pair(report, lambda: wrong, Attention, "flipped_triangle", variant, declared)


def from_first(scores: Array) -> Array:
    """[query, key]: how far the key lies after the query, the first query beside the first key."""
    found: Array = np.arange(scores.shape[-1]) - np.arange(scores.shape[-2])[:, None]
    return found


def first_row(scores: Array) -> Array:
    return np.broadcast_to(np.arange(scores.shape[-1]) > 0, scores.shape[-2:])


TRIANGLES = (
    triangle("F4-080", "flipped", lambda scores: ahead(scores) < 0),
    triangle("F4-081", "flipped", lambda scores: ahead(scores) < 0),
    triangle("F4-082", "diagonal_lost", lambda scores: ahead(scores) >= 0),
    triangle("F4-083", "one_too_far", lambda scores: ahead(scores) > 1),
    triangle("F4-084", "first_row", first_row),
    triangle("F4-085", "wrong_corner", lambda scores: from_first(scores) > 0),
    triangle("F4-086", "wrong_corner", lambda scores: from_first(scores) > 0),
    triangle("F4-087", "wrong_corner", lambda scores: from_first(scores) > 0),
    triangle("F4-088", "wrong_corner", lambda scores: from_first(scores) > 0),
    triangle("F4-090", "wrong_corner", lambda scores: from_first(scores) > 0),
)


# --- heads --------------------------------------------------------------------------------------------------------


def plain_split(self: Block, x: Array) -> Array:
    return x.reshape(x.shape[0], -1, x.shape[1], HEAD_WIDTH)


def plain_merge(self: Block, x: Array) -> Array:
    return x.reshape(x.shape[0], x.shape[2], -1)


def heads_before_batch(self: Block, x: Array) -> Array:
    """[batch * head, ...] read as [head, batch, ...] and merged from there."""
    batch, heads, tokens, width = x.shape
    return x.reshape(heads, batch, tokens, width).transpose(1, 2, 0, 3).reshape(batch, tokens, -1)


def stacked_heads(self: Block, x: Array) -> Array:
    """Heads along a new first axis, read as [batch, token, channel] without a transpose."""
    return x.transpose(1, 0, 2, 3).reshape(x.shape[0], x.shape[2], -1)


def viewed(self: Block, x: Array) -> Array:
    """[batch, token, channel] read as [token, batch, channel] to make room for attention along the first axis."""
    batch, tokens, width = x.shape
    turned = x.reshape(tokens, batch, width).transpose(1, 0, 2)
    return self.mixed(turned, turned, turned).transpose(1, 0, 2).reshape(batch, tokens, width)


def headed(report: str, variant: str, right: Any = None, **pieces: Any) -> Pair:
    return Pair(report, block(**pieces), block(**(right or {})), "head_seq_swap", variant)


class Grouped(Block):
    """Four query heads share two key/value heads."""

    groups, kv_heads = 2, 2


class Tiled(Grouped):
    def widened(self, x: Array) -> Array:
        return np.tile(x, (1, self.groups, 1, 1))


HEADS = (
    headed("F5-103", "merge", merge=plain_merge),
    headed("F5-104", "both", split=plain_split, merge=plain_merge),
    headed("F5-105", "batch", merge=heads_before_batch),
    headed("F5-106", "stacked", merge=stacked_heads),
    # No head takes part in it: the sequences of the batch do.
    Pair("F5-107", block(attend=viewed), block(), "rows_interact"),
    headed("F5-108", "merge", merge=plain_merge),
    Pair("F5-114", Tiled, Grouped, "head_seq_swap", "tiled"),
    headed("F5-117", "merge", merge=plain_merge),
)


# --- relatives ----------------------------------------------------------------------------------------------------


def over(report: str, axis: int, hide: Any = None) -> Pair:
    """Attention whose softmax runs over one axis of [batch, head, query, key]; two ways, where nothing is hidden."""
    options = {} if hide is None else {"hide": hide}
    wrong = Attention(normalise=lambda scores: np.nan_to_num(softmax(scores, axis)), **options)
    declared = ATTENTION if hide is None else {**ATTENTION, "causal": False}
    return Pair(report, lambda: wrong, lambda: Attention(**options), "softmax_axis", "", declared)


def everything(scores: Array) -> Array:
    return scores


class Dropping:
    """Dropout on the weights or the branch, whether or not anybody is training."""

    def __init__(self, share: float) -> None:
        self.share, self.draw = share, np.random.default_rng(11).random

    def __call__(self, x: Array) -> Array:
        return (x * (self.draw(x.shape) >= self.share) / (1 - self.share)).astype(x.dtype)


def noisy(report: str) -> Pair:
    return Pair(
        report,
        lambda: Attention(after=Dropping(0.3)),
        lambda: Attention(after=Dropping(0.0)),
        "not_repeatable",
        "",
        ATTENTION,
    )


def noisy_block(self: Block, x: Array) -> Array:
    return x + Dropping.__call__(NOISE, self.attend(self.normalised("1", x)))


NOISE = Dropping(0.2)


def over_the_batch(self: Block, x: Array) -> Array:
    turned = x.transpose(1, 0, 2)
    return self.mixed(turned, turned, turned).transpose(1, 0, 2)


def whole_sample(self: Block, which: str, x: Array) -> Array:
    """LayerNorm over tokens and channels at once."""
    axes = (-2, -1)
    spread = np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    centred: Array = (x - x.mean(axes, keepdims=True)) / spread
    return centred * self.weights[f"gain{which}"] + self.weights[f"shift{which}"]


def with_attention(**pieces: Any) -> Callable[[], Block]:
    """The block, and its attention by itself."""
    return block(**pieces, attention=Attention())


def places_by_batch(self: Any, x: Array) -> Array:
    """Positions [token, 1, channel] added to [batch, token, channel]."""
    placed: Array = x + self.places[: x.shape[1], None]
    return placed


def swapped(report: str) -> Pair:
    return Pair(report, block(attend=over_the_batch), block(), "rows_interact")


RELATIVES = (
    over("R-softmax-axis-118", 0),
    over("R-softmax-axis-119", 2),
    over("R-softmax-axis-121", 2, everything),
    over("R-softmax-axis-122", 1),
    over("R-softmax-axis-123", 1, everything),
    over("R-softmax-axis-125", 0, everything),
    noisy("R-dropout-eval-172"),
    noisy("R-dropout-eval-173"),
    Pair("R-dropout-eval-175", block(first=noisy_block), block(), "not_repeatable"),
    Pair("R-layernorm-191", with_attention(normalised=whole_sample), with_attention(), "tokens_mixed"),
    swapped("R-batch-first-193"),
    swapped("R-batch-first-195"),
    swapped("R-batch-first-196"),
    Pair("R-posenc-199", model(placed=places_by_batch), model(), "residual_shape", "sequence_first"),
    Pair(
        "R-test-gap-204",
        block(attend=lambda self, x: np.zeros_like(x)),
        block(),
        "attention_disconnected",
    ),
    Pair("R-test-gap-206", model(placed=lambda self, x: 0 * x), model(), "attention_disconnected"),
)
