"""A mask that holds at any logit: no finite weight on the future, even where its logit is 1e6."""

from __future__ import annotations

import numpy as np

from detectors import influence, probes
from detectors.detector import Detector
from detectors.errors import NotObservable
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Largest finite weight on a future token whose logit is 1e6 while all others are -1e6.

    Raises NotObservable where no such weight is finite: that is overflow, not a leak.
    """
    weights = probes.peaks(observation)
    moving = np.array(influence.sources(observation.fixture.extents.tokens))
    future = weights[np.arange(len(weights))[:, None] < moving]
    finite = np.isfinite(future)
    if future.size and not finite.any():
        raise NotObservable("weights are not finite at logits of 1e6: overflow")
    return float(np.max(future, where=finite, initial=0.0))


DETECTOR = Detector(
    name="huge_logits",
    law={
        "en": "the mask holds however large a future logit is",
        "zh": "无论未来的 logit 多大，遮罩都有效",
    },
    unit="weight",
    # Largest healthy value seen 0, smallest faulty one 1 (benchmarks/power.py).
    threshold=0.0,
    needs="attention",
    measure=measure,
    assumes=frozenset({"causal"}),
)
