"""The output is finite."""

from __future__ import annotations

import numpy as np

from detectors.detector import ANY, Detector
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Share of the output's values that are not finite."""
    return float(np.mean(~np.isfinite(observation.output())))


DETECTOR = Detector(
    name="finite",
    law={
        "en": "the output is finite",
        "zh": "输出全部有限",
    },
    unit="share of values",
    # Largest healthy value seen 0; no variant in the registry declares it (benchmarks/power.py).
    threshold=0.0,
    needs="call",
    measure=measure,
    kinds=ANY,
)
