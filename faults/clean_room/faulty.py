"""Faulty versions of the learner's functions: each takes the healthy function and returns the faulty one.

Sent to the child as text, like the driver: Python 3.9, NumPy alone, nothing of this package.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy


def open_mask(original: Callable[..., Any]) -> Callable[..., Any]:
    """The mask adds 0: every key may be seen."""

    def faulty(*arguments: Any, **named: Any) -> Any:
        mask = numpy.asarray(original(*arguments, **named))
        return numpy.ones_like(mask) if mask.dtype.kind == "b" else numpy.zeros_like(mask)

    return faulty


def open_attention(original: Callable[..., Any]) -> Callable[..., Any]:
    """Attention whose mask adds 0, from the learner's own scaled scores."""

    def faulty(query: Any, key: Any, value: Any) -> Any:
        found = dict(original(query, key, value))
        weights = numpy.exp(found["scaled"] - numpy.max(found["scaled"], axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        return dict(found, masked=found["scaled"], weights=weights, output=weights @ numpy.asarray(value))

    return faulty


def scrambled_merge(original: Callable[..., Any]) -> Callable[..., Any]:
    """The merge without its transpose: head and token axes confused."""

    def faulty(attended: Any) -> Any:
        array = numpy.asarray(attended)
        batch, heads, tokens, channels = array.shape
        return array.reshape(batch, tokens, heads * channels)

    return faulty


def no_skip(original: Callable[..., Any]) -> Callable[..., Any]:
    """The residual dropped: the branch alone."""

    def faulty(x: Any, *others: Any, **named: Any) -> Any:
        return original(x, *others, **named) - numpy.asarray(x)

    return faulty


FAULTY = {
    "open_mask": open_mask,
    "open_attention": open_attention,
    "scrambled_merge": scrambled_merge,
    "no_skip": no_skip,
}
