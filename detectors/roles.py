"""Which parameter of somebody's module plays which role, read off its name; anything unclear stays unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Parameter = tuple[str, tuple[int, ...], str]
"""Name, shape, and the class of the module that holds it."""

ATTENTION = re.compile(r"(^|\.)(\w*attn\w*|\w*attention\w*|sa|self_att|mha|csa)(\.|$)", re.IGNORECASE)

LEAVES: Mapping[str, re.Pattern[str]] = {
    role: re.compile(rf"(^|\.)({names})$", re.IGNORECASE)
    for role, names in {
        "q": r"q_proj|q_lin|query|queries|w_?q|to_q|linear_q|query_proj|proj_q|q",
        "k": r"k_proj|k_lin|key|keys|w_?k|to_k|linear_k|key_proj|proj_k|k",
        "v": r"v_proj|v_lin|value|values|w_?v|to_v|linear_v|value_proj|proj_v|v",
        "o": r"o_proj|out_proj|out_lin|w_?o|to_out(\.0)?|linear_o|linear_out|dense|c_proj|proj|output|fc_out|o|out",
        "qkv": r"c_attn|qkv|in_proj|query_key_value|to_qkv|w_?qkv|qkv_proj|attn_qkv|in_proj_weight|in_proj_bias",
        "1": r"c_fc|fc_?1|linear_?1|w_?1|lin_?1|up_proj|dense_h_to_4h|(ff\w*|mlp|net|ffn|feed_forward)(\.net)?\.0|fc_in",
        "2": r"c_proj|fc_?2|linear_?2|w_?2|lin_?2|down_proj|dense_4h_to_h|(ff\w*|mlp|net|ffn|feed_forward)(\.net)?\.[234]"
        r"|fc_out|proj",
    }.items()
}
INSIDE, OUTSIDE = ("q", "k", "v", "o", "qkv"), ("1", "2")
COLUMNS_FIRST = ("Conv1D",)
"""Modules that keep weights as [in, out]; all others keep [out, in]."""


@dataclass(frozen=True)
class Place:
    """Where a role is kept: rows first:last of a parameter (all when last is 0), read transposed or not."""

    name: str
    transposed: bool
    first: int = 0
    last: int = 0

    def as_list(self) -> list[object]:
        return [self.name, self.transposed, self.first, self.last]


def infer(parameters: Iterable[Parameter]) -> dict[str, Place]:
    """role -> place, for the roles that exactly one parameter can play."""
    found: dict[str, list[Place]] = {}
    for name, shape, holder in parameters:
        for role, place in _roles(name, shape, holder):
            found.setdefault(role, []).append(place)
    return {role: places[0] for role, places in found.items() if len(places) == 1}


def _roles(name: str, shape: tuple[int, ...], holder: str) -> Iterable[tuple[str, Place]]:
    stem, _, leaf = name.rpartition(".")
    if leaf in ("in_proj_weight", "in_proj_bias"):
        stem, leaf = name, leaf.removeprefix("in_proj_")
    if leaf not in ("weight", "bias") or not shape or len(shape) != (2 if leaf == "weight" else 1):
        return
    letter = "W" if leaf == "weight" else "b"
    turned = leaf == "weight" and holder not in COLUMNS_FIRST
    for which in INSIDE if ATTENTION.search(stem) else OUTSIDE:
        if LEAVES[which].search(stem):
            yield from _places(which, letter, name, shape, turned)
            return


def _places(
    which: str, letter: str, name: str, shape: tuple[int, ...], turned: bool
) -> Iterable[tuple[str, Place]]:
    if which != "qkv":
        yield f"{letter}{which}", Place(name, turned)
    elif shape[0] % 3 == 0 and (turned or letter == "b"):
        third = shape[0] // 3
        for at, part in enumerate("qkv"):
            yield f"{letter}{part}", Place(name, turned, at * third, (at + 1) * third)
