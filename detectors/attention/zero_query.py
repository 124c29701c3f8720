"""A zero query weighs all visible keys alike: its output is the prefix mean of V."""

from __future__ import annotations

import numpy as np

from detectors.detector import Detector
from detectors.fixtures import frozen
from detectors.observation import Observation, plain, relative


def measure(observation: Observation) -> float:
    """Distance of the output of an all-zero query from the running mean of the values."""
    fixture = observation.fixture
    query, key, value = plain(fixture)
    counts = np.arange(1, fixture.extents.tokens + 1)[:, None]
    output = observation.attend(frozen(np.zeros_like(query)), key, value)
    return relative(output - np.cumsum(value, axis=2) / counts, value)


DETECTOR = Detector(
    name="zero_query",
    law={
        "en": "a zero query gives the mean of the visible values",
        "zh": "零 query 的输出是可见 value 的均值",
    },
    unit="relative difference",
    # Largest healthy value seen 1.3e-7, smallest faulty one 0.066 (benchmarks/power.py).
    threshold=1e-3,
    needs="attention",
    measure=measure,
    weight=0.5,
    assumes=frozenset({"causal", "unwindowed"}),
)
