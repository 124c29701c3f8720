"""The thing under examination: how to call it, what it declares, what access it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Subject:
    """A causal pre-norm transformer block at one of the access levels.

    call: (x, weights) -> y, both [batch, token, channel]; `weights` replaces some roles for this one call and is
    empty at the level `call`. attention: (query, key, value), each [batch, head, token, channel] -> output
    [batch, head, query, channel]; None where attention cannot be reached. weights: the arrays by role; None where
    they cannot be written. A level that is missing makes the contracts that need it not observable.
    """

    name: str
    call: Callable[[Array, Mapping[str, Array]], Array]
    weights: Mapping[str, Array] | None = None
    attention: Callable[[Array, Array, Array], Array] | None = None
