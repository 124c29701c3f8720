"""A small causal block in JAX, in every combination of positions, heads, norm and kernel, with faults to write in.

It shares nothing with any other implementation: functions of x and a dictionary of weights, arrays [batch, token, head,
channel] as `jax.nn.dot_product_attention` wants them, RMSNorm, RoPE on neighbours, grouped queries by einsum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

HEADS, KV_HEADS, HEAD_WIDTH, HIDDEN, LONGEST = 4, 2, 6, 30, 12
WIDTH, GROUP = HEADS * HEAD_WIDTH, HEADS // KV_HEADS
ROOT = HEAD_WIDTH**-0.5

Weights = Mapping[str, Any]


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


def rms_norm(x: Any, gain: Any) -> Any:
    return x * jax.lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-6) * gain


def rotated(x: Any) -> Any:
    """[batch, token, head, channel], each pair of neighbours turned by its token's angle."""
    rates = 50.0 ** -(jnp.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH)
    angles = jnp.arange(x.shape[1])[:, None, None] * rates
    even, odd = x[..., ::2], x[..., 1::2]
    turned = [even * jnp.cos(angles) - odd * jnp.sin(angles), odd * jnp.cos(angles) + even * jnp.sin(angles)]
    return jnp.stack(turned, -1).reshape(x.shape)


def split(x: Any) -> Any:
    return x.reshape(*x.shape[:2], -1, HEAD_WIDTH)


def merge(x: Any) -> Any:
    return x.reshape(*x.shape[:2], -1)


def repeated(x: Any) -> Any:
    return jnp.repeat(x, GROUP, axis=2)


def visible(queries: int, keys: int) -> Any:
    """[query, key]: 0 for what may be seen, a large negative number for the rest."""
    return jnp.where(jnp.tri(queries, keys, dtype=bool), 0.0, -1e9)


def softmax(scores: Any) -> Any:
    return jax.nn.softmax(scores, axis=-1)


def whole(weights: Any) -> Any:
    return weights


def pre(x: Any, norm: Any, branch: Any) -> Any:
    return x + branch(norm(x))


@dataclass(frozen=True)
class Parts:
    """The pieces of a block."""

    scale: Callable[[int], Any] = lambda keys: ROOT
    split: Callable[[Any], Any] = split
    merge: Callable[[Any], Any] = merge
    repeat: Callable[[Any], Any] = repeated
    mask: Callable[[int, int], Any] = visible
    after: Callable[[Any], Any] = whole
    join: Callable[[Any, Any, Any], Any] = pre
    feed_join: Callable[[Any, Any, Any, Any], Any] | None = None


def mixed(parts: Parts, form: Form, q: Any, k: Any, v: Any) -> Any:
    """Attention [batch, token, head, channel]."""
    bias, scale = parts.mask(q.shape[1], k.shape[1]), parts.scale(k.shape[1])
    if form.fused and parts.after is whole:
        return jax.nn.dot_product_attention(q, k, v, bias=bias[None, None], scale=scale)
    scores = jnp.einsum("bqhc,bkhc->bhqk", q, k) * scale + bias
    return jnp.einsum("bhqk,bkhc->bqhc", parts.after(softmax(scores)), v)


def attend(parts: Parts, form: Form, weights: Weights, x: Any) -> Any:
    placed = x + weights["places"][: x.shape[1]] if form.positions == "learned" else x
    q, k, v = (
        parts.split(one @ weights[f"W{role}"]) for role, one in zip("qkv", (placed, placed, x), strict=True)
    )
    if form.positions == "rope":
        q, k = rotated(q), rotated(k)
    if form.grouped:
        k, v = parts.repeat(k), parts.repeat(v)
    return parts.merge(mixed(parts, form, q, k, v)) @ weights["Wo"]


def feed(weights: Weights, x: Any) -> Any:
    return jax.nn.silu(x @ weights["W1"]) @ weights["W2"]


def forward(parts: Parts, form: Form, x: Any, weights: Weights) -> Any:
    """The whole block."""

    def norm(which: str) -> Callable[[Any], Any]:
        return lambda h: rms_norm(h, weights[f"gain{which}"])

    def first(h: Any) -> Any:
        return attend(parts, form, weights, h)

    h = parts.join(x, norm("1"), first)
    if parts.feed_join is not None:
        return parts.feed_join(h, x, norm("2"), lambda one: feed(weights, one))
    return parts.join(h, norm("2"), lambda one: feed(weights, one))


def drawn(form: Form) -> dict[str, Any]:
    random = np.random.default_rng(6).standard_normal
    narrow = (KV_HEADS if form.grouped else HEADS) * HEAD_WIDTH
    shapes = {"Wq": (WIDTH, WIDTH), "Wk": (WIDTH, narrow), "Wv": (WIDTH, narrow), "Wo": (WIDTH, WIDTH)}
    shapes |= {"W1": (WIDTH, HIDDEN), "W2": (HIDDEN, WIDTH), "places": (LONGEST, WIDTH)}
    weights = {name: random(shape) * shape[0] ** -0.5 for name, shape in shapes.items()}
    weights |= {f"gain{which}": 1 + random(WIDTH) / 4 for which in "12"}
    return {name: jnp.asarray(array, jnp.float32) for name, array in weights.items()}


def block(form: Form, fault: str = "") -> dict[str, Any]:
    """The block of that form as a declared subject, sound or with the fault "name/variant" written in."""
    parts = Parts(join=post) if form.norm == "post" else Parts()
    parts = replace(parts, **FAULTS[fault]) if fault else parts

    def call(x: Any, weights: Weights) -> Any:
        return forward(parts, form, x, weights)

    return {
        "kind": "block",
        "call": call,
        "weights": drawn(form),
        "framework": "jax",
    }


def post(x: Any, norm: Any, branch: Any) -> Any:
    return norm(x + branch(x))


def _after_norm(x: Any, norm: Any, branch: Any) -> Any:
    return norm(x) + branch(norm(x))


def _plain_split(x: Any) -> Any:
    """Read as [batch, head, token, channel] without a transpose, then laid out as the kernel wants it."""
    return x.reshape(x.shape[0], -1, x.shape[1], HEAD_WIDTH).swapaxes(1, 2)


def _plain_merge(x: Any) -> Any:
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[1], -1)


def _unmoved_split(x: Any) -> Any:
    """[batch, head, token, channel] where the kernel wants the tokens first."""
    return split(x).swapaxes(1, 2)


def _unmoved_merge(x: Any) -> Any:
    return merge(x.swapaxes(1, 2))


def _heads_before_batch(x: Any) -> Any:
    batch, tokens, heads, width = x.shape
    swapped = x.swapaxes(1, 2).reshape(heads, batch, tokens, width)
    return swapped.transpose(1, 2, 0, 3).reshape(batch, tokens, -1)


def _stacked_heads(x: Any) -> Any:
    return x.transpose(2, 0, 1, 3).reshape(*x.shape[:2], -1)


def _each_block(keys: int) -> Any:
    """[key]: one factor more for every four keys."""
    return ROOT * np.log2(np.e) ** (1 + jnp.arange(keys) // 4)


def _filled(number: float, seen: float = 0.0) -> dict[str, Any]:
    return {"mask": lambda queries, keys: jnp.where(jnp.tri(queries, keys, dtype=bool), seen, number)}


def _hidden(where: Callable[[Any], Any]) -> dict[str, Any]:
    def mask(queries: int, keys: int) -> Any:
        return jnp.where(where(jnp.arange(keys) - jnp.arange(queries)[:, None]), -jnp.inf, 0.0)

    return {"mask": mask}


FAULTS: dict[str, dict[str, Any]] = {
    "residual_shape/dropped": {"join": lambda x, norm, branch: branch(norm(x))},
    "residual_shape/doubled": {"join": lambda x, norm, branch: 2 * x + branch(norm(x))},
    "residual_shape/after_norm": {"join": _after_norm},
    "residual_shape/post_norm": {"join": post},
    "residual_shape/broadcast": {"join": lambda x, norm, branch: x[:, :1] + branch(norm(x))},
    "residual_shape/ffn_from_input": {"feed_join": lambda h, x, norm, branch: x + branch(norm(h))},
    "residual_shape/ffn_from_branch": {"feed_join": lambda h, x, norm, branch: h + branch(norm(h - x))},
    "residual_shape/norm_unused": {"join": lambda x, norm, branch: x + branch(x)},
    "residual_shape/sequence_first": {"join": lambda x, norm, branch: x + branch(norm(x)).swapaxes(0, 1)},
    "residual_shape/joined": {"join": lambda x, norm, branch: jnp.concatenate([x, branch(norm(x))], -1)},
    "missing_scale/absent": {"scale": lambda keys: 1.0},
    "missing_scale/by_model_width": {"scale": lambda keys: WIDTH**-0.5},
    "missing_scale/by_heads": {"scale": lambda keys: HEADS**-0.5},
    "missing_scale/by_keys": {"scale": lambda keys: keys**-0.5},
    "missing_scale/twice": {"scale": lambda keys: ROOT * ROOT},
    "missing_scale/reciprocal": {"scale": lambda keys: 1 / ROOT},
    "missing_scale/each_block": {"scale": _each_block},
    "missing_scale/after_softmax": {"scale": lambda keys: 1.0, "after": lambda weights: weights * ROOT},
    "mask_adds_zero/zero": _filled(0.0),
    "mask_adds_zero/tiny": _filled(-1e-9),
    "mask_adds_zero/one": _filled(0.0, seen=1.0),
    "mask_adds_zero/missing": {"mask": lambda queries, keys: jnp.zeros((queries, keys))},
    "mask_adds_zero/after_softmax": {
        "mask": lambda queries, keys: jnp.zeros((queries, keys)),
        "after": jnp.tril,
    },
    "flipped_triangle/flipped": _hidden(lambda ahead: ahead < 0),
    "flipped_triangle/inverted": _hidden(lambda ahead: ahead <= 0),
    "flipped_triangle/kept_hidden": _filled(0.0, seen=-1e9),
    "flipped_triangle/first_row": _hidden(lambda ahead: ahead[:1] + 0 * ahead > 0),
    "flipped_triangle/late_rows": _hidden(lambda ahead: (ahead > 0).at[2:].set(True)),
    "flipped_triangle/one_too_far": _hidden(lambda ahead: ahead > 1),
    "flipped_triangle/diagonal_lost": _hidden(lambda ahead: ahead >= 0),
    "head_seq_swap/split": {"split": _plain_split},
    "head_seq_swap/merge": {"merge": _plain_merge},
    "head_seq_swap/both": {"split": _plain_split, "merge": _plain_merge},
    "head_seq_swap/batch": {"merge": _heads_before_batch},
    "head_seq_swap/stacked": {"merge": _stacked_heads},
    "head_seq_swap/untransposed": {"split": _unmoved_split, "merge": _unmoved_merge},
    "head_seq_swap/tiled": {"repeat": lambda x: jnp.tile(x, (1, 1, GROUP, 1))},
}
