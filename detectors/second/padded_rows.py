"""Padding leaves the output finite, also at tokens before which everything is hidden."""

from __future__ import annotations

import numpy as np

from detectors import padded
from detectors.detector import SEQUENCES, Detector
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Share of the output's values that are not finite when the first tokens are padding.

    Under a causal mask these see nothing; a softmax over minus infinity alone is NaN, and NaN passes on to all that
    reads it, even with weight 0.
    """
    return float(np.mean(~np.isfinite(padded.output(observation))))


DETECTOR = Detector(
    name="padded_rows",
    law={
        "en": "the output is finite with padding, also in rows that see nothing",
        "zh": "有填充时输出仍全部有限，整行被遮住处也如此",
    },
    unit="share of values",
    # Largest healthy value seen 0, smallest faulty one 0.33 (tests/quality/foreign).
    threshold=0.0,
    needs="padding",
    measure=measure,
    kinds=SEQUENCES,
)
