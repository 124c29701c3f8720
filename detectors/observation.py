"""One subject on one fixture: every call is made here, once, and every failure of the subject is kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from detectors.errors import NotObservable, SecondCallFailed
from detectors.fixtures import Fixture
from detectors.subject import Subject

Array = NDArray[Any]
Made = TypeVar("Made")
Given = TypeVarTuple("Given")


class Observation:
    """Calls the subject for the detectors and remembers what came back.

    failures: one line for each call that raised, or gave a wrong shape or no real numbers. Such a call makes the
    measurement at hand not observable; the contract `shape` is what fires on it.
    """

    def __init__(self, subject: Subject, fixture: Fixture) -> None:
        self.subject = subject
        self.fixture = fixture
        self.failures: list[str] = []
        self._kept: dict[Hashable, Any] = {}

    def once(self, look: Callable[[Observation, *Given], Made], *given: *Given) -> Made:
        """What `look` returned, or the NotObservable it raised, at the first call with this and what is given."""
        if (look, given) not in self._kept:
            try:
                self._kept[look, given] = look(self, *given)
            except NotObservable as reason:
                self._kept[look, given] = reason
        kept: Made = self._kept[look, given]
        if isinstance(kept, NotObservable):
            raise kept
        return kept

    def block(self, x: Array, weights: dict[str, Array] | None = None) -> Array:
        """The block's output [batch, token, channel] for x of the same shape, with some weights replaced.

        For a model x are token ids [batch, token], and the last axis of the output is the vocabulary.
        """
        call, replaced = self.subject.call, weights or {}
        if call is None:
            raise NotObservable("the subject is attention by itself")
        self.weights(*replaced)
        return self._checked(lambda: call(x, replaced), self._shape(x))

    def padded(self, x: Array, keep: Array) -> Array:
        """The same where `keep` [batch, token] is False for the tokens that are padding."""
        call = self.subject.padded
        if call is None:
            raise NotObservable("no padding mask is declared; say --padding NAME")
        return self._second(lambda: call(x, keep), self._shape(x))

    def continued(self, chunks: Sequence[Array]) -> Array:
        """The outputs for parts of a sequence that are fed one after the other with a cache, side by side."""
        call = self.subject.continued
        if call is None:
            raise NotObservable("no cache is declared; give 'step' beside 'call'")
        return self._second(lambda: call(chunks), self._shape(self.fixture.x))

    def _second(self, call: Callable[[], Array], shape: tuple[int, ...]) -> Array:
        self.output()  # where that fails, it is the finding
        try:
            return self._checked(call, shape)
        except NotObservable as reason:
            raise SecondCallFailed(str(reason)) from None

    def _shape(self, x: Array) -> tuple[int, ...]:
        return x.shape if x.ndim == 3 else (*x.shape, self.fixture.extents.vocab)

    def weights(self, *roles: str) -> Mapping[str, Array]:
        """The subject's weights by role. Raises NotObservable where one of these cannot be written."""
        held = self.subject.weights or {}
        missing = [role for role in roles if role not in held]
        if missing and not held:
            raise NotObservable("the subject's weights cannot be written")
        if missing:
            raise NotObservable(f"the subject's {', '.join(missing)} could not be found among its weights")
        return held

    def attend(self, query: Array, key: Array, value: Array) -> Array:
        """Attention's output [batch, head, query, channel] for arrays [batch, head, token, channel]."""
        attention = self.subject.attention
        if attention is None:
            raise NotObservable("the subject's attention cannot be called by itself")
        shape = (*query.shape[:-1], value.shape[-1])
        return self._checked(lambda: attention(query, key, value), shape)

    def sites(self) -> Sequence[Mapping[str, Any]]:
        """The attention operations that the call for the fixture's tokens runs through, at least one.

        Raises NotObservable where the framework does not show them, or none was found.
        """
        return self.once(Observation._sites)

    def _sites(self) -> Sequence[Mapping[str, Any]]:
        if self.subject.sites is None:
            raise NotObservable(
                "the subject's attention cannot be called by itself, nor its operations be followed"
            )
        try:
            found = self.subject.sites(self.fixture.x)
        except Exception as error:
            raise NotObservable(f"its operations could not be followed: {error}") from error
        if not found:
            raise NotObservable(
                "no softmax over the product of two projections was found among its operations"
            )
        return found

    def output(self) -> Array:
        """The output for the fixture's own tokens; of attention by itself for a random query, key and value."""
        return self.once(Observation.fresh_output)

    def fresh_output(self) -> Array:
        """The same, called once more."""
        if self.subject.call is None:
            return self.attend(*plain(self.fixture))
        return self.block(self.fixture.x)

    def _checked(self, call: Callable[[], Array], shape: tuple[int, ...]) -> Array:
        try:
            output = np.array(call())  # a copy: some code fills one buffer again at every call
        except Exception as error:  # whatever somebody's code raises is a finding about it
            self._fail(" ".join(f"{type(error).__name__}: {error}".split()))
        if output.shape != shape:
            self._fail(f"output of shape {output.shape}, required: {shape}")
        if output.dtype.kind not in ("f", "i", "u"):
            self._fail(f"output of dtype {output.dtype}, required: real numbers")
        return output

    def _fail(self, what: str) -> NoReturn:
        self.failures.append(what)
        raise NotObservable(f"the call failed: {what}")


def plain(fixture: Fixture) -> tuple[Array, Array, Array]:
    """Random query, key, value [1, head, token, channel]."""
    shape = (1, fixture.extents.heads, fixture.extents.tokens, fixture.extents.head_width)
    query, key, value = (fixture.draw(f"plain {name}", *shape) for name in ("query", "key", "value"))
    return query, key, value


def largest(array: Array) -> float:
    """The largest absolute value; 0.0 of nothing, NaN if any is NaN."""
    return float(np.abs(array).max()) if array.size else 0.0


def relative(difference: Array, whole: Array) -> float:
    """Largest absolute difference over the largest absolute value of the whole; 0 / 0 is 0."""
    top, bottom = largest(difference), largest(whole)
    return top / bottom if bottom else (top if top != top else float(top > 0))
