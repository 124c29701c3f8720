"""Where a score keeps its queries and its keys, however it is turned and reshaped on the way to the softmax.

Each entry of a product [row, column] gets its number, and the numbers make every move that the scores make. The axis
along which a column's number changes is that of the columns, in any layout: [query, key, batch, head] as well.
"""

from __future__ import annotations

import sys
from typing import Any


def numbered(rows: int, columns: int) -> Any:
    """[row, column] -> row * columns + column."""
    numpy = sys.modules["numpy"]
    return numpy.arange(rows * columns).reshape(rows, columns)


def laid(weights: Any, numbers: Any, columns: int, axis: int) -> tuple[Any, int]:
    """(weights [..., row, column], softmax axis there: -1 the columns, -2 the rows, 0 another one).

    Unchanged where the numbers do not tell which axes those are.
    """
    numpy = sys.modules["numpy"]
    axis %= weights.ndim
    if tuple(numbers.shape) != tuple(weights.shape):
        return weights, axis - weights.ndim
    rows, keys = numpy.divmod(numpy.asarray(numbers).astype("i8"), columns)
    key = _axis(keys, [axis], columns)
    row = _axis(rows, [at for at in range(weights.ndim) if at != key], weights.shape[axis])
    if key is None or row is None or key == row:
        return weights, axis - weights.ndim
    turned = numpy.moveaxis(weights, (row, key), (-2, -1))
    return turned, -1 if axis == key else -2 if axis == row else -weights.ndim


def _axis(numbers: Any, single: list[int], extent: int) -> int | None:
    """The one along which the numbers change, the last of the wanted extent if there are several.

    One row or column changes nowhere: then the first of `single` that has one entry.
    """
    numpy = sys.modules["numpy"]
    found = [at for at in range(numbers.ndim) if numpy.diff(numbers, axis=at).any()]
    if len(found) > 1:
        found = [at for at in found if numbers.shape[at] == extent][-1:]
    if not found and numbers.max() == 0:
        found = [at for at in single if numbers.shape[at] == 1]
    return found[0] if found else None


def oriented(weights: Any, places: Any, axis: int) -> tuple[Any, bool]:
    """(weights [..., query, key], whether the softmax ran over the keys).

    places: (numbers, columns) of the score, or None: then the last two axes are those. axis: that of the softmax,
    from the end.
    """
    if places is not None:
        numbers, columns = places
        weights, axis = laid(weights, numbers, columns, axis)
    if axis == -2 and turned(weights):
        return weights.swapaxes(-1, -2), True
    return weights, axis == -1


def turned(weights: Any) -> bool:
    """Whether scores are kept as [key, query]: only then is the future, read so, without weight."""
    if weights.shape[-1] != weights.shape[-2]:
        return False
    return bool(looked_at(weights.swapaxes(-1, -2))["future"] == 0 and looked_at(weights)["future"] != 0)


DRAWN_UP_TO = 16
"""Queries and keys, at most, of weights that are handed back themselves."""


def looked_at(weights: Any) -> dict[str, Any]:
    """Row sums, weight on the future and on the own token of weights [..., query, key], aligned to the last query.

    mean: the weights themselves, averaged over all axes before; None where they are many.
    """
    numpy = sys.modules["numpy"]
    queries, keys = weights.shape[-2:]
    ahead = numpy.arange(keys) - numpy.arange(queries)[:, None] - (keys - queries)
    future = numpy.where(ahead > 0, weights, 0.0)
    own = weights[..., ahead == 0]
    mean = weights.reshape(-1, queries, keys).mean(axis=0)
    return {
        "rows": float(numpy.abs(weights.sum(axis=-1) - 1).max()),
        "future": float(numpy.abs(future).max()),
        "own": float(numpy.mean(~(own > 0))),
        "shape": list(weights.shape),
        "mean": mean.tolist() if max(queries, keys) <= DRAWN_UP_TO else None,
    }
