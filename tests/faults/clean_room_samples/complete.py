"""A finished clean room, written on paper first: einsum throughout, loops where a loop is clearer."""

from typing import Any

import numpy as np

SHAPES = {
    "query": "(B, H, T, d)",
    "scores": "(B, H, T, T)",
    "mask": "(T, T)",
    "weights": "(B, H, T, T)",
    "attended": "(B, H, T, d)",
    "merged": "(B, T, D)",
    "block": "(B, T, D)",
    "logits": "(B, T, V)",
}


def standardise(x: Any, gain: Any, shift: Any) -> Any:
    mu = np.mean(x, axis=-1, keepdims=True)
    spread = np.mean((x - mu) ** 2, axis=-1, keepdims=True)
    return gain * (x - mu) / np.sqrt(spread + 1e-5) + shift


def project_qkv(x: Any, weights: Any, heads: Any) -> Any:
    out = []
    for letter in "qkv":
        flat = np.einsum("btd,de->bte", x, weights["W" + letter]) + weights["b" + letter]
        out.append(np.stack(np.split(flat, heads, axis=2), axis=1))
    return tuple(out)


def causal_mask(tokens: Any) -> Any:
    grid = np.zeros((tokens, tokens))
    for row in range(tokens):
        grid[row, row + 1 :] = -np.inf
    return grid


def causal_attention(query: Any, key: Any, value: Any) -> Any:
    scores = np.einsum("bhqc,bhkc->bhqk", query, key)
    scaled = scores / query.shape[-1] ** 0.5
    masked = scaled + causal_mask(scores.shape[-1])
    powers = np.exp(masked - masked.max(-1, keepdims=True))
    weights = powers / powers.sum(-1, keepdims=True)
    return {
        "scores": scores,
        "scaled": scaled,
        "masked": masked,
        "weights": weights,
        "output": np.einsum("bhqk,bhkc->bhqc", weights, value),
    }


def merge_heads(attended: Any) -> Any:
    return np.concatenate([attended[:, head] for head in range(attended.shape[1])], axis=-1)


def pre_norm_residual(x: Any, branch: Any, gain: Any, shift: Any) -> Any:
    return x + branch(standardise(x, gain, shift))


def feed_forward(x: Any, weights: Any) -> Any:
    inner = x @ weights["W1"] + weights["b1"]
    return np.where(inner > 0, inner, 0.0) @ weights["W2"] + weights["b2"]


def block(x: Any, weights: Any, heads: Any) -> Any:
    def look(h: Any) -> Any:
        attended = causal_attention(*project_qkv(h, weights, heads))["output"]
        return merge_heads(attended) @ weights["Wo"] + weights["bo"]

    middle = pre_norm_residual(x, look, weights["gain1"], weights["shift1"])
    return pre_norm_residual(middle, lambda h: feed_forward(h, weights), weights["gain2"], weights["shift2"])


def states(tokens: Any, model: Any, heads: Any) -> Any:
    h = model["token_embedding"][tokens]
    for weights in model["blocks"]:
        h = block(h, weights, heads)
    return standardise(h, model["final_gain"], model["final_shift"])


def logits(tokens: Any, model: Any, heads: Any) -> Any:
    return states(tokens, model, heads) @ model["unembedding"]


def chances(z: Any) -> Any:
    powers = np.exp(z - z.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def loss(tokens: Any, targets: Any, model: Any, heads: Any) -> Any:
    p = chances(logits(tokens, model, heads))
    rows, columns = np.indices(targets.shape)
    return float(np.mean(-np.log(p[rows, columns, targets])))


def update(tokens: Any, targets: Any, model: Any, heads: Any, learning_rate: Any) -> Any:
    h = states(tokens, model, heads)
    error = chances(h @ model["unembedding"])
    rows, columns = np.indices(targets.shape)
    error[rows, columns, targets] -= 1.0
    slope = np.einsum("btd,btv->dv", h, error) / targets.size
    return {**model, "unembedding": model["unembedding"] - learning_rate * slope}


def generate(prompt: Any, model: Any, heads: Any, new_tokens: Any) -> Any:
    ids = np.array(prompt)
    for _ in range(new_tokens):
        best = logits(ids, model, heads)[:, -1].argmax(-1)
        ids = np.concatenate([ids, best[:, None]], axis=1)
    return ids
