"""`faults clean-room` from the command line: exit codes, one line each for hostile files, and the evidence."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from faults import __main__, evidence_check
from faults.clean_room.template import TEMPLATE
from faults.commands import clean_room
from tests.faults.clean_room_samples.variants import COMPLETE, changed

Captured = pytest.CaptureFixture[str]

INNER = '    inner = x @ weights["W1"]'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def repository(folder: Path) -> Path:
    """A Git repository with one commit, as a submission needs it."""
    identity = ("-c", "user.name=learner", "-c", "user.email=learner@example.org")
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", *identity, "commit", "-q", "--allow-empty", "-m", "start"], check=True)
    return folder


def put(folder: Path, content: str | bytes, name: str = "mine.py") -> str:
    raw = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(raw)
    return name


def run(*arguments: str) -> int:
    return __main__.main(["clean-room", *arguments])


def test_the_interface_is_written_once(folder: Path, capsys: Captured) -> None:
    assert run("--new") == 0
    path = folder / "clean_room" / "transformer_block.py"
    assert "raise NotImplementedError" in path.read_text(encoding="utf-8")
    path.write_text("mine")
    assert run("--new") == 2
    assert path.read_text() == "mine"
    assert "never overwritten" in capsys.readouterr().err


def test_the_interface_goes_where_it_is_told(folder: Path) -> None:
    assert run("--new", "a/b/c.py") == 0
    assert (folder / "a/b/c.py").read_bytes() == TEMPLATE.encode()


@pytest.mark.parametrize(
    ("name", "language", "words"),
    [
        (
            "mine.py",
            "en",
            "'mine.py': found something of that name, which is never overwritten; name another file",
        ),
        ("mine.py", "zh", "'mine.py'：同名文件已存在，不会覆盖；请换一个文件名"),
        ("mine.py/b.py", "en", "'mine.py/b.py': cannot be written (File exists); name another file"),
        ("mine.py/b.py", "zh", "'mine.py/b.py'：无法写入（File exists）；请换一个文件名"),
    ],
)
def test_an_interface_that_cannot_be_written_is_said(
    folder: Path, capsys: Captured, name: str, language: str, words: str
) -> None:
    (folder / "mine.py").touch()
    assert run("--new", name, "--lang", language) == 2
    assert capsys.readouterr().err == f"faults: --new {words}\n"


@pytest.mark.usefixtures("room_here")
def test_a_fresh_template_is_nowhere_done_in_both_languages(folder: Path, capsys: Captured) -> None:
    run("--new", "t.py")
    capsys.readouterr()
    assert run("t.py") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 of 9 done; project_qkv is not written yet: line 37"
    assert run("t.py", "--lang", "zh") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "9 项中已完成 0 项；project_qkv 尚未编写：第 37 行"
    assert run("--contract", "t.py") == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 of 11 done; project_qkv is not written yet")
    assert not (folder / "clean_room").exists()


@pytest.mark.usefixtures("room_here")
def test_a_scrambled_merge_is_said_in_one_line(folder: Path, capsys: Captured) -> None:
    old = "np.concatenate([attended[:, head] for head in range(attended.shape[1])], axis=-1)"
    put(folder, changed(old, "attended.reshape(attended.shape[0], attended.shape[2], -1)"))
    assert run("mine.py", "--lang", "zh") == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("9 项中已完成 4 项；你的 merge_heads 打乱了 head")
    assert last.endswith("：第 55 行")


def test_finished_work_writes_evidence_that_is_complete(repository: Path, capsys: Captured) -> None:
    put(repository, COMPLETE)
    assert run("mine.py", "--json", "result.json") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "9 of 9 done; the clean room is complete"
    found = evidence_check.check(repository / "clean_room" / "evidence" / "evidence.yaml")
    assert found.problems == ()
    assert [part.present for part in found.gate] == [True] * 4
    record = json.loads((repository / "clean_room" / "evidence" / "fault_record.json").read_text())
    leak = record["faults"][0]
    assert leak["before_repair"] > leak["threshold"] == 1e-6
    assert leak["after_repair"] == 0
    assert record["file"] == "mine.py"
    assert str(repository) not in (repository / "clean_room" / "evidence" / "evidence.yaml").read_text()
    result = json.loads((repository / "result.json").read_text())
    assert result["done"] is True
    assert result["parts_done"] == 9
    assert {row["name"]: row["holds"] for row in result["requirements"]}["per_head"] is True
    assert result["shapes"]["scores"] == [2, 3, 5, 5]
    assert len(result["evidence"]) == 4


@pytest.mark.usefixtures("room_here")
def test_the_intermediates_are_the_learners_own(repository: Path) -> None:
    put(repository, changed("-np.inf", "-1e9"))
    assert run("mine.py", "--out", "out") == 0
    with np.load(repository / "out" / "intermediates.npz") as arrays:
        assert arrays["masked"].min() < -1e8
        assert np.isfinite(arrays["masked"]).all()


@pytest.mark.usefixtures("room_here")
def test_evidence_of_faulty_work_says_so(repository: Path) -> None:
    put(repository, changed("-np.inf", "0.0"))
    assert run("mine.py") == 1
    found = evidence_check.check(repository / "clean_room" / "evidence" / "evidence.yaml")
    assert not found.complete
    assert [part.present for part in found.gate] == [False, False, True, False]


@pytest.mark.usefixtures("room_here")
def test_evidence_is_replaced_only_where_it_was_written_by_this_verb(
    repository: Path, capsys: Captured
) -> None:
    put(repository, COMPLETE)
    assert run("mine.py") == 0
    assert run("mine.py") == 0
    record = repository / "clean_room" / "evidence" / "fault_record.json"
    record.write_text("{}")
    assert run("mine.py") == 2
    assert record.read_text() == "{}"
    assert "did not write, or changed since" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["fault_record.json", "evidence.yaml", "evidence.json", "intermediates.npz"])
def test_neither_the_result_nor_a_link_takes_the_place_of_evidence(
    repository: Path, capsys: Captured, name: str
) -> None:
    put(repository, COMPLETE)
    (repository / "out").mkdir()
    assert run("mine.py", "--out", "out", "--json", f"out/../out/{name}") == 2
    assert capsys.readouterr().err == "faults: --json names one of the files in --out\n"
    (repository / "out" / name).symlink_to(repository / "elsewhere")
    assert run("mine.py", "--out", "out") == 2
    assert "did not write, or changed since" in capsys.readouterr().err
    assert not (repository / "elsewhere").exists()


@pytest.mark.usefixtures("room_here")
@pytest.mark.parametrize("name", ["fault_record.json", "evidence.json"])
def test_a_link_to_what_was_written_is_not_what_was_written(repository: Path, name: str) -> None:
    put(repository, COMPLETE)
    assert run("mine.py", "--out", "out") == 0
    (repository / "out" / name).rename(repository / name)
    (repository / "out" / name).symlink_to(repository / name)
    assert run("mine.py", "--out", "out") == 2


@pytest.mark.usefixtures("room_here")
def test_evidence_that_cannot_be_written_is_said_in_one_line_and_leaves_what_was_there(
    repository: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(repository, COMPLETE)
    assert run("mine.py", "--out", "out") == 0
    before = {path.name: path.read_bytes() for path in (repository / "out").iterdir()}
    capsys.readouterr()

    def full(self: Path, target: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert run("mine.py", "--out", "out") == 2
    assert capsys.readouterr().err == (
        "faults: --out 'out': cannot be written (No space left on device); name another folder\n"
    )
    assert {path.name: path.read_bytes() for path in (repository / "out").iterdir()} == before


@pytest.mark.parametrize("epoch", ["soon", "1e30", "9" * 30])
def test_a_time_that_is_none_is_refused_before_anything_runs(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, epoch: str
) -> None:
    put(folder, "raise SystemExit('it ran')\n")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert run("mine.py") == 2
    assert capsys.readouterr().err == (
        f"faults: SOURCE_DATE_EPOCH: found {epoch!r}, required is whole seconds since 1970\n"
    )


def test_a_path_without_permission_is_one_line(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(self: Path) -> NoReturn:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_file", closed)
    assert run("locked/mine.py") == 3
    assert capsys.readouterr().err == (
        "faults: locked/mine.py: no permission; required is a path that this user may use\n"
    )


@pytest.mark.usefixtures("room_here")
def test_the_commit_is_that_of_the_learners_file_and_not_of_the_folder_of_evidence(repository: Path) -> None:
    other = repository / "other"
    other.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=other, check=True)
    put(repository, COMPLETE)
    run("mine.py", "--out", "other/out")
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert json.loads((other / "out" / "evidence.json").read_text())["commit"] == head


def test_no_evidence_where_the_reference_was_reached(folder: Path, capsys: Captured) -> None:
    put(folder, "try:\n    import core\nexcept ImportError:\n    pass\n" + COMPLETE)
    assert run("mine.py") == 1
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "9 of 9 done; imports the reference core: line 2"
    assert "no evidence written: the file reaches the reference" in out
    assert not (folder / "clean_room").exists()


@pytest.mark.usefixtures("room_here")
def test_a_mapping_is_proposed_and_works_when_confirmed(folder: Path, capsys: Captured) -> None:
    put(folder, COMPLETE.replace("merge_heads", "combine_heads").replace("causal_attention", "attn"))
    assert run("mine.py") == 1
    line = capsys.readouterr().out.splitlines()[-3]
    assert line == "  --map attn=causal_attention --map combine_heads=merge_heads"
    assert run("mine.py", *line.split()) == 0
    assert run("--map", "attn=causal_attention", "combine_heads=merge_heads", "mine.py") == 0


@pytest.mark.usefixtures("room_here")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_byte_order_mark_and_any_line_end_are_read(folder: Path, end: str) -> None:
    put(folder, b"\xef\xbb\xbf" + COMPLETE.replace("\n", end).encode())
    assert run("mine.py") == 0


@pytest.mark.usefixtures("room_here")
def test_chinese_identifiers_and_file_names_are_read(folder: Path) -> None:
    assert run(put(folder, COMPLETE.replace("standardise", "归一化"), "我的 block.py")) == 0


@pytest.mark.usefixtures("room_here")
def test_a_declared_encoding_is_obeyed(folder: Path) -> None:
    put(folder, ("# -*- coding: gbk -*-\n# 中文\n" + COMPLETE).encode("gbk"))
    assert run("mine.py") == 0


HOSTILE = [
    ("import sys\nsys.exit(0)\n", 3, "line 2: cannot be loaded (SystemExit: 0)"),
    ("import os\nos._exit(0)\n", 3, "could not be run (the subject ended its process with exit code 0)"),
    ("def f(:\n", 3, "line 1: cannot be read as Python"),
    ("1 / 0\n", 3, "line 1: cannot be loaded (ZeroDivisionError: division by zero)"),
    ("import nowhere_at_all\n", 3, "line 1: cannot be loaded (ModuleNotFoundError"),
    ("x = '\udc80'\n", 3, "cannot be read as Python"),
    (b"\x00\x01\x02", 3, "cannot be read as Python"),
    (changed(INNER, "    import os\n    os._exit(7)\n" + INNER), 3, "feed_forward: could not be run"),
    (changed(INNER, "    import os\n    os.kill(os.getpid(), 9)\n" + INNER), 3, "died of signal 9"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "code", "words"), HOSTILE)
def test_a_hostile_file_gets_one_line(
    folder: Path, capsys: Captured, content: str | bytes, code: int, words: str
) -> None:
    put(folder, content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
    assert run("mine.py", "--timeout", "2") == code
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("while True:\n    pass\n", "did not answer within 2 seconds"),
        (
            changed(INNER, "    while True:\n        pass\n" + INNER),
            "mine.py, feed_forward: could not be run",
        ),
    ],
)
def test_a_file_that_does_not_end_gets_one_line(
    folder: Path, capsys: Captured, content: str, words: str
) -> None:
    test_a_hostile_file_gets_one_line(folder, capsys, content, 3, words)


@pytest.mark.parametrize(
    "statement", ['print("x" * 30_000_000)', "import os; os.fork()", "import threading; threading.Event()"]
)
def test_noise_and_company_hurt_nobody(folder: Path, statement: str) -> None:
    put(folder, changed(INNER, f"    {statement}\n{INNER}"))
    assert run("mine.py") == 0


def test_the_cause_is_said_in_chinese(folder: Path, capsys: Captured) -> None:
    put(folder, "import os\nos._exit(4)\n")
    assert run("mine.py", "--lang", "zh") == 3
    assert capsys.readouterr().err == "faults: mine.py：无法运行（代码以退出码 4 结束了进程）\n"


ONE = (
    "required is exactly one of FILE, --new [PATH] and --contract FILE",
    "FILE、--new [PATH]、--contract FILE 三者必须且只能有一个",
)
FOREIGN = (
    "'own/evidence.yaml': found something this verb did not write, or changed since; "
    "move it or name another --out",
    "'own/evidence.yaml'：不是本命令写的，或写后已被改动；请移走，或用 --out 另选文件夹",
)


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ([], ONE),
        (["mine.py", "--contract", "mine.py"], ONE),
        (["--new", "a.py", "--contract", "mine.py"], ONE),
        (
            ["--new", "a.py", "--map", "attn=causal_attention", "mine.py"],
            ("--map is for checking a file", "--map 只用于检查文件"),
        ),
        (["--new", "a.py", "--json", "x"], ("--json is for checking a file", "--json 只用于检查文件")),
        (["--new", "a.py", "--python", "x"], ("--python is for checking a file", "--python 只用于检查文件")),
        (
            ["nowhere.py"],
            (
                "'nowhere.py': found no such file, required is a Python file; make one with --new",
                "'nowhere.py'：没有这个文件；需要一个 Python 文件，可用 --new 生成",
            ),
        ),
        (["."], None),
        (
            ["--contract", "mine.py", "--out", "x"],
            ("--out is for checking the whole work", "--out 只用于完整检查"),
        ),
        (
            ["mine.py", "--timeout", "0"],
            ("--timeout: found 0.0, required is above 0", "--timeout：得到 0.0，应大于 0"),
        ),
        (
            ["mine.py", "--timeout", "nan"],
            ("--timeout: found nan, required is above 0", "--timeout：得到 nan，应大于 0"),
        ),
        (["mine.py", "--map", "a"], None),
        (
            ["mine.py", "--out", "mine.py"],
            (
                "--out 'mine.py': found a file, required is a folder",
                "--out 'mine.py'：是文件；需要文件夹",
            ),
        ),
        (["mine.py", "--out", "own"], FOREIGN),
        (["mine.py", "--json", "nowhere/x.json"], None),
        (
            ["mine.py", "--json", "clean_room/evidence/evidence.json"],
            ("--json names one of the files in --out", "--json 与 --out 中的文件相同"),
        ),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line_and_both_languages(
    folder: Path, capsys: Captured, arguments: list[str], lines: tuple[str, str] | None
) -> None:
    put(folder, COMPLETE)
    (folder / "own").mkdir()
    (folder / "own/evidence.yaml").write_text("precious")
    (folder / "clean_room/evidence").mkdir(parents=True)
    for language, line in zip(("en", "zh"), lines or (None, None), strict=True):
        assert run(*arguments, "--lang", language) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        assert line is None or err == f"faults: {line}\n"


def test_the_result_that_cannot_be_written_is_named_by_its_option(folder: Path, capsys: Captured) -> None:
    put(folder, COMPLETE)
    assert run("mine.py", "--json", "nowhere/x.json") == 2
    assert capsys.readouterr().err.startswith("faults: --json 'nowhere/x.json': ")


@pytest.mark.parametrize(
    ("line", "english", "chinese"),
    [
        (
            "1 / 0\n",
            "mine.py, line 1: cannot be loaded (ZeroDivisionError: division by zero); correct it first",
            "mine.py 第 1 行：无法加载（ZeroDivisionError: division by zero）；请先改正",
        ),
        (
            "raise Odd\n",
            "mine.py, line 1: cannot be loaded (NameError: name 'Odd' is not defined); correct it first",
            "mine.py 第 1 行：无法加载（NameError: name 'Odd' is not defined）；请先改正",
        ),
    ],
)
@pytest.mark.usefixtures("room_here")
def test_a_file_that_raises_while_it_is_loaded_is_named_with_its_line(
    folder: Path, capsys: Captured, line: str, english: str, chinese: str
) -> None:
    put(folder, line)
    for language, said in (("en", english), ("zh", chinese)):
        for arguments in (["mine.py"], ["--contract", "mine.py"]):
            assert run(*arguments, "--lang", language) == 3
            assert capsys.readouterr().err == f"faults: {said}\n"


@pytest.mark.usefixtures("room_here")
def test_why_there_is_no_evidence_is_said(repository: Path, capsys: Captured) -> None:
    put(repository, COMPLETE.replace("def block(", "def blok("))
    expected = (
        "no evidence written: not all five metrics can be measured on your code: "
        "block must run and call your own functions",
        "未写 evidence：五项指标中有的无法在你的代码上测量：block 必须能运行，并调用你自己的函数",
    )
    for language, line in zip(("en", "zh"), expected, strict=True):
        assert run("mine.py", "--lang", language) == 1
        assert line in capsys.readouterr().out.splitlines()
    put(repository, "import core.block\n" + COMPLETE)
    assert run("mine.py", "--lang", "zh") == 1
    assert "未写 evidence：文件接触了参考实现" in capsys.readouterr().out.splitlines()


@pytest.mark.usefixtures("room_here")
def test_what_was_written_is_listed_and_what_is_new_says_how_to_go_on(
    repository: Path, capsys: Captured
) -> None:
    assert run("--new", "mine.py", "--lang", "zh") == 0
    assert capsys.readouterr().out == "已写入 mine.py：填好后运行 python -m faults clean-room mine.py\n"
    put(repository, COMPLETE)
    assert run("mine.py", "--out", "out") == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("evidence written")]
    names = ("intermediates.npz", "fault_record.json", "evidence.yaml", "evidence.json")
    assert lines == [f"evidence written: out/{name}" for name in names]


def test_an_interpreter_that_is_none_cannot_be_run(folder: Path, capsys: Captured) -> None:
    put(folder, COMPLETE)
    assert run("mine.py", "--python", "./nowhere") == 3
    assert "./nowhere cannot be used" in capsys.readouterr().err


def test_every_help_text_is_there_in_both_languages() -> None:
    assert all(set(text) == {"en", "zh"} for text in clean_room.HELP.values())


def test_nothing_is_left_beside_the_file(folder: Path) -> None:
    put(folder, COMPLETE)
    run("--contract", "mine.py")
    assert os.listdir(folder) == ["mine.py"]
