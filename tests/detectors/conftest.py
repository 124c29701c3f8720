"""The fixture that most tests of this room look at."""

from __future__ import annotations

import pytest

from detectors.fixtures import Fixture
from tests.detectors import toy


@pytest.fixture
def sample() -> Fixture:
    """Distinct extents, float64, LayerNorm."""
    return Fixture(toy.EXTENTS, seed=1)
