"""Files the command line writes: checked before the run, written whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree

import pytest

from faults import campaign
from faults.__main__ import main
from faults.commands import output
from faults.model import FaultsError, UsageError
from reports.json_report import from_json
from tests.reports.made_report import made_report


@pytest.fixture(autouse=True)
def _finished_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setattr(campaign, "run", lambda chosen, **options: made_report())


def test_the_report_is_written_as_json_and_junit(tmp_path: Path) -> None:
    json_file, xml_file = tmp_path / "report.json", tmp_path / "report.xml"
    assert main(["run", "--all", "--json", str(json_file), "--junitxml", str(xml_file)]) == 0
    saved = from_json(json_file.read_text(encoding="utf-8"))
    assert replace(saved, page=None) == made_report()
    assert saved.page is not None
    assert ElementTree.parse(xml_file).getroot().tag == "testsuites"
    assert sorted(os.listdir(tmp_path)) == ["report.json", "report.xml"]


@pytest.mark.parametrize("option", ["--json", "--junitxml"])
@pytest.mark.parametrize(
    ("name", "found"),
    [("missing/report", "no folder"), ("", "no name"), (".", "a folder"), ("n" * 300, "File name too long")],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_run(
    option: str,
    name: str,
    found: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(*arguments: object, **options: object) -> NoReturn:
        raise AssertionError("it ran")

    monkeypatch.setattr(campaign, "run", run)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--all", option, name]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"faults: {option} {name!r}: found {found}")
    assert line.count("\n") == 1


def test_a_folder_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UsageError, match="no permission"):
        output.check_file("--json", str(tmp_path / "report.json"), "en")


def test_both_reports_in_one_file_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = tmp_path / "report"
    other = tmp_path / "." / "report"
    assert main(["run", "--all", "--json", str(name), "--junitxml", f"{other.parent}/./report"]) == 2
    assert "name the same file" in capsys.readouterr().err


def test_a_failed_write_leaves_the_old_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.json"
    file.write_text("old")

    def full(self: Path, target: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FaultsError, match="cannot be written"):
        output.write_file("--json", str(file), "new")
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("old")
    file.chmod(0o640)
    output.write_file("--json", str(file), "new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    output.write_file("--json", str(link), "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_what_is_not_a_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    output.write_file("--json", str(pipe), "new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd on this system")
def test_a_pipe_that_is_open_is_written_to_by_its_number(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    name = f"/dev/fd/{writing}"
    output.check_file("--json", name, "en")
    output.write_file("--json", name, "new")
    assert os.read(reading, 10) == b"new"
    os.close(reading)
    os.close(writing)


def test_a_lone_surrogate_does_not_stop_the_report(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    output.write_file("--json", str(file), json.dumps({"name": "\udc80"}, ensure_ascii=False))
    assert json.loads(file.read_text(encoding="utf-8")) == {"name": "\udc80"}


def test_somebodys_python_file_is_never_an_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("x = 1\n")
    assert main(["run", "missing_scale", "--examples", "1", "--json", str(mine)]) == 2
    assert main(["check", f"{mine}:f", "--kind", "attention", "--json", str(mine)]) == 2
    assert main(["clean-room", str(mine), "--json", str(mine), "--out", str(tmp_path / "out")]) == 2
    assert mine.read_text() == "x = 1\n"
    assert "a Python file, which would be lost" in capsys.readouterr().err


def test_a_saved_report_is_not_replaced_by_the_page_drawn_from_it(tmp_path: Path) -> None:
    saved = tmp_path / "report.json"
    saved.write_text("{}")
    assert main(["page", "--from", str(saved), "--out", str(saved)]) == 2
    assert saved.read_text() == "{}"


def test_a_stream_that_leads_to_a_file_is_not_replaced(tmp_path: Path) -> None:
    with (tmp_path / "log.txt").open("w+") as log:
        log.write("kept")
        log.flush()
        assert main(["run", "missing_scale", "--json", f"/dev/fd/{log.fileno()}"]) == 2
    assert (tmp_path / "log.txt").read_text() == "kept"


def test_a_link_that_leads_to_itself_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert main(["run", "missing_scale", "--json", str(tmp_path / "loop")]) == 2
