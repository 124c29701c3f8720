"""Sequences of a batch do not interact."""

from __future__ import annotations

from detectors.detector import Detector
from detectors.errors import NotObservable
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Relative change of the first sequence's output when it is computed alone."""
    x = observation.fixture.x
    if len(x) < 2:
        raise NotObservable("one sequence: there is nothing to interact with")
    together = observation.output()[:1]
    return relative(observation.block(x[:1]) - together, together)


DETECTOR = Detector(
    name="batch",
    law={
        "en": "sequences of a batch do not interact",
        "zh": "同一 batch 内的序列互不影响",
    },
    unit="relative change",
    # THR
    threshold=1e-3,
    needs="call",
    measure=measure,
)
