"""Legitimate designs, and code that public reports took for a bug: right once declared, each with what a user declares.

All NumPy, in other words than the pieces of the pairs where the point is the wording.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.quality.foreign.numpy_pieces import (
    HEADS,
    WIDTH,
    Array,
    Attention,
    Block,
    ahead,
    block,
    by_key_width,
    hide_future,
    softmax,
)

Design = tuple[Callable[[], Any], dict[str, Any]]
Q_K_V = {"kind": "attention", "heads": HEADS, "width": WIDTH}


def attention(**pieces: Any) -> Callable[[], Attention]:
    return lambda: Attention(**pieces)


# --- designs ------------------------------------------------------------------------------------------------------


def windowed(scores: Array) -> Array:
    """Three keys at most, the own included."""
    outside = (ahead(scores) > 0) | (ahead(scores) <= -3)
    return np.where(outside, scores.dtype.type(-np.inf), scores)


def with_alibi(scores: Array, query: Array) -> Array:
    slopes = 2.0 ** -np.arange(1, scores.shape[1] + 1)[:, None, None]
    made: Array = by_key_width(scores, query) + (slopes * ahead(scores)).astype(scores.dtype)
    return made


def prefix_seen(scores: Array) -> Array:
    """The first two tokens are seen by all."""
    hidden = (ahead(scores) > 0) & (np.arange(scores.shape[-1]) >= 2)
    return np.where(hidden, scores.dtype.type(-np.inf), scores)


def everything(scores: Array) -> Array:
    return scores


def capped(scores: Array, query: Array) -> Array:
    made: Array = 30 * np.tanh(by_key_width(scores, query) / 30)
    return made


def drained(scores: Array) -> Array:
    """A softmax with one more, empty key."""
    top = np.maximum(scores.max(-1, keepdims=True), 0)
    odds = np.exp(scores - top)
    made: Array = odds / (odds.sum(-1, keepdims=True) + np.exp(-top))
    return made


def on_both(query: Array, key: Array, value: Array) -> Array:
    """d^-1/4 on queries and on keys."""
    root = query.dtype.type(query.shape[-1] ** -0.25)
    scores = (query * root) @ (key * root).swapaxes(-1, -2)
    output: Array = softmax(hide_future(scores)) @ value
    return output


def on_query(query: Array, key: Array, value: Array) -> Array:
    scores = (query / query.dtype.type(query.shape[-1] ** 0.5)) @ key.swapaxes(-1, -2)
    output: Array = softmax(hide_future(scores)) @ value
    return output


def unit_length(query: Array, key: Array, value: Array) -> Array:
    """Queries and keys of length 1, and a factor of 8."""
    unit = [one / np.sqrt((one**2).sum(-1, keepdims=True) + 1e-9) for one in (query, key)]
    scores = 8 * (unit[0] @ unit[1].swapaxes(-1, -2))
    output: Array = softmax(hide_future(scores.astype(query.dtype))) @ value
    return output


def filled(scores: Array) -> Array:
    return np.where(ahead(scores) > 0, scores.dtype.type(-1e9), scores)


def parallel(self: Block, x: Array) -> Array:
    made: Array = x + self.attend(self.normalised("1", x)) + self.feed(self.normalised("2", x))
    return made


def sandwiched(self: Block, x: Array) -> Array:
    def plain(one: Array) -> Array:
        made: Array = one / np.sqrt((one**2).mean(-1, keepdims=True) + 1e-5)
        return made

    h = x + plain(self.attend(self.normalised("1", x)))
    made: Array = h + plain(self.feed(self.normalised("2", h)))
    return made


def scaled_residual(self: Block, x: Array) -> Array:
    h = 0.5**0.5 * (x + self.attend(self.normalised("1", x)))
    made: Array = 0.5**0.5 * (h + self.feed(self.normalised("2", h)))
    return made


def post_norm(self: Block, x: Array) -> Array:
    h = self.normalised("1", x + self.attend(x))
    return self.normalised("2", h + self.feed(h))


def rms(self: Block, which: str, x: Array) -> Array:
    made: Array = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * self.weights[f"gain{which}"]
    return made


DESIGNS: dict[str, Design] = {
    "sliding window": (attention(hide=windowed), {**Q_K_V, "window": 3}),
    "sliding window in a block": (block(mixing=Attention(hide=windowed)), {"window": 3}),
    "ALiBi": (attention(scale=with_alibi), {**Q_K_V, "positions": "alibi"}),
    "prefix-LM": (attention(hide=prefix_seen), {**Q_K_V, "causal": False}),
    "prefix-LM in a block": (block(mixing=Attention(hide=prefix_seen)), {"causal": False}),
    "bidirectional": (attention(hide=everything), {**Q_K_V, "causal": False}),
    "bidirectional block": (block(mixing=Attention(hide=everything)), {"causal": False}),
    "parallel block": (block(call=parallel), {"design": "parallel"}),
    "sandwich norms": (block(call=sandwiched), {"design": "sandwich"}),
    "scaled residuals": (block(call=scaled_residual), {"design": "scaled"}),
    "soft-capped logits": (attention(scale=capped), Q_K_V),
    "attention sink": (attention(normalise=drained), {**Q_K_V, "design": "sink"}),
    "QK-norm": (lambda: unit_length, {**Q_K_V, "design": "qk_norm"}),
    "RMSNorm": (block(normalised=rms), {"norm_kind": "rms"}),
    "-1e9 fills": (attention(hide=filled), Q_K_V),
    "scale on q": (lambda: on_query, Q_K_V),
    "d^-1/4 on both": (lambda: on_both, Q_K_V),
    "post-norm": (block(call=post_norm), {"norm": "post"}),
}
"""Designs that stay quiet once they are declared."""


# --- taken for bugs -----------------------------------------------------------------------------------------------


def where_zero(scores: Array) -> Array:
    """A lower triangle of ones, and a fill where it is 0."""
    queries, keys = scores.shape[-2:]
    lower = np.tri(queries, keys, keys - queries)
    return np.where(lower == 0, scores.dtype.type(-np.inf), scores)


def forbidden(scores: Array) -> Array:
    """An upper triangle, True for what is forbidden."""
    upper = np.triu(np.ones(scores.shape[-2:], bool), 1 + scores.shape[-1] - scores.shape[-2])
    return np.where(upper, scores.dtype.type(-1e30), scores)


def by_columns(query: Array, key: Array, value: Array) -> Array:
    """Scores kept as [key, query]: the upper triangle is what may be seen."""
    scores = by_key_width(key @ query.swapaxes(-1, -2), query)
    keys, queries = scores.shape[-2:]
    seen = np.triu(np.ones((keys, queries), bool), queries - keys)
    weights = softmax(np.where(seen, scores, scores.dtype.type(-np.inf)), axis=-2)
    output: Array = weights.swapaxes(-1, -2) @ value
    return output


def renormalised(query: Array, key: Array, value: Array) -> Array:
    """The mask after the softmax, and the rows brought back to 1."""
    weights = softmax(by_key_width(query @ key.swapaxes(-1, -2), query))
    weights = np.where(ahead(weights) > 0, weights.dtype.type(0), weights)
    output: Array = weights / weights.sum(-1, keepdims=True) @ value
    return output


def other_chunks(self: Block, x: Array) -> Array:
    """One matrix for value, query and key, unpacked in that order."""
    joined = np.concatenate([self.linear(role, x) for role in "vqk"], axis=-1)
    value, query, key = (self.split(part) for part in np.split(joined, 3, axis=-1))
    return self.linear("o", self.merge(Attention()(query, key, value)))


def turned_first(self: Block, x: Array) -> Array:
    """Rotated, then normalised: a rotation keeps the length."""
    angle = np.arange(x.shape[1])[:, None].astype(x.dtype)

    def made(role: str) -> Array:
        one = self.split(self.linear(role, x))
        first, second = one[..., :1], one[..., 1:2]
        pair = [
            first * np.cos(angle) - second * np.sin(angle),
            first * np.sin(angle) + second * np.cos(angle),
        ]
        turned = np.concatenate([*pair, one[..., 2:]], axis=-1)
        found: Array = turned / np.sqrt((turned**2).mean(-1, keepdims=True) + 1e-6)
        return found

    return self.linear("o", self.merge(Attention()(made("q"), made("k"), self.split(self.linear("v", x)))))


NOT_BUGS: dict[str, Design] = {
    "tensor2tensor 1617, a position-wise residual": (Block, {}),
    "annotated-transformer 110, pre-norm against the figure": (Block, {"norm": "pre"}),
    "keras-io 1256, the norm's place": (block(call=post_norm), {"norm": "post"}),
    "guided-diffusion 38, d^-1/4 twice": (lambda: on_both, Q_K_V),
    "TALE 5, a negative exponent": (
        attention(scale=lambda scores, query: scores * scores.dtype.type(query.shape[-1] ** -0.5)),
        Q_K_V,
    ),
    "nanoGPT 170, filled where the triangle is 0": (attention(hide=where_zero), Q_K_V),
    "TransformerLens 284, True is forbidden": (attention(hide=forbidden), Q_K_V),
    "attention-is-all-you-need-keras 6, columns": (lambda: by_columns, Q_K_V),
    "pointer-generator 88, masked after and renormalised": (lambda: renormalised, Q_K_V),
    "transformer-from-scratch 1, another order of chunks": (block(attend=other_chunks), {}),
    "vit-pytorch 44, the softmax over the last axis": (
        attention(hide=everything),
        {**Q_K_V, "causal": False},
    ),
    "kornia 3780, one stateless drop path for both": (Block, {}),
    "alpaca-lora 107, padding on the right": (attention(), Q_K_V),
    "llm.c 531, keys before queries": (lambda: by_columns, Q_K_V),
    "pypto-lib 792, rotated before the norm": (
        block(attend=turned_first),
        {"positions": "rope", "design": "qk_norm"},
    ),
}
"""What public reports took for a bug and is none."""
