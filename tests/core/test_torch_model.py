"""The language model against PyTorch: its own encoder layers, autograd and optimizers, 1e-10 in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core import model, optimizers
from core.block_config import BlockConfig
from core.model_config import ModelConfig
from core.parameters import Parameters

torch: Any = pytest.importorskip(
    "torch", reason="PyTorch is not installed: pip install 'attention-faults[torch]'"
)
functional: Any = torch.nn.functional
TOLERANCE = 1e-10

BASE = ModelConfig(vocabulary=13, width=12, layers=2, max_length=7, block=BlockConfig(heads=3))
TOKENS = np.random.default_rng(1).integers(0, 13, (3, 6))
TARGETS = np.random.default_rng(2).integers(0, 13, (3, 6))

STANDARD = [
    replace(
        BASE, block=BlockConfig(heads=3, norm=place, activation=activation), positions=positions, tied=tied
    )
    for place, activation in (("pre", "relu"), ("pre", "gelu"), ("post", "gelu"))
    for positions in ("learned", "sinusoidal", "none")
    for tied in (False, True)
]
MODERN = [
    replace(BASE, block=BlockConfig(4, kv_heads, norm_kind="rms", activation="swiglu"), tied=tied)
    for kv_heads in (1, 2, 4)
    for tied in (False, True)
]


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """On arrays this small several threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def name_of(config: ModelConfig) -> str:
    inner = config.block
    weights = "tied" if config.tied else "untied"
    return f"{inner.norm}-{inner.activation}-{inner.key_heads}of{inner.heads}-{config.positions}-{weights}"


def leaves(parameters: Parameters) -> dict[str, Any]:
    return {role: torch.tensor(np.array(array), requires_grad=True) for role, array in parameters.items()}


def future(length: int) -> Any:
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def standard_block(h: Any, p: dict[str, Any], config: BlockConfig) -> Any:
    """PyTorch's own encoder layer, with its weights joined and turned from ours: it multiplies from the left."""
    width = h.shape[-1]
    activation = functional.relu
    if config.activation == "gelu":
        activation = torch.nn.GELU(approximate="tanh")
    layer = torch.nn.TransformerEncoderLayer(
        width, config.heads, 4 * width, 0.0, activation, config.eps, True, config.norm == "pre", dtype=h.dtype
    )
    weights = {
        "self_attn.in_proj_weight": torch.cat([p["Wq"], p["Wk"], p["Wv"]], dim=1).T,
        "self_attn.in_proj_bias": torch.cat([p["bq"], p["bk"], p["bv"]]),
        "self_attn.out_proj.weight": p["Wo"].T,
        "self_attn.out_proj.bias": p["bo"],
        "linear1.weight": p["W1"].T,
        "linear1.bias": p["b1"],
        "linear2.weight": p["W2"].T,
        "linear2.bias": p["b2"],
        "norm1.weight": p["gain1"],
        "norm1.bias": p["shift1"],
        "norm2.weight": p["gain2"],
        "norm2.bias": p["shift2"],
    }
    return torch.func.functional_call(layer, weights, (h,), {"src_mask": future(h.shape[1])})


def modern_block(h: Any, p: dict[str, Any], config: BlockConfig) -> Any:
    """Grouped queries, RMS normalisation and SwiGLU, one query head at a time."""
    normal = functional.rms_norm(h, h.shape[-1:], p["gain1"], config.eps)
    channels, outputs = h.shape[-1] // config.heads, []
    for head in range(config.heads):
        shared = head // (config.heads // config.key_heads)
        own, of_group = (slice(i * channels, (i + 1) * channels) for i in (head, shared))
        query = normal @ p["Wq"][:, own] + p["bq"][own]
        key = normal @ p["Wk"][:, of_group] + p["bk"][of_group]
        value = normal @ p["Wv"][:, of_group] + p["bv"][of_group]
        scores = (query @ key.mT / channels**0.5).masked_fill(future(h.shape[1]), -torch.inf)
        outputs.append(scores.softmax(dim=-1) @ value)
    h = h + torch.cat(outputs, dim=-1) @ p["Wo"] + p["bo"]
    gate, value = (functional.rms_norm(h, h.shape[-1:], p["gain2"], config.eps) @ p["W1"] + p["b1"]).chunk(
        2, -1
    )
    return h + (functional.silu(gate) * value) @ p["W2"] + p["b2"]


def torch_positions(p: dict[str, Any], config: ModelConfig, length: int) -> Any:
    if config.positions == "none":
        return 0.0
    if config.positions == "learned":
        return functional.embedding(torch.arange(length), p["position_embedding"])
    # One turning complex number for each pair of channels: its imaginary part is the sine, its real part the cosine.
    turns = 10000.0 ** (-torch.arange(0, config.width, 2, dtype=torch.float64) / config.width)
    waves = torch.polar(
        torch.ones(length, config.width // 2, dtype=torch.float64), torch.arange(length)[:, None] * turns
    )
    return torch.view_as_real(waves).flip(-1).flatten(-2)


def torch_loss(p: dict[str, Any], config: ModelConfig) -> Any:
    h = functional.embedding(torch.tensor(TOKENS), p["token_embedding"])
    h = h + torch_positions(p, config, TOKENS.shape[1])
    step = modern_block if config.block.norm_kind == "rms" else standard_block
    for layer in range(config.layers):
        prefix = f"blocks.{layer}."
        inner = {role.removeprefix(prefix): tensor for role, tensor in p.items() if role.startswith(prefix)}
        h = step(h, inner, config.block)
    if config.block.norm_kind == "rms":
        normal = functional.rms_norm(h, h.shape[-1:], p["final_gain"], config.block.eps)
    else:
        normal = functional.layer_norm(h, h.shape[-1:], p["final_gain"], p["final_shift"], config.block.eps)
    logits = normal @ (p["token_embedding"].T if config.tied else p["unembedding"])
    return functional.cross_entropy(logits.flatten(0, 1), torch.tensor(TARGETS).flatten())


@pytest.mark.parametrize("config", STANDARD + MODERN, ids=name_of)
def test_loss_and_every_gradient_are_those_of_autograd(config: ModelConfig) -> None:
    parameters = model.init_model(config, seed=3)
    tensors = leaves(parameters)
    theirs = torch_loss(tensors, config)
    theirs.backward()
    loss, gradients = model.loss_and_gradients(TOKENS, TARGETS, parameters, config)
    assert abs(loss - theirs.item()) <= TOLERANCE
    for role, array in gradients.items():
        assert np.abs(array - tensors[role].grad.numpy()).max() <= TOLERANCE, role


def test_updates_are_those_of_the_optimizers_of_torch() -> None:
    config = STANDARD[0]
    start = model.init_model(config, seed=3)
    for name in ("SGD", "Adam"):
        tensors, ours, state = leaves(start), start, None
        theirs = getattr(torch.optim, name)(tensors.values(), lr=1e-2)
        for _ in range(5):
            theirs.zero_grad()
            torch_loss(tensors, config).backward()
            theirs.step()
            _, gradients = model.loss_and_gradients(TOKENS, TARGETS, ours, config)
            if name == "SGD":
                ours = optimizers.sgd_step(ours, gradients, 1e-2)
            else:
                ours, state = optimizers.adam_step(ours, gradients, state, 1e-2)
        for role, array in ours.items():
            assert np.abs(array - tensors[role].detach().numpy()).max() <= TOLERANCE, (name, role)
