"""What several test modules of the faults share: one whole report, and modules with a seam."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from detectors.host import HOME
from faults import campaign, injection, registry
from faults.clean_room import similarity
from faults.model import Report
from tests.faults.clean_room_samples.variants import WRITTEN
from tests.faults.seam_modules import SOURCES
from tests.faults.small_campaigns import EXAMPLES


@pytest.fixture(autouse=True)
def reference_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under mutation too a learner's file is compared with what the reference's mutants are made of."""
    trees = similarity.reference_trees
    monkeypatch.setattr(
        similarity, "reference_trees", lambda home: trees(WRITTEN if home == Path(HOME) else home)
    )


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
