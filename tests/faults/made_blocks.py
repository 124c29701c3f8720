"""Subjects that are examined in this process: a sound block, what is wrong in others, and what is found of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import foreign
from detectors.foreign import Foreign
from detectors.testing import NO_TARGET, Here
from faults.answers import Answer
from faults.subjects import examined
from tests.faults.check_subjects import SOUND

Array = NDArray[Any]

NAMESPACE: dict[str, Any] = {}
exec(SOUND, NAMESPACE)
Block = NAMESPACE["Block"]


class Leaky(Block):  # type: ignore[misc, valid-type] # written as text, since it also runs in a child
    def mask(self, scores: Any) -> Any:
        return scores


class Flipped(Block):  # type: ignore[misc, valid-type]
    def mask(self, scores: Any) -> Any:
        return np.where(np.triu(np.ones(scores.shape[-2:], bool)), scores, -np.inf)


class Joined(Block):  # type: ignore[misc, valid-type]
    """A mask made for the heads: it raises unless there are as many tokens."""

    def mask(self, scores: Any) -> Any:
        return scores + np.where(np.tril(np.ones((2, 2), bool)), 0, -np.inf)


class Raising(Block):  # type: ignore[misc, valid-type]
    def call(self, x: Any) -> Any:
        raise ValueError("</script><b>\u202e'\"\x1b[31m\nstolen " + "x" * 900)


def weak(query: Array, key: Array, value: Array) -> Array:
    """Attention with a mask of -1e4."""
    scores = query @ key.swapaxes(-1, -2) / np.float32(query.shape[-1] ** 0.5)
    past = np.tril(np.ones(scores.shape[-2:], bool), scores.shape[-1] - scores.shape[-2])
    weights = np.exp(
        np.where(past, scores, scores - 1e4) - np.where(past, scores, scores - 1e4).max(-1, keepdims=True)
    )
    return np.asarray(weights / weights.sum(-1, keepdims=True) @ value)


def answered(subject: Any, name: str = "mine.py:Block", norm: str | None = "pre", **given: Any) -> Answer:
    """What is found of a block, with its attention and its weights where its class is handed in."""
    host = Here(_whole(subject(), norm) if isinstance(subject, type) else subject)
    with np.errstate(all="ignore"):
        return examined(Foreign(host, foreign.load(host, NO_TARGET), given), name, 0)


def _whole(block: Any, norm: str | None) -> dict[str, Any]:
    """The block at every access level."""
    held = {"kind": "block", "width": 8, "heads": 2, "norm": norm, "weights": block.weights}
    return {**held, "call": block.call, "attention": attention(block)}


def attention(block: Any) -> Any:
    """The block's own attention, to be called by itself; its scale is made for d_k = 4."""

    def attend(query: Array, key: Array, value: Array) -> Any:
        scores = query @ key.swapaxes(-1, -2) * np.float32(2 / query.shape[-1] ** 0.5)
        return block.softmax(block.mask(block.scale(scores))) @ value

    return attend
