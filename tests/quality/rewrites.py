"""Correct ways of writing the same block, each from the formulas alone: none may set a detector off.

Each rewrite is a whole attention of its own, (query, key, value) -> output, causal and aligned to the last query. The
block around it is written twice: with @ and with einsum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.fixtures import Fixture
from detectors.subject import Subject

Array = NDArray[Any]
Attention = Callable[[Array, Array, Array], Array]

EPSILON = 1e-5


def seen(query: Array, key: Array) -> Array:
    """[query, key]: True where the key is not later than the query; the last query meets the last key."""
    queries, keys = query.shape[-2], key.shape[-2]
    visible: Array = np.arange(keys)[None, :] <= np.arange(queries)[:, None] + (keys - queries)
    return visible


def softmax(logits: Array) -> Array:
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    normalised: Array = shifted / shifted.sum(axis=-1, keepdims=True)
    return normalised


def by_einsum(query: Array, key: Array, value: Array) -> Array:
    """Contractions by name, and log-softmax instead of a division by the sum."""
    logits = np.einsum("bhqc,bhkc->bhqk", query, key) / math.sqrt(query.shape[-1])
    logits = logits + np.where(seen(query, key), 0, -np.inf).astype(query.dtype)
    top = logits.max(axis=-1, keepdims=True)
    log_sum = top + np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
    output: Array = np.einsum("bhqk,bhkc->bhqc", np.exp(logits - log_sum), value)
    return output


def boolean_mask(query: Array, key: Array, value: Array) -> Array:
    """A boolean mask and where(..., -inf)."""
    logits = query @ np.swapaxes(key, -1, -2) / query.dtype.type(math.sqrt(query.shape[-1]))
    output: Array = softmax(np.where(seen(query, key), logits, query.dtype.type(-np.inf))) @ value
    return output


def filled(query: Array, key: Array, value: Array) -> Array:
    """-1e9 in place of the hidden logits."""
    logits = query @ np.swapaxes(key, -1, -2) * query.dtype.type(query.shape[-1] ** -0.5)
    logits[..., ~seen(query, key)] = -1e9
    output: Array = softmax(logits) @ value
    return output


def added(query: Array, key: Array, value: Array) -> Array:
    """-1e9 added to the hidden logits: (1 - seen) * -1e9."""
    logits = query @ np.swapaxes(key, -1, -2) * query.dtype.type(query.shape[-1] ** -0.5)
    bias = (1 - seen(query, key).astype(query.dtype)) * query.dtype.type(-1e9)
    output: Array = softmax(logits + bias) @ value
    return output


def scaled_query(query: Array, key: Array, value: Array) -> Array:
    """The scale on q, before the product."""
    query = query / np.sqrt(query.dtype.type(query.shape[-1]))
    logits = np.matmul(query, key.transpose(0, 1, 3, 2))
    logits += np.triu(np.full(logits.shape[-2:], -np.inf, query.dtype), 1 + key.shape[2] - query.shape[2])
    output: Array = np.matmul(softmax(logits), value)
    return output


def scaled_both(query: Array, key: Array, value: Array) -> Array:
    """d_k^(-1/4) on q and on k."""
    root = query.dtype.type(query.shape[-1] ** -0.25)
    logits = (query * root) @ np.moveaxis(key * root, -1, -2)
    weights = softmax(np.where(seen(query, key), logits, -np.inf).astype(query.dtype))
    output: Array = weights @ value
    return output


def looped(query: Array, key: Array, value: Array) -> Array:
    """Sequence by sequence and head by head, in matrices."""
    output = np.empty((*query.shape[:3], value.shape[-1]), query.dtype)
    root, hidden = query.dtype.type(math.sqrt(query.shape[-1])), ~seen(query, key)
    for at in np.ndindex(*query.shape[:2]):
        logits = np.dot(query[at], key[at].T) / root
        logits[hidden] = -math.inf
        output[at] = np.dot(softmax(logits), value[at])
    return output


BLOCK = 8


def streamed(query: Array, key: Array, value: Array) -> Array:
    """A block of keys after the other with a running maximum and sum, as fused kernels do.

    Every query sees key 0, so its maximum is finite from the first block on.
    """
    top = np.full((*query.shape[:3], 1), -np.inf, query.dtype)
    total, output = np.zeros_like(top), np.zeros((*query.shape[:3], value.shape[-1]), query.dtype)
    scaled, visible = query * query.dtype.type(query.shape[-1] ** -0.5), seen(query, key)
    for at in range(0, key.shape[2], BLOCK):
        own = slice(at, at + BLOCK)
        logits = np.where(
            visible[:, own], scaled @ np.swapaxes(key[:, :, own], -1, -2), query.dtype.type(-np.inf)
        )
        higher = np.maximum(top, logits.max(axis=-1, keepdims=True))
        kept, new = np.exp(top - higher), np.exp(logits - higher)
        total = total * kept + new.sum(axis=-1, keepdims=True)
        output, top = output * kept + new @ value[:, :, own], higher
    found: Array = output / total
    return found


REWRITES: dict[str, Attention] = {
    "einsum": by_einsum,
    "boolean mask": boolean_mask,
    "-1e9 in place": filled,
    "-1e9 added": added,
    "scale on q": scaled_query,
    "d^-1/4 on both": scaled_both,
    "looped heads": looped,
    "streamed": streamed,
}


def subject(fixture: Fixture, name: str) -> Subject:
    """The rewrite of that name on the fixture's weights, at every access level."""

    def call(x: Array, replaced: Mapping[str, Array]) -> Array:
        return block(fixture, name, x, {**fixture.weights, **replaced})

    return Subject(name, call, fixture.weights, REWRITES[name])


def block(fixture: Fixture, name: str, x: Array, weights: Mapping[str, Array]) -> Array:
    """[batch, token, channel]: the block around the attention of that name."""
    write = named_block if name == "einsum" else plain_block
    return write(fixture, weights, REWRITES[name], x)


def normed(x: Array, weights: Mapping[str, Array], which: str) -> Array:
    """LayerNorm where there is a shift, RMSNorm where there is none."""
    shift = weights.get("shift" + which)
    if shift is None:
        power = np.mean(np.square(x), axis=-1, keepdims=True)
        scaled: Array = x * weights["gain" + which] / np.sqrt(power + x.dtype.type(EPSILON))
        return scaled
    deviation = np.sqrt(np.var(x, axis=-1, keepdims=True) + x.dtype.type(EPSILON))
    centred: Array = (x - np.mean(x, axis=-1, keepdims=True)) / deviation
    return centred * weights["gain" + which] + shift


def plain_block(fixture: Fixture, weights: Mapping[str, Array], attention: Attention, x: Array) -> Array:
    """The block with one matrix for q, k and v together."""
    extents, (batch, tokens, width) = fixture.extents, x.shape
    joined = np.concatenate([weights["Wq"], weights["Wk"], weights["Wv"]], axis=1)
    biases = np.concatenate([weights["bq"], weights["bk"], weights["bv"]])
    merged = normed(x, weights, "1") @ joined + biases
    heads = merged.reshape(batch, tokens, -1, extents.head_width).transpose(0, 2, 1, 3)
    query, key, value = np.split(heads, [extents.heads, extents.heads + extents.kv_heads], axis=1)
    shared = np.arange(extents.heads) * extents.kv_heads // extents.heads
    output = attention(query, key[:, shared], value[:, shared]).transpose(0, 2, 1, 3)
    h = x + output.reshape(batch, tokens, width) @ weights["Wo"] + weights["bo"]
    hidden = np.clip(normed(h, weights, "2") @ weights["W1"] + weights["b1"], 0, None)
    y: Array = h + hidden @ weights["W2"] + weights["b2"]
    return y


def named_block(fixture: Fixture, weights: Mapping[str, Array], attention: Attention, x: Array) -> Array:
    """The block by einsum, the heads an axis of the weights from the beginning."""
    extents = fixture.extents
    first, groups = normed(x, weights, "1"), extents.heads // extents.kv_heads

    def project(role: str, heads: int) -> Array:
        matrix = weights["W" + role].reshape(-1, heads, extents.head_width)
        bias = weights["b" + role].reshape(heads, 1, extents.head_width)
        projected: Array = np.einsum("btd,dhc->bhtc", first, matrix) + bias
        return projected

    key, value = (np.repeat(project(role, extents.kv_heads), groups, axis=1) for role in "kv")
    output = attention(project("q", extents.heads), key, value)
    h = x + np.einsum("bhtc,hcd->btd", output, weights["Wo"].reshape(extents.heads, extents.head_width, -1))
    h = h + weights["bo"]
    hidden = np.einsum("btd,df->btf", normed(h, weights, "2"), weights["W1"]) + weights["b1"]
    y: Array = h + np.einsum("btf,fd->btd", hidden * (hidden > 0), weights["W2"]) + weights["b2"]
    return y
