"""The finished sample with one thing done otherwise, and how a file is examined in a test."""

from __future__ import annotations

from pathlib import Path

from detectors.host import HOME
from faults.clean_room import source
from faults.clean_room.model import CleanRoom, Finding
from faults.clean_room.room import Room
from faults.clean_room.work import Work

COMPLETE = Path(__file__).with_name("complete.py").read_text(encoding="utf-8")

WRITTEN = Path(HOME).parent if Path(HOME).name == "mutants" else Path(HOME)
"""Where the reference stands as it was written: in a folder of mutants its files are a hundred times as long."""


def changed(old: str, new: str) -> str:
    """The finished sample with one piece of its text replaced."""
    assert COMPLETE.count(old) == 1, old
    return COMPLETE.replace(old, new)


def examined(folder: Path, text: str, mapping: dict[str, str] | None = None, whole: bool = True) -> CleanRoom:
    """Everything found about a file of this text, or about its interface alone."""
    path = folder / "submission.py"
    path.write_text(text, encoding="utf-8")
    given = mapping or {}
    read = source.read(str(path), "en")
    with Room(str(read.path), given, None, 60, str(folder)) as room:
        work = Work(read, room, given)
        return work.whole() if whole else work.interface()


def part(room: CleanRoom, key: str) -> Finding:
    """One part of the work."""
    return next(finding for finding in room.findings if finding.key == key)


def line(text: str, start: str) -> int:
    """The number of the first line that starts so."""
    return next(number for number, row in enumerate(text.splitlines(), 1) if row.startswith(start))
