"""The position-wise feed-forward network and its gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core import activations, arrays, linear
from core.arrays import FloatArray
from core.errors import CoreError

ACTIVATIONS = ("relu", "gelu", "swiglu")


@dataclass(frozen=True, eq=False)
class FeedForwardTrace:
    """The intermediates of one feed-forward call; all `[batch, token, ...]`."""

    x: FloatArray
    expanded: FloatArray  # before the activation; for swiglu [gate | value]
    hidden: FloatArray
    output: FloatArray


def feed_forward(x: ArrayLike, parameters: Mapping[str, FloatArray], activation: str) -> FloatArray:
    """Return activation(x W1 + b1) W2 + b2 `[batch, token, channel]`, each token on its own.

    Activation "relu", "gelu" or "swiglu"; for the last, W1 has the columns [gate | value], twice the rows of
    W2. Raises CoreError for another activation.
    Source: Vaswani et al. 2017, section 3.3; Shazeer 2020, section 2.
    """
    expanded = linear.linear(arrays.floats(x, "x"), parameters["W1"], parameters.get("b1"))
    return linear.linear(_activate(expanded, activation), parameters["W2"], parameters.get("b2"))


def feed_forward_trace(
    x: FloatArray, parameters: Mapping[str, FloatArray], activation: str
) -> FeedForwardTrace:
    """Return the same as `feed_forward` with every intermediate."""
    expanded = linear.linear(x, parameters["W1"], parameters.get("b1"))
    hidden = _activate(expanded, activation)
    output = linear.linear(hidden, parameters["W2"], parameters.get("b2"))
    return FeedForwardTrace(x, expanded, hidden, output)


def feed_forward_backward(
    grad: FloatArray, parameters: Mapping[str, FloatArray], activation: str, trace: FeedForwardTrace
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return the gradient with respect to x, and those of W1, b1, W2 and b2 by role."""
    grad_hidden, grad_W2, grad_b2 = linear.linear_backward(grad, trace.hidden, parameters["W2"])
    grad_expanded = _activate_backward(grad_hidden, trace.expanded, activation)
    grad_x, grad_W1, grad_b1 = linear.linear_backward(grad_expanded, trace.x, parameters["W1"])
    return grad_x, {"W1": grad_W1, "b1": grad_b1, "W2": grad_W2, "b2": grad_b2}


def _activate(expanded: FloatArray, activation: str) -> FloatArray:
    if activation == "relu":
        return activations.relu(expanded)
    if activation == "gelu":
        return activations.gelu(expanded)
    if activation == "swiglu":
        return activations.swiglu(*_gate_and_value(expanded))
    raise CoreError(f"activation is {activation!r}; one of {', '.join(ACTIVATIONS)} is required")


def _activate_backward(grad: FloatArray, expanded: FloatArray, activation: str) -> FloatArray:
    if activation == "relu":
        return activations.relu_backward(grad, expanded)
    if activation == "gelu":
        return activations.gelu_backward(grad, expanded)
    return np.concatenate(activations.swiglu_backward(grad, *_gate_and_value(expanded)), axis=-1)


def _gate_and_value(expanded: FloatArray) -> tuple[FloatArray, FloatArray]:
    hidden = expanded.shape[-1] // 2
    return expanded[..., :hidden], expanded[..., hidden:]
