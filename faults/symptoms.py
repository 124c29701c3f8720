"""Saturation: what the missing scale does to the softmax as d_k grows. A symptom, shown and never judged.

At small d_k the unscaled softmax even has the larger gradient, so no threshold on it could name the fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults import reference, registry
from faults.injection import patched

Array = NDArray[Any]

HEAD_WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
KEYS = 16
QUERIES = 64


def saturation(seed: int = 0) -> tuple[Mapping[str, float], ...]:
    """One row per d_k: entropy in bits and largest weight (means over queries), gradient norm and the spread of
    the dot products, with the scale and without.

    64 independent standard normal queries and 16 keys, no mask. Gradient: Frobenius norm of the softmax's
    Jacobian diag(w) - w w^T, mean over the queries. Spread: standard deviation of q.k, which
    is sqrt(d_k); only q.q grows linearly with d_k.
    """
    absent = registry.load("missing_scale").variants[0]
    rows = []
    for head_width in HEAD_WIDTHS:
        query, key = vectors(head_width, seed)
        right = weights(query, key)
        wrong = patched(absent, weights, query, key)
        rows.append({"head_width": float(head_width), **_row("scaled", right), **_row("unscaled", wrong)})
        rows[-1]["product_spread"] = float(np.std(query[0, 0] @ key[0, 0].T))
        rows[-1]["own_product"] = float(np.mean(np.sum(query**2, axis=-1)))
    return tuple(rows)


def vectors(head_width: int, seed: int) -> tuple[Array, Array]:
    """Independent standard normal queries and keys, [batch, head, token, channel] with one batch and head."""
    generator = np.random.default_rng([seed, head_width])
    query = generator.standard_normal((1, 1, QUERIES, head_width))
    return query, generator.standard_normal((1, 1, KEYS, head_width))


def weights(query: Array, key: Array) -> Array:
    """The attention weights of the first head without a mask, [query, key]."""
    found: Array = reference.attention_trace(query, key, key, causal=False).weights[0, 0]
    return found


def _row(kind: str, weights: Array) -> dict[str, float]:
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    jacobians = weights[:, :, None] * np.eye(weights.shape[1]) - weights[:, :, None] * weights[:, None, :]
    return {
        f"{kind}_entropy": float(-(weights * logs).sum(axis=1).mean()),
        f"{kind}_largest": float(weights.max(axis=1).mean()),
        f"{kind}_gradient": float(np.linalg.norm(jacobians, axis=(1, 2)).mean()),
    }
