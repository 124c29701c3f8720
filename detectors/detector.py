"""What a detector is, and what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from detectors.observation import Observation
from detectors.subject import Subject


@dataclass(frozen=True)
class Detector:
    """Measures one failure signal: 0 is perfect, larger is worse.

    law: the contract in one sentence per language. unit: of the value. threshold: the largest value of sound
    code; the comment beside it gives the largest healthy and the smallest faulty value seen. needs: the access
    level. weight: how much its firing says about *which* fault it is, for the diagnosis. assumes: claims of the
    subject without which the law does not hold. kinds: the subjects it is for; with `needs` = "attention", any
    whose attention can be reached.
    """

    name: str
    law: Mapping[str, str]
    unit: str
    threshold: float
    needs: str
    measure: Callable[[Observation], float]
    weight: float = 1.0
    assumes: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset({"block"})


SEQUENCES = frozenset({"block", "self_attention", "model"})
"""Subjects that map a sequence of tokens to one output per token."""

ANY = SEQUENCES | {"attention"}


def inapplicable(detector: Detector, subject: Subject) -> str:
    """Why the law says nothing about this subject; empty where it does."""
    if detector.needs != "attention" and subject.kind not in detector.kinds:
        return f"not for a subject of kind {subject.kind}"
    if detector.assumes <= subject.declares:
        return ""
    return f"not applicable: it assumes {' and '.join(sorted(detector.assumes - subject.declares))}"


@dataclass(frozen=True)
class Signal:
    """The value of one detector on one fixture, or why there is none."""

    detector: Detector
    value: float | None
    reason: str = ""

    @property
    def fired(self) -> bool:
        """Whether the contract is broken; NaN fires, a measurement that could not be made does not."""
        return self.value is not None and not (self.value <= self.detector.threshold)
