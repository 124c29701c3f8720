"""Per-head reference: the output equals that of heads computed one by one in plain loops."""

from __future__ import annotations

from detectors import plain_block
from detectors.detector import Detector
from detectors.errors import NotObservable
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Relative difference between the output and the plain-loop block of `plain_block` with the same weights."""
    if observation.subject.weights is None:
        raise NotObservable("the subject's weights cannot be written")
    expected = observation.fixture.once(plain_block.output)
    return relative(observation.output() - expected, expected)


DETECTOR = Detector(
    name="heads",
    law={
        "en": "the block equals one computed head by head in plain loops",
        "zh": "输出与逐头朴素循环的参考实现一致",
    },
    unit="relative difference",
    # Largest healthy value seen 5.7e-6, smallest faulty one 2.1e-4; 108
    # of 42,578 do not exceed it (benchmarks/power.py).
    threshold=1e-3,
    needs="weights",
    measure=measure,
    weight=0.25,
    assumes=frozenset({"reference"}),
)
