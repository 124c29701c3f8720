"""How one part of the work is judged: it is written, it runs, it returns the right shape, it agrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.clean_room.driver import Alien
from faults.clean_room.model import FAILED, MISSING, UNWRITTEN, WRONG
from faults.clean_room.room import Raised, Room
from faults.clean_room.words import INSTEAD
from faults.evidence_model import said
from faults.model import Text

Array = NDArray[Any]

TOLERANCE = 1e-6
"""Parity in float64, relative to the largest expected value: correct rewrites stay below 1e-13."""


class Judged(Exception):  # noqa: N818 - a verdict
    """A part is not done: the state, what is wrong, and the function whose line says where."""

    def __init__(self, state: str, what: Text, function: str, line: int | None = None) -> None:
        super().__init__(what["en"])
        self.state, self.what, self.function, self.line = state, what, function, line


def wrong(function: str, en: str, zh: str) -> Judged:
    """The verdict that a function is written but not right."""
    return Judged(WRONG, said(en, zh), function)


def run(room: Room, name: str, *arguments: Any) -> Any:
    """What the learner's function returns; raises Judged where it is missing, unwritten or raises."""
    if not room.has(name):
        raise Judged(MISSING, said(f"{name} is missing", f"缺少函数 {name}"), name)
    try:
        value = room.call(name, *arguments)
    except Raised as error:
        raise _failed(name, error) from None
    if room.wrote:
        raise wrong(
            name,
            f"{name} changes what it is given; work on a copy",
            f"{name} 改动了传入的参数；请在副本上操作",
        )
    return value


def _failed(name: str, error: Raised) -> Judged:
    if error.kind == "NotImplementedError":
        return Judged(UNWRITTEN, said(f"{name} is not written yet", f"{name} 尚未编写"), name)
    en, zh = f"{name} raises {error}", f"{name} 抛出 {error}"
    return Judged(FAILED, said(en, zh), name, error.line)


def array(name: str, value: Any, shape: tuple[int, ...], what: Text | None = None) -> Array:
    """The value as numbers of that shape; raises Judged for anything else."""
    if isinstance(value, Alien) or not isinstance(value, np.ndarray | float | int):
        kind = value.kind if isinstance(value, Alien) else f"a {type(value).__name__}"
        en = f"{name} returns {kind}, required is an array of shape {shape}"
        raise wrong(name, en, f"{name} 返回的是 {kind}，应为 shape {shape} 的数组")
    found = np.asarray(value)
    if found.shape != shape:
        part = what or said("", "")
        en = f"{name} returns {part['en']}shape {found.shape}, required {shape}"
        raise wrong(name, en, f"{name} 返回的{part['zh']} shape 是 {found.shape}，应为 {shape}")
    return found


def agrees(found: Array, expected: Array) -> bool:
    """Whether two arrays agree within the tolerance; NaN never does."""
    return bool(error(found, expected) <= TOLERANCE * max(1.0, float(np.abs(expected).max())))


def error(found: Array, expected: Array) -> float:
    """The largest difference of two arrays of one shape."""
    with np.errstate(all="ignore"):
        return float(np.abs(found - expected).max())


def same_numbers(found: Array, expected: Array) -> bool:
    """Whether both hold the same numbers, in whatever order."""
    return agrees(np.sort(found, axis=None), np.sort(expected, axis=None))


def explained(name: str, found: Array, expected: Array, guesses: Mapping[str, Array]) -> None:
    """Raises Judged unless the two agree; a guess that fits, by its key in INSTEAD, says what was done instead."""
    if agrees(found, expected):
        return
    for key, other in guesses.items():
        if found.shape == other.shape and agrees(found, other):
            raise wrong(name, f"your {name} {INSTEAD[key]['en']}", f"你的 {name} {INSTEAD[key]['zh']}")
    apart = error(found, expected)
    raise wrong(
        name,
        f"your {name} differs from the reference on the same weights by {apart:.3g}",
        f"你的 {name} 在相同权重下与参考实现相差 {apart:.3g}",
    )
