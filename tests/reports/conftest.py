"""The hand-made report as a fixture."""

from __future__ import annotations

import pytest

from faults.model import Report
from tests.reports.made_report import made_report


@pytest.fixture
def report() -> Report:
    return made_report()
