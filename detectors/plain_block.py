"""An independent pre-norm block in plain loops over batch, head and query: the reference for parity.

Shares nothing with any other implementation. Always float64, whatever the fixture's dtype.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.fixtures import Extents, Fixture

Array = NDArray[Any]

EPSILON = 1e-5


def output(fixture: Fixture, x: Array | None = None) -> Array:
    """[batch, token, channel]: x + Attention(Norm(x)), then + FFN(Norm(.)), causal, ReLU, no positions."""
    tokens = np.asarray(fixture.x if x is None else x, np.float64)
    return np.stack([_sequence(sequence, fixture.weights, fixture.extents) for sequence in tokens])


def _sequence(x: Array, weights: Mapping[str, Array], extents: Extents) -> Array:
    x = x + _attention(_norm(x, weights, "1", extents), weights, extents)
    hidden = np.maximum(_norm(x, weights, "2", extents) @ weights["W1"] + weights["b1"], 0.0)
    y: Array = x + hidden @ weights["W2"] + weights["b2"]
    return y


def _norm(x: Array, weights: Mapping[str, Array], which: str, extents: Extents) -> Array:
    if extents.norm_kind == "layer":
        x = x - x.mean(axis=1, keepdims=True)
    scaled = x / np.sqrt((x**2).mean(axis=1, keepdims=True) + EPSILON) * weights[f"gain{which}"]
    shifted: Array = scaled + weights.get(f"shift{which}", np.zeros(1))
    return shifted


def _attention(x: Array, weights: Mapping[str, Array], extents: Extents) -> Array:
    query, key, value = (x @ weights[f"W{role}"] + weights[f"b{role}"] for role in "qkv")
    merged = np.zeros_like(query)
    for head in range(extents.heads):
        shared = head // (extents.heads // extents.kv_heads)
        own, theirs = _channels(head, extents), _channels(shared, extents)
        merged[:, own] = _head(query[:, own], key[:, theirs], value[:, theirs])
    return merged @ weights["Wo"] + weights["bo"]


def _channels(head: int, extents: Extents) -> slice:
    return slice(head * extents.head_width, (head + 1) * extents.head_width)


def _head(query: Array, key: Array, value: Array) -> Array:
    rows = []
    for at in range(len(query)):
        logits = key[: at + 1] @ query[at] / np.sqrt(query.shape[1])
        weights = np.exp(logits - logits.max())
        rows.append(weights @ value[: at + 1] / weights.sum())
    return np.stack(rows)
