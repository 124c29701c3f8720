"""Copying the features of q and k n times, with q / sqrt(n), changes nothing when the scale is 1/sqrt(d_k)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import probes
from detectors.detector import Detector
from detectors.fixtures import frozen
from detectors.observation import Observation, plain, relative

Array = NDArray[Any]


COPIES = 4


def measure(observation: Observation) -> float:
    """Relative change of the output when every feature is there four times: q.k and sqrt(d_k) both grow twofold."""
    query, key, value = plain(observation.fixture)
    many = observation.attend(*copied(query, key), value)
    return relative(many - probes.plain_output(observation), value)


def copied(query: Array, key: Array) -> tuple[Array, Array]:
    """The features COPIES times in a row, the query divided by sqrt(COPIES)."""
    size = query.dtype.type(COPIES**-0.5)
    return frozen(np.tile(query, COPIES) * size), frozen(np.tile(key, COPIES))


DETECTOR = Detector(
    name="duplication",
    law={
        "en": "copying the features of q and k leaves the output unchanged",
        "zh": "复制 q、k 的特征不改变输出",
    },
    unit="relative change",
    # Largest healthy value seen 3.0e-7, smallest faulty one 4.9e-3 (benchmarks/power.py).
    threshold=1e-3,
    needs="attention",
    measure=measure,
    assumes=frozenset({"any_width"}),
)
