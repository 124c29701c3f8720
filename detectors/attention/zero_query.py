"""A zero query weighs all visible keys alike: its output is the prefix mean of V."""

from __future__ import annotations

import numpy as np

from detectors.detector import Detector
from detectors.fixtures import frozen
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Distance of the output of an all-zero query from the running mean of the values."""
    fixture = observation.fixture
    shape = (1, fixture.extents.heads, fixture.extents.tokens, fixture.extents.head_width)
    key, value = fixture.draw("plain key", *shape), fixture.draw("plain value", *shape)
    counts = np.arange(1, shape[2] + 1, dtype=fixture.dtype)[:, None]
    mean = fixture.once("prefix mean", lambda: np.cumsum(value, axis=2) / counts)
    query = fixture.once("zero query", lambda: frozen(np.zeros(shape, fixture.dtype)))
    return relative(observation.attend(query, key, value) - mean, value)


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
