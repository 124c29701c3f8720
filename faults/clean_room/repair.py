"""A fault made in the learner's own program: failing before, fixed after. The file itself stays as it is."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import plain_block
from faults.clean_room.chain import FUTURE
from faults.clean_room.inputs import Inputs
from faults.clean_room.judging import TOLERANCE, error
from faults.clean_room.model import Repair
from faults.clean_room.room import Raised, Room
from faults.evidence_model import said

Array = NDArray[Any]

LEAK = said(
    "largest change of an earlier output when later tokens are replaced",
    "替换后面的 token 后，前面输出的最大变化",
)
SCRAMBLE = said("largest difference from the heads computed one by one", "与逐头参考的最大差")
LEAKS = (("causal_mask", "open_mask"), ("causal_attention", "open_attention"))


PLACES = ("causal_mask", "causal_attention", "merge_heads")
"""The functions into which a fault goes."""


def repairs(room: Room, inputs: Inputs, lines: dict[str, int], held: Container[str]) -> Iterator[Repair]:
    """A future leak and a head-axis fault, each where the learner's block calls the function that is replaced.

    Only in functions that are right, those in `held`: in a wrong one a fault says nothing about its repair.
    """
    for function, fault in LEAKS:
        found = _leak(room, inputs, function, fault) if function in held else None
        if found is not None:
            yield Repair("mask_adds_zero", function, lines.get(function), LEAK, *found[:3], FUTURE, found[3])
            break
    found = _scramble(room, inputs) if "merge_heads" in held else None
    if found is not None:
        line = lines.get("merge_heads")
        yield Repair("head_seq_swap", "merge_heads", line, SCRAMBLE, *found[:3], TOLERANCE, found[3])


def run(room: Room, inputs: Inputs, x: Array, replaced: str = "", fault: str = "") -> Array:
    """The learner's block on x, perhaps with one function replaced."""
    return np.asarray(room.call("block", x, inputs.weights, inputs.heads, replaced=replaced, fault=fault))


def leak(room: Room, inputs: Inputs, replaced: str = "", fault: str = "") -> float | None:
    """Largest change of any output before t when every token from t on is replaced; None where nothing is replaced."""
    before = run(room, inputs, inputs.x, replaced, fault)
    if replaced and not room.activations:
        return None
    others, positions = (
        np.array(inputs.fixture.draw("others", *inputs.x.shape)),
        np.arange(inputs.x.shape[1])[:, None],
    )
    moved = [
        error(
            run(room, inputs, np.where(positions < t, inputs.x, others), replaced, fault)[:, :t],
            before[:, :t],
        )
        for t in range(1, inputs.x.shape[1])
    ]
    return float(np.max(moved))


def _leak(room: Room, inputs: Inputs, function: str, fault: str) -> tuple[float, float, float, bool] | None:
    return _before_and_after(room, inputs, lambda *how: leak(room, inputs, *how), FUTURE, (function, fault))


def _scramble(room: Room, inputs: Inputs) -> tuple[float, float, float, bool] | None:
    expected = plain_block.output(inputs.fixture)

    def apart(*how: str) -> float | None:
        found = error(run(room, inputs, inputs.x, *how), expected)
        return None if how and not room.activations else found

    return _before_and_after(room, inputs, apart, TOLERANCE, ("merge_heads", "scrambled_merge"))


def _before_and_after(
    room: Room, inputs: Inputs, signal: Any, limit: float, how: tuple[str, str]
) -> tuple[float, float, float, bool] | None:
    """Healthy, broken and repaired signal, and whether the repaired output is the healthy one bit by bit.

    None where nothing is replaced, and where the signal of the block as it was written is no healthy one.
    """
    if not room.has(how[0]):
        return None
    try:
        healthy, output = signal(), run(room, inputs, inputs.x)
        if not healthy <= limit:
            return None
        broken = signal(*how)
        repaired, again = signal(), run(room, inputs, inputs.x)
    except Raised:
        return None
    return None if broken is None else (healthy, broken, repaired, output.tobytes() == again.tobytes())
