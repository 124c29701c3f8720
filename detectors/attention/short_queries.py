"""Fewer queries than keys: the last queries get the rows they have in the full matrix."""

from __future__ import annotations

from detectors import probes
from detectors.detector import Detector
from detectors.observation import Observation, largest


def measure(observation: Observation) -> float:
    """Largest difference between the weights of the last queries asked alone and asked with all others."""
    start = probes.short_start(observation.fixture)
    return largest(probes.short_weights(observation) - probes.weights(observation)[:, :, start:])


DETECTOR = Detector(
    name="short_queries",
    law={
        "en": "the causal mask is aligned to the last query",
        "zh": "因果遮罩对齐到最后一个 query",
    },
    unit="weight",
    # Largest healthy value seen 0, smallest faulty one 0.32 (benchmarks/power.py).
    threshold=1e-3,
    needs="attention",
    measure=measure,
    assumes=frozenset({"cached", "causal"}),
)
