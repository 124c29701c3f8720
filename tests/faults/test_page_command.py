"""`faults page` in-process: what it writes, from what, and what it refuses before anything runs."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults import campaign, page_data
from faults.__main__ import main
from faults.model import Report, Status
from reports.json_report import from_json, to_json
from tests.reports.made_report import made_report

pytestmark = pytest.mark.usefixtures("english")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Every campaign ends at once with a made report; the list holds what each was asked for."""
    calls: list[dict[str, Any]] = []

    def run(chosen: Any, **options: Any) -> Report:
        calls.append({"names": [fault.name for fault in chosen], **options})
        return made_report()

    monkeypatch.setattr(campaign, "run", run)
    return calls


def test_a_saved_report_is_drawn_without_running_anything(
    saved: str, tmp_path: Path, runs: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "page.html"
    assert main(["page", "--from", saved, "--out", str(out)]) == 0
    assert runs == []
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")
    size = out.stat().st_size / 1000
    assert capsys.readouterr().out == f"wrote {out} ({size:.0f} KB)\n"


def test_a_fresh_run_takes_all_faults_and_draws_what_it_found(
    tmp_path: Path, runs: list[dict[str, Any]]
) -> None:
    out = tmp_path / "page.html"
    assert main(["page", "--out", str(out), "--examples", "7", "--seed", "3", "-q"]) == 0
    assert [(len(call["names"]), call["examples"], call["seed"]) for call in runs] == [(5, 7, 3)]
    assert '"seed":5' in out.read_text(encoding="utf-8")


def test_a_fresh_run_with_a_survivor_is_drawn_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made_report().faults[0]
    rows = (replace(first.variants[0], status=Status.SURVIVED), *first.variants[1:])
    failing = replace(made_report(), faults=(replace(first, variants=rows), *made_report().faults[1:]))
    monkeypatch.setattr(campaign, "run", lambda *faults, **options: failing)
    out = tmp_path / "page.html"
    assert main(["page", "--out", str(out)]) == 1
    assert out.exists()


def test_an_interrupted_run_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = replace(made_report(), interrupted=True)
    monkeypatch.setattr(campaign, "run", lambda *faults, **options: stopped)
    out = tmp_path / "page.html"
    assert main(["page", "--out", str(out)]) == 130
    assert not out.exists()


def test_run_with_json_writes_all_that_the_page_needs(tmp_path: Path, runs: list[dict[str, Any]]) -> None:
    file = tmp_path / "run.json"
    assert main(["run", "--all", "-q", "--json", str(file)]) == 0
    part = from_json(file.read_text(encoding="utf-8")).page
    assert part == page_data.part(made_report())


def test_the_default_file_is_report_html(saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["page", "--from", saved, "-q"]) == 0
    assert sorted(os.listdir(tmp_path)) == ["report.html", "run.json"]


@pytest.mark.parametrize(("spoken", "asked"), [("zh", "zh"), ("en", "en")])
def test_the_language_asked_for_is_the_pages(saved: str, tmp_path: Path, spoken: str, asked: str) -> None:
    out = tmp_path / "page.html"
    main(["page", "--from", saved, "--out", str(out), "--lang", spoken, "-q"])
    assert f'data-language="{asked}"' in out.read_text(encoding="utf-8")


def test_without_a_language_the_browser_decides_whatever_the_terminal_speaks(
    saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    out = tmp_path / "page.html"
    main(["page", "--from", saved, "--out", str(out), "-q"])
    assert 'data-language=""' in out.read_text(encoding="utf-8")


def test_the_same_report_gives_the_same_bytes(saved: str, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        main(["page", "--from", saved, "--out", str(tmp_path / name), "-q"])
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--examples", "0"], "--examples: found 0, required is 1 or more"),
        (["--seed", "-1"], "--seed: found -1, required is 0 or more"),
        (["--out", "."], "found a folder"),
        (["--out", "missing/page.html"], "found no folder"),
        (["--from", "missing.json"], "cannot be read"),
        (["--png", ""], "required is a folder"),
        (["--svg", "missing/pictures"], "required is a folder"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    runs: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["page", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert runs == []
    assert os.listdir(tmp_path) == []


def test_a_report_without_the_pages_part_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.json"
    path.write_text(to_json(made_report()), encoding="utf-8")
    assert main(["page", "--from", str(path), "--out", str(tmp_path / "page.html")]) == 3
    assert "faults run --all --json" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_report_of_an_older_program_without_the_field_still_opens(page_report: Report) -> None:
    tree = json.loads(to_json(made_report()))
    del tree["page"]
    assert from_json(json.dumps(tree)) == made_report()


def test_without_matplotlib_pictures_are_refused_before_the_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    runs: list[dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("faults.commands.page.find_spec", lambda name: None)
    assert main(["page", "--png", str(tmp_path)]) == 2
    assert "pip install 'attention-faults[pictures]'" in capsys.readouterr().err
    assert runs == []


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG\r\n"), ("svg", b"<?xml")])
def test_pictures_are_written_to_a_folder_and_no_page_unless_asked(
    saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, start: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["page", "--from", saved, f"--{kind}", "drawn", "-q"]) == 0
    assert sorted(os.listdir(tmp_path)) == ["drawn", "run.json"]
    names = [f"{name}.{kind}" for name in ("kill_matrix", "saturation", "visibility")]
    assert sorted(os.listdir(tmp_path / "drawn")) == names
    assert all((tmp_path / "drawn" / name).read_bytes().startswith(start) for name in names)
