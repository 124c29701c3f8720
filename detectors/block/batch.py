"""Sequences of a batch do not interact."""

from __future__ import annotations

import numpy as np

from detectors.detector import SEQUENCES, Detector
from detectors.errors import NotObservable
from detectors.observation import Observation, largest, relative


def measure(observation: Observation) -> float:
    """Relative change of a sequence's output when it is computed alone, the larger of the first and the last.

    Of both, since attention that runs over the batch under a causal mask leaves the first one as it is.
    """
    count = len(observation.fixture.x)
    if count < 2:
        raise NotObservable("one sequence: there is nothing to interact with")
    return largest(np.array([_alone(observation, at) for at in (0, count - 1)]))


def _alone(observation: Observation, at: int) -> float:
    own = slice(at, at + 1)
    together = observation.output()[own]
    return relative(observation.block(observation.fixture.x[own]) - together, together)


DETECTOR = Detector(
    name="batch",
    law={
        "en": "sequences of a batch do not interact",
        "zh": "同一 batch 内的序列互不影响",
    },
    unit="relative change",
    # Largest healthy value seen 0, smallest faulty one 0.33 (benchmarks/power.py).
    threshold=1e-3,
    needs="call",
    measure=measure,
    kinds=SEQUENCES,
)
