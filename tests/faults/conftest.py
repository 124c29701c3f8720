"""What several test modules of the faults share: one whole report, and modules with a seam."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults import campaign, injection, registry
from faults.model import Report
from tests.faults.seam_modules import SOURCES
from tests.faults.small_campaigns import EXAMPLES


@pytest.fixture(scope="session")
def whole() -> Report:
    return campaign.run(registry.all_faults(), EXAMPLES)


@pytest.fixture
def seam_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Real modules on disk, so that they are imported as anybody's are; nothing stays in force after a test."""
    for name, source in SOURCES.items():
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    injection.restore_all()
    for name in SOURCES:
        sys.modules.pop(name, None)
