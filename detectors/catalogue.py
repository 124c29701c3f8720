"""Every contract, in the order in which they are listed. `shape` is last: it counts what failed before."""

from __future__ import annotations

from detectors import norm_formula
from detectors.attention import (
    axis,
    duplication,
    first_token,
    future_weight,
    huge_logits,
    rows,
    self_weight,
    short_queries,
    slope,
    zero_query,
)
from detectors.block import (
    attention_branch,
    batch,
    feed_forward_branch,
    finite,
    future,
    gradient_flow,
    heads,
    isolation,
    order,
    prefix,
    reach,
    repeatability,
    shape,
    skip,
)
from detectors.detector import Detector
from detectors.second import cache, padded_reach, padded_rows, padding

DETECTORS: tuple[Detector, ...] = tuple(
    module.DETECTOR
    for module in (
        finite, repeatability, batch, future, reach, prefix,
        skip, gradient_flow, attention_branch, feed_forward_branch, order,
        heads, isolation,
        rows, axis, future_weight, self_weight, first_token, zero_query, short_queries, huge_logits,
        slope, duplication,
        shape,
    )
)  # fmt: skip
"""Those of single calls: all that a reference block shows."""

SECOND = (padding.DETECTOR, padded_reach.DETECTOR, padded_rows.DETECTOR, cache.DETECTOR)
"""Those of calls that somebody's subject may take besides."""

CONTRACTS = (*DETECTORS[:-1], *SECOND, norm_formula.DETECTOR, DETECTORS[-1])

BY_NAME = {detector.name: detector for detector in CONTRACTS}
