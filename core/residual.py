"""The skip connections: how a normalisation, a branch and the stream are joined, and in which order.

`x` is the stream a branch reads, `skip` the stream its result is added to. Healthy callers pass one array as
both; they are two so that each of the two ways through a sublayer can be seen (and broken) alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from core.arrays import FloatArray

Map: TypeAlias = Callable[[FloatArray], FloatArray]
Sublayer: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
SublayerBackward: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def pre_norm(x: FloatArray, skip: FloatArray, norm: Map, branch: Map) -> FloatArray:
    """Return skip + branch(norm(x)) `[batch, token, channel]`. Source: Xiong et al. 2020, table 1."""
    return skip + branch(norm(x))


def pre_norm_backward(
    grad: FloatArray, norm_backward: Map, branch_backward: Map
) -> tuple[FloatArray, FloatArray]:
    """Return the gradients of `pre_norm` with respect to x and skip."""
    return norm_backward(branch_backward(grad)), grad


def post_norm(x: FloatArray, skip: FloatArray, norm: Map, branch: Map) -> FloatArray:
    """Return norm(skip + branch(x)) `[batch, token, channel]`. Source: Vaswani et al. 2017, section 3.1."""
    return norm(skip + branch(x))


def post_norm_backward(
    grad: FloatArray, norm_backward: Map, branch_backward: Map
) -> tuple[FloatArray, FloatArray]:
    """Return the gradients of `post_norm` with respect to x and skip."""
    grad_sum = norm_backward(grad)
    return branch_backward(grad_sum), grad_sum


def compose(x: FloatArray, first: Sublayer, second: Sublayer) -> FloatArray:
    """Return second(h, h), h = first(x, x): the feed-forward sublayer starts where the attention ended."""
    h = first(x, x)
    return second(h, h)


def compose_backward(
    grad: FloatArray, first_backward: SublayerBackward, second_backward: SublayerBackward
) -> FloatArray:
    """Return the gradient of `compose` with respect to x: both ways of both sublayers added."""
    grad_read, grad_skip = second_backward(grad)
    grad_read, grad_skip = first_backward(grad_read + grad_skip)
    return grad_read + grad_skip
