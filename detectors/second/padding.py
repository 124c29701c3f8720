"""Padding is hidden: what stands in its place changes no output at a real token."""

from __future__ import annotations

from detectors import padded
from detectors.detector import SEQUENCES, Detector
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Relative change of the outputs at real tokens when all that is padded is replaced.

    The padding comes first: under a causal mask no token sees padding that comes after it, whatever is done about it.
    """
    keep = padded.real(observation.fixture)
    whole = padded.output(observation)[keep]
    return relative(observation.padded(padded.replaced(observation.fixture), keep)[keep] - whole, whole)


DETECTOR = Detector(
    name="padding",
    law={
        "en": "replacing what is padded changes no output at a real token",
        "zh": "替换填充处的内容不影响真实 token 的输出",
    },
    unit="relative change",
    # Largest healthy value seen 0, smallest faulty one 0.21 (tests/quality/foreign).
    threshold=1e-6,
    needs="padding",
    measure=measure,
    kinds=SEQUENCES,
)
