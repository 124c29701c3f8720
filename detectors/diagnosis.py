"""Which fault do these signals look like? The nearest of the expected signatures, which come in as data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from detectors.attention.slope import Scale
from detectors.catalogue import BY_NAME
from detectors.examination import Examination

PATTERN_WEIGHT = 1.5
"""A visibility pattern says more about which fault it is than most single detectors."""

TIE = 1e-9

SAME_SCALE = 0.05
"""|ln| of a quotient below which two factors are one, as in the contract on the slope."""


@dataclass(frozen=True)
class Expected:
    """What an examination looks like under one variant of one fault."""

    fault: str
    variant: str
    fires: frozenset[str]
    patterns: Mapping[str, str]
    factor: Callable[[int, int, int], float] | None = None
    """What the scores are multiplied by, of heads, channels of one head, and keys; None where that is no number."""


@dataclass(frozen=True)
class Candidate:
    """A fault, its nearest variant, and the distance: 0 is the very signature, 1 has nothing in common."""

    fault: str
    variant: str
    distance: float


@dataclass(frozen=True)
class Diagnosis:
    """The faults, nearest first. `named` has one fault, several where they tie, none where nothing fits."""

    candidates: tuple[Candidate, ...]

    @property
    def named(self) -> tuple[str, ...]:
        if not self.candidates or not self.candidates[0].distance < 1:
            return ()
        nearest = self.candidates[0].distance
        return tuple(found.fault for found in self.candidates if found.distance <= nearest + TIE)


def diagnose(examination: Examination, table: Iterable[Expected], scale: Scale | None = None) -> Diagnosis:
    """Ranks the faults by their nearest signature; a quiet examination names none.

    Where the scale was found, it parts the variants of one fault that look alike otherwise.
    """
    if not examination.fired:
        return Diagnosis(())
    rows = list(table) if scale is None else by_scale(table, scale)
    return rank([(expected, distance(examination, expected)) for expected in rows])


def by_scale(table: Iterable[Expected], scale: Scale) -> list[Expected]:
    """The rows of each fault in order of how well their factor agrees with the one found; the faults as they come."""
    rows = list(table)
    faults = list(dict.fromkeys(row.fault for row in rows))
    return sorted(rows, key=lambda row: (faults.index(row.fault), _disagreement(row, scale)))


def _disagreement(row: Expected, scale: Scale) -> float:
    """|ln| of the quotient of its factor and the one found; a variant without one is as good as another within 5 %."""
    if row.factor is None or not scale.factor > 0:
        return SAME_SCALE
    return abs(math.log(row.factor(scale.heads, scale.head_width, scale.keys) / scale.factor))


def rank(distances: Iterable[tuple[Expected, float]]) -> Diagnosis:
    """The faults by the distance of their nearest variant; equal distances keep the order of the table."""
    best: dict[str, Candidate] = {}
    for expected, apart in distances:
        if expected.fault not in best or apart < best[expected.fault].distance:
            best[expected.fault] = Candidate(expected.fault, expected.variant, apart)
    return Diagnosis(tuple(sorted(best.values(), key=lambda candidate: candidate.distance)))


def distance(examination: Examination, expected: Expected) -> float:
    """Weighted Jaccard distance over what was observed and is a number.

    Signs are the detectors that fire and the patterns that are not causal. 1 - (weight in common) / (weight in
    either). Source: Jaccard, Bulletin de la Société Vaudoise des Sciences Naturelles 37 (1901).
    """
    seen = (examination.fired & examination.told) | _marks(examination.patterns)
    patterns = {probe: word for probe, word in expected.patterns.items() if probe in examination.patterns}
    wanted = (expected.fires & examination.told) | _marks(patterns)
    either = sum(map(_weight, seen | wanted))
    return 1 - sum(map(_weight, seen & wanted)) / either if either else 1.0


def _marks(patterns: Mapping[str, str]) -> frozenset[str]:
    return frozenset(f"{probe}: {word}" for probe, word in patterns.items() if word != "causal")


def _weight(sign: str) -> float:
    return BY_NAME[sign].weight if sign in BY_NAME else PATTERN_WEIGHT
