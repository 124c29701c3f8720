"""The worker by itself: a process that runs tests on one changed program after another."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faults.mutation import pool
from tests.faults.mutation.made_run import put

BOX = "def double(a):\n    return 2 * a\n"
TESTS = """
import subprocess, sys

from shop import box

def test_fast():
    assert box.double(3) == 6

def test_slow():
    assert box.double(5) == 10

def test_in_a_child():
    command = [sys.executable, "-c", "from shop import box; print(box.double(4))"]
    assert subprocess.check_output(command, text=True) == "8\\n"
"""
FILE = "tests/test_box.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "shop/box.py", BOX)
    put(tmp_path / FILE, TESTS)
    put(tmp_path / "tests/test_nothing.py", "x = 1\n")
    put(tmp_path / "pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-p no:cacheprovider'\n")
    return tmp_path


@pytest.fixture
def worker(folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = pool.start(folder)
    yield process
    process.kill()
    process.communicate()


def ask(process: subprocess.Popen[str], text: str, *stages: list[str], **more: Any) -> dict[str, Any]:
    """The worker's answer about `shop/box.py` with another text."""
    task = {"key": "k", "path": "shop/box.py", "text": text, "arguments": [], "seconds": 60.0, **more}
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({**task, "stages": stages}) + "\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    assert answer.pop("key") == "k"
    assert answer.pop("seconds") > 0
    return answer


def test_one_program_after_another_is_tested_as_it_is_then(
    worker: subprocess.Popen[str], folder: Path
) -> None:
    unchanged = {"code": 0, "killed_by": "", "tail": ""}
    assert ask(worker, BOX, [FILE]) == unchanged
    # As long as before, and within the same second: an old bytecode file would be taken for it.
    killed = {"code": 1, "killed_by": f"{FILE}::test_fast", "tail": ""}
    assert ask(worker, BOX.replace("2", "3"), [FILE]) == killed
    assert (folder / "shop/box.py").read_text() == BOX
    assert ask(worker, "", [FILE], path="") == unchanged


def test_a_child_process_of_a_test_meets_the_same_program(worker: subprocess.Popen[str]) -> None:
    test = f"{FILE}::test_in_a_child"
    assert ask(worker, BOX.replace("2", "3"), [test])["killed_by"] == test


def test_tests_that_were_not_asked_for_are_left_out(worker: subprocess.Popen[str]) -> None:
    only_three = "def double(a):\n    return 6 if a == 3 else 0\n"
    assert ask(worker, only_three, [f"{FILE}::test_fast"])["code"] == 0
    assert ask(worker, only_three, [FILE])["code"] == 1


def test_tests_run_in_the_order_asked_for(worker: subprocess.Popen[str]) -> None:
    wrong = BOX.replace("2", "3")
    order = [f"{FILE}::test_slow", f"{FILE}::test_fast"]
    assert ask(worker, wrong, order)["killed_by"] == order[0]
    assert ask(worker, wrong, order[::-1])["killed_by"] == order[1]


def test_a_later_stage_runs_only_if_the_earlier_ones_pass(worker: subprocess.Popen[str]) -> None:
    fast, slow = f"{FILE}::test_fast", f"{FILE}::test_slow"
    only_three = "def double(a):\n    return 6 if a == 3 else 0\n"
    assert ask(worker, only_three, [fast], [slow])["killed_by"] == slow
    assert ask(worker, BOX.replace("2", "3"), [fast], [slow])["killed_by"] == fast


def test_a_stage_without_tests_decides_nothing(worker: subprocess.Popen[str]) -> None:
    nothing = ["tests/test_nothing.py"]
    assert ask(worker, BOX.replace("2", "3"), nothing, [FILE])["code"] == 1
    assert ask(worker, BOX, [FILE], nothing)["code"] == 0
    assert ask(worker, BOX, nothing)["code"] == 5


def test_a_program_that_cannot_be_imported_is_noticed_by_the_file_that_imports_it(
    worker: subprocess.Popen[str],
) -> None:
    answer = ask(worker, "1 / 0\n", [FILE])
    assert (answer["code"], answer["killed_by"]) == (1, f"{FILE} (could not be collected)")


def test_a_program_that_the_conftest_cannot_import_is_noticed_by_it(
    worker: subprocess.Popen[str], folder: Path
) -> None:
    put(folder / "tests/conftest.py", "from shop import box\n")
    deep = "def deep(n):\n    return 1 / 0 if n == 0 else deep(n - 1)\n\n\ndeep(99)\n"
    assert ask(worker, BOX, [FILE])["code"] == 0
    answer = {"code": 1, "killed_by": "conftest.py (could not be loaded)", "tail": ""}
    assert ask(worker, deep, [FILE]) == answer


def test_a_command_line_that_pytest_refuses_is_no_kill(worker: subprocess.Popen[str]) -> None:
    answer = ask(worker, BOX, [FILE], arguments=["--no-such-option"])
    assert (answer["code"], answer["killed_by"]) == (4, "")
    assert "unrecognized arguments: --no-such-option" in answer["tail"]


def test_a_program_that_takes_too_long_is_ended(worker: subprocess.Popen[str]) -> None:
    endless = "def double(a):\n    while True:\n        pass\n"
    assert ask(worker, endless, [FILE], seconds=2.0)["code"] == 36


def test_a_program_that_crashes_leaves_its_signal(worker: subprocess.Popen[str]) -> None:
    crash = "import os\n\ndef double(a):\n    os.kill(os.getpid(), 9)\n"
    assert ask(worker, crash, [FILE]) == {"code": -9, "killed_by": "", "tail": ""}


def test_a_program_that_ends_the_process_has_killed_no_test(worker: subprocess.Popen[str]) -> None:
    answer = ask(worker, "import os\n\ndef double(a):\n    os._exit(1)\n", [FILE])
    assert (answer["code"], answer["killed_by"]) == (1, "")


def test_arguments_reach_pytest(worker: subprocess.Popen[str]) -> None:
    assert ask(worker, BOX.replace("2", "3"), [FILE], arguments=["-k", "no_such_test"])["code"] == 5
    refused = ask(worker, BOX, [FILE], arguments=["--no-such-option"])
    assert refused["code"] == 4
    assert "unrecognized arguments: --no-such-option" in refused["tail"]


def test_no_bytecode_is_left_behind(worker: subprocess.Popen[str], folder: Path) -> None:
    ask(worker, BOX, [FILE])
    assert not list(folder.rglob("*.pyc"))


def test_the_worker_ends_when_nobody_asks_any_more(folder: Path) -> None:
    process = pool.start(folder)
    assert process.communicate(timeout=30)[0] == ""
    assert process.returncode == 0


def test_it_needs_nothing_of_this_package() -> None:
    text = Path(pool.SCRIPT).read_text()
    assert "import faults" not in text
    assert "from faults" not in text
    assert sys.executable
