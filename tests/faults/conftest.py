"""What several test modules of the faults share: one whole report, and modules with a seam."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from detectors.host import HOME
from faults import campaign, injection, page_data, registry
from faults.clean_room import room, similarity
from faults.model import Report
from reports.json_report import to_json
from tests.faults.clean_room_samples.rooms import Here
from tests.faults.clean_room_samples.variants import WRITTEN
from tests.faults.seam_modules import SOURCES
from tests.faults.small_campaigns import EXAMPLES
from tests.reports.made_report import made_report


@pytest.fixture(autouse=True)
def reference_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under mutation too a learner's file is compared with what the reference's mutants are made of."""
    trees = similarity.reference_trees
    monkeypatch.setattr(
        similarity, "reference_trees", lambda home: trees(WRITTEN if home == Path(HOME) else home)
    )


@pytest.fixture
def room_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A learner's file is examined in this process, and likened to nothing: quick, for whatever is not about that."""
    monkeypatch.setattr(room, "Guest", Here)
    monkeypatch.setattr(similarity, "reference_trees", lambda home: {})


@pytest.fixture(scope="session")
def whole() -> Report:
    return campaign.run(registry.all_faults(), EXAMPLES)


@pytest.fixture
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may speak another language."""
    monkeypatch.setenv("LC_ALL", "C")


@pytest.fixture(scope="session")
def page_report() -> Report:
    """A report written by hand, with the part that the page draws."""
    return replace(made_report(), page=page_data.part(made_report()))


@pytest.fixture
def saved(tmp_path: Path, page_report: Report) -> str:
    """The file of that report."""
    path = tmp_path / "run.json"
    path.write_text(to_json(page_report), encoding="utf-8")
    return str(path)


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
