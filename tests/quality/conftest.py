"""Fixtures are drawn once for the whole room; what detectors derive from them is kept with them."""

from __future__ import annotations

import pytest

from detectors.fixtures import Fixture
from faults import strategies

MANY, SAMPLE = 1_000, 40


@pytest.fixture(scope="session")
def many() -> tuple[Fixture, ...]:
    """A thousand fixtures, for false alarms."""
    return strategies.drawn(MANY, start=7)


@pytest.fixture(scope="session")
def few() -> tuple[Fixture, ...]:
    """Forty others, for detection power: each variant is examined on all of them that can witness it."""
    return strategies.drawn(SAMPLE, start=2024)
