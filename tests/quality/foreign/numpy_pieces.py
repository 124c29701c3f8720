"""A small causal attention, block and model in NumPy, each made of pieces that a pair replaces one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

HEADS, HEAD_WIDTH, HIDDEN, VOCAB = 4, 3, 10, 23
WIDTH = HEADS * HEAD_WIDTH


# --- attention: query, key, value [batch, head, token, channel] ---------------------------------------------------


def by_key_width(scores: Array, query: Array) -> Array:
    """The right scale."""
    scaled: Array = scores / scores.dtype.type(query.shape[-1] ** 0.5)
    return scaled


def ahead(scores: Array) -> Array:
    """[query, key]: how far the key lies after the query, the last query beside the last key."""
    queries, keys = scores.shape[-2:]
    found: Array = np.arange(keys) - np.arange(queries)[:, None] - (keys - queries)
    return found


def hide_future(scores: Array) -> Array:
    return np.where(ahead(scores) > 0, scores.dtype.type(-np.inf), scores)


def softmax(scores: Array, axis: int = -1) -> Array:
    odds = np.exp(scores - scores.max(axis, keepdims=True))
    weights: Array = odds / odds.sum(axis, keepdims=True)
    return weights


def unchanged(weights: Array) -> Array:
    return weights


@dataclass(frozen=True)
class Attention:
    """(query, key, value) -> output, causal by itself."""

    scale: Callable[[Array, Array], Array] = by_key_width
    hide: Callable[[Array], Array] = hide_future
    normalise: Callable[[Array], Array] = softmax
    after: Callable[[Array], Array] = unchanged

    def __call__(self, query: Array, key: Array, value: Array) -> Array:
        scores = self.scale(np.einsum("bhqc,bhkc->bhqk", query, key), query)
        weights = self.after(self.normalise(self.hide(scores)))
        output: Array = np.einsum("bhqk,bhkc->bhqc", weights, value)
        return output


def fill(scores: Array, mask: Array) -> Array:
    """-1e9 where the boolean mask has no True."""
    return np.where(mask, scores, scores.dtype.type(-1e9))


@dataclass(frozen=True)
class Masked:
    """(query, key, value, mask) -> output: the caller passes the mask, True for what may be seen."""

    apply: Callable[[Array, Array], Array] = fill
    after: Callable[[Array, Array], Array] = lambda weights, mask: weights

    def __call__(self, query: Array, key: Array, value: Array, mask: Array) -> Array:
        scores = by_key_width(query @ key.swapaxes(-1, -2), query)
        output: Array = self.after(softmax(self.apply(scores, mask)), mask) @ value
        return output


# --- block: x [batch, token, channel] -----------------------------------------------------------------------------


class Block:
    """A causal pre-norm block with LayerNorm; what it declares of itself are its attributes."""

    kind, norm, norm_kind, width, heads = "block", "pre", "layer", WIDTH, HEADS
    groups = 1
    mixing: Callable[[Array, Array, Array], Array] = Attention()

    def __init__(self) -> None:
        draw = np.random.default_rng(5).standard_normal
        narrow = WIDTH // self.groups
        shapes = {"q": (WIDTH, WIDTH), "k": (WIDTH, narrow), "v": (WIDTH, narrow), "o": (WIDTH, WIDTH)}
        shapes |= {"1": (WIDTH, HIDDEN), "2": (HIDDEN, WIDTH)}
        self.weights: dict[str, Array] = {}
        for role, (rows, columns) in shapes.items():
            self.weights[f"W{role}"] = (draw((rows, columns)) * rows**-0.5).astype(np.float32)
            self.weights[f"b{role}"] = (draw(columns) / 5).astype(np.float32)
        for which in "12":
            self.weights[f"gain{which}"] = (1 + draw(WIDTH) / 4).astype(np.float32)
            self.weights[f"shift{which}"] = (draw(WIDTH) / 5).astype(np.float32)

    def linear(self, role: str, x: Array) -> Array:
        made: Array = x @ self.weights[f"W{role}"] + self.weights[f"b{role}"]
        return made

    def normalised(self, which: str, x: Array) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        made: Array = centred / spread * self.weights[f"gain{which}"] + self.weights[f"shift{which}"]
        return made

    def split(self, x: Array) -> Array:
        """[batch, token, channel] to [batch, head, token, channel]."""
        return x.reshape(*x.shape[:2], -1, HEAD_WIDTH).transpose(0, 2, 1, 3)

    def merge(self, x: Array) -> Array:
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)

    def widened(self, x: Array) -> Array:
        """Key/value heads repeated for their groups of query heads."""
        return np.repeat(x, self.groups, axis=1)

    def attend(self, x: Array) -> Array:
        """The attention branch on input that is normalised already."""
        return self.mixed(x, x, x)

    def mixed(self, x: Array, keys: Array, values: Array) -> Array:
        query = self.split(self.linear("q", x))
        key, value = (self.widened(self.split(self.linear(*pair))) for pair in (("k", keys), ("v", values)))
        return self.linear("o", self.merge(type(self).mixing(query, key, value)))

    def feed(self, x: Array) -> Array:
        return self.linear("2", np.maximum(self.linear("1", x), 0))

    def first(self, x: Array) -> Array:
        return x + self.attend(self.normalised("1", x))

    def second(self, h: Array, x: Array) -> Array:
        """The feed-forward sublayer on h; x is the block's input, which it has no business with."""
        return h + self.feed(self.normalised("2", h))

    def call(self, x: Array) -> Array:
        return self.second(self.first(x), x)


def block(**pieces: Any) -> Callable[[], Block]:
    """A block with methods or attributes of its own in place of the usual ones."""
    return lambda: type("Block", (Block,), {**_methods(pieces)})()


def _methods(pieces: Mapping[str, Any]) -> dict[str, Any]:
    # A function among class attributes would be called with the block as its first argument.
    return {name: staticmethod(piece) if name == "mixing" else piece for name, piece in pieces.items()}


# --- model: token ids [batch, token] -> logits --------------------------------------------------------------------


class Model:
    """Two blocks between an embedding with learned positions and a head of the same weights."""

    kind, vocab, width, heads, positions, max_length = "model", VOCAB, WIDTH, HEADS, "learned", 16

    def __init__(self, make: Callable[[], Block] = Block) -> None:
        draw = np.random.default_rng(8).standard_normal
        self.table, self.places = draw((VOCAB, WIDTH)), draw((self.max_length, WIDTH))
        self.blocks = [make(), make()]

    def placed(self, x: Array) -> Array:
        return x + self.places[: x.shape[1]]

    def call(self, tokens: Array) -> Array:
        x = self.placed(self.table[tokens])
        for layer in self.blocks:
            x = layer.call(x)
        logits: Array = x @ self.table.T
        return logits


def model(make: Callable[[], Block] = Block, **pieces: Any) -> Callable[[], Model]:
    """A model of such blocks, with methods of its own."""
    return lambda: type("Model", (Model,), pieces)(make)
