from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from faults.model import Status
from faults.mutation import pool
from faults.mutation.pool import Result, Task
from tests.faults.mutation.made_run import put

TEST = "from shop import box\n\ndef test_box():\n    assert box.double(3) == 6\n"
BOX = "def double(a):\n    return 2 * a\n"
STAGES = (("tests/test_box.py",),)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(
        tmp_path / "pyproject.toml",
        '[tool.mutmut]\nsource_paths = ["shop"]\nalso_copy = ["data/a.txt", "none"]\n',
    )
    put(tmp_path / "shop/box.py", BOX)
    put(tmp_path / "shop/__pycache__/box.pyc", "old")
    put(tmp_path / "tests/test_box.py", TEST)
    put(tmp_path / "data/a.txt", "a")
    put(tmp_path / "other/b.txt", "b")
    return tmp_path


def said(text: str) -> None:
    """Nobody listens."""


def task(key: str, text: str, **more: float) -> Task:
    return Task(key, "shop/box.py", text, STAGES, **more)  # type: ignore[arg-type]  # seconds only


def test_every_task_has_its_result(project: Path) -> None:
    heard: list[str] = []
    tasks = [Task("same", "", "", STAGES), task("wrong", BOX.replace("2", "3"))]
    found = pool.run(project, tasks, heard.append, workers=2)
    assert {key: result.status for key, result in found.items()} == {
        "same": Status.SURVIVED,
        "wrong": Status.KILLED,
    }
    assert found["wrong"].killed_by == "tests/test_box.py::test_box"
    assert heard == ["1/2", "2/2"]
    assert (project / "shop/box.py").read_text() == BOX


def test_nothing_to_do_is_done(project: Path) -> None:
    assert pool.run(project, [], said) == {}


def test_a_worker_that_dies_is_an_error_and_the_next_task_has_another(project: Path) -> None:
    deadly = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"
    found = pool.run(project, [task("deadly", deadly), task("wrong", "x = 1\n")], said, workers=1)
    assert (found["deadly"].status, found["deadly"].reason) == (Status.ERROR, "the worker died")
    assert found["wrong"].status is Status.KILLED


LATE = Result("late", Status.TIMEOUT, "", "", 9.0)


def answer(monkeypatch: pytest.MonkeyPatch, *rounds: list[Result]) -> list[tuple[list[str], int]]:
    """Makes each round of workers give these results; returns the keys and the number of workers of each."""
    asked: list[tuple[list[str], int]] = []
    left = list(rounds)

    def results(folder: Path, tasks: Sequence[Task], count: int, say: object) -> Iterator[Result]:
        asked.append(([task.key for task in tasks], count))
        return iter(left.pop(0))

    monkeypatch.setattr(pool, "_results", results)
    return asked


def test_what_took_too_long_beside_others_is_run_again_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = Result("quick", Status.KILLED, "", "t", 1.0)
    asked = answer(monkeypatch, [LATE, quick], [Result("late", Status.SURVIVED, "", "", 1.0)])
    found = pool.run(project, [task("late", ""), task("quick", "")], said, workers=2)
    assert asked == [(["late", "quick"], 2), (["late"], 1)]
    assert [found[key].status for key in ("late", "quick")] == [Status.SURVIVED, Status.KILLED]


def test_what_took_too_long_alone_is_not_run_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answer(monkeypatch, [LATE])
    assert pool.run(project, [task("late", "")], said, workers=2) == {"late": LATE}
    assert asked == [(["late"], 1)]


def test_there_is_a_worker_for_each_processor(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "processors", lambda: 3)
    asked = answer(monkeypatch, [LATE], [LATE])
    pool.run(project, [task("late", "")] * 5, said)
    assert [count for _, count in asked] == [3, 1]


def test_what_takes_too_long_is_a_timeout(project: Path) -> None:
    endless = "def double(a):\n    while True: pass\n"
    found = pool.run(project, [task("endless", endless, seconds=2.0)], said)
    assert found["endless"].status is Status.TIMEOUT


def test_a_copy_has_what_mutmut_would_copy_and_no_caches(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    pool.copy(project, folder)
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert found == ["data/a.txt", "pyproject.toml", "shop/box.py", "tests/test_box.py"]


ANSWER = {"key": "k", "code": 1, "killed_by": "test_a", "seconds": 0.5, "tail": ""}


def test_a_failed_test_is_a_kill() -> None:
    assert pool.result(ANSWER) == Result("k", Status.KILLED, "", "test_a", 0.5)


def test_a_failure_without_a_failed_test_is_an_error() -> None:
    found = pool.result({**ANSWER, "killed_by": "", "tail": "a\n b"})
    assert (found.status, found.killed_by) == (Status.ERROR, "")
    assert found.reason == "pytest reported a failure but no test failed; a b"


@pytest.mark.parametrize("code", [2, 3, 4, -11])
def test_whatever_else_ends_the_tests_is_an_error(code: int) -> None:
    found = pool.result({**ANSWER, "code": code, "tail": "why"})
    assert (found.status, found.killed_by) == (Status.ERROR, "")
    assert found.reason.endswith("; why")


@pytest.mark.parametrize(
    ("code", "status"), [(0, Status.SURVIVED), (5, Status.NO_COVERAGE), (36, Status.TIMEOUT)]
)
def test_verdicts_without_a_kill_name_no_test(code: int, status: Status) -> None:
    assert pool.result({**ANSWER, "code": code}) == Result("k", status, "", "", 0.5)
