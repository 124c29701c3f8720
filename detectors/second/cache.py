"""A cache changes nothing: tokens that come one after the other get the outputs of the full pass."""

from __future__ import annotations

import math

import numpy as np

from detectors.detector import SEQUENCES, Detector
from detectors.errors import NotObservable
from detectors.observation import Observation, relative


def measure(observation: Observation) -> float:
    """Relative difference between the outputs of the full pass and those of the first half, then of token by token.

    With five tokens there are three continuations: what the second does to the cache shows in the third.
    """
    x = observation.fixture.x
    tokens = x.shape[1]
    if tokens < 2:
        raise NotObservable("one token: there is nothing to continue with")
    chunks = np.split(x, range(tokens // 2, tokens), axis=1)
    found = relative(observation.continued(chunks) - observation.output(), observation.output())
    return math.inf if np.isnan(found) else found  # no number differs from any; NaN would tell nothing apart


DETECTOR = Detector(
    name="cache",
    law={
        "en": "tokens fed one by one with a cache get the outputs of the full pass",
        "zh": "带缓存逐个输入 token 与一次前向得到相同输出",
    },
    unit="relative difference",
    # Largest healthy value seen 1.9e-7, smallest faulty one 0.12 (tests/quality/foreign).
    threshold=1e-3,
    needs="step",
    measure=measure,
    assumes=frozenset({"causal"}),
    kinds=SEQUENCES,
)
