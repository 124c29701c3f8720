"""A small causal block in PyTorch, in every combination of positions, heads, norm and kernel, with faults to write in.

It shares nothing with any other implementation: separate projections, RoPE on halves, learned positions added where
queries and keys are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - the name that everybody gives it

HEADS, KV_HEADS, HEAD_WIDTH, LONGEST = 4, 2, 6, 12
WIDTH = HEADS * HEAD_WIDTH
ROOT = HEAD_WIDTH**-0.5


class Form(NamedTuple):
    """How a block is built: positions "none", "learned" or "rope"; all heads or grouped; norm; kernel."""

    positions: str
    grouped: bool
    norm: str
    fused: bool

    def __str__(self) -> str:
        heads, kernel = "gqa" if self.grouped else "mha", "fused" if self.fused else "unfused"
        return f"{self.positions}-{heads}-{self.norm}-{kernel}"


FORMS = tuple(
    Form(*one) for one in product(("none", "learned", "rope"), (False, True), ("pre", "post"), (False, True))
)


class Attention(nn.Module):  # type: ignore[misc] # torch has no types here
    """Causal self-attention."""

    form: Form

    def __init__(self) -> None:
        super().__init__()
        narrow = (KV_HEADS if self.form.grouped else HEADS) * HEAD_WIDTH
        self.q_proj, self.out_proj = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.k_proj, self.v_proj = nn.Linear(WIDTH, narrow), nn.Linear(WIDTH, narrow)
        self.places = nn.Parameter(torch.randn(LONGEST, WIDTH) / 2)

    def forward(self, x: Any) -> Any:
        placed = x + self.places[: x.shape[1]] if self.form.positions == "learned" else x
        q, k, v = self.split(self.q_proj(placed)), self.split(self.k_proj(placed)), self.split(self.v_proj(x))
        if self.form.positions == "rope":
            q, k = self.turned(q), self.turned(k)
        if self.form.grouped:
            k, v = self.widened(k), self.widened(v)
        return self.out_proj(self.merge(self.mixed(q, k, v)))

    def split(self, x: Any) -> Any:
        return x.unflatten(-1, (-1, HEAD_WIDTH)).transpose(1, 2)

    def merge(self, x: Any) -> Any:
        return x.transpose(1, 2).flatten(2)

    def widened(self, x: Any) -> Any:
        return x.repeat_interleave(HEADS // KV_HEADS, dim=1)

    def turned(self, x: Any) -> Any:
        half = HEAD_WIDTH // 2
        angles = torch.arange(x.shape[2])[:, None] * 100.0 ** (-torch.arange(half) / half)
        first, second = x[..., :half], x[..., half:]
        return torch.cat(
            [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], -1
        )

    def mixed(self, q: Any, k: Any, v: Any) -> Any:
        mask = self.mask(q.shape[2], k.shape[2])
        if self.form.fused:
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=self.scale())
        return self.weights(q @ k.mT * self.scale() + mask) @ v

    def scale(self) -> Any:
        return ROOT

    def mask(self, queries: int, keys: int) -> Any:
        return torch.full((queries, keys), -math.inf).triu(1 + keys - queries)

    def weights(self, scores: Any) -> Any:
        return scores.softmax(-1)


class Block(nn.Module):  # type: ignore[misc] # torch has no types here
    """Attention and a feed-forward network, each in its residual branch."""

    form: Form
    parts: Mapping[str, Any]

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = type("Attention", (Attention,), {"form": self.form, **self.parts})()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 40), nn.GELU(), nn.Linear(40, WIDTH))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.15)
        for norm in (self.ln_1, self.ln_2):
            nn.init.uniform_(norm.weight, 0.5, 1.4)

    def forward(self, x: Any) -> Any:
        return self.second(self.joined(x, self.ln_1, self.attn), x)

    def second(self, h: Any, x: Any) -> Any:
        """The feed-forward sublayer; x is the block's input."""
        return self.joined(h, self.ln_2, self.mlp)

    def joined(self, x: Any, norm: Any, branch: Any) -> Any:
        if self.form.norm == "post":
            return norm(x + branch(x))
        return x + branch(norm(x))


def block(form: Form, fault: str = "") -> Block:
    """The block of that form, sound or with the fault "name/variant" written in."""
    own, parts = FAULTS[fault] if fault else ({}, {})
    made: Block = type("Block", (Block,), {"form": form, "parts": parts, **own})()
    return made


Pieces = Mapping[str, Callable[..., Any]]


def _stream(**pieces: Callable[..., Any]) -> tuple[Pieces, Pieces]:
    return pieces, {}


def _inside(**pieces: Callable[..., Any]) -> tuple[Pieces, Pieces]:
    return {}, pieces


def _from_input(self: Block, h: Any, x: Any) -> Any:
    return x + self.mlp(self.ln_2(h))


def _from_branch(self: Block, h: Any, x: Any) -> Any:
    return h + self.mlp(self.ln_2(h - x))


def _after_norm(self: Block, x: Any, norm: Any, branch: Any) -> Any:
    x = norm(x)
    return x + branch(x)


def _scaled_behind(self: Attention, q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.mT + self.mask(q.shape[2], k.shape[2])
    return scores.softmax(-1) * ROOT @ v


def _by_keys(self: Attention, q: Any, k: Any, v: Any) -> Any:
    mask, scale = self.mask(q.shape[2], k.shape[2]), k.shape[2] ** -0.5
    if self.form.fused:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
    return (q @ k.mT * scale + mask).softmax(-1) @ v


def _each_block(self: Attention, q: Any, k: Any, v: Any) -> Any:
    """Four keys at a time, each time with a factor more."""
    scores = [q @ keys.mT * ROOT * math.log2(math.e) ** (at + 1) for at, keys in enumerate(k.split(4, dim=2))]
    return (torch.cat(scores, -1) + self.mask(q.shape[2], k.shape[2])).softmax(-1) @ v


def _masked_behind(self: Attention, q: Any, k: Any, v: Any) -> Any:
    weights = (q @ k.mT * ROOT).softmax(-1)
    return weights.tril() @ v


def _unmoved_split(self: Attention, x: Any) -> Any:
    return x.unflatten(-1, (-1, HEAD_WIDTH))


def _plain_split(self: Attention, x: Any) -> Any:
    return x.reshape(x.shape[0], -1, x.shape[1], HEAD_WIDTH)


def _plain_merge(self: Attention, x: Any) -> Any:
    return x.reshape(x.shape[0], x.shape[2], -1)


def _heads_before_batch(self: Attention, x: Any) -> Any:
    batch, heads, tokens, width = x.shape
    return x.reshape(heads, batch, tokens, width).permute(1, 2, 0, 3).flatten(2)


def _stacked_heads(self: Attention, x: Any) -> Any:
    return x.transpose(0, 1).reshape(x.shape[0], x.shape[2], -1)


def _filled(number: float, seen: float = 0.0) -> tuple[Pieces, Pieces]:
    def mask(self: Attention, queries: int, keys: int) -> Any:
        return torch.full((queries, keys), seen).masked_fill(torch.ones(queries, keys).triu(1).bool(), number)

    return _inside(mask=mask)


def _triangle(make: Callable[[Any], Any]) -> tuple[Pieces, Pieces]:
    return _inside(mask=lambda self, queries, keys: make(torch.full((queries, keys), -math.inf)))


FAULTS: dict[str, tuple[Pieces, Pieces]] = {
    "residual_shape/dropped": _stream(joined=lambda self, x, norm, branch: branch(norm(x))),
    "residual_shape/doubled": _stream(joined=lambda self, x, norm, branch: x + x + branch(norm(x))),
    "residual_shape/after_norm": _stream(joined=_after_norm),
    "residual_shape/post_norm": _stream(joined=lambda self, x, norm, branch: norm(x + branch(x))),
    "residual_shape/broadcast": _stream(joined=lambda self, x, norm, branch: x[:, :1] + branch(norm(x))),
    "residual_shape/ffn_from_input": _stream(second=_from_input),
    "residual_shape/ffn_from_branch": _stream(second=_from_branch),
    "residual_shape/norm_unused": _stream(joined=lambda self, x, norm, branch: x + branch(x)),
    "residual_shape/sequence_first": _stream(
        joined=lambda self, x, norm, branch: x + branch(norm(x)).transpose(0, 1)
    ),
    "residual_shape/joined": _stream(
        joined=lambda self, x, norm, branch: torch.cat([x, branch(norm(x))], -1)
    ),
    "missing_scale/absent": _inside(scale=lambda self: 1.0),
    "missing_scale/by_model_width": _inside(scale=lambda self: WIDTH**-0.5),
    "missing_scale/by_heads": _inside(scale=lambda self: HEADS**-0.5),
    "missing_scale/by_keys": _inside(mixed=_by_keys),
    "missing_scale/each_block": _inside(mixed=_each_block),
    "missing_scale/twice": _inside(scale=lambda self: ROOT * ROOT),
    "missing_scale/reciprocal": _inside(scale=lambda self: 1 / ROOT),
    "missing_scale/after_softmax": _inside(mixed=_scaled_behind),
    "mask_adds_zero/zero": _filled(0.0),
    "mask_adds_zero/tiny": _filled(1e-9),
    "mask_adds_zero/one": _filled(0.0, seen=1.0),
    "mask_adds_zero/missing": _triangle(torch.zeros_like),
    "mask_adds_zero/after_softmax": _inside(mixed=_masked_behind),
    "flipped_triangle/inverted": _triangle(lambda full: full.tril()),
    "flipped_triangle/kept_hidden": _triangle(lambda full: torch.ones_like(full).tril() * -1e9),
    "flipped_triangle/first_row": _triangle(lambda full: full.triu(1)[:1].expand_as(full)),
    "flipped_triangle/late_rows": _triangle(lambda full: torch.cat([full[:2].triu(1), full[2:]])),
    "flipped_triangle/flipped": _triangle(lambda full: full.tril(-1)),
    "flipped_triangle/one_too_far": _triangle(lambda full: full.triu(2)),
    "flipped_triangle/diagonal_lost": _triangle(lambda full: full.triu(0)),
    "head_seq_swap/split": _inside(split=_plain_split),
    "head_seq_swap/merge": _inside(merge=_plain_merge),
    "head_seq_swap/both": _inside(split=_plain_split, merge=_plain_merge),
    "head_seq_swap/batch": _inside(merge=_heads_before_batch),
    "head_seq_swap/stacked": _inside(merge=_stacked_heads),
    "head_seq_swap/untransposed": _inside(split=_unmoved_split, merge=lambda self, x: x.flatten(2)),
    "head_seq_swap/tiled": _inside(widened=lambda self, x: x.repeat(1, HEADS // KV_HEADS, 1, 1)),
}
