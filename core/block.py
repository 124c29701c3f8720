"""The transformer block: attention and feed-forward, each behind a normalisation and a skip connection.

Pre-norm:  h = x + Attention(Norm(x)), y = h + FFN(Norm(h)).
Post-norm: h = Norm(x + Attention(x)), y = Norm(h + FFN(h)).
Tokens have no positions here: but for the mask, the block treats them as a set.
Source: Vaswani et al. 2017, section 3; Xiong et al. 2020, "On Layer Normalization in the Transformer
Architecture", section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core import arrays, block_config, feed_forward, norm, residual, self_attention
from core import mask as masks
from core.arrays import FloatArray
from core.attention import AttentionTrace
from core.block_config import BlockConfig, init_block
from core.errors import CoreError
from core.feed_forward import FeedForwardTrace
from core.parameters import Parameters
from core.residual import Map, Sublayer
from core.self_attention import SelfAttentionTrace

__all__ = ["BlockConfig", "BlockTrace", "block", "block_backward", "block_trace", "init_block"]


@dataclass(frozen=True, eq=False)
class BlockTrace:
    """Every intermediate of one block call, for its gradient and for a reader."""

    x: FloatArray
    parameters: Parameters
    config: BlockConfig
    # What normalisations "1" and "2" read; one that was left out has none.
    norm_inputs: Mapping[str, FloatArray]
    self_attention: SelfAttentionTrace
    feed_forward: FeedForwardTrace
    y: FloatArray

    @property
    def attention(self) -> AttentionTrace:
        """Return scores, scaled, masked, weights and output of the attention."""
        return self.self_attention.attention

    @property
    def query(self) -> FloatArray:
        """Return the queries `[batch, head, token, channel]`."""
        return self.self_attention.query

    @property
    def key(self) -> FloatArray:
        """Return the keys `[batch, head, token, channel]`, repeated for grouped queries."""
        return self.self_attention.key

    @property
    def value(self) -> FloatArray:
        """Return the values `[batch, head, token, channel]`, repeated for grouped queries."""
        return self.self_attention.value


def block(
    x: ArrayLike, parameters: Parameters, config: BlockConfig, mask: ArrayLike | None = None
) -> FloatArray:
    """Return the block's output `[batch, token, channel]` for x `[batch, token, channel]`.

    `mask`, boolean (True = may attend) or additive, is added to the causal one when `config.causal`.
    Raises CoreError when x, the mask or a parameter has the wrong rank or shape.
    """
    x, added = _checked(x, parameters, config, mask)

    def attend(h: FloatArray) -> FloatArray:
        return self_attention.self_attention(h, parameters, config.heads, config.key_heads, added)

    def feed(h: FloatArray) -> FloatArray:
        return feed_forward.feed_forward(h, parameters, config.activation)

    first = sublayer(config, normalisation(parameters, config, "1"), attend)
    return residual.compose(x, first, sublayer(config, normalisation(parameters, config, "2"), feed))


def block_trace(
    x: ArrayLike, parameters: Parameters, config: BlockConfig, mask: ArrayLike | None = None
) -> BlockTrace:
    """Return the same as `block` with every intermediate."""
    x, added = _checked(x, parameters, config, mask)
    tape = _Tape()

    def attend(h: FloatArray) -> FloatArray:
        tape.attend = self_attention.self_attention_trace(
            h, parameters, config.heads, config.key_heads, added
        )
        return tape.attend.output

    def feed(h: FloatArray) -> FloatArray:
        tape.feed = feed_forward.feed_forward_trace(h, parameters, config.activation)
        return tape.feed.output

    first = sublayer(config, tape.noting("1", normalisation(parameters, config, "1")), attend)
    second = sublayer(config, tape.noting("2", normalisation(parameters, config, "2")), feed)
    return tape.trace(x, parameters, config, residual.compose(x, first, second))


def block_backward(grad_y: ArrayLike, trace: BlockTrace) -> tuple[FloatArray, Parameters]:
    """Return the gradient with respect to x `[batch, token, channel]`, and that of every parameter by role.

    `grad_y` is the gradient of some number with respect to `trace.y`.
    Raises CoreError when its shape is not that of y.
    """
    grad_y = arrays.floats(grad_y, "grad_y")
    if grad_y.shape != trace.y.shape:
        raise CoreError(f"grad_y has shape {grad_y.shape}; the shape of y, {trace.y.shape}, is required")
    parameters, config = trace.parameters, trace.config
    gradients = _Gradients(parameters)

    def attend(grad: FloatArray) -> FloatArray:
        return gradients.note(
            *self_attention.self_attention_backward(
                grad, parameters, config.heads, config.key_heads, trace.self_attention
            )
        )

    def feed(grad: FloatArray) -> FloatArray:
        return gradients.note(
            *feed_forward.feed_forward_backward(grad, parameters, config.activation, trace.feed_forward)
        )

    stage = residual.pre_norm_backward if config.norm == "pre" else residual.post_norm_backward
    norms = [_norm_backward(trace, gradients, number) for number in ("1", "2")]
    grad_x = residual.compose_backward(
        grad_y, lambda grad: stage(grad, norms[0], attend), lambda grad: stage(grad, norms[1], feed)
    )
    return grad_x, Parameters(gradients.by_role)


class _Tape:
    """Notes what the sublayers computed while `residual` decides in which order they run."""

    attend: SelfAttentionTrace | None = None
    feed: FeedForwardTrace | None = None

    def __init__(self) -> None:
        self.norm_inputs: dict[str, FloatArray] = {}

    def noting(self, name: str, normalise: Map) -> Map:
        def noted(h: FloatArray) -> FloatArray:
            self.norm_inputs[name] = h
            return normalise(h)

        return noted

    def trace(self, x: FloatArray, parameters: Parameters, config: BlockConfig, y: FloatArray) -> BlockTrace:
        if self.attend is None or self.feed is None:
            raise CoreError("a sublayer was not run; both are required for a trace; call both in compose")
        return BlockTrace(x, parameters, config, self.norm_inputs, self.attend, self.feed, y)


class _Gradients:
    """Adds up the parameters' gradients while `residual` decides in which order they arrive."""

    def __init__(self, parameters: Parameters) -> None:
        self.by_role = {role: np.zeros_like(array) for role, array in parameters.items()}

    def note(self, grad_x: FloatArray, by_role: dict[str, FloatArray]) -> FloatArray:
        for role, grad in by_role.items():
            if role in self.by_role:  # an absent bias has no gradient
                self.by_role[role] = self.by_role[role] + grad
        return grad_x


def sublayer(config: BlockConfig, normalise: Map, branch: Map) -> Sublayer:
    """Return the branch with its normalisation and skip connection, in the order that the block declares."""
    stage = residual.pre_norm if config.norm == "pre" else residual.post_norm
    return lambda h, skip: stage(h, skip, normalise, branch)


def normalisation(parameters: Parameters, config: BlockConfig, number: str) -> Map:
    """Return the normalisation of sublayer `number`, "1" or "2", with its parameters."""
    gain, shift = parameters["gain" + number], parameters.get("shift" + number)
    if config.norm_kind == "rms":
        return lambda h: norm.rms_norm(h, gain, config.eps)
    return lambda h: norm.layer_norm(h, gain, shift, config.eps)


def _norm_backward(trace: BlockTrace, gradients: _Gradients, number: str) -> Map:
    inputs, gain, eps = trace.norm_inputs, trace.parameters["gain" + number], trace.config.eps

    def rms(grad: FloatArray) -> FloatArray:
        grad_x, grad_gain = norm.rms_norm_backward(grad, inputs[number], gain, eps)
        return gradients.note(grad_x, {"gain" + number: grad_gain})

    def layer(grad: FloatArray) -> FloatArray:
        grad_x, grad_gain, grad_shift = norm.layer_norm_backward(grad, inputs[number], gain, eps)
        return gradients.note(grad_x, {"gain" + number: grad_gain, "shift" + number: grad_shift})

    return rms if trace.config.norm_kind == "rms" else layer


def _checked(
    x: ArrayLike, parameters: Parameters, config: BlockConfig, mask: ArrayLike | None
) -> tuple[FloatArray, FloatArray | None]:
    x = arrays.ranked(x, "x", "batch, token, channel")
    block_config.check_parameters(parameters, x.shape[2], config)
    dtype = parameters["Wq"].dtype
    if dtype != x.dtype:
        x = x.astype(np.promote_types(dtype, x.dtype))
    return x, _total_mask(x, config, mask)


def _total_mask(x: FloatArray, config: BlockConfig, mask: ArrayLike | None) -> FloatArray | None:
    batch, token, _ = x.shape
    triangle = masks.causal_mask(token, token, x.dtype) if config.causal else None
    if mask is None:
        return triangle
    added = masks.as_additive(mask, (batch, config.heads, token, token), x.dtype)
    return added if triangle is None else masks.combine(triangle, added)
