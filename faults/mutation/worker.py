"""Runs tests on one changed program after another. Runs by itself, in a process of its own, in a copy of a project.

Reads one JSON task a line from stdin and writes one JSON result a line to stdout. A task names a file, the text it
has for as long as the task runs, and stages of tests: each stage runs in a forked child that imports everything
afresh, and the first stage with a failure ends the task. Because the text is on disk, a child process that the tests
start meets the same program; because no bytecode is written, it never meets an older one.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

TIMEOUT = 36
"""The code mutmut uses for a mutant that took too long."""

PRELOADED = ("numpy", "hypothesis", "_hypothesis_pytestplugin", "xml.etree.ElementTree")

# Rewritten asserts are for people who read the failure, and take longer to prepare than most tests run.
OPTIONS = ("-q", "--tb=line", "--assert=plain", "--continue-on-collection-errors")

TEMPORARY = "PYTEST_DEBUG_TEMPROOT"
"""Where pytest puts `tmp_path`: a folder of each child's own, beside the copy of the project."""

UNLOADED = "while loading conftest"
"""What pytest prints when a conftest raises. It ends as after a wrong command line, but no other program does that."""

TAIL = 2000
"""Characters kept of what a crashed run printed."""


class Recorder:
    """Keeps the tests that were asked for, fastest first, stops at the first that fails and remembers it."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self.order = {test: at for at, test in enumerate(wanted) if "::" in test}
        self.killed_by = ""
        self.session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session = session

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves out what was not asked for; a file without `::` was asked for whole."""
        files = {test.partition("::")[0] for test in self.order}
        kept = [item for item in items if item.nodeid in self.order or _file(item) not in files]
        items[:] = sorted(kept, key=lambda item: self.order.get(item.nodeid, 0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.session is not None:
            self.killed_by = self.killed_by or report.nodeid
            self.session.shouldfail = "killed"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.killed_by = self.killed_by or f"{report.nodeid} (could not be collected)"


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def main(folder: Path) -> None:
    """Answer the tasks of stdin until it ends."""
    sys.dont_write_bytecode = True
    preload()
    sys.path.insert(0, str(folder))
    os.chdir(folder)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=answers, flush=True)


def preload() -> None:
    """Import what tests need and what is never changed, once for all children."""
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def run(task: Mapping[str, Any]) -> dict[str, Any]:
    """The result of one task: code, killed_by, seconds and what a crashed run printed last."""
    path = Path(task["path"] or os.devnull)
    kept = path.read_bytes()
    started = time.monotonic()
    try:
        if task["path"]:
            path.write_bytes(task["text"].encode())
        result = staged(task["stages"], task["arguments"], task["seconds"])
    finally:
        if task["path"]:
            path.write_bytes(kept)
    return {"key": task["key"], **result, "seconds": time.monotonic() - started}


def staged(stages: Sequence[Sequence[str]], arguments: Sequence[str], seconds: float) -> dict[str, Any]:
    """The result of the first stage that does not pass, or that of the last one."""
    result: dict[str, Any] = {"code": 5, "killed_by": "", "tail": ""}
    for tests in stages:
        stage = child(tests, arguments, seconds)
        if stage["code"] != 5:
            result = stage
        if stage["code"] not in (0, 5):
            break
    return result


def child(tests: Sequence[str], arguments: Sequence[str], seconds: float) -> dict[str, Any]:
    """One run of pytest in a forked child, ended with everything it started when its time is up."""
    receive, send = os.pipe()
    with tempfile.TemporaryFile() as printed:
        process = os.fork()
        if process == 0:
            os.close(receive)
            test(tests, arguments, send, printed.fileno())
        os.close(send)
        in_time = False
        try:
            in_time = bool(select.select([receive], [], [], seconds)[0])
            message = os.read(receive, 65536) if in_time else b""
        finally:
            code = ended(process, in_time)
            os.close(receive)
        printed.seek(0)
        text = printed.read().decode("utf-8", "replace")
    killed_by = json.loads(message) if message else ""
    if code == pytest.ExitCode.USAGE_ERROR and UNLOADED in text:
        code, killed_by = pytest.ExitCode.TESTS_FAILED, "conftest.py (could not be loaded)"
    return {
        "code": code if in_time else TIMEOUT,
        "killed_by": killed_by,
        "tail": "" if code in (0, 1) else text[-TAIL:],
    }


def ended(process: int, in_time: bool) -> int:
    """The exit code of a child that is through, or is now made to end together with its children."""
    if not in_time:
        os.killpg(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def test(tests: Sequence[str], arguments: Sequence[str], send: int, printed: int) -> None:
    """In the child: run pytest, send the test that failed, and end without cleaning up what the parent owns."""
    os.setpgid(0, 0)
    os.environ[TEMPORARY] = tempfile.mkdtemp(dir=Path.cwd().parent)
    os.dup2(printed, 1)
    os.dup2(printed, 2)
    recorder = Recorder(tests)
    files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
    code = pytest.main([*OPTIONS, *arguments, *files], plugins=[recorder])
    shutil.rmtree(os.environ[TEMPORARY], ignore_errors=True)
    os.write(send, json.dumps(recorder.killed_by).encode())
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
