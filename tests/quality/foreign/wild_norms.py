"""Pairs after reports about the formula of a norm (R-layernorm): blocks that show their norms besides."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.quality.foreign.numpy_pieces import Array, Block, block
from tests.quality.foreign.pairs import Pair

Divisor = Callable[[Array], Array]


def norms(self: Block) -> dict[str, Callable[[Array], Array]]:
    return {which: partial(self.normalised, which) for which in "12"}


def with_norms(divisor: Divisor, fresh: bool) -> Callable[[], Block]:
    """A block whose norms divide by that of the centred input; a fresh one has the gain 1 yet."""

    def normalised(self: Block, which: str, x: Array) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        gain: Any = np.float32(1) if fresh else self.weights[f"gain{which}"]
        made: Array = centred / divisor(centred) * gain + self.weights[f"shift{which}"]
        return made

    return block(normalised=normalised, norms=property(norms))


def variance(centred: Array, unbiased: bool) -> Array:
    found: Array = (centred**2).sum(-1, keepdims=True) / (centred.shape[-1] - unbiased)
    return found


def pair(report: str, wrong: Divisor, fresh: bool = False) -> Pair:
    right = with_norms(lambda centred: np.sqrt(variance(centred, False) + np.float32(1e-6)), fresh)
    return Pair(report, with_norms(wrong, fresh), right, "norm_differs")


FORMULAS = (
    pair("R-layernorm-186", lambda centred: np.sqrt(variance(centred, True)) + np.float32(1e-12), fresh=True),
    pair("R-layernorm-188", lambda centred: np.sqrt(variance(centred, False)) + np.float32(1e-5)),
    pair("R-layernorm-189", lambda centred: np.sqrt(variance(centred, True)) + np.float32(1e-6)),
)
