"""From channels to heads and back. Every backward function undoes its forward function's element order."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from core import arrays, settings
from core.arrays import FloatArray
from core.errors import CoreError


def split_heads(x: ArrayLike, heads: int) -> FloatArray:
    """Return `[batch, token, head * channel]` as `[batch, head, token, channel]`.

    Head h reads the h-th run of consecutive channels: y[b, h, t, c] = x[b, t, h * channels + c].
    Raises CoreError unless `heads` is a positive integer that divides the width.
    Source: Vaswani et al. 2017, section 3.2.2.
    """
    x = arrays.ranked(x, "x", "batch, token, channel")
    batch, token, width = x.shape
    heads = settings.whole(heads, "heads", least=1)
    if width % heads:
        raise CoreError(
            f"width is {width}, heads {heads}; a width divisible by the heads is required; change one"
        )
    return x.reshape(batch, token, heads, width // heads).transpose(0, 2, 1, 3)


def split_heads_backward(grad: FloatArray, heads: int) -> FloatArray:
    """Return the gradient of `split_heads` `[batch, token, head * channel]`."""
    batch, _, token, channel = grad.shape
    return grad.transpose(0, 2, 1, 3).reshape(batch, token, heads * channel)


def merge_heads(x: ArrayLike) -> FloatArray:
    """Return `[batch, head, token, channel]` as `[batch, token, head * channel]`: `split_heads` undone."""
    x = arrays.ranked(x, "x", "batch, head, token, channel")
    batch, heads, token, channel = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, token, heads * channel)


def merge_heads_backward(grad: FloatArray, heads: int) -> FloatArray:
    """Return the gradient of `merge_heads` `[batch, head, token, channel]`."""
    batch, token, width = grad.shape
    return grad.reshape(batch, token, heads, width // heads).transpose(0, 2, 1, 3)


def repeat_heads(x: FloatArray, groups: int) -> FloatArray:
    """Return `[batch, kv_head, token, channel]` with every head `groups` times in a row; x itself for 1.

    Query head h reads key/value head h // groups. Raises CoreError unless `groups` is a positive integer.
    Source: Ainslie et al. 2023, "GQA", section 2.2.
    """
    count = settings.whole(groups, "groups", least=1)
    return x if count == 1 else np.repeat(x, count, axis=1)


def repeat_heads_backward(grad: FloatArray, groups: int) -> FloatArray:
    """Return the gradient of `repeat_heads`: the sum over the `groups` copies of each key/value head."""
    if groups == 1:
        return grad
    batch, head, token, channel = grad.shape
    total: FloatArray = grad.reshape(batch, head // groups, groups, token, channel).sum(axis=2)
    return total
