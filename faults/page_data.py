"""What the page needs beyond the rows of a report: computed here, by the library, so that the page only draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import influence, patterns, probes
from detectors.errors import NotObservable
from detectors.fixtures import Extents, Fixture
from detectors.observation import Observation
from faults import reference, registry, saturation_slopes
from faults.demonstration import demonstrate
from faults.injection import patched
from faults.model import Fault, Report, Variant
from faults.page_model import Explained, Look, Matrix, PagePart, Sight
from faults.quiz.questions import questions

Array = NDArray[Any]

LOOKED_AT = Extents(batch=1, tokens=8, heads=2, kv_heads=2, head_width=4, hidden=12)
"""Eight tokens and two heads: an axis swap shows as blocks of four tokens."""

GROUPED = Extents(batch=1, tokens=8, heads=4, kv_heads=2, head_width=2, hidden=12)
SEED = 5
POSITIONS, CHANNELS = 64, 32
DIGITS = 6
"""Significant digits kept of a look; exact zeros stay exact, which is what matters there."""

LOOKS: dict[str, Callable[[Observation], Array]] = {
    "block": influence.visibility,
    "attention": lambda observation: probes.weights(observation)[0].mean(axis=0),
    "huge": probes.peaks,
    "short": lambda observation: probes.short_weights(observation)[0].mean(axis=0),
}
"""Probe -> [query, key]; weights are averaged over the heads."""


def part(report: Report) -> PagePart:
    """The page's part of a report: its faults demonstrated, looked at and explained, and what stands beside them."""
    chosen = [(fault, variant) for fault in _faults(report) for variant in _kept(fault, report)]
    return PagePart(
        extents=LOOKED_AT.as_dict(),
        healthy=looks(Fixture(LOOKED_AT, SEED)),
        sights=tuple(sight(fault, variant) for fault, variant in chosen),
        demonstrations=tuple(demonstrate(fault, variant) for fault, variant in chosen),
        explained=tuple(
            Explained(fault.name, fault.formula, fault.enters, fault.shapes) for fault in _faults(report)
        ),
        slopes=saturation_slopes.slopes(),
        positions=matrix(reference.positions(POSITIONS, CHANNELS)),
        questions=questions(),
    )


def _faults(report: Report) -> list[Fault]:
    return [registry.load(found.name) for found in report.faults if found.name in registry.NAMES]


def _kept(fault: Fault, report: Report) -> list[Variant]:
    names = {(row.fault, row.variant) for row in report.variants}
    return [variant for variant in fault.variants if (fault.name, variant.name) in names]


def sight(fault: Fault, variant: Variant) -> Sight:
    """The four looks with the variant in force; grouped heads where it could not show otherwise."""
    fixture = Fixture(LOOKED_AT if variant.witnesses(LOOKED_AT) else GROUPED, SEED)
    seen: tuple[Look, ...] = patched(variant, looks, fixture)
    return Sight(fault.name, variant.name, seen)


def looks(fixture: Fixture) -> tuple[Look, ...]:
    """Who sees whom: through the block, in the weights, under one huge logit, and with the last queries alone."""
    with np.errstate(all="ignore"):
        observation = Observation(reference.subject(fixture), fixture)
        words = patterns.patterns(observation)
        return tuple(look(probe, words.get(probe, ""), take, observation) for probe, take in LOOKS.items())


def look(probe: str, word: str, take: Callable[[Observation], Array], observation: Observation) -> Look:
    """What one probe shows of the subject, or why it shows nothing."""
    try:
        return Look(probe, word, matrix(_short(take(observation))))
    except NotObservable as reason:
        return Look(probe, word, None, str(reason))


def _short(array: Array) -> Array:
    return np.array([[float(f"{number:.{DIGITS}g}") for number in row] for row in array])


def matrix(array: Sequence[Sequence[float]] | Array) -> Matrix:
    """Rows of plain floats."""
    return tuple(tuple(float(number) for number in row) for row in array)
