"""The logit slope is 1/sqrt(d_k): the scale, read off the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import probes
from detectors.declaration import NORMED
from detectors.detector import Detector
from detectors.errors import NotObservable
from detectors.observation import Observation

Array = NDArray[Any]


@dataclass(frozen=True)
class Scale:
    """factor: what the scores were multiplied by, with that many heads, channels of one head, and keys."""

    factor: float
    heads: int
    head_width: int
    keys: int


def measure(observation: Observation) -> float:
    """|ln(slope * sqrt(d_k))|, the larger at two values of d_k where any will do.

    Or that of the gain which its operations show.
    """
    if observation.subject.attention is None:
        return float(np.max([_followed(site) for site in observation.sites()]))
    fixture = observation.fixture
    narrow, wide = fixture.extents.head_width, probes.second_width(fixture)
    pairs = [(narrow, probes.weights(observation))]
    if "any_width" in observation.subject.declares:
        pairs.append((wide, probes.wide_weights(observation)))
    return max(off(slope(*probes.query_key(fixture, d_k), weights), d_k) for d_k, weights in pairs)


def found(observation: Observation) -> Scale:
    """What the scores were multiplied by, at the fixture's own d_k.

    Raises NotObservable where that cannot be told.
    """
    extents = observation.fixture.extents
    if observation.subject.attention is None:
        site = max(observation.sites(), key=_followed)
        return Scale(site["gain"], extents.heads, site["head_width"], extents.tokens)
    query, key = probes.query_key(observation.fixture, extents.head_width)
    factor = slope(query, key, probes.weights(observation))
    return Scale(factor, extents.heads, extents.head_width, extents.tokens)


def _followed(site: Mapping[str, Any]) -> float:
    if site["normalised"]:
        raise NotObservable(NORMED)
    return off(site["gain"], site["head_width"])


def off(found: float, head_width: int) -> float:
    """|ln(slope * sqrt(d_k))|; infinite where the slope is not even positive."""
    return abs(float(np.log(found * head_width**0.5))) if found > 0 else math.inf


def slope(query: Array, key: Array, weights: Array) -> float:
    """Factor between q.k and ln(weight), least squares within the rows, positive weights only.

    Within a row ln(weight) = factor * q.k - constant, so the softmax's denominator drops out.
    """
    products = np.matmul(query, key.swapaxes(2, 3), dtype=np.float64)
    seen = weights > 0
    count = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    spread = (products - (products * seen).sum(axis=-1, keepdims=True) / count)[seen]
    total = float(spread @ spread)
    if not total > 0:
        raise NotObservable("no row has two positive weights")
    return float(spread @ np.log(weights[seen], dtype=np.float64)) / total


DETECTOR = Detector(
    name="slope",
    law={
        "en": "logits are q·k / sqrt(d_k)",
        "zh": "logits 等于 q·k / sqrt(d_k)",
    },
    unit="|ln factor|",
    # Largest healthy value seen 1.9e-7, smallest faulty one 0.2 (benchmarks/power.py).
    threshold=0.05,
    needs="attention",
    measure=measure,
    weight=2.0,
)
