"""With both branches silent a change of the input arrives unchanged: the gradient of the skip path is 1."""

from __future__ import annotations

import numpy as np

from detectors import branches
from detectors.detector import Detector
from detectors.fixtures import frozen
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Distance of f(x + u) - f(x) from u with Wo = bo = W2 = b2 = 0, over the largest of u."""
    fixture = observation.fixture
    change = fixture.draw("change", *fixture.x.shape)
    pair = frozen(np.concatenate([fixture.x + change, fixture.x]))
    moved, still = np.split(observation.block(pair, branches.silent(observation, "o2")), 2)
    return relative(moved - still - change, change)


DETECTOR = Detector(
    name="gradient_flow",
    law={
        "en": "with silent branches the block passes every change on unchanged",
        "zh": "分支静默时，输入的变化原样传到输出",
    },
    unit="relative difference",
    # Largest healthy value seen 1.2e-7, smallest faulty one 0.31 (benchmarks/power.py).
    threshold=1e-3,
    needs="weights",
    measure=measure,
    # Residual laws take priority: a broken stream upsets whatever is measured further down.
    weight=2.0,
    assumes=frozenset({"pre_norm"}),
)
