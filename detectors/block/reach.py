"""Reach: output t does change when any earlier token does. What future invariance forgets."""

from __future__ import annotations

import numpy as np

from detectors import influence
from detectors.detector import SEQUENCES, Detector
from detectors.errors import NotObservable
from detectors.observation import Observation
from detectors.patterns import ALIVE


def measure(observation: Observation) -> float:
    """Share of the pairs (query after source) without influence, among identical tokens."""
    tokens = observation.fixture.extents.tokens
    if tokens < 2:
        raise NotObservable("one token: there is no past")
    alive = influence.reach(observation) > ALIVE
    past = np.arange(tokens)[:, None] > np.array(influence.sources(tokens))
    return float(np.mean(~alive[past]))


DETECTOR = Detector(
    name="reach",
    law={
        "en": "every earlier token still matters",
        "zh": "前面的每个 token 仍有影响",
    },
    unit="share of pairs",
    # Largest healthy value seen 0, smallest faulty one 0.33 (benchmarks/power.py).
    threshold=0.0,
    needs="call",
    measure=measure,
    assumes=frozenset({"causal", "unwindowed"}),
    kinds=SEQUENCES,
)
