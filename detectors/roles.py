"""Which parameter of somebody's module plays which role: read off its name, then confirmed by what it does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Call = Callable[[Mapping[str, Array]], Array]

Parameter = tuple[str, tuple[int, ...], str]
"""Name, shape, and the class of the module that holds it."""

ATTENTION = re.compile(r"(^|\.)(\w*attn\w*|\w*attention\w*|att|sa|self_att|mha|csa|msa)(\.|$)", re.IGNORECASE)

SUBLAYER = r"(self_)?(attn|attention|mlp|ffn?|feed_forward)_"
"""What stands before a leaf's name where a block keeps its layers side by side."""

STACK = r"(ff\w*|mlp|net|feed_forward)(\.net|\.layers)?"
"""A feed-forward network whose layers have numbers for names."""

LEAVES: Mapping[str, re.Pattern[str]] = {
    role: re.compile(rf"(^|\.)({SUBLAYER})?({'|'.join(names.split())})$", re.IGNORECASE)
    for role, names in {
        "q": r"q_proj q_lin (w_?)?query(\.linear)? queries w_?q to_q linear_q query_proj proj_q q",
        "k": r"k_proj k_lin (w_?)?key(\.linear)? keys w_?k to_k linear_k key_proj proj_k k",
        "v": r"v_proj v_lin (w_?)?value(\.linear)? values w_?v to_v linear_v value_proj proj_v v",
        "o": r"o_proj out_proj output_proj out_lin w_?o to_out(\.0)? linear_o linear_out dense c_proj proj output"
        r" fc_out o out",
        "qkv": r"c_attn qkv in_proj query_key_value to_qkv w_?qkv qkv_proj attn_qkv",
        "1": rf"c_fc fc_?1 linear_?1 w_?1 lin_?1 layer_?1 up_proj dense_h_to_4h {STACK}\.0 fc_in",
        "2": rf"c_proj fc_?2 linear_?2 w_?2 lin_?2 layer_?2 down_proj dense_4h_to_h {STACK}\.[234] fc_out proj",
    }.items()
}
INSIDE, OUTSIDE = ("q", "k", "v", "o", "qkv"), ("1", "2")
COLUMNS_FIRST = ("Conv1D",)
"""Modules that keep weights as [in, out]; all others keep [out, in]."""

SAME = 1e-4
"""Relative change below which two outputs count as the same: rounding is 1e-7, a change that shows about 1."""


@dataclass(frozen=True)
class Place:
    """Where a role is kept: columns first:last of a parameter (all when last is 0) once it acts on the right."""

    name: str
    transposed: bool
    first: int = 0
    last: int = 0

    def as_list(self) -> list[object]:
        return [self.name, self.transposed, self.first, self.last]


def infer(parameters: Iterable[Parameter], grouped: float = 1.0) -> dict[str, Place]:
    """role -> place, for the roles that exactly one parameter can play. `grouped`: key/value heads over heads."""
    found: dict[str, list[Place]] = {}
    for name, shape, holder in parameters:
        for role, place in _roles(name, shape, holder, grouped):
            found.setdefault(role, []).append(place)
    return {role: places[0] for role, places in found.items() if len(places) == 1}


def _roles(name: str, shape: tuple[int, ...], holder: str, grouped: float) -> Iterable[tuple[str, Place]]:
    stem, _, leaf = name.rpartition(".")
    if leaf in ("in_proj_weight", "in_proj_bias"):
        stem, leaf = f"{stem}.in_proj", leaf.removeprefix("in_proj_")
    if leaf not in ("weight", "bias") or len(shape) != (2 if leaf == "weight" else 1):
        return
    turned = leaf == "weight" and holder not in COLUMNS_FIRST
    for which in INSIDE if ATTENTION.search(stem) else OUTSIDE:
        if LEAVES[which].search(stem):
            columns = shape[0] if turned else shape[-1]
            yield from _places(which, name, columns, turned, grouped)
            return


def _places(which: str, name: str, columns: int, turned: bool, grouped: float) -> Iterable[tuple[str, Place]]:
    letter = "W" if name.endswith("weight") else "b"
    if which != "qkv":
        yield f"{letter}{which}", Place(name, turned)
        return
    width = round(columns / (1 + 2 * grouped))
    narrow = round(width * grouped)
    edges = (0, width, width + narrow, width + 2 * narrow)
    if edges[-1] == columns:
        for at, part in enumerate("qkv"):
            yield f"{letter}{part}", Place(name, turned, edges[at], edges[at + 1])


def confirmed(places: Mapping[str, list[object]], weights: Mapping[str, Array], call: Call) -> set[str]:
    """The roles that behave as such; `call` gives the output with some weights replaced.

    Behind a silent output nothing shows: with Wo = bo = 0 no change of Wq, Wk, Wv does, with Wv = bv = 0 none of Wq,
    Wk, with W2 = b2 = 0 none of W1. So a query that is really some head's share of a fused parameter is found out.
    """
    letters = {role[1:] for role in places}
    rules = (("o", {"q", "k", "v"}, {"o"}), ("v", {"q", "k"}, {"q", "k", "v"}), ("2", {"1"}, {"1", "2"}))
    for silent, moved, doubted in rules:
        if silent in letters and not _hides(silent, moved, weights, call):
            letters -= doubted
    return {role for role in places if role[1:] in letters}


def _hides(silent: str, moved: Iterable[str], weights: Mapping[str, Array], call: Call) -> bool:
    zeros = {role: np.zeros_like(weights[role]) for role in (f"W{silent}", f"b{silent}") if role in weights}
    changed = {role: _moved(weights[role]) for role in (f"W{letter}" for letter in moved) if role in weights}
    if not changed:
        return False  # nothing to confirm it by
    before, after = call(zeros), call({**zeros, **changed})
    top = float(np.abs(before).max())
    return float(np.abs(after - before).max()) <= SAME * top


def _moved(weights: Array) -> Array:
    size = float(np.abs(weights).max()) or 1.0
    drawn = np.random.default_rng(0).standard_normal(weights.shape) * size
    moved: Array = weights + drawn.astype(weights.dtype)
    return moved
