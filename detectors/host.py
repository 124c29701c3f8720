"""The parent's end of a child process in which somebody's code runs: its crash, hang, exit or noise stays there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from detectors.errors import DetectorError

Array = NDArray[Any]

OURS = ("core", "detectors", "faults", "reports")
HOME = str(Path(__file__).resolve().parent.parent)
SOURCES = ("torch_sites.py", "jax_sites.py", "program.py")
LIMIT = 512 * 1024 * 1024
"""Bytes of one frame that are read from a child at most."""

BOOT = (
    "import sys;p=sys.stdin.buffer;n={};"
    "[exec(compile(p.read(int(p.readline())),f,'exec'),n) for f in sys.argv[1:]];n['start']()"
)


class GuestError(DetectorError):
    """The child cannot be used any more, or was asked for what it cannot give: one line with the cause."""


class SubjectRaised(Exception):  # noqa: N818 - what the subject did
    """An exception of the subject itself during one call; the child is still there."""


class Guest:
    """One child process. `request` sends one operation and waits for its answer, at most `timeout` seconds."""

    def __init__(self, python: str | None = None, folder: str | None = None, timeout: float = 60.0) -> None:
        self.timeout = timeout
        self._process = _spawn(python or sys.executable, folder)
        self._send_sources()

    def __enter__(self) -> Guest:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def request(
        self, header: Mapping[str, Any], arrays: Sequence[Array] = ()
    ) -> tuple[dict[str, Any], list[Array]]:
        """(header, arrays) of the answer. Raises SubjectRaised, or GuestError when the child is lost or refuses."""
        watch = threading.Timer(self.timeout, self._kill)
        watch.start()
        try:
            self._write(header, arrays)
            answer, found = self._read()
        except (OSError, ValueError, EOFError) as error:
            raise GuestError(self._cause(expired=not watch.is_alive(), error=error)) from None
        finally:
            watch.cancel()
        if "refused" in answer:
            raise GuestError(answer["refused"])
        if "raised" in answer:
            raise SubjectRaised(f"{answer['raised']}: {answer['message']}".rstrip(": "))
        return answer, found

    def close(self) -> None:
        """Ends the child and everything it started."""
        self._kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                _close(pipe)

    def _kill(self) -> None:
        try:
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        except OSError:
            pass  # it is gone already

    def _cause(self, expired: bool, error: Exception) -> str:
        if expired:
            return f"the subject did not answer within {self.timeout:g} seconds; a longer --timeout may help"
        self._kill()
        code = self._process.wait()
        if code < 0:
            return f"the subject's process died of signal {-code} ({signal.Signals(-code).name})"
        return f"the subject's process ended with exit code {code}" if code else f"the pipe broke: {error}"

    def _send_sources(self) -> None:
        pipe = _pipe(self._process.stdin)
        folder = resources.files("detectors") / "guest"
        for name in SOURCES:
            text = (folder / name).read_bytes()
            pipe.write(str(len(text)).encode() + b"\n" + text)

    def _write(self, header: Mapping[str, Any], arrays: Sequence[Array]) -> None:
        pipe = _pipe(self._process.stdin)
        described = [[array.dtype.str, list(array.shape)] for array in arrays]
        pipe.write(json.dumps({**header, "arrays": described}).encode() + b"\n")
        for array in arrays:
            pipe.write(np.ascontiguousarray(array).tobytes())
        pipe.flush()

    def _read(self) -> tuple[dict[str, Any], list[Array]]:
        pipe = _pipe(self._process.stdout)
        line = pipe.readline(1 << 20)
        if not line.endswith(b"\n"):
            raise EOFError("the answer ends early")
        header = json.loads(line)
        return header, [_array(pipe, np.dtype(kind), tuple(shape)) for kind, shape in header.pop("arrays")]


def _spawn(python: str, folder: str | None) -> subprocess.Popen[bytes]:
    # One thread: the arrays are tiny, and waking a second one costs more than it brings.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = {**threads, **os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.Popen(
            [python, "-c", BOOT, *SOURCES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            start_new_session=os.name == "posix",
        )
    except OSError as error:
        raise GuestError(
            f"{python} cannot be started: {error.strerror}; a Python interpreter is required"
        ) from None


def _array(pipe: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if not 0 <= size <= LIMIT or dtype.kind not in "fiub":
        raise ValueError(f"an array of {size} bytes and dtype {dtype} was announced")
    data = pipe.read(size)
    if len(data) != size:
        raise EOFError("an array ends early")
    return np.frombuffer(data, dtype).reshape(shape)


def _pipe(pipe: Any) -> BinaryIO:
    found: BinaryIO = pipe
    return found


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except OSError:
        pass  # what was still to be written has no reader
