"""Where a broken contract shows: on the fewest tokens, and at which of them the output is no number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from detectors.checking import Finding
from detectors.errors import NotObservable
from detectors.examination import measure
from detectors.fixtures import Fixture
from detectors.observation import Observation
from detectors.subject import Subject


def smallest(subject: Subject, finding: Finding, batches: Sequence[int] = (1, 2)) -> Fixture | None:
    """The fewest tokens and sequences, of the same seed, on which the contract is broken; None for one that holds.

    At least two tokens where that will do: with one there is nothing to attend to.
    """
    if finding.fixture is None:
        return None
    extents, seed = finding.fixture.extents, finding.fixture.seed
    for tokens in (*range(2, extents.tokens + 1), 1):
        for batch in batches:
            tried = Fixture(replace(extents, tokens=tokens, batch=batch), seed)
            if measure(subject, tried, finding.detector).fired:
                return tried
    return finding.fixture


def holes(subject: Subject, fixture: Fixture) -> tuple[int, ...]:
    """The tokens, counted from 1, whose output on this fixture is not finite in any sequence."""
    observation = Observation(subject, fixture)
    try:
        output = observation.output()
    except NotObservable:
        return ()
    finite = np.isfinite(output).all(axis=(*range(output.ndim - 2), -1))
    return tuple(int(at) + 1 for at in np.flatnonzero(~finite))
