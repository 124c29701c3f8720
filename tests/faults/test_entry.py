"""The two ends of a command line: how its process starts, and what is said of an error."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from faults import __main__


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr, without the name of the program."""
    (line,) = capsys.readouterr().err.splitlines()
    return line.removeprefix("faults: ")


@pytest.mark.parametrize(
    ("error", "code", "english", "chinese"),
    [
        (KeyboardInterrupt(), 130, "interrupted", "已中断"),
        (
            PermissionError(13, "Permission denied", "a/b"),
            3,
            "a/b: no permission; required is a path that this user may use",
            "a/b：没有权限；需要当前用户可以访问的路径",
        ),
        (
            FileNotFoundError(2, "No such file"),
            3,
            "internal error: FileNotFoundError: [Errno 2] No such file (FAULTS_TRACEBACK=1 shows where)",
            "内部错误: FileNotFoundError: [Errno 2] No such file（FAULTS_TRACEBACK=1 可查看出错位置）",
        ),
        (
            OSError(28, "No space left on device"),
            3,
            "stdout cannot be written (No space left on device)",
            "标准输出无法写入（No space left on device）",
        ),
    ],
)
def test_what_is_said_of_an_error_in_both_languages(
    error: BaseException,
    code: int,
    english: str,
    chinese: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(__main__, "hang_up", lambda code: code)
    assert __main__.report(error, "en") == code
    assert error_line(capsys) == english
    assert __main__.report(error, "zh") == code
    assert error_line(capsys) == chinese


@pytest.mark.parametrize("gone", [FileNotFoundError(2, "No such file"), ValueError("odd")])
def test_a_current_folder_that_is_gone_is_said_where_it_matters(
    gone: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: "/no/such/folder")
    assert __main__.report(gone, "en") == __main__.report(gone, "zh") == 3
    english, chinese = capsys.readouterr().err.splitlines()
    if isinstance(gone, ValueError):
        assert english.startswith("faults: internal error: ValueError: odd")
    else:
        assert english == "faults: the current folder is gone; change to one that exists"
        assert chinese == "faults: 当前文件夹已不存在；请换到一个存在的文件夹"


def test_whether_there_is_a_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    assert __main__.here()

    def gone() -> str:
        raise FileNotFoundError(2, "No such file")

    monkeypatch.setattr(os, "getcwd", gone)
    assert not __main__.here()


def test_a_pipe_that_nobody_reads_ends_like_the_signal_and_stdout_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert __main__.report(BrokenPipeError(32, "Broken pipe"), "en") == 141
        print("more", flush=True)
    assert (tmp_path / "out").read_text() == ""
    assert capfd.readouterr().err == ""


def test_a_signal_ends_by_way_of_every_finally() -> None:
    with pytest.raises(SystemExit) as stop:
        __main__.leave(15, None)
    assert stop.value.code == 143


def test_a_command_line_starts_with_streams_that_never_fail_and_signals_that_clean_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[object, ...]] = []

    def run(arguments: list[str]) -> int:
        told.append(tuple(arguments))
        return 7

    stream = SimpleNamespace(reconfigure=lambda **how: told.append(tuple(how.items())))
    ignored = SimpleNamespace(
        SIGTERM=15, SIG_DFL=0, getsignal=lambda number: 0, signal=lambda *set_to: told.append(set_to)
    )
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    monkeypatch.setattr(sys, "argv", ["faults", "list", "--lang", "en"])
    monkeypatch.setattr(__main__, "signal", ignored)
    monkeypatch.setattr(__main__, "main", run)
    with pytest.raises(SystemExit) as stop:
        __main__.entry()
    assert stop.value.code == 7
    # There is no SIGHUP in this module signal.
    assert told == [(("errors", "replace"),), (15, __main__.leave), ("list", "--lang", "en")]


def test_a_signal_that_is_ignored_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored = SimpleNamespace(SIGTERM=15, SIGHUP=1, SIG_DFL=0, getsignal=lambda number: 1)
    monkeypatch.setattr(__main__, "signal", ignored)
    monkeypatch.setattr(__main__, "main", lambda arguments: 0)
    with pytest.raises(SystemExit):
        __main__.entry()
