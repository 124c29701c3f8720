"""The skip path carries x itself: (f(2cx) - f(cx)) / c = x for large c, since a pre-norm branch does not grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.detector import Detector
from detectors.fixtures import Fixture, frozen
from detectors.observation import Observation, relative

Array = NDArray[Any]


LARGE = 1e3


def measure(observation: Observation) -> float:
    """Distance of (f(2cx) - f(cx)) / c from x at c = 1000, over the largest of x."""
    fixture = observation.fixture
    twice, once = np.split(observation.block(grown(fixture)), 2)
    return relative((twice - once) / fixture.dtype.type(LARGE) - fixture.x, fixture.x)


def grown(fixture: Fixture) -> Array:
    """2cx above cx, as one batch."""
    size = fixture.dtype.type(LARGE)
    return frozen(np.concatenate([fixture.x * (2 * size), fixture.x * size]))


DETECTOR = Detector(
    name="skip",
    law={
        "en": "the skip path carries x unchanged: (f(2cx) - f(cx)) / c = x",
        "zh": "残差通路原样传递 x：(f(2cx) - f(cx)) / c = x",
    },
    unit="relative difference",
    # Largest healthy value seen 7.6e-6, smallest faulty one 0.68 (benchmarks/power.py).
    threshold=1e-2,
    needs="call",
    measure=measure,
    # Residual laws take priority: a broken stream upsets whatever is measured further down.
    weight=2.0,
    assumes=frozenset({"pre_norm"}),
)
