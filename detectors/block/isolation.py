"""Heads keep to their channels: a change of one key/value head shows in the channels of its query heads alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import branches
from detectors.detector import Detector
from detectors.errors import NotObservable
from detectors.fixtures import frozen
from detectors.observation import Observation, largest

Array = NDArray[Any]


def measure(observation: Observation) -> float:
    """Change outside the group's channels over the change anywhere, when one head's columns of Wv change.

    With Wo = identity and a silent feed-forward network, f(x) - x is the merged heads.
    """
    fixture = observation.fixture
    if fixture.extents.kv_heads < 2:
        raise NotObservable("one key/value head: no channel lies outside it")
    before, after = (observation.block(fixture.x, which(observation)) for which in (bare, changed))
    difference = np.abs(after - before).max(axis=(0, 1))
    if largest(difference) == 0:
        raise NotObservable("a change of Wv does not show: values are ignored")
    group = fixture.extents.width // fixture.extents.kv_heads
    return largest(difference[group:]) / largest(difference)


def bare(observation: Observation) -> dict[str, Array]:
    """Weights that show the merged heads: Wo = identity, no bias, no feed-forward network."""
    fixture, width = observation.fixture, observation.fixture.extents.width
    if observation.weights("Wo")["Wo"].shape != (width, width):
        raise NotObservable("Wo is not square: the merged heads cannot be shown through it")
    return branches.silent(observation, "o2") | {"Wo": frozen(np.eye(width, dtype=fixture.dtype))}


def changed(observation: Observation) -> dict[str, Array]:
    """The same with the columns of the first key/value head in Wv replaced."""
    value, own = observation.weights("Wv")["Wv"].copy(), observation.fixture.extents.head_width
    # The first, since attention across heads under a causal mask hides what the last one does.
    value[:, :own] += observation.fixture.draw("other head", len(value), own)
    return bare(observation) | {"Wv": frozen(value)}


DETECTOR = Detector(
    name="isolation",
    law={
        "en": "each head writes its own channels only",
        "zh": "每个头只写入自己的通道",
    },
    unit="share of the change",
    # Largest healthy value seen 0, smallest faulty one 2.6e-5; 5 of 12,069 do not exceed it (benchmarks/power.py).
    threshold=1e-3,
    needs="weights",
    measure=measure,
    weight=2.0,
    assumes=frozenset({"heads", "pre_norm"}),
)
