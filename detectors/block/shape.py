"""The block gives back the shape it was given, and never raises."""

from __future__ import annotations

from detectors.detector import ANY, Detector
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Number of calls so far that raised or gave another shape; measured last, it covers them all."""
    return float(len(observation.failures))


DETECTOR = Detector(
    name="shape",
    law={
        "en": "every call succeeds and keeps the shape [batch, token, channel]",
        "zh": "每次调用都成功，且形状保持 [batch, token, channel]",
    },
    unit="failed calls",
    # Largest healthy value seen 0, smallest faulty one 0; 41 of 4,500 do not exceed it (benchmarks/power.py).
    threshold=0.0,
    needs="call",
    measure=measure,
    weight=2.0,
    kinds=ANY,
)
