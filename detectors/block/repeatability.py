"""The same input gives the same bits."""

from __future__ import annotations

import numpy as np

from detectors.detector import ANY, Detector
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Share of the values that differ between two calls with the same tokens."""
    first, again = observation.output(), observation.fresh_output()
    return float(np.mean((first != again) & ~(np.isnan(first) & np.isnan(again))))


DETECTOR = Detector(
    name="repeatability",
    law={
        "en": "the same input gives the same output",
        "zh": "相同输入得到相同输出",
    },
    unit="share of values",
    # Largest healthy value seen 0; no variant in the registry declares it (benchmarks/power.py).
    threshold=0.0,
    needs="call",
    measure=measure,
    kinds=ANY,
)
