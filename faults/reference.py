"""The reference subject: the correct block of `core`, wrapped for the detectors. The one file that imports core.

Raises FaultsError, in one line, where a `core` from elsewhere has been imported before.
"""

# ruff: noqa: E402 - a foreign package of the same name must be refused before ours are imported

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults import siblings

siblings.pin()

from core import (
    attention,
    block,
    feed_forward,
    generate,
    heads,
    model,
    norm,
    residual,
    self_attention,
    vectors,
)
from core import positions as core_positions
from core.attention import AttentionTrace
from core.model_config import ModelConfig, block_parameters
from core.parameters import Parameters
from detectors import plain_block
from detectors.fixtures import Extents, Fixture
from detectors.subject import Subject

Array = NDArray[Any]

EXAMPLE = Extents(batch=2, tokens=6, heads=2, kv_heads=2, head_width=4, hidden=16, gain=2.0)
"""Our own fixed synthetic fixture: distinct extents, logits large enough for an ablation to show."""


def config(extents: Extents) -> block.BlockConfig:
    """The block the extents declare: causal, pre-norm, ReLU, no positions."""
    return block.BlockConfig(heads=extents.heads, kv_heads=extents.kv_heads, norm_kind=extents.norm_kind)


def subject(fixture: Fixture) -> Subject:
    """core's block with the fixture's weights, at every access level, built afresh."""
    declared = config(fixture.extents)

    def call(x: Array, replaced: Mapping[str, Array]) -> Array:
        return block.block(x, parameters(fixture, replaced), declared)

    return Subject("core.block.block", call, fixture.weights, attend)


def output(fixture: Fixture, x: Array | None = None) -> Array:
    """core's block with the fixture's weights on its own tokens, or on x, [batch, token, channel]."""
    return block.block(fixture.x if x is None else x, parameters(fixture, {}), config(fixture.extents))


def attend(query: Array, key: Array, value: Array) -> Array:
    """core's causal attention by itself, [batch, head, query, channel]."""
    return attention.attention(query, key, value, causal=True)


def parameters(fixture: Fixture, replaced: Mapping[str, Array]) -> Parameters:
    """The fixture's weights with some roles replaced; without any, made once."""
    return Parameters({**fixture.weights, **replaced}) if replaced else fixture.once(_own)


def _own(fixture: Fixture) -> Parameters:
    return Parameters(fixture.weights)


def trace(fixture: Fixture) -> AttentionTrace:
    """Scores, scaled, masked, weights and output of the block's attention, [batch, head, query, ...]."""
    return block.block_trace(fixture.x, parameters(fixture, {}), config(fixture.extents)).attention


def projections(fixture: Fixture) -> tuple[Array, Array, Array]:
    """Query, key and value of the block's attention, [batch, head, token, channel]."""
    whole = block.block_trace(fixture.x, parameters(fixture, {}), config(fixture.extents))
    return whole.query, whole.key, whole.value


def gradients(fixture: Fixture, upstream: Array) -> tuple[Array, Mapping[str, Array]]:
    """Gradient of sum(upstream * y) with respect to x and to every weight, through the patched backward seams."""
    whole = block.block_trace(fixture.x, parameters(fixture, {}), config(fixture.extents))
    grad_x, by_role = block.block_backward(upstream, whole)
    return grad_x, dict(by_role)


class Example:
    """The fixed example of the evidence: one fixture, its run, its intermediates, its independent reference."""

    def __init__(self, seed: int) -> None:
        self.fixture = Fixture(EXAMPLE, seed)
        self.x = self.fixture.x

    def run(self, x: Array | None = None) -> Array:
        """The block's output, [batch, token, channel]."""
        return output(self.fixture, x)

    def trace(self) -> AttentionTrace:
        """The intermediates of its attention."""
        return trace(self.fixture)

    def expected(self) -> Array:
        """The output computed head by head in plain loops."""
        return plain_block.output(self.fixture)


def example(seed: int) -> Example:
    """The example with one seed."""
    return Example(seed)


def attention_trace(query: Array, key: Array, value: Array, causal: bool = True) -> AttentionTrace:
    """core's attention with every intermediate."""
    return attention.attention_trace(query, key, value, causal=causal)


def rms(array: Array) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(array**2)))


def shapes(fixture: Fixture) -> Mapping[str, tuple[int, ...]]:
    """The shape of every step of the attention sublayer, as the block's own intermediates have them."""
    whole = block.block_trace(fixture.x, parameters(fixture, {}), config(fixture.extents))
    branch = whole.self_attention
    return {
        "x": whole.x.shape,
        "query": branch.query.shape,
        "score": branch.attention.scores.shape,
        "mask": () if branch.mask is None else branch.mask.shape,
        "weights": branch.attention.weights.shape,
        "attended": branch.attention.output.shape,
        "merged": branch.merged.shape,
        "output": branch.output.shape,
    }


def positions(tokens: int, width: int) -> Array:
    """core's sinusoidal position vectors, [token, channel]."""
    return core_positions.sinusoidal_positional_encoding(tokens, width)


def dot_product(a: Array, b: Array) -> float:
    """core's dot product of two vectors."""
    return vectors.dot_product(a, b)


def self_information(p: float) -> float:
    """core's -log2(p), in bits."""
    return vectors.self_information(p)


def project(x: Array, weights: Mapping[str, Array], head_count: int) -> tuple[Array, Array, Array]:
    """core's query, key and value of one head count, each [batch, head, token, channel]."""
    return self_attention.project(x, weights, head_count, head_count)


def merge(attended: Array) -> Array:
    """core's merge of [batch, head, token, channel] to [batch, token, head * channel]."""
    return heads.merge_heads(attended)


def pre_norm(x: Array, matrix: Array, gain: Array, shift: Array) -> Array:
    """core's pre-norm residual around the branch h -> h matrix, [batch, token, channel]."""
    return residual.pre_norm(x, x, lambda h: norm.layer_norm(h, gain, shift), lambda h: h @ matrix)


def feed(x: Array, weights: Mapping[str, Array]) -> Array:
    """core's feed-forward network with ReLU, [batch, token, channel]."""
    return feed_forward.feed_forward(x, weights, "relu")


def run_block(x: Array, weights: Mapping[str, Array], head_count: int) -> Array:
    """core's pre-norm causal block with LayerNorm and ReLU, [batch, token, channel]."""
    return block.block(x, Parameters(weights), block.BlockConfig(heads=head_count))


class Language:
    """A small language model of core without positions: weights, logits, loss, one step, generation."""

    def __init__(self, extents: Extents, layers: int, seed: int) -> None:
        shape = block.BlockConfig(heads=extents.heads)
        self.heads = extents.heads
        self.config = ModelConfig(extents.vocab, extents.width, layers, 64, shape, positions="none")
        self.parameters = model.init_model(self.config, seed)

    def nested(self, values: Parameters | None = None) -> dict[str, Any]:
        """The parameters, or others of the same roles, as plain arrays: blocks is a list with one dict each."""
        found = self.parameters if values is None else values
        whole: dict[str, Any] = {
            role: array for role, array in found.items() if not role.startswith("blocks.")
        }
        return whole | {
            "blocks": [dict(block_parameters(found, layer)) for layer in range(self.config.layers)]
        }

    def logits(self, tokens: Array) -> Array:
        """Logits [batch, token, vocabulary]."""
        return model.logits(tokens, self.parameters, self.config)

    def loss_and_gradients(self, tokens: Array, targets: Array) -> tuple[float, dict[str, Any]]:
        """The loss in nats, and its gradients in the form of `nested`."""
        loss, gradients = model.loss_and_gradients(tokens, targets, self.parameters, self.config)
        return loss, self.nested(gradients)

    def generate(self, prompt: Array, new_tokens: int) -> Array:
        """The prompt and the likeliest tokens after it, [batch, token]."""
        return generate.generate(prompt, self.parameters, self.config, new_tokens)
