"""The attention branch reads its input through a norm: scaling and shifting x does not change it."""

from __future__ import annotations

from detectors import branches
from detectors.detector import Detector
from detectors.observation import Observation


def measure(observation: Observation) -> float:
    """Relative change of f(x) - x with a silent feed-forward network under x -> 4x (+ b for LayerNorm)."""
    return branches.change(observation, branches.after_attention(observation))


DETECTOR = Detector(
    name="attention_branch",
    law={
        "en": "the attention branch is invariant to the scale of x",
        "zh": "attention 分支对 x 的缩放不变",
    },
    unit="relative change",
    # Largest healthy value seen 4.0e-5, smallest faulty one 0.27 (benchmarks/power.py).
    threshold=1e-2,
    needs="weights",
    measure=measure,
    # No more than the others, unlike most residual laws: it breaks as well where the sequences of a batch mix.
    weight=1.0,
    assumes=frozenset({"pre_norm"}),
)
