"""No weight on the future."""

from __future__ import annotations

import numpy as np

from detectors import probes
from detectors.detector import Detector
from detectors.observation import Observation, largest


def measure(observation: Observation) -> float:
    """Largest weight above the diagonal, with V = identity, or of the weights its operations show."""
    if observation.subject.attention is None:
        return float(np.max([site["future"] for site in observation.sites()]))
    return largest(np.triu(probes.weights(observation), 1))


DETECTOR = Detector(
    name="future_weight",
    law={
        "en": "no attention weight falls on the future",
        "zh": "未来位置的 attention 权重为 0",
    },
    unit="weight",
    # Largest healthy value seen 0, smallest faulty one 0.054 (benchmarks/power.py).
    threshold=0.0,
    needs="attention",
    measure=measure,
    assumes=frozenset({"causal"}),
)
