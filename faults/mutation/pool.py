"""Workers, one to a processor, each in a copy of the project of its own."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
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
    # Where a process cannot be tied to some of them, it may use all.
    return len(getattr(os, "sched_getaffinity", all_processors)(0))


def all_processors(process: int) -> range:
    """The numbers of all processors there are, whichever process asks."""
    return range(os.cpu_count() or 1)


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
    with _copies(project, count) as folders, ThreadPoolExecutor(count) as threads:
        idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for folder in folders:
            idle.put(Worker(folder))
        waiting = [threads.submit(_work, idle, task) for task in tasks]
        for at, future in enumerate(as_completed(waiting), 1):
            say(f"{at}/{len(tasks)}")
            yield future.result()
        for _ in folders:
            idle.get_nowait().end()


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


def _work(idle: queue.SimpleQueue[Worker], task: Task) -> Result:
    """One task with a worker that has nothing to do; there are as many as threads."""
    worker = idle.get_nowait()
    try:
        return worker.ask(task)
    finally:
        idle.put(worker)


class Worker:
    """A process in a copy of the project. One that dies is an error of its task, and is replaced for the next."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None

    def ask(self, task: Task) -> Result:
        """The result of one task."""
        process = self.process = self.process or start(self.folder)
        answer = _answer(process, json.dumps(asdict(task)))
        if answer:
            return result(json.loads(answer))
        self.end()
        return Result(task.key, Status.ERROR, "the worker died", "", 0.0)

    def end(self) -> None:
        """Ends the process, if there is one."""
        if self.process is not None:
            self.process.kill()
            with suppress(OSError):  # what was written to a dead worker is not worth an error
                self.process.communicate()
            self.process = None


def start(folder: Path) -> subprocess.Popen[str]:
    """A worker in a copy of the project."""
    environment = processes.environment(PYTHONPATH=str(folder))
    command = [sys.executable, "-P", str(SCRIPT), str(folder)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment, text=True
    )


def _answer(process: subprocess.Popen[str], question: str) -> str:
    """A line for a line; nothing from a process that died."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):
        print(question, file=process.stdin, flush=True)
    return process.stdout.readline()


def result(answer: Mapping[str, Any]) -> Result:
    """What a worker's answer means: a kill needs exit code 1 and a test that is known to have failed."""
    status, reason = exit_codes.verdict(answer["code"])
    if status is None or (status is Status.KILLED and not answer["killed_by"]):
        status, reason = Status.ERROR, "pytest reported a failure but no test failed"
    if status is Status.ERROR:
        reason = f"{reason}; {' '.join(answer['tail'].split())[-300:]}"
    killed_by = answer["killed_by"] if status is Status.KILLED else ""
    return Result(answer["key"], status, reason, killed_by, answer["seconds"])
