"""A prefix computed alone equals the prefix of the whole."""

from __future__ import annotations

from detectors.detector import SEQUENCES, Detector
from detectors.errors import NotObservable
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Relative difference between the outputs of the first half alone and within the whole sequence."""
    x = observation.fixture.x
    tokens = x.shape[1]
    if tokens < 2:
        raise NotObservable("one token: there is no shorter prefix")
    whole = observation.output()[:, : min(tokens // 2 + 1 - tokens % 2, tokens - 1)]
    return relative(observation.block(x[:, : whole.shape[1]]) - whole, whole)


DETECTOR = Detector(
    name="prefix",
    law={
        "en": "a prefix computed alone gives the same outputs",
        "zh": "单独计算前缀得到相同输出",
    },
    unit="relative difference",
    # Largest healthy value seen 3.0e-7, smallest faulty one 0; 19 of 19,334 do not exceed it (benchmarks/power.py).
    threshold=1e-3,
    needs="call",
    measure=measure,
    weight=0.5,
    assumes=frozenset({"causal"}),
    kinds=SEQUENCES,
)
