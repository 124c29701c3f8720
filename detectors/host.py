"""The parent's end of a child process in which somebody's code runs: its crash, hang, exit or noise stays there."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from detectors.errors import DetectorError
from detectors.guest.wire import read_frame, write_frame

Array = NDArray[Any]
Answer = tuple[dict[str, Any], list[Array]]

OURS = ("core", "detectors", "faults", "reports")
HOME = str(Path(__file__).resolve().parent.parent)
SOURCES = (
    "wire", "refusal", "subjects", "loading", "conversion", "origins", "places", "torch_sites", "jax_sites", "calling",
    "norms", "describing", "blocks", "program",
)  # fmt: skip
"""The guest's files, each after those it imports."""

PATIENCE = 0.05
"""Seconds between looks at whether the child is still there."""

GRACE = 1.0
"""Seconds that whatever is about to end may take."""

# The child gives its subject other files 0, 1 and 2 before anything of the user's is imported.
# A parent that is killed cannot end its child any more: a thread that waits for the end of a pipe does. Whose group it
# is must be sure: a child that leads none would end whoever started its parent.
BOOT = """
import os, signal, sys, threading, types
def outlive(lifeline):
    try:
        os.read(lifeline, 1)
    except OSError:
        return
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=outlive, args=(int(sys.argv.pop(1)),), daemon=True).start()
pipes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
nowhere = os.open(os.devnull, os.O_RDWR)
for number in range(3):
    os.dup2(nowhere, number)
package = sys.modules["_faults_guest"] = types.ModuleType("_faults_guest")
package.__path__ = []
for name in sys.argv[1:]:
    module = types.ModuleType("_faults_guest." + name)
    module.__package__, module.__file__ = "_faults_guest", os.path.join("<guest>", name + ".py")
    sys.modules[module.__name__] = module
    setattr(package, name, module)
    exec(compile(pipes[0].read(int(pipes[0].readline())), module.__file__, "exec"), module.__dict__)
sys.argv[1:] = []
package.program.start(*pipes)
"""


NO_SHAPE = (
    "AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "NotImplementedError", "UnboundLocalError",
)  # fmt: skip
"""Exceptions that shapes are never the cause of: code that raises one of them on every call cannot run here at all."""


class GuestError(DetectorError):
    """The child cannot be used any more, or was asked for what it cannot give: one line with the cause."""


class SubjectRaised(Exception):  # noqa: N818 - what the subject did
    """An exception of the subject itself during one call; the child is still there."""

    @property
    def no_shape(self) -> bool:
        """Whether the code cannot run here, or not with these arguments: no shape is the cause of that."""
        text = str(self)
        return text.startswith(NO_SHAPE) or (text.startswith("TypeError") and "argument" in text)


class Host(Protocol):
    """Whatever holds a subject and answers requests about it."""

    def request(self, header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
        """(header, arrays) of the answer. Raises SubjectRaised or GuestError."""


class Guest:
    """One child process. `request` sends one operation and waits for its answer, at most `timeout` seconds.

    python: the interpreter, ours by default. folder: its working directory. lost: why the child cannot be used any
    more; None while it can.
    """

    def __init__(self, python: str | None = None, folder: str | None = None, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self.lost: str | None = None
        self._python = python or sys.executable
        self._process, self._lifeline = _spawn(self._python, folder)
        # Buffers of our own over raw pipes: a raw one can be closed while a thread is stuck in it.
        self._writer = io.BufferedWriter(_raw(self._process.stdin))
        self._reader = io.BufferedReader(_raw(self._process.stdout))
        self._ready = threading.Event()
        self._worker = threading.Thread()

    def __enter__(self) -> Guest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def request(self, header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
        """(header, arrays) of the answer. Raises SubjectRaised, or GuestError when the child is lost or refuses."""
        if self.lost is not None:
            raise GuestError(self.lost)
        found = self._exchange(dict(header), list(arrays))
        if found is None:
            self.lost = self._cause()
            self.close()
            raise GuestError(self.lost)
        return judged(found)

    @property
    def process_id(self) -> int:
        """The number of the child's process, which is also that of its group."""
        return self._process.pid

    def hang_up(self, seconds: float) -> int:
        """Lets the child end by itself; its exit code. Raises subprocess.TimeoutExpired where it does not."""
        _raw(self._process.stdin).close()
        return self._process.wait(seconds)

    def close(self) -> None:
        """Ends the child and everything it started."""
        self._kill()
        self._process.wait()
        if self._worker.is_alive():
            self._worker.join(GRACE)
        for pipe in (self._process.stdin, self._process.stdout):
            _raw(pipe).close()
        self._lifeline.close()

    def _exchange(self, header: dict[str, Any], arrays: list[Array]) -> Answer | None:
        """The answer, or None where the child hung or ended. In a thread: a pipe that is stuck cannot be left."""
        answers: list[Answer | None] = []
        self._worker = threading.Thread(target=self._talk, args=(header, arrays, answers), daemon=True)
        self._worker.start()
        until = time.monotonic() + self.timeout
        while self._worker.is_alive() and time.monotonic() < until:
            self._worker.join(PATIENCE)
            if self._process.poll() is not None:
                # A copy of the child may still hold its end of the pipe; what was written can be read all the same.
                self._worker.join(GRACE)
                break
        return answers[0] if answers else None

    def _talk(self, header: dict[str, Any], arrays: list[Array], answers: list[Answer | None]) -> None:
        with contextlib.suppress(OSError, ValueError, EOFError, MemoryError):
            if not self._ready.is_set():
                self._send_sources()
                if read_frame(self._reader):
                    self._ready.set()
            write_frame(self._writer, header, [np.ascontiguousarray(array) for array in arrays])
            answers.append(read_frame(self._reader))

    def _send_sources(self) -> None:
        folder = resources.files("detectors") / "guest"
        for name in SOURCES:
            text = (folder / f"{name}.py").read_bytes()
            self._writer.write(b"%d\n%b" % (len(text), text))
        self._writer.flush()

    def _kill(self) -> None:
        with contextlib.suppress(OSError):  # it is gone already
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()  # should it lead no group of its own, waiting for it would have no end

    def _cause(self) -> str:
        """Why there is no answer: the worker is still waiting for one, or the pipe or the process ended."""
        waiting, code = self._worker.is_alive(), self._code()
        if code is None and waiting:
            return f"the subject did not answer within {self.timeout:g} seconds; a longer --timeout may help"
        if code is None:
            return "the subject closed the pipe to its own process; required: a subject that leaves other files alone"
        if code < 0:
            return f"the subject's process died of signal {-code} ({signal.Signals(-code).name})"
        if code and not self._ready.is_set():
            return f"{self._python} ended with exit code {code} before it answered; required: Python 3.9 or later"
        return f"the subject ended its process with exit code {code}"

    def _code(self) -> int | None:
        """The exit code of a process that has ended or is about to."""
        if self._worker.is_alive():
            return self._process.poll()
        try:
            return self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return None


def judged(found: Answer) -> Answer:
    """The answer itself. Raises SubjectRaised or GuestError where it says so."""
    answer, _ = found
    if "refused" in answer:
        raise GuestError(answer["refused"])
    if "raised" in answer:
        raise SubjectRaised(answer["raised"])
    return found


def _spawn(python: str, folder: str | None) -> tuple[subprocess.Popen[bytes], contextlib.ExitStack]:
    """The child, and our end of its lifeline: the child dies when that closes."""
    lifeline = contextlib.ExitStack()
    theirs, ours = os.pipe()
    lifeline.callback(os.close, ours)
    try:
        with os.fdopen(theirs) as end:
            return _started(python, folder, end.fileno()), lifeline
    except OSError as error:
        lifeline.close()
        what = folder if folder is not None and not os.path.isdir(folder) else python
        raise GuestError(f"{what} cannot be used: {error.strerror}; required: a Python interpreter") from None


def _started(python: str, folder: str | None, lifeline: int) -> subprocess.Popen[bytes]:
    # One thread: the arrays are tiny, and waking a second one costs more than it brings.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    fixed = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    return subprocess.Popen(
        [python, "-c", BOOT, str(lifeline), *SOURCES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd=folder,
        env={**threads, **os.environ, **fixed},
        start_new_session=True,
        pass_fds=(lifeline,),
    )


def _raw(pipe: Any) -> io.FileIO:
    """What Popen gives for a pipe without a buffer; a second buffer would keep what was sent back."""
    assert not isinstance(pipe, io.BufferedReader | io.BufferedWriter)
    raw: io.FileIO = pipe
    return raw
