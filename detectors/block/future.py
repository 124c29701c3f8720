"""Future invariance: output t does not change when a later token does. Necessary, not sufficient."""

from __future__ import annotations

import numpy as np

from detectors import influence
from detectors.detector import SEQUENCES, Detector
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Largest change above the diagonal of the visibility matrix, over the largest change anywhere."""
    seen = influence.visibility(observation)
    moving = np.array(influence.sources(observation.fixture.extents.tokens))
    return float(np.max(seen, where=np.arange(len(seen))[:, None] < moving, initial=0.0))


DETECTOR = Detector(
    name="future",
    law={
        "en": "moving a later token changes no earlier output",
        "zh": "改动后面的 token 不影响前面的输出",
    },
    unit="relative change",
    # Largest healthy value seen 0, smallest faulty one 1.8e-5 (benchmarks/power.py).
    threshold=1e-6,
    needs="call",
    measure=measure,
    assumes=frozenset({"causal"}),
    kinds=SEQUENCES,
)
