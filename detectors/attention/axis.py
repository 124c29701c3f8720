"""The softmax runs over the keys: columns of weights do not sum to 1 where rows do not."""

from __future__ import annotations

import numpy as np

from detectors import probes
from detectors.detector import Detector
from detectors.observation import Observation

ROUNDING = 2.0**-10


def measure(observation: Observation) -> float:
    """Share of the heads (or of the operations followed) whose softmax normalises columns instead of rows."""
    if observation.subject.attention is None:
        return float(np.mean([not site["last_axis"] for site in observation.sites()]))
    weights = probes.weights(observation)
    off_rows, off_columns = (np.abs(weights.sum(axis=axis) - 1).max(axis=-1) for axis in (3, 2))
    return float(np.mean((off_rows > ROUNDING) & (off_columns <= ROUNDING)))


DETECTOR = Detector(
    name="axis",
    law={
        "en": "the softmax runs over the keys",
        "zh": "softmax 沿 key 轴进行",
    },
    unit="share of heads",
    # Exactly 0 in sound code, 1 where the axis is wrong.
    threshold=0.0,
    needs="attention",
    measure=measure,
)
