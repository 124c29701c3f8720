"""Real tokens stay visible: behind padding, output t does change when an earlier real token does."""

from __future__ import annotations

import numpy as np

from detectors import influence
from detectors.detector import SEQUENCES, Detector
from detectors.errors import NotObservable
from detectors.observation import Observation
from detectors.patterns import ALIVE


def measure(observation: Observation) -> float:
    """Share of the pairs (query after source, both real) without influence, among identical tokens.

    Each source stands behind as much padding as there is room for, half of the tokens at most: the first real token
    is one of them.
    """
    count = observation.fixture.extents.tokens
    tokens, moving = np.arange(count)[:, None], np.array(influence.sources(count))
    pads = np.clip(moving, 1, count // 2)
    past = (moving >= pads) & (tokens > moving)
    if not past.any():
        raise NotObservable("too few tokens: behind padding there is no past")
    keep = np.tile(pads[:, None] <= tokens.T, (4, 1))  # for both signs and both directions
    outputs = observation.padded(influence.nudged(observation.fixture), keep)
    weighed = influence.change(outputs, len(moving)) * (tokens - pads + 1)
    return float(np.mean(~(influence.over_the_median(weighed, past)[past] > ALIVE)))


DETECTOR = Detector(
    name="padded_reach",
    law={
        "en": "behind padding every earlier real token still matters",
        "zh": "有填充时，前面的每个真实 token 仍有影响",
    },
    unit="share of pairs",
    # Largest healthy value seen 0, smallest faulty one 0.83 (tests/detectors/second).
    threshold=0.0,
    needs="padding",
    measure=measure,
    assumes=frozenset({"unwindowed"}),
    kinds=SEQUENCES,
)
