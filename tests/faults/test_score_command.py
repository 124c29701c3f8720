"""`faults score` in-process, on finished runs; what runs the tools stands in as a function."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from faults.__main__ import main
from faults.commands.score import HELP
from faults.mutation import runs
from tests.faults.mutation.made_run import CODES, LARGER, SOURCE, TIMES, UNIT, project, put

DEAD = dict.fromkeys(CODES, 1)


pytestmark = pytest.mark.usefixtures("english")


def score(folder: Path, *arguments: str) -> int:
    return main(["score", "--no-run", "--project", str(folder), *arguments])


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("faults: ")
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("faults: ").rstrip("\n")


def test_a_finished_run_of_another_project_is_read_and_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(project(tmp_path)) == 1
    out = capsys.readouterr().out
    assert "survived in shop.box.larger (shop/box.py:8)" in out
    assert out.endswith(f"FAIL: survivor: {LARGER} (and 1 more)\n")


def test_a_run_without_survivors_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(project(tmp_path, DEAD), "-q") == 0
    assert capsys.readouterr().out == "PASS: killed 3 of 3, score 100.0 %.\n"


def test_the_current_folder_is_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project(tmp_path, DEAD))
    assert main(["score", "--no-run", "-q"]) == 0


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ({LARGER: 0, UNIT: 1, TIMES: 1}, 1),
        ({LARGER: None, UNIT: 1, TIMES: 1}, 3),
        ({LARGER: -11, UNIT: 1, TIMES: 1}, 3),
    ],
)
def test_the_exit_code_tells_survivors_from_a_run_that_cannot_be_trusted(
    tmp_path: Path, codes: dict[str, int | None], code: int
) -> None:
    assert score(project(tmp_path, codes), "-q", "--fail-under", "90") == code


# 1 of 3 killed: 33.3 %.
@pytest.mark.parametrize(("bar", "code"), [("33.3", 0), ("33.4", 1), ("0", 0), ("100", 1)])
def test_the_bar_is_that_of_the_option(tmp_path: Path, bar: str, code: int) -> None:
    assert score(project(tmp_path), "-q", "--fail-under", bar) == code


def test_a_run_without_mutants_is_nothing(tmp_path: Path) -> None:
    put(tmp_path / "shop/box.py", "x = 1\n")
    put(tmp_path / "mutants/shop/box.py", "x = 1\n")
    put(tmp_path / "mutants/shop/box.py.meta", json.dumps({"exit_code_by_key": {}}))
    put(
        tmp_path / "mutants/mutmut-stats.json",
        '{"tests_by_mangled_function_name": {}, "duration_by_test": {}}',
    )
    assert score(tmp_path, "-q") == 5


def test_the_bars_of_the_project_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = '[[tool.faults.score.parts]]\nname = "all"\nmodules = ["*"]\nat_least = 34\n'
    put(tmp_path / "pyproject.toml", part)
    assert score(project(tmp_path), "-q") == 1
    assert capsys.readouterr().out == "FAIL: part all: 33.3 % killed, at least 34 % is required\n"


def test_a_project_says_how_many_equivalents_there_may_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(
        tmp_path / "pyproject.toml", '[tool.faults.score]\nequivalents = "e.yaml"\nequivalents_at_most = 30\n'
    )
    entry = "function: shop.box.larger, line: 'if first > second:', mutated: 'if first >= second:'"
    put(tmp_path / "e.yaml", f"[{{{entry}, reason: same, proof: inputs, inputs: pairs, extremes: [zero]}}]")
    put(tmp_path / "proofs.py", "def pairs(seed):\n    return [(0.0, 1.0)] * 10000\n")
    put(tmp_path / "pyproject.toml", (tmp_path / "pyproject.toml").read_text() + 'proofs = "proofs.py"\n')
    assert score(project(tmp_path, {LARGER: 0, UNIT: 1, TIMES: 1}), "-q") == 1
    assert capsys.readouterr().out == ("FAIL: equivalents are 33.3 % of all mutants, at most 30 % may be\n")


def test_the_ratchet_lets_known_survivors_live_and_no_new_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = str(tmp_path / "known.json")
    assert score(project(tmp_path), "-q", "--write-baseline", known) == 1
    assert score(tmp_path, "-q", "--baseline", known) == 0
    capsys.readouterr()
    project(tmp_path, {**CODES, UNIT: 0})
    assert score(tmp_path, "-q", "--baseline", known) == 1
    assert capsys.readouterr().out == f"FAIL: new survivor: {UNIT}\n"


def test_every_file_that_is_asked_for_is_written(tmp_path: Path) -> None:
    names = ("json", "html", "junitxml", "summary", "badge")
    options = [word for name in names for word in (f"--{name}", str(tmp_path / name))]
    assert score(project(tmp_path), "-q", *options) == 1
    text = {name: (tmp_path / name).read_text("utf-8") for name in names}
    assert json.loads(text["json"])["files"]["shop/box.py"]["source"] == SOURCE
    assert text["html"].startswith("<!doctype html>")
    assert ElementTree.fromstring(text["junitxml"]).tag == "testsuites"
    assert text["summary"].startswith("# Mutation score\n")
    assert json.loads(text["badge"])["label"] == "mutation score"


def test_a_badge_that_is_called_so_is_a_picture(tmp_path: Path) -> None:
    score(project(tmp_path), "-q", "--badge", str(tmp_path / "badge.svg"))
    assert (tmp_path / "badge.svg").read_text().startswith("<svg ")


def test_a_summary_is_put_below_what_is_there_already(tmp_path: Path) -> None:
    put(tmp_path / "summary.md", "# Others\n")
    score(project(tmp_path), "-q", "--summary", str(tmp_path / "summary.md"))
    assert (tmp_path / "summary.md").read_text().startswith("# Others\n# Mutation score\n")


def test_a_summary_leaves_what_is_there_its_room(tmp_path: Path) -> None:
    put(tmp_path / "summary.md", "x" * 1024 * 1024)
    score(project(tmp_path), "-q", "--summary", str(tmp_path / "summary.md"))
    assert (tmp_path / "summary.md").stat().st_size < 1024 * 1024 + 4096


def test_the_report_speaks_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(project(tmp_path), "-q", "--lang", "zh", "--summary", str(tmp_path / "s")) == 1
    assert capsys.readouterr().out == f"未通过：存活者：{LARGER}（另有 1 项）\n"
    assert (tmp_path / "s").read_text("utf-8").startswith("# 变异得分\n")


def test_verbose_names_more_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score(project(tmp_path), "-v")
    assert (
        "reached by 2 tests: tests/test_box.py::test_fast, tests/test_box.py::test_slow"
        in capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fail-under", "101"], "--fail-under: found 101.0, required is 0 to 100"),
        (["--fail-under", "-1"], "--fail-under: found -1.0, required is 0 to 100"),
        (["--fail-under", "nan"], "--fail-under: found nan, required is 0 to 100"),
        (["-q", "-v"], "found -q and -v, required is one of them"),
        (["--since", "main"], "--since chooses what to run, --no-run runs nothing; required is one of them"),
        (["--json", "a.x", "--html", "./a.x"], "two options name the same file"),
        (["--json", "no/such/folder/a"], "--json 'no/such/folder/a': found no folder 'no/such/folder'"),
        (["--project", "no-such-folder"], "--project 'no-such-folder': found no such folder"),
        (["--junit", "x"], "unrecognized arguments: --junit"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(project(tmp_path))
    assert main(["score", "--no-run", *arguments]) == 2
    assert error_line(capsys).startswith(said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-q", "-v"], "-q 与 -v 只能选一个"),
        (["--fail-under", "101"], "--fail-under：得到 101.0，需要 0 到 100"),
        (["--since", "main"], "--since 决定运行什么，--no-run 什么也不运行；只能选一个"),
        (["--project", "no-such"], "--project 'no-such'：没有这个文件夹；需要项目所在的文件夹"),
        (["--json", "a.x", "--html", "a.x"], "有两个选项指向同一个文件"),
    ],
)
def test_refusals_are_chinese_too(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(project(tmp_path))
    assert main(["score", "--no-run", "--lang", "zh", *arguments]) == 2
    assert error_line(capsys) == said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_help_says_what_every_option_is_for(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--help", "--lang", lang]) == 0
    text = "".join(capsys.readouterr().out.split())
    assert {"en": "usage:faultsscore", "zh": "用法：faultsscore"}[lang] in text
    values = {
        "project": "DIR",
        "since": "REV",
        "fail_under": "X",
        "part": "NAME",
        "no_run": "",
        "quiet": "",
        "verbose": "",
    }
    for name, words in HELP.items():
        described = "".join(words[lang].split())
        assert f"--{name.replace('_', '-')}{values.get(name, 'FILE')}{described}" in text


def test_a_folder_without_a_run_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(tmp_path) == 3
    assert "found no finished run of mutmut" in error_line(capsys)


@pytest.mark.parametrize("text", [None, "{}"])
def test_a_baseline_that_cannot_be_read_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    if text is not None:
        put(tmp_path / "known.json", text)
    assert score(project(tmp_path), "--baseline", str(tmp_path / "known.json")) == 3
    assert "known.json: " in error_line(capsys)


def listen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Makes running the tools leave the run that is there; returns what was asked."""
    asked: list[Any] = []

    def fresh(folder: Path, config: Any, revision: str, part: str, say: Any) -> None:
        say("mutmut")
        asked.append((folder, revision, part))

    monkeypatch.setattr(runs, "fresh", fresh)
    return asked


PARTS = "[[tool.faults.score.parts]]\nname = 'box'\nmodules = ['*']\nat_least = 0\n"


@pytest.mark.parametrize(("lang", "said"), [("en", "found no such part, "), ("zh", "没有这一部分；")])
def test_a_part_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str, said: str
) -> None:
    put(project(tmp_path) / "pyproject.toml", PARTS)
    assert score(tmp_path, "--part", "bow", "--lang", lang) == 2
    line = error_line(capsys)
    assert said in line
    assert line.endswith("pyproject.toml: box" if lang == "en" else "中的一个：box")


@pytest.mark.parametrize("kind", ["folder", "bytes"])
def test_a_summary_that_holds_something_else_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    summary = tmp_path / "summary.md"
    summary.mkdir() if kind == "folder" else summary.write_bytes(b"\xff")
    assert score(project(tmp_path, DEAD), "--summary", str(summary)) in (2, 3)
    assert str(summary) in error_line(capsys)
    assert summary.is_dir() or summary.read_bytes() == b"\xff"


def test_without_no_run_the_tools_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = listen(monkeypatch)
    assert main(["score", "-q", "--project", str(project(tmp_path, DEAD))]) == 0
    assert main(["score", "-q", "--project", str(tmp_path), "--since", "main"]) == 0
    put(tmp_path / "pyproject.toml", PARTS)
    assert main(["score", "-q", "--project", str(tmp_path), "--part", "box"]) == 0
    assert asked == [(tmp_path, "", ""), (tmp_path, "main", ""), (tmp_path, "", "box")]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("terminal", "options", "shown"), [(True, [], True), (False, [], False), (True, ["-q"], False)]
)
def test_progress_is_for_terminals_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool, options: list[str], shown: bool
) -> None:
    listen(monkeypatch)
    written: list[str] = []
    stream = SimpleNamespace(isatty=lambda: terminal, write=written.append, flush=lambda: None)
    monkeypatch.setattr(sys, "stderr", stream)
    main(["score", "--project", str(project(tmp_path, DEAD)), *options])
    assert "".join(written) == ("\r\033[Kmutmut" if shown else "")
