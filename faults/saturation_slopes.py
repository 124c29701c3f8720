"""w(1 - w) over d_k, with the scale and without: the part of the saturation that the reports do not tabulate."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from faults import registry
from faults.injection import patched
from faults.page_model import Slope
from faults.symptoms import HEAD_WIDTHS, vectors, weights

Array = NDArray[Any]

SEED = 0


def slopes() -> tuple[Slope, ...]:
    """One row per d_k: w(1 - w) of each query's largest weight w, averaged over 64 queries with 16 keys each.

    It is the diagonal entry of the softmax's Jacobian diag(w) - w w^T that belongs to that weight.
    """
    return tuple(
        Slope(float(width), _mean_slope(_top(width, "scaled")), _mean_slope(_top(width, "unscaled")))
        for width in HEAD_WIDTHS
    )


def largest(head_width: int, kind: str) -> float:
    """The largest weight, "scaled" or "unscaled", averaged over the queries."""
    return float(_top(head_width, kind).mean())


def _mean_slope(weights: Array) -> float:
    return float((weights * (1 - weights)).mean())


def _top(head_width: int, kind: str) -> Array:
    """The largest weight of every query, for standard normal queries and keys, without a mask."""
    query, key = vectors(head_width, SEED)
    if kind == "scaled":
        return _largest(weights(query, key))
    return _largest(patched(registry.load("missing_scale").variants[0], weights, query, key))


def _largest(rows: Array) -> Array:
    top: Array = rows.max(axis=-1)
    return top
