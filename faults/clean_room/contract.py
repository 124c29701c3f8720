"""The interface alone: names, parameters, and the shapes of what is returned on tiny inputs, wherever it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from faults.clean_room.block_parts import HEADS, STREAM, B, T, intermediates
from faults.clean_room.chain import V, stepped
from faults.clean_room.inputs import NEW_TOKENS, RATE, Inputs
from faults.clean_room.interface import FUNCTIONS, Function
from faults.clean_room.judging import Judged, array, run, wrong
from faults.clean_room.mapping import takes
from faults.clean_room.model import DONE, MISSING, WRONG, Finding
from faults.clean_room.room import Room
from faults.evidence_model import said
from faults.model import Text


def check(room: Room, inputs: Inputs, lines: Mapping[str, int]) -> Iterator[Finding]:
    """One finding for each function of the interface."""
    for function in FUNCTIONS:
        theirs = room.theirs(function.name)
        title = said(function.name, function.name)
        if theirs != function.name:
            title = said(f"{function.name} (= {theirs})", f"{function.name}（= {theirs}）")
        state, what, line = _judged(room, inputs, function)
        yield Finding(function.name, title, state, what, line or lines.get(theirs))


def _judged(room: Room, inputs: Inputs, function: Function) -> tuple[str, Text, int | None]:
    listed = ", ".join(function.parameters)
    theirs = room.theirs(function.name)
    if not room.has(function.name):
        absent = said(f"missing: required is {theirs}({listed})", f"缺少：需要 {theirs}({listed})")
        return MISSING, absent, None
    found = room.functions[theirs][0]
    if not takes(found, len(function.parameters)):
        has = ", ".join(name.rstrip("=") for name in found)
        return WRONG, said(f"takes ({has}), required ({listed})", f"参数是 ({has})，应为 ({listed})"), None
    try:
        RETURNS[function.name](room, inputs)
    except Judged as judged:
        return judged.state, judged.what, judged.line
    return DONE, said("as required", "符合要求"), None


def _projected(room: Room, inputs: Inputs) -> None:
    name = "project_qkv"
    found = run(room, name, inputs.x, inputs.weights, inputs.heads)
    if not isinstance(found, list | tuple) or len(found) != 3:
        raise wrong(name, f"{name} does not return (query, key, value)", f"{name} 应返回 (query, key, value)")
    for one in found:
        array(name, one, HEADS)


def _updated(room: Room, inputs: Inputs) -> None:
    found = run(room, "update", inputs.tokens, inputs.targets, inputs.model, inputs.heads, RATE)
    stepped(inputs.model, found, None, judge=False)


def _returns(name: str, shape: tuple[int, ...], arguments: Callable[[Inputs], tuple[Any, ...]]) -> Any:
    return lambda room, inputs: array(name, run(room, name, *arguments(inputs)), shape)


RETURNS: Mapping[str, Callable[[Room, Inputs], Any]] = {
    "project_qkv": _projected,
    "causal_mask": _returns("causal_mask", (T, T), lambda _: (T,)),
    "causal_attention": lambda room, inputs: intermediates(room, inputs.projected),
    "merge_heads": _returns("merge_heads", STREAM, lambda i: (i.attended.output,)),
    "pre_norm_residual": _returns(
        "pre_norm_residual", STREAM, lambda i: (i.x, ("linear", i.matrix), *i.roles)
    ),
    "feed_forward": _returns("feed_forward", STREAM, lambda i: (i.x, i.weights)),
    "block": _returns("block", STREAM, lambda i: (i.x, i.weights, i.heads)),
    "logits": _returns("logits", (B, T, V), lambda i: (i.tokens, i.model, i.heads)),
    "loss": _returns("loss", (), lambda i: (i.tokens, i.targets, i.model, i.heads)),
    "update": _updated,
    "generate": _returns(
        "generate", (B, 3 + NEW_TOKENS), lambda i: (np.array(i.tokens[:, :3]), i.model, i.heads, NEW_TOKENS)
    ),
}
"""Function -> its call on tiny inputs; raises Judged for a wrong shape."""
