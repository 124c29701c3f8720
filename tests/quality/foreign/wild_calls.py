"""Pairs after reports that a single call does not show: padding masks, and caches that the next call continues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.quality.foreign.numpy_pieces import (
    HEAD_WIDTH,
    HEADS,
    Array,
    Block,
    ahead,
    by_key_width,
    softmax,
)
from tests.quality.foreign.pairs import Pair

# --- padding ------------------------------------------------------------------------------------------------------


def within(scores: Array, seen: Array, fill: float = -1e9) -> Array:
    return np.where(seen, scores, scores.dtype.type(fill))


def hide_keys(scores: Array, keep: Array) -> Array:
    return within(scores, keep[:, None, None])


class Padded(Block):
    """A causal block that takes `keep` [batch, token], True for real tokens."""

    padding, keep = "keep", None
    weigh: Callable[[Array], Array] = softmax
    hide: Callable[[Array, Array], Array] = hide_keys

    def call(self, x: Array, keep: Any = None) -> Array:
        self.keep = keep
        return super().call(x)

    def mixed(self, x: Array, keys: Array, values: Array) -> Array:
        query, key, value = (self.split(self.linear(role, x)) for role in "qkv")
        scores = by_key_width(query @ key.swapaxes(-1, -2), query)
        scores = within(scores, ahead(scores) <= 0, self.fill)
        if self.keep is not None:
            scores = type(self).hide(scores, self.keep)
        return self.linear("o", self.merge(type(self).weigh(scores) @ value))

    fill = -1e9


def padded(base: type[Padded] = Padded, **pieces: Any) -> Callable[[], Padded]:
    made = {name: staticmethod(piece) if callable(piece) else piece for name, piece in pieces.items()}
    return lambda: type("Padded", (base,), made)()


def on_queries(scores: Array, keep: Array) -> Array:
    return within(scores, keep[:, None, :, None], -1e4)


def on_keys(scores: Array, keep: Array) -> Array:
    return within(scores, keep[:, None, None, :], -1e4)


def rows_and_future(scores: Array, keep: Array) -> Array:
    """The smaller of the causal mask and a column of what is real."""
    both = np.minimum(keep[:, :, None], ahead(scores) <= 0)
    return within(scores, both[:, None])


class Grouped(Padded):
    """Two key/value heads; scores are [batch, key/value head, group, query, key]."""

    groups, kv_heads = 2, 2

    def mixed(self, x: Array, keys: Array, values: Array) -> Array:
        query = self.split(self.linear("q", x))
        query = query.reshape(len(x), self.kv_heads, self.groups, *query.shape[2:])
        key, value = (self.split(self.linear(role, x))[:, :, None] for role in "kv")
        scores = by_key_width(query @ key.swapaxes(-1, -2), query)
        scores = within(scores, ahead(scores) <= 0)
        if self.keep is not None:
            scores = type(self).hide(scores, self.keep)
        mixed = softmax(scores) @ value
        return self.linear("o", self.merge(mixed.reshape(len(x), HEADS, *mixed.shape[3:])))


def four_axes(scores: Array, keep: Array) -> Array:
    """[batch, 1, 1, key], where as many sequences as key/value heads fit by accident."""
    return within(scores, keep[:, None, None])


def five_axes(scores: Array, keep: Array) -> Array:
    return within(scores, keep[:, None, None, None])


def infinite(scores: Array, keep: Array) -> Array:
    return within(scores, keep[:, None, None], -np.inf)


def zero_rows(scores: Array) -> Array:
    return np.where(np.isfinite(scores).any(axis=-1, keepdims=True), softmax(scores), scores.dtype.type(0))


def clamped(scores: Array) -> Array:
    top = np.maximum(scores.max(axis=-1, keepdims=True), np.finfo(scores.dtype).min)
    odds = np.exp(scores - top)
    weights: Array = odds / np.maximum(odds.sum(axis=-1, keepdims=True), np.finfo(scores.dtype).tiny)
    return weights


BARE: dict[str, Any] = {"hide": infinite, "fill": -np.inf}

PADDING = (
    Pair("R-pad-axis-127", padded(hide=on_queries), padded(hide=on_keys), "padding_ignored"),
    Pair("R-pad-axis-128", padded(hide=rows_and_future), padded(), "padding_ignored"),
    Pair(
        "R-mask-layout-136",
        padded(Grouped, hide=four_axes),
        padded(Grouped, hide=five_axes),
        "padding_ignored",
    ),
    Pair("R-nan-row-139", padded(**BARE), padded(), "padding_nan"),
    Pair("R-nan-row-140", padded(**BARE), padded(**BARE, weigh=zero_rows), "padding_nan"),
    Pair("R-nan-row-141", padded(**BARE), padded(**BARE, weigh=clamped), "padding_nan"),
)


# --- cache --------------------------------------------------------------------------------------------------------


class Cached(Block):
    """A causal block whose cache is (key, value, position of the next token, tokens of the prompt)."""

    positions = "rope"

    def call(self, x: Array) -> Array:
        y: Array = self.step(x, None)[0]
        return y

    def step(self, x: Array, cache: Any) -> Any:
        normed = self.normalised("1", x)
        past_key, past_value, offset, prompt = cache or (None, None, 0, x.shape[1])
        query, new, value = (self.split(self.linear(role, normed)) for role in "qkv")
        query, kept = self.placed(query, offset), self.placed(new, offset)
        key = joined(past_key, self.current(kept, new))
        attended = self.merge(self.attended(query, key, joined(past_value, value)))
        h = x + self.linear("o", attended)
        cache = joined(past_key, kept), joined(past_value, value), self.next(offset, x, prompt), prompt
        return self.second(h, x), cache

    def attended(self, query: Array, key: Array, value: Array) -> Array:
        scores = by_key_width(query @ key.swapaxes(-1, -2), query)
        found: Array = softmax(within(scores, ahead(scores) <= 0)) @ value
        return found

    def placed(self, side: Array, offset: int) -> Array:
        """The first two channels of each head, turned by the position."""
        return turned(side, self.angles(side.shape[2], offset))

    def angles(self, tokens: int, offset: int) -> Array:
        return np.arange(offset, offset + tokens, dtype=np.float32)

    def current(self, kept: Array, new: Array) -> Array:
        """What the tokens at hand are compared with."""
        return kept

    def next(self, offset: int, x: Array, prompt: int) -> int:
        return offset + len(x[0])


def joined(past: Array | None, new: Array) -> Array:
    return new if past is None else np.concatenate([past, new], axis=2)


def turned(side: Array, angles: Array) -> Array:
    first, second, rest = side[..., 0], side[..., 1], side[..., 2:]
    cosine, sine = np.cos(angles), np.sin(angles)
    pair = np.stack([first * cosine - second * sine, first * sine + second * cosine], axis=-1)
    return np.concatenate([pair, rest], axis=-1)


def cached(**pieces: Any) -> Callable[[], Cached]:
    return lambda: type("Cached", (Cached,), pieces)()


def by_length(self: Any, tokens: int, offset: int) -> Array:
    """Angles that are kept under the number of tokens alone."""
    if "kept" not in vars(self):
        self.kept = {}
    angles: Array = self.kept.setdefault(tokens, Cached.angles(self, tokens, offset))
    return angles


PLACES = np.random.default_rng(12).standard_normal((16, HEAD_WIDTH)).astype(np.float32)


def learned(self: Cached, side: Array, offset: int) -> Array:
    placed: Array = side + PLACES[offset : offset + side.shape[2]]
    return placed


def learned_from_zero(self: Cached, side: Array, offset: int) -> Array:
    return learned(self, side, 0)


LEARNED = {"positions": "learned", "max_length": len(PLACES)}


def differing(report: str, right: Callable[[], Cached] = Cached, **pieces: Any) -> Pair:
    return Pair(report, cached(**pieces), right, "cache_differs")


CACHES = (
    differing("R-kv-cache-161", next=lambda self, offset, x, prompt: offset + prompt),
    differing("R-kv-cache-162", angles=by_length),
    differing("R-kv-cache-163", cached(**LEARNED, placed=learned), **LEARNED, placed=learned_from_zero),
    differing("R-kv-cache-167", current=lambda self, kept, new: new),
)
