"""The learner's block and attention as a subject of the detectors, in the child where they live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import checking
from detectors.fixtures import Extents, Fixture
from detectors.subject import Subject
from faults import registry, results
from faults.clean_room.model import Contract
from faults.clean_room.room import Room

Array = NDArray[Any]

FIXTURES = (
    Fixture(Extents(batch=2, tokens=4, heads=2, kv_heads=2, head_width=3, hidden=5), 1),
    Fixture(Extents(batch=3, tokens=6, heads=3, kv_heads=3, head_width=4, hidden=7, gain=2.0), 2),
)
"""Smallest first: the smallest on which a contract is broken is shown."""

UNPROMISED = frozenset({"short_queries"})
"""Contracts about what the interface does not ask for."""


def subject(room: Room, fixture: Fixture) -> Subject:
    """The learner's block with the fixture's weights, which the detectors may replace; and their attention."""

    def call(x: Array, replaced: Mapping[str, Array]) -> Array:
        weights = {**fixture.weights, **replaced}
        return np.asarray(room.call("block", x, weights, fixture.extents.heads))

    def attend(query: Array, key: Array, value: Array) -> Array:
        return attended(room, query, key, value)

    return Subject(
        room.theirs("block"), call, fixture.weights, attend if room.has("causal_attention") else None
    )


def attended(room: Room, query: Array, key: Array, value: Array) -> Array:
    """The learner's attention on arrays of any extents; the interface promises as many queries as keys, and values
    as wide as keys, so fewer queries are asked after others, and wide values go through in parts."""
    missing, width = key.shape[-2] - query.shape[-2], query.shape[-1]
    full = np.pad(query, [(0, 0), (0, 0), (missing, 0), (0, 0)])
    wide = np.pad(value, [(0, 0), (0, 0), (0, 0), (0, -value.shape[-1] % width)])
    parts = [wide[..., at : at + width] for at in range(0, wide.shape[-1], width)]
    found = [np.asarray(room.call("causal_attention", full, key, part)["output"]) for part in parts]
    return np.concatenate(found, axis=-1)[..., missing:, : value.shape[-1]]


def check(room: Room) -> tuple[str, tuple[str, ...], tuple[Contract, ...]]:
    """Verdict, the faults it looks like, and every contract with its worst value over the fixtures."""
    table = results.expected(registry.all_faults())
    found = [checking.check(subject(room, fixture), [fixture], table) for fixture in FIXTURES]
    worst = next((one for one in found if one.verdict == checking.BROKEN), found[-1])
    rows = [_row([one.findings[at] for one in found]) for at in range(len(worst.findings))]
    return worst.verdict, worst.named, tuple(row for row in rows if row.name not in UNPROMISED)


def _row(findings: list[checking.Finding]) -> Contract:
    broken = [finding for finding in findings if finding.verdict == checking.BROKEN]
    seen = [finding for finding in findings if finding.value is not None]
    shown = (broken or seen or findings)[-1]
    detector = shown.detector
    return Contract(detector.name, shown.value, detector.threshold, shown.verdict, shown.reason)
