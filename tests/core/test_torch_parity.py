"""Forward values and gradients against PyTorch's own modules and autograd, 1e-10 in float64."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from core import activations, attention, block, norm, softmax
from core.arrays import FloatArray
from core.block import BlockConfig
from core.parameters import Parameters

torch: Any = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'attention-faults[torch]'"
)
TOLERANCE = 1e-10


def drawn(seed: int, *shape: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal(shape)


def tracked(array: FloatArray) -> Any:
    return torch.tensor(array, dtype=torch.float64, requires_grad=True)


def assert_same(ours: FloatArray, theirs: Any) -> None:
    assert np.abs(ours - theirs.detach().numpy()).max() <= TOLERANCE


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("relu", lambda x: torch.nn.functional.relu(x)),
        ("gelu", lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
        ("silu", lambda x: torch.nn.functional.silu(x)),
    ],
)
def test_activations(name: str, theirs: Any) -> None:
    x, grad = 4.0 * drawn(1, 40), drawn(2, 40)
    x[0] = 0.0
    tensor = tracked(x)
    result = theirs(tensor)
    result.backward(torch.tensor(grad))
    assert_same(getattr(activations, name)(x), result)
    assert_same(getattr(activations, f"{name}_backward")(grad, x), tensor.grad)


@pytest.mark.parametrize("temperature", [1.0, 0.3, 5.0])
def test_softmax(temperature: float) -> None:
    logits = drawn(1, 3, 7)
    assert_same(softmax.softmax(logits, temperature), torch.softmax(torch.tensor(logits) / temperature, -1))


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_norms(kind: str) -> None:
    x, gain, shift, grad = drawn(1, 2, 3, 6), drawn(2, 6), drawn(3, 6), drawn(4, 2, 3, 6)
    tensors = tracked(x), tracked(gain), tracked(shift)
    result = torch_norm(tensors[0], tensors[1], tensors[2] if kind == "layer" else None, 1e-5)
    result.backward(torch.tensor(grad))
    if kind == "layer":
        assert_same(norm.layer_norm(x, gain, shift), result)
        ours: tuple[FloatArray, ...] = norm.layer_norm_backward(grad, x, gain)
    else:
        assert_same(norm.rms_norm(x, gain), result)
        ours = norm.rms_norm_backward(grad, x, gain)
    for array, tensor in zip(ours, tensors, strict=False):
        assert_same(array, tensor.grad)


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_attention(kv_heads: int) -> None:
    query, key, value = drawn(1, 2, 4, 5, 3), drawn(2, 2, kv_heads, 5, 3), drawn(3, 2, kv_heads, 5, 6)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *(torch.tensor(a) for a in (query, key, value)), is_causal=True, enable_gqa=True
    )
    assert_same(attention.attention(query, key, value, causal=True), theirs)


def torch_norm(x: Any, gain: Any, shift: Any, eps: float) -> Any:
    functions = torch.nn.functional
    if shift is None:
        return functions.rms_norm(x, gain.shape, gain, eps)
    return functions.layer_norm(x, gain.shape, gain, shift, eps)


def torch_attention(x: Any, p: dict[str, Any], config: BlockConfig, mask: Any) -> Any:
    batch, token, width = x.shape
    query, key, value = (
        (x @ p["W" + role] + p["b" + role]).unflatten(-1, (heads, width // config.heads)).transpose(1, 2)
        for role, heads in (("q", config.heads), ("k", config.key_heads), ("v", config.key_heads))
    )
    output = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, enable_gqa=True
    )
    return output.transpose(1, 2).reshape(batch, token, width) @ p["Wo"] + p["bo"]


def torch_feed_forward(x: Any, p: dict[str, Any], activation: str) -> Any:
    functions = torch.nn.functional
    expanded = x @ p["W1"] + p["b1"]
    if activation == "swiglu":
        gate, value = expanded.chunk(2, dim=-1)
        hidden = functions.silu(gate) * value
    else:
        hidden = (
            functions.relu(expanded) if activation == "relu" else functions.gelu(expanded, approximate="tanh")
        )
    return hidden @ p["W2"] + p["b2"]


def torch_block(x: Any, p: dict[str, Any], config: BlockConfig, mask: Any) -> Any:
    def normed(h: Any, number: str) -> Any:
        return torch_norm(h, p["gain" + number], p.get("shift" + number), config.eps)

    if config.norm == "pre":
        h = x + torch_attention(normed(x, "1"), p, config, mask)
        return h + torch_feed_forward(normed(h, "2"), p, config.activation)
    h = normed(x + torch_attention(x, p, config, mask), "1")
    return normed(h + torch_feed_forward(h, p, config.activation), "2")


@pytest.mark.parametrize(
    ("place", "kind", "activation", "kv_heads"),
    list(itertools.product(("pre", "post"), ("layer", "rms"), ("relu", "gelu", "swiglu"), (None, 2))),
)
def test_the_whole_block(place: str, kind: str, activation: str, kv_heads: int | None) -> None:
    config = BlockConfig(4, kv_heads, place, kind, activation)
    parameters, x, grad = block.init_block(12, config, hidden=7), drawn(1, 2, 5, 12), drawn(2, 2, 5, 12)
    tensors, x_tensor = {role: tracked(array) for role, array in parameters.items()}, tracked(x)
    theirs = torch_block(x_tensor, tensors, config, torch.ones(5, 5, dtype=torch.bool).tril())
    theirs.backward(torch.tensor(grad))
    trace = block.block_trace(x, parameters, config)
    grad_x, gradients = block.block_backward(grad, trace)
    assert_same(block.block(x, parameters, config), theirs)
    assert_same(grad_x, x_tensor.grad)
    assert_gradients(gradients, tensors)


def assert_gradients(gradients: Parameters, tensors: dict[str, Any]) -> None:
    for role, array in gradients.items():
        assert_same(array, tensors[role].grad)
