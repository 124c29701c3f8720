"""One subject on one fixture: every call is made here, once, and every failure of the subject is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from detectors.errors import NotObservable
from detectors.fixtures import Fixture
from detectors.subject import Subject

Array = NDArray[Any]
Made = TypeVar("Made")


class Observation:
    """Calls the subject for the detectors and remembers what came back.

    failures: one line for each call that raised, or gave a wrong shape or no real numbers. Such a call makes the
    measurement at hand not observable; the contract `shape` is what fires on it.
    """

    def __init__(self, subject: Subject, fixture: Fixture) -> None:
        self.subject = subject
        self.fixture = fixture
        self.failures: list[str] = []
        self._kept: dict[str, Any] = {}

    def once(self, name: str, compute: Callable[[], Made]) -> Made:
        """What `compute` returned, or the NotObservable it raised, at the first call under this name."""
        if name not in self._kept:
            try:
                self._kept[name] = compute()
            except NotObservable as reason:
                self._kept[name] = reason
        kept = self._kept[name]
        if isinstance(kept, NotObservable):
            raise kept
        return cast(Made, kept)

    def block(self, x: Array, weights: dict[str, Array] | None = None) -> Array:
        """The block's output [batch, token, channel] for x of the same shape, with some weights replaced."""
        if weights and self.subject.weights is None:
            raise NotObservable("the subject's weights cannot be written")
        call, replaced = self.subject.call, weights or {}
        return self._checked(lambda: call(x, replaced), x.shape)

    def attend(self, query: Array, key: Array, value: Array) -> Array:
        """Attention's output [batch, head, query, channel] for arrays [batch, head, token, channel]."""
        attention = self.subject.attention
        if attention is None:
            raise NotObservable("the subject's attention cannot be called by itself")
        shape = (*query.shape[:-1], value.shape[-1])
        return self._checked(lambda: attention(query, key, value), shape)

    def output(self) -> Array:
        """The block's output for the fixture's own tokens."""
        return self.once("output", lambda: self.block(self.fixture.x))

    def _checked(self, call: Callable[[], Array], shape: tuple[int, ...]) -> Array:
        try:
            output = np.array(call())  # a copy: some code fills one buffer again at every call
        except Exception as error:  # whatever somebody's code raises is a finding about it
            self._fail(" ".join(f"{type(error).__name__}: {error}".split()))
        if output.shape != shape:
            self._fail(f"output of shape {output.shape}, required: {shape}")
        if output.dtype.kind not in "fiu":
            self._fail(f"output of dtype {output.dtype}, required: real numbers")
        return output

    def _fail(self, what: str) -> NoReturn:
        self.failures.append(what)
        raise NotObservable(f"the call failed: {what}")


def largest(array: Array) -> float:
    """The largest absolute value; 0.0 of nothing, NaN if any is NaN."""
    return float(np.abs(array).max()) if array.size else 0.0


def relative(difference: Array, whole: Array) -> float:
    """Largest absolute difference over the largest absolute value of the whole; 0 / 0 is 0."""
    top, bottom = largest(difference), largest(whole)
    return top / bottom if bottom else (top if top != top else float(top > 0))
