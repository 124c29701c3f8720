"""What each verb's help says of its options, and what the verbs refuse, word for word in both languages."""

from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from faults.__main__ import main
from faults.commands import run
from faults.language import say

SHOWN = {
    "run": "NAME --examples N --seed S --fail-under X --json FILE --junitxml FILE --format NAME",
    "list": "--format NAME",
    "show": "NAME --variant V --format NAME",
    "quiz": "--format NAME",
    "evidence": "--out DIR --seed S --check FILE --root DIR --json FILE",
    "score": (
        "--project DIR --since REV --part NAME --fail-under X --baseline FILE --write-baseline FILE --json FILE "
        "--html FILE --junitxml FILE --summary FILE --badge FILE"
    ),
    "clean_room": (
        "FILE --new PATH --contract FILE --map theirs=ours --python EXE --timeout S --out DIR --json FILE"
    ),
    "check": (
        "SUBJECT --init EXPR --python EXE --cwd DIR --timeout S --heads N --kv-heads N --width N --vocab N "
        "--max-length N --order QKV --padding NAME --window N --design WORDS --output ITEM --seed N --json FILE "
        "--junitxml FILE --format NAME"
    ),
    "page": (
        "--out FILE --from FILE --subject SUBJECT --examples N --seed S --png DIR --svg DIR --init EXPR "
        "--python EXE --cwd DIR --timeout S --heads N --kv-heads N --width N --vocab N --max-length N --order QKV "
        "--padding NAME --window N --design WORDS --output ITEM"
    ),
}
"""What an option is followed by."""


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("verb", SHOWN)
def test_every_option_has_its_word_and_is_explained(verb: str, language: str) -> None:
    module = importlib.import_module(f"faults.commands.{verb}")
    actions = [action for action in module._parser(language)._actions if action.choices is None]
    shown = [" ".join([*action.option_strings[-1:], action.metavar]) for action in actions if action.metavar]
    assert " ".join(shown) == SHOWN[verb]
    explained = [action.help for action in module._parser(language)._actions]
    assert all(explained)
    assert len(set(explained)) == len(explained)
    assert set(explained) >= {say(text, language) for text in module.HELP.values()}


FIVE = "residual_shape, missing_scale, mask_adds_zero, flipped_triangle, head_seq_swap"
REFUSED = [
    (
        "run --all missing_scale",
        "found --all and names, required is one of them",
        "--all 与名称只能选一种",
    ),
    (
        "run",
        f"no fault selected, required is --all or names among: {FIVE}",
        f"没有选择故障；请用 --all，或给出名称：{FIVE}",
    ),
    (
        "run --all --examples 0",
        "--examples: found 0, required is 1 or more",
        "--examples：得到 0，需要 1 或更大的整数",
    ),
    (
        "run --all --seed -1",
        "--seed: found -1, required is 0 or more",
        "--seed：得到 -1，需要 0 或更大的整数",
    ),
    (
        "run --all --fail-under 101",
        "--fail-under: found 101.0, required is 0 to 100",
        "--fail-under：得到 101.0，需要 0 到 100",
    ),
    (
        "run --all --fail-under -0.1",
        "--fail-under: found -0.1, required is 0 to 100",
        "--fail-under：得到 -0.1，需要 0 到 100",
    ),
    (
        "run --all --fail-under nan",
        "--fail-under: found nan, required is 0 to 100",
        "--fail-under：得到 nan，需要 0 到 100",
    ),
    ("run --all -q -v", "found -q and -v, required is one of them", "-q 与 -v 只能选一个"),
    (
        "run --all --json a --junitxml ./a",
        "--json and --junitxml name the same file",
        "--json 与 --junitxml 是同一个文件",
    ),
    ("evidence --root .", "--root needs --check FILE", "--root 须与 --check FILE 合用"),
    (
        "evidence --check a --out b",
        "--out is for measuring, not for --check",
        "--out 用于测量，不能与 --check 合用",
    ),
    ("evidence --check file --json ./file", "--json names the file to check", "--json 就是要检查的文件"),
    (
        "evidence --out folder",
        "'folder/evidence.yaml': found something this verb did not write, or changed since; move it, name another "
        "folder with --out, or replace files with --force",
        "'folder/evidence.yaml'：不是本命令写的，或写后已被改动；请移走、用 --out 另选文件夹，或用 --force 替换文件",
    ),
    (
        "evidence --seed -1",
        "--seed: found -1, required is 0 to 2^63 - 1",
        "--seed：得到 -1，需要 0 到 2^63 - 1",
    ),
    (
        "evidence --out file",
        "--out 'file': found a file, required is a folder",
        "--out 'file'：是文件；需要文件夹",
    ),
    (
        "evidence --out . --json evidence.yaml",
        "--json names one of the files in --out",
        "--json 与 --out 中的文件相同",
    ),
]


@pytest.mark.parametrize("language", [0, 1], ids=["en", "zh"])
@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
def test_what_cannot_be_meant_is_refused_in_one_line_and_nothing_is_written(
    case: tuple[str, str, str],
    language: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    Path("folder").mkdir()
    Path("folder/evidence.yaml").write_text("mine")
    verb, *words = case[0].split()
    assert main([verb, "--lang", ("en", "zh")[language], *words]) == 2
    assert case[1 + language] in capsys.readouterr().err
    files = [place for place in tmp_path.rglob("*") if place.is_file()]
    assert {place.relative_to(tmp_path).as_posix() for place in files} == {"file", "folder/evidence.yaml"}
    assert {place.read_text() for place in files} == {"mine"}


@pytest.mark.parametrize("value", [0.0, 100.0, None])
def test_the_ends_of_a_range_are_within_it(value: float | None) -> None:
    options = SimpleNamespace(
        examples=1, seed=0, fail_under=value, quiet=True, verbose=False, json=None, junitxml=None, lang="en"
    )
    assert run.check(options) == {}  # type: ignore[arg-type]


def test_progress_is_one_line_over_the_other_on_a_terminal_and_nothing_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        flushed = 0

        def isatty(self) -> bool:
            return True

        def flush(self) -> None:
            self.flushed += 1

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show = run.progress()
    assert show is not None
    show("baseline")
    show("")
    assert terminal.getvalue() == "\r\033[Kbaseline\r\033[K"
    assert terminal.flushed == 2
    for nobody in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stderr", nobody)
        assert run.progress() is None
