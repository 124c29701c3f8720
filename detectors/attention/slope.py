"""The logit slope is 1/sqrt(d_k): the scale, read off the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import probes
from detectors.declaration import NORMED
from detectors.detector import Detector
from detectors.errors import NotObservable
from detectors.observation import Observation

Array = NDArray[Any]


STRAY = 0.01
"""Share of the spread of ln(weight) within the rows that one factor may leave over: bfloat16 leaves 1e-4, a softmax
over another axis a third."""


@dataclass(frozen=True)
class Scale:
    """factor: what the scores were multiplied by, with that many heads, channels of one head, and keys.

    single: whether this one number explains the weights; otherwise it is the nearest one.
    """

    factor: float
    heads: int
    head_width: int
    keys: int
    single: bool = True

    @property
    def required(self) -> float:
        """1/sqrt(d_k)."""
        return float(self.head_width**-0.5)

    @property
    def off(self) -> float:
        """|ln| of the quotient of the two."""
        return off(self.factor, self.head_width)


def measure(observation: Observation) -> float:
    """|ln(slope * sqrt(d_k))|, the larger at two values of d_k where any will do.

    Or that of the gain which its operations show.
    """
    return max(scale.off for scale in _scales(observation))


def found(observation: Observation) -> Scale:
    """What the scores were multiplied by, where that is furthest from what is required.

    Raises NotObservable where that cannot be told.
    """
    scale = max(_scales(observation), key=lambda one: one.off)
    if observation.subject.attention is None:
        return scale
    weights = dict(_seen(observation))[scale.head_width]
    query, key = probes.query_key(observation.fixture, scale.head_width)
    return replace(scale, single=_explains(scale.factor, query, key, weights))


def _scales(observation: Observation) -> list[Scale]:
    extents = observation.fixture.extents
    if observation.subject.attention is None:
        return [
            Scale(_gain(site), extents.heads, site["head_width"], extents.tokens)
            for site in observation.sites()
        ]
    return [
        Scale(slope(*probes.query_key(observation.fixture, d_k), weights), extents.heads, d_k, extents.tokens)
        for d_k, weights in _seen(observation)
    ]


def _gain(site: Mapping[str, Any]) -> float:
    if site["normalised"]:
        raise NotObservable(NORMED)
    return float(site["gain"])


def _seen(observation: Observation) -> list[tuple[int, Array]]:
    """(d_k, weights [1, head, query, key]) at the fixture's own d_k, and at a second where any will do."""
    fixture = observation.fixture
    seen = [(fixture.extents.head_width, probes.weights(observation))]
    if "any_width" in observation.subject.declares:
        seen.append((probes.second_width(fixture), probes.wide_weights(observation)))
    return seen


def _explains(factor: float, query: Array, key: Array, weights: Array) -> bool:
    seen = weights > 0
    with np.errstate(all="ignore"):  # the logarithms of the others are left out
        logs = np.log(weights)
    stray = _within(logs - factor * np.matmul(query, key.swapaxes(2, 3)), seen)
    spread = _within(logs, seen)
    return bool(stray @ stray < STRAY * (spread @ spread))


def _within(values: Array, seen: Array) -> Array:
    """The values that are seen, less the mean of those in their row."""
    count = np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    apart: Array = (values - np.where(seen, values, 0).sum(axis=-1, keepdims=True) / count)[seen]
    return apart


def off(found: float, head_width: int) -> float:
    """|ln(slope * sqrt(d_k))|; infinite where the slope is not even positive."""
    return abs(float(np.log(found * head_width**0.5))) if found > 0 else math.inf


def slope(query: Array, key: Array, weights: Array) -> float:
    """Factor between q.k and ln(weight), least squares within the rows, positive weights only.

    Within a row ln(weight) = factor * q.k - constant, so the softmax's denominator drops out.
    """
    products = np.matmul(query, key.swapaxes(2, 3), dtype=np.float64)
    seen = weights > 0
    spread = _within(products, seen)
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
