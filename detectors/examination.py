"""All signals of one subject on one fixture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from detectors.catalogue import DETECTORS
from detectors.detector import Detector, Signal, inapplicable
from detectors.errors import NotObservable, SecondCallFailed
from detectors.fixtures import Fixture
from detectors.observation import Observation
from detectors.patterns import patterns
from detectors.subject import Subject


@dataclass(frozen=True)
class Examination:
    """The signals in the order of the catalogue, the visibility patterns, and the calls that failed."""

    signals: tuple[Signal, ...]
    patterns: Mapping[str, str]
    failures: tuple[str, ...]

    @cached_property
    def fired(self) -> frozenset[str]:
        return frozenset(signal.detector.name for signal in self.signals if signal.fired)

    @cached_property
    def observed(self) -> frozenset[str]:
        return frozenset(signal.detector.name for signal in self.signals if signal.value is not None)

    @cached_property
    def told(self) -> frozenset[str]:
        """The detectors that gave a number. NaN compares with nothing: it says that the output is not finite, which
        `finite` says already, and nothing about why."""
        return frozenset(
            signal.detector.name
            for signal in self.signals
            if signal.value is not None and not math.isnan(signal.value)
        )

    def value(self, detector: str) -> float | None:
        """The value of one detector; None where it could not be measured."""
        return next(signal.value for signal in self.signals if signal.detector.name == detector)


def examine(subject: Subject, fixture: Fixture, detectors: Sequence[Detector] = DETECTORS) -> Examination:
    """Measures every detector. Where the plain call fails, the rest is measured with as many tokens as heads:
    code that confuses the two axes raises everywhere else, and shows there what it does."""
    with np.errstate(all="ignore"):
        observation = _observe(subject, fixture)
        signals = tuple(_read(detector, observation) for detector in detectors)
        seen = patterns(observation) | _calls(observation, fixture)
        return Examination(signals, seen, tuple(observation.failures))


def measure(subject: Subject, fixture: Fixture, detector: Detector) -> Signal:
    """One detector alone, with the same fallback to as many tokens as heads."""
    with np.errstate(all="ignore"):
        return _read(detector, _observe(subject, fixture))


def _observe(subject: Subject, fixture: Fixture) -> Observation:
    observation = Observation(subject, fixture)
    try:
        observation.output()
    except NotObservable:
        square = Observation(subject, fixture.square())
        square.failures = observation.failures
        return square
    return observation


def _calls(observation: Observation, fixture: Fixture) -> dict[str, str]:
    """How the plain call failed: at any extents, or only where tokens and heads differ."""
    if observation.fixture is fixture:
        return {}
    try:
        observation.output()
    except NotObservable:
        return {"calls": "fail"}
    return {"calls": "fail unless square"}


def _read(detector: Detector, observation: Observation) -> Signal:
    reason = inapplicable(detector, observation.subject)
    if reason:
        return Signal(detector, None, reason)
    try:
        return Signal(detector, float(detector.measure(observation)))
    except SecondCallFailed:
        return Signal(detector, math.inf)
    except NotObservable as reason:
        return Signal(detector, None, str(reason))
