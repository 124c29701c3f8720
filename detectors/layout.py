"""How arrays are laid out for somebody's code: axes, masks, channels in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.declaration import Declaration

Array = NDArray[Any]

FEW = 2
"""Sequences of a fixture: code that takes no more than so many is no fault, as where a cache has a largest batch."""


def as_wide_as(logits: Array, vocab: int) -> Array:
    """The first `vocab` logits; filled with zeros where a model has fewer outputs than token ids.

    What is not [batch, token, id] stays as it is.
    """
    if logits.ndim != 3:
        return logits
    missing = max(0, vocab - logits.shape[-1])
    return np.pad(logits[..., :vocab], [(0, 0), (0, 0), (0, missing)])


def of_each(output: Array, x: Array) -> bool:
    """Whether it has an answer for each token of x [batch, token, ...], not for the last one alone."""
    return output.ndim == 3 and output.shape[1] == x.shape[1]


def side_by_side(ends: Sequence[Array], batch: int) -> Array | None:
    """[batch, token, channel] of answers for the last token of one prefix each; None where they are none."""
    if any(end.size != ends[0].size or not end.size or end.size % batch for end in ends):
        return None
    return np.stack([end.reshape(batch, end.size // batch) for end in ends], axis=1)


def prefixes(chunks: Sequence[Array]) -> list[list[Array]]:
    """The chunks up to each token in turn, the last of them cut there."""
    return [
        [*chunks[:number], chunk[:, : at + 1]]
        for number, chunk in enumerate(chunks)
        for at in range(chunk.shape[1])
    ]


def parts(value: Array, width: int) -> list[Array]:
    """The value's channels, `width` at a time, the last part filled with zeros."""
    padded = np.pad(value, [(0, 0), (0, 0), (0, 0), (0, width)])
    return [padded[..., at : at + width] for at in range(0, value.shape[-1], width)]


def laid(array: Array, layout: str) -> Array:
    """[batch, head, token, channel] from or to the subject's layout; the swap is its own inverse."""
    return array if layout == "bhtc" else array.swapaxes(1, 2)


def masks(declared: Declaration, query: Array, key: Array) -> list[Array]:
    """The causal mask [query, key] in the form the subject takes, as a fourth argument; none for most."""
    if declared.mask == "none":
        return []
    queries, keys = query.shape[2], key.shape[2]
    seen = np.arange(keys) <= np.arange(keys - queries, keys)[:, None]
    seen |= declared.causal is False
    if declared.mask == "additive":
        return [np.where(seen, 0.0, -np.inf).astype(query.dtype)]
    return [seen if declared.mask == "keep" else ~seen]


def padding(declared: Declaration, keep: Array) -> Array:
    """The padding mask [batch, token] in the form the subject takes; `keep` is True for real tokens."""
    if declared.padding_form == "ones":
        return keep.astype(np.int64)
    return keep if declared.padding_form == "keep" else ~keep


def few(count: int) -> list[slice]:
    """Which of so many sequences go together, FEW at a time."""
    return [slice(at, at + FEW) for at in range(0, count, FEW)]
