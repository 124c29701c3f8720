"""Workers, one to a processor, each in a copy of the project of its own."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from faults.model import Status
from faults.mutation import exit_codes, processes, settings

SCRIPT = Path(__file__).with_name("worker.py")
ALWAYS = ("tests", "pyproject.toml", "setup.cfg", "conftest.py")
NEVER = shutil.ignore_patterns("__pycache__", "mutants", ".git", ".venv", ".hypothesis")


@dataclass(frozen=True)
class Task:
    """A changed program, or the unchanged one where `path` is empty, and the tests for it in stages."""

    key: str
    path: str
    text: str
    stages: tuple[tuple[str, ...], ...]
    arguments: tuple[str, ...] = ()
    seconds: float = 600.0
    """The limit of each stage."""


@dataclass(frozen=True)
class Result:
    """How the tests took it."""

    key: str
    status: Status
    reason: str
    killed_by: str
    seconds: float


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    project: Path, tasks: Sequence[Task], say: Callable[[str], None], workers: int | None = None
) -> dict[str, Result]:
    """Key -> result of every task. One that took too long is run again alone before that is its result."""
    count = min(workers or processors(), max(1, len(tasks)))
    results = {result.key: result for result in _results(project, tasks, count, say)}
    late = [task for task in tasks if results[task.key].status is Status.TIMEOUT]
    if count > 1 and late:
        results |= {result.key: result for result in _results(project, late, 1, say)}
    return results


def _results(
    project: Path, tasks: Sequence[Task], count: int, say: Callable[[str], None]
) -> Iterator[Result]:
    waiting: queue.SimpleQueue[Task] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    done: queue.SimpleQueue[Result] = queue.SimpleQueue()
    with _copies(project, count) as folders:
        threads = [threading.Thread(target=_work, args=(at, waiting, done), daemon=True) for at in folders]
        for thread in threads:
            thread.start()
        for at in range(len(tasks)):
            say(f"{at + 1}/{len(tasks)}")
            yield done.get()
        for thread in threads:
            thread.join()


@contextmanager
def _copies(project: Path, count: int) -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory(prefix="faults-score-") as home:
        folders = [Path(home, str(at)) for at in range(count)]
        for folder in folders:
            copy(project, folder)
        yield folders


def copy(project: Path, folder: Path) -> None:
    """Copies what mutmut would copy: its source_paths, also_copy and the tests, without caches."""
    configured = settings.mutmut(project)
    names = [*configured.get("source_paths", []), *configured.get("also_copy", []), *ALWAYS]
    for name in dict.fromkeys(names):
        source = project / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=NEVER, dirs_exist_ok=True)
        elif source.is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)


def _work(folder: Path, waiting: queue.SimpleQueue[Task], done: queue.SimpleQueue[Result]) -> None:
    """Feed one worker until nothing waits; a worker that dies is an error of its task, and is replaced."""
    worker: subprocess.Popen[str] | None = None
    while (task := _next(waiting)) is not None:
        if worker is not None and worker.poll() is not None:
            _end(worker)
            worker = None
        worker = worker or start(folder)
        done.put(_ask(worker, task))
    if worker is not None:
        _end(worker)


def _next(waiting: queue.SimpleQueue[Task]) -> Task | None:
    try:
        return waiting.get_nowait()
    except queue.Empty:
        return None


def _end(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    with suppress(OSError):  # what was written to a dead worker is not worth an error
        worker.communicate()


def start(folder: Path) -> subprocess.Popen[str]:
    """A worker in a copy of the project."""
    environment = processes.environment(PYTHONPATH=str(folder))
    command = [sys.executable, "-P", str(SCRIPT), str(folder)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment, text=True
    )


def _ask(worker: subprocess.Popen[str], task: Task) -> Result:
    assert worker.stdin is not None
    assert worker.stdout is not None
    try:
        worker.stdin.write(json.dumps(asdict(task)) + "\n")
        worker.stdin.flush()
        answer = worker.stdout.readline()
    except OSError:
        answer = ""
    if not answer:
        return Result(task.key, Status.ERROR, "the worker died", "", 0.0)
    return result(json.loads(answer))


def result(answer: Mapping[str, Any]) -> Result:
    """What a worker's answer means: a kill needs exit code 1 and a test that is known to have failed."""
    status, reason = exit_codes.verdict(answer["code"])
    if status is None or (status is Status.KILLED and not answer["killed_by"]):
        status, reason = Status.ERROR, "pytest reported a failure but no test failed"
    if status is Status.ERROR:
        reason = f"{reason}; {' '.join(answer['tail'].split())[-300:]}"
    killed_by = answer["killed_by"] if status is Status.KILLED else ""
    return Result(answer["key"], status, reason, killed_by, answer["seconds"])
