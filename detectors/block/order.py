"""The sublayers follow each other: f(x) = f(f(x; W2 = b2 = 0); Wo = bo = 0)."""

from __future__ import annotations

from detectors import branches
from detectors.detector import Detector
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Relative difference between the block and its two sublayers run one after the other."""
    sequential = branches.after_feed_forward(observation)[2]
    return relative(observation.output() - sequential, observation.output())


DETECTOR = Detector(
    name="order",
    law={
        "en": "the feed-forward network follows the attention sublayer",
        "zh": "FFN 接在 attention 子层之后",
    },
    unit="relative difference",
    # Largest healthy value seen 0, smallest faulty one 0; 1 of 7,500 does not exceed it (benchmarks/power.py).
    threshold=1e-3,
    needs="weights",
    measure=measure,
    # Residual laws take priority: a broken stream upsets whatever is measured further down.
    weight=2.0,
    assumes=frozenset({"sequential"}),
)
