"""The diagonal is alive: a token attends to itself. A block cannot show this, its skip fills the diagonal."""

from __future__ import annotations

import numpy as np

from detectors import probes
from detectors.detector import Detector
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Share of the tokens whose own weight is 0 at moderate logits, where no visible weight can underflow."""
    if observation.subject.attention is None:
        return float(np.max([site["own"] for site in observation.sites()]))
    own = np.diagonal(probes.weights(observation), axis1=2, axis2=3)
    return float(np.mean(~(own > 0)))


DETECTOR = Detector(
    name="self_weight",
    law={
        "en": "a token attends to itself",
        "zh": "每个 token 都能看到自己",
    },
    unit="share of tokens",
    # Largest healthy value seen 0, smallest faulty one 1 (benchmarks/power.py).
    threshold=0.0,
    needs="attention",
    measure=measure,
    # Without a causal mask some designs hide the own token, and padding is hidden from itself.
    assumes=frozenset({"causal"}),
)
