"""The first token sees itself alone: its output is its own value."""

from __future__ import annotations

from detectors import probes
from detectors.detector import Detector
from detectors.observation import Observation, plain, relative


def measure(observation: Observation) -> float:
    """Distance of the first output from the first value."""
    _, _, value = plain(observation.fixture)
    return relative(probes.plain_output(observation)[:, :, 0] - value[:, :, 0], value)


DETECTOR = Detector(
    name="first_token",
    law={
        "en": "the first token attends to itself alone",
        "zh": "第一个 token 只看到自己",
    },
    unit="relative difference",
    # Largest healthy value seen 0, smallest faulty one 0.051 (benchmarks/power.py).
    threshold=1e-3,
    needs="attention",
    measure=measure,
    weight=0.5,
    assumes=frozenset({"causal"}),
)
