"""A correct pre-norm block and its attention in a few lines of NumPy, every piece replaceable by a wrong one.

Shares nothing with `core` or with the plain-loop reference: heads are gathered by fancy indexing, the mask is
boolean, and softmax is the ratio of exponentials.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.detector import Detector
from detectors.examination import measure
from detectors.fixtures import Extents, Fixture
from detectors.subject import Norm, Subject

Array = NDArray[Any]

EXTENTS = Extents(batch=2, tokens=5, heads=4, kv_heads=2, head_width=3, hidden=7)
"""Every extent different, so that no axis can stand in for another."""

SOUND = (
    EXTENTS,
    Extents(batch=1, tokens=4, heads=4, kv_heads=2, head_width=3, hidden=7, dtype="float32"),
    Extents(
        batch=3,
        tokens=6,
        heads=2,
        kv_heads=2,
        head_width=5,
        hidden=9,
        dtype="float32",
        norm_kind="rms",
        gain=3.0,
    ),
    Extents(batch=2, tokens=20, heads=3, kv_heads=3, head_width=2, hidden=5, norm_kind="rms", gain=0.1),
    Extents(batch=4, tokens=2, heads=2, kv_heads=1, head_width=1, hidden=3),
    Extents(batch=2, tokens=1, heads=2, kv_heads=2, head_width=2, hidden=3, dtype="float32"),
)
"""Extents on which sound code is quiet: distinct, square, float32, extreme gains, long, and as small as it goes."""


def hidden(queries: int, keys: int) -> Array:
    """True where query t, counted from the end, must not see key s."""
    return np.arange(keys) > np.arange(keys - queries, keys)[:, None]


def added(number: float) -> Callable[[Array, Array], Array]:
    """A fill that adds a number to the hidden logits."""
    return lambda logits, hidden: logits + number * hidden


def replaced(number: float) -> Callable[[Array, Array], Array]:
    """A fill that puts a number in place of the hidden logits."""
    return lambda logits, hidden: np.where(hidden, number, logits)


def split(x: Array, heads: int) -> Array:
    """[batch, head, token, channel]: head h is made of the channels h * d_k .. (h + 1) * d_k - 1."""
    width = x.shape[-1] // heads
    return np.stack([x[..., head * width : (head + 1) * width] for head in range(heads)], axis=1)


def merge(x: Array) -> Array:
    """[batch, token, channel]: the heads side by side."""
    return np.concatenate([x[:, head] for head in range(x.shape[1])], axis=-1)


def spread(x: Array, groups: int) -> Array:
    """Query head h reads key/value head h // groups."""
    return x[:, np.arange(x.shape[1] * groups) // groups]


def sublayer(x: Array, norm: Callable[[Array], Array], branch: Callable[[Array], Array]) -> Array:
    """x + branch(norm(x))."""
    return x + branch(norm(x))


def layer_norm(x: Array) -> Array:
    """Without gain and bias."""
    centred = x - x.mean(axis=-1, keepdims=True)
    normed: Array = centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + 1e-5)
    return normed


@dataclass(frozen=True)
class Toy:
    """The pieces of the block; the defaults are right."""

    hidden: Callable[[int, int], Array] = hidden
    fill: Callable[[Array, Array], Array] = lambda logits, hidden: np.where(hidden, -np.inf, logits)
    factor: Callable[[int, int], float] = lambda heads, head_width: head_width**-0.5
    weigh: Callable[[Array], Array] = lambda weights: weights
    split: Callable[[Array, int], Array] = split
    merge: Callable[[Array], Array] = merge
    spread: Callable[[Array, int], Array] = spread
    sublayer: Callable[[Array, Callable[[Array], Array], Callable[[Array], Array]], Array] = sublayer

    def weights(self, query: Array, key: Array, keep: Array | None = None) -> Array:
        """[batch, head, query, key]; `keep` [batch, key] is False for padding."""
        logits = np.einsum("bhtc,bhsc->bhts", query, key) * query.dtype.type(self.factor(*query.shape[1::2]))
        hidden = self.hidden(query.shape[2], key.shape[2])
        hidden = hidden if keep is None else hidden | ~keep[:, None, None]
        logits = self.fill(logits, hidden).astype(query.dtype)
        odds = np.exp(logits - np.max(logits, axis=-1, keepdims=True, initial=-1e30))
        return self.weigh(odds / np.maximum(odds.sum(axis=-1, keepdims=True), query.dtype.type(1e-30)))

    def attention(self, query: Array, key: Array, value: Array, keep: Array | None = None) -> Array:
        """[batch, head, query, channel]."""
        output: Array = np.einsum("bhts,bhsc->bhtc", self.weights(query, key, keep), value)
        return output

    def block(
        self, fixture: Fixture, x: Array, weights: Mapping[str, Array], keep: Array | None = None
    ) -> Array:
        """[batch, token, channel]."""
        extents = fixture.extents

        def norm(which: str) -> Callable[[Array], Array]:
            def normed(h: Array) -> Array:
                h = h - (h.mean(axis=-1, keepdims=True) if extents.norm_kind == "layer" else 0)
                h = h / np.sqrt(np.square(h).mean(axis=-1, keepdims=True) + h.dtype.type(1e-5))
                shifted: Array = h * weights["gain" + which] + weights.get("shift" + which, h.dtype.type(0))
                return shifted

            return normed

        def attend(h: Array) -> Array:
            query = self.split(h @ weights["Wq"] + weights["bq"], extents.heads)
            groups = extents.heads // extents.kv_heads
            key, value = (
                self.spread(
                    self.split(h @ weights["W" + role] + weights["b" + role], extents.kv_heads), groups
                )
                for role in "kv"
            )
            written: Array = (
                self.merge(self.attention(query, key, value, keep)) @ weights["Wo"] + weights["bo"]
            )
            return written

        def feed(h: Array) -> Array:
            hidden = np.maximum(h @ weights["W1"] + weights["b1"], 0)
            written: Array = hidden @ weights["W2"] + weights["b2"]
            return written

        return self.sublayer(self.sublayer(x, norm("1"), attend), norm("2"), feed)

    def subject(self, fixture: Fixture) -> Subject:
        """The toy on the fixture's weights, at every access level."""

        def call(x: Array, replaced: Mapping[str, Array]) -> Array:
            return self.block(fixture, x, {**fixture.weights, **replaced})

        def padded(x: Array, keep: Array) -> Array:
            return self.block(fixture, x, fixture.weights, keep)

        def continued(chunks: Sequence[Array]) -> Array:
            seen, outputs = chunks[0][:, :0], []
            for chunk in chunks:
                seen = np.concatenate([seen, chunk], axis=1)
                outputs.append(call(seen, {})[:, -chunk.shape[1] :])
            return np.concatenate(outputs, axis=1)

        whole = Subject("toy", call, fixture.weights, self.attention)
        return replace(whole, padded=padded, continued=continued, norms={"norm": Norm(layer_norm, 3)})


def calls(function: Callable[[Array], Array]) -> Subject:
    """A subject that is just x -> y, at the level `call`."""
    return Subject("function", lambda x, weights: function(x))


def attends(function: Callable[[Array, Array, Array], Array]) -> Subject:
    """A subject whose attention is the function given, and whose block hands x back."""
    return Subject("attention", lambda x, weights: x.copy(), None, function)


def averaging(visible: Callable[[int, int], Array]) -> Subject:
    """Attention that ignores the logits: the same weight on every visible key."""

    def attention(query: Array, key: Array, value: Array) -> Array:
        seen = visible(query.shape[2], key.shape[2]).astype(value.dtype)
        weights: Array = seen / seen.sum(axis=-1, keepdims=True)
        return weights @ value

    return attends(attention)


def fired(subject: Subject, fixture: Fixture, detector: Detector) -> float:
    """The value of a detector that must fire."""
    signal = measure(subject, fixture, detector)
    assert signal.value is not None, signal.reason
    assert signal.fired
    return signal.value


def quiet(subject: Subject, fixture: Fixture, detector: Detector) -> float:
    """The value of a detector that must not fire."""
    signal = measure(subject, fixture, detector)
    assert signal.value is not None, signal.reason
    assert not signal.fired
    return signal.value


def unseen(subject: Subject, fixture: Fixture, detector: Detector) -> str:
    """Why there is no value, which is no signal either."""
    signal = measure(subject, fixture, detector)
    assert signal.value is None
    assert not signal.fired
    return signal.reason
