"""Under mutation a guest is a fork of the process of the test, not a program of its own.

A program of its own takes longer to start than most tests run, and reads the guest's files as text, in which no mutant
is in force. A fork is there at once and runs the guest's functions as this process has them, the mutant among them. It
is otherwise what `detectors.host` starts: a process that leads its own group and session, in the folder asked for, with
private pipes, a lifeline, and none of our packages to be imported.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from typing import IO, Any, NoReturn

import pytest

from detectors import host
from detectors.guest import program
from faults.clean_room import driver, faulty, room

KEPT = {"driver.py": driver, "faulty.py": faulty}
STARTED = host._started
LOOK = 0.001
"""Seconds between two looks at whether a fork has ended."""


class Fork:
    """What `subprocess.Popen` is for a program: as much of it as `detectors.host` uses."""

    def __init__(self, folder: str | None, lifeline: int) -> None:
        (theirs_in, ours_in), (ours_out, theirs_out) = os.pipe(), os.pipe()
        self.returncode: int | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads, which other tests' libraries have left
            self.pid = os.fork()
        if self.pid == 0:
            served(theirs_in, theirs_out, lifeline, folder)
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin, self.stdout = os.fdopen(ours_in, "wb", 0), os.fdopen(ours_out, "rb", 0)

    def poll(self) -> int | None:
        if self.returncode is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if found else None
        return self.returncode

    def wait(self, timeout: float = 60.0) -> int:
        until = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("a fork", timeout)
            time.sleep(LOOK)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def served(read: int, write: int, lifeline: int, folder: str | None) -> NoReturn:
    """In the fork: what `host.BOOT` does in a program, then the guest's own program, to its end."""
    try:
        os.setsid()
        if folder is not None:
            os.chdir(folder)
        pipes = files(read, write, lifeline)
        threading.Thread(target=outlive, args=(lifeline,), daemon=True).start()
        alone()
        for _ in host.SOURCES:
            pipes[0].read(int(pipes[0].readline()))
        program.start(*pipes)
    finally:
        os._exit(1)


def files(read: int, write: int, lifeline: int) -> tuple[IO[bytes], IO[bytes]]:
    """The pipes; whatever else was open is closed, and 0, 1 and 2 lead nowhere."""
    kept = sorted((read, write, lifeline))
    for start, end in zip((-1, *kept), (*kept, os.sysconf("SC_OPEN_MAX")), strict=True):
        os.closerange(start + 1, end)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in {0, 1, 2} - {nowhere, *kept}:
        os.dup2(nowhere, number)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    return os.fdopen(read, "rb"), os.fdopen(write, "wb")


def outlive(lifeline: int) -> None:
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def alone() -> None:
    """No package of ours is imported or found any more, and no file of ours is read to show a line of it."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not ours(getattr(finder, "__module__", ""))]
    for name, module in list(sys.modules.items()):
        if ours(name):
            del sys.modules[name]
            file = str(getattr(module, "__file__", None))
            linecache.cache[file] = (0, None, [], file)
    for name, module in KEPT.items():
        sys.modules[f"kept {name}"] = module
    sys.argv[:] = ["-c"]
    sys.path.insert(0, "")


def ours(module: str) -> bool:
    return module.partition(".")[0] in (*host.OURS, "tests")


def started(python: str, folder: str | None, lifeline: int) -> Any:
    return Fork(folder, lifeline) if python == sys.executable else STARTED(python, folder, lifeline)


def text(name: str) -> str:
    """In place of a file's text: what makes its names known in the fork, which has them already."""
    return f"globals().update(vars(__import__('sys').modules['kept {name}']))"


@pytest.fixture(autouse=True)
def guests_are_forks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where mutants are looked for, unless a test is about the program itself: that one knows of no mutant."""
    if request.node.get_closest_marker("program"):
        monkeypatch.delenv("MUTANT_UNDER_TEST", raising=False)
    else:
        monkeypatch.setattr(host, "_started", started)
        monkeypatch.setattr(room, "_text", text)
