"""A learner's file as text: what is said of one that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.clean_room import source
from faults.model import FaultsError


def refused(name: str, language: str) -> str:
    with pytest.raises(FaultsError) as error:
        source.read(name, language)
    return str(error.value)


def test_a_mistake_in_the_text_is_said_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("x = 1\nx = = 2\n")
    assert refused("mine.py", "en") == (
        "mine.py, line 2: cannot be read as Python (invalid syntax); correct it first"
    )
    assert refused("mine.py", "zh") == "mine.py 第 2 行：无法作为 Python 读取（invalid syntax）；请先改正"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (ValueError("more than that"), "more than that"),
    ],
)
def test_what_cannot_be_opened_or_parsed_has_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fails(path: Path) -> bytes:
        raise error

    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("x = 1\n")
    monkeypatch.setattr(Path, "read_bytes", fails)
    assert refused("mine.py", "en") == f"mine.py: cannot be read as Python ({reason}); correct it first"
    assert refused("mine.py", "zh") == f"mine.py：无法作为 Python 读取（{reason}）；请先改正"


def test_a_file_of_a_megabyte_is_read_and_a_longer_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("#" * 2**20)
    assert source.read(str(path), "en").lines == {}
    path.write_text("#" * (2**20 + 1))
    assert "(more than 1 MiB)" in refused(str(path), "en")
