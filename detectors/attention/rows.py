"""Every row of attention weights sums to 1."""

from __future__ import annotations

import numpy as np

from detectors import probes
from detectors.detector import Detector
from detectors.observation import Observation, largest


def measure(observation: Observation) -> float:
    """Largest distance of a row sum from 1, with V = identity, or of the weights its operations show."""
    if observation.subject.attention is None:
        return float(np.max([site["rows"] for site in observation.sites()]))
    return largest(np.asarray(probes.weights(observation).sum(axis=-1) - 1))


DETECTOR = Detector(
    name="rows",
    law={
        "en": "each row of attention weights sums to 1",
        "zh": "每一行 attention 权重之和为 1",
    },
    unit="weight",
    # Largest healthy value seen 2.4e-7, smallest faulty one 0.29 (benchmarks/power.py).
    threshold=1e-3,
    needs="attention",
    measure=measure,
)
