"""How an exchange with a child ends: an answer, a hang, an end of the child or of the pipe. No child is started."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from detectors import host
from detectors.guest.wire import write_frame
from detectors.host import Guest, GuestError, SubjectRaised

pytestmark = pytest.mark.program

FOREVER = 10**9
LOOK, GRACE = 0.05, 1.0
"""Seconds between looks at the child, and seconds that an end may take."""


class Thread:
    """A thread that is done at the n-th wait for it, and then does all its work at once."""

    waits = 1
    made: list[Thread]

    def __init__(
        self, target: Callable[..., None] | None = None, args: Sequence[Any] = (), daemon: bool | None = None
    ) -> None:
        self.target, self.args, self.daemon = target, args, daemon
        self.alive, self.joined = False, list[float | None]()
        Thread.made.append(self)

    def start(self) -> None:
        assert self.target is not None
        self.alive = True

    def is_alive(self) -> bool:
        return self.alive

    def join(self, seconds: float | None) -> None:
        self.joined.append(seconds)
        if len(self.joined) == Thread.waits and self.target is not None:
            self.alive = False
            self.target(*self.args)


class Pipe(io.BytesIO):
    """Keeps what was written when it is closed; fails with `error` where there is one."""

    error: BaseException | None = None
    kept = b""

    def write(self, data: Any, /) -> int:
        if self.error is not None:
            raise self.error
        self.kept += bytes(data)
        return len(data)


class Child:
    """What stands in for the process: its pipes, and its exit code (None while it runs)."""

    pid = 4711

    def __init__(self, *frames: tuple[dict[str, Any], list[Any]], code: int | None = None) -> None:
        answers = io.BytesIO()
        for frame in frames:
            write_frame(answers, *frame)
        self.stdin, self.stdout = Pipe(), Pipe(answers.getvalue())
        self.code, self.waited, self.killed = code, list[float | None](), False

    def poll(self) -> int | None:
        return self.code

    def kill(self) -> None:
        self.killed = True

    def wait(self, seconds: float | None = None) -> int:
        self.waited.append(seconds)
        if self.code is None and seconds is not None:
            raise subprocess.TimeoutExpired("child", seconds)
        return self.code or 0


READY: tuple[dict[str, Any], list[Any]] = ({"ready": True}, [])


class Made(SimpleNamespace):
    """A guest around a child that was not started, and what was done to its process."""

    guest: Guest
    child: Child
    spawned: tuple[str, str | None]
    ended: list[tuple[int, int]]
    let_go: list[str]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Made]:
    made = Made(ended=[], let_go=[])

    def spawn(python: str, folder: str | None) -> Any:
        made.spawned = (python, folder)
        lifeline = contextlib.ExitStack()
        lifeline.callback(made.let_go.append, "lifeline")
        return made.child, lifeline

    def build(child: Child, waits: int = 1, **options: Any) -> Made:
        made.child, Thread.waits = child, waits
        made.guest = Guest(**options)
        return made

    Thread.made = []
    monkeypatch.setattr(host, "threading", SimpleNamespace(Thread=Thread, Event=threading.Event))
    monkeypatch.setattr(host, "_spawn", spawn)
    monkeypatch.setattr(os, "killpg", lambda *which: made.ended.append(which))
    return build


def lost(guest: Guest) -> str:
    with pytest.raises(GuestError) as raised:
        guest.request({"operation": "call"})
    assert guest.lost == str(raised.value)
    return guest.lost


def test_sources_are_sent_once_and_every_answer_comes_back(make: Any) -> None:
    answers = [({"at": at}, [np.arange(3.0)]) for at in (1, 2)]
    made = make(Child(READY, *answers), python="/a/python", folder="/b")
    assert made.spawned == ("/a/python", "/b")
    for at in (1, 2):
        header, (array,) = made.guest.request({"operation": "call"}, [np.arange(6.0).reshape(2, 3).T])
        assert header == {"at": at}
        assert array.tolist() == [0, 1, 2]
        assert Thread.made[-1].daemon is True
    sent = made.child.stdin.kept
    count, _, rest = sent.partition(b"\n")
    wire = (Path(host.__file__).parent / "guest" / "wire.py").read_bytes()
    assert (int(count), rest[: int(count)]) == (len(wire), wire)
    request = json.dumps({"operation": "call", "arrays": [["<f8", [3, 2]]]}).encode() + b"\n"
    assert sent.count(request + np.array([0.0, 3, 1, 4, 2, 5]).tobytes()) == 2
    assert sent.count(wire) == 1


def test_what_the_child_says_is_judged(make: Any) -> None:
    made = make(Child(READY, ({"raised": "ValueError: no"}, []), ({"refused": "it is None"}, [])))
    with pytest.raises(SubjectRaised, match=r"^ValueError: no$"):
        made.guest.request({"operation": "call"})
    with pytest.raises(GuestError, match=r"^it is None$"):
        made.guest.request({"operation": "call"})
    assert made.guest.lost is None


def clock(monkeypatch: pytest.MonkeyPatch, *times: float) -> None:
    left = list(times)
    monkeypatch.setattr(host, "time", SimpleNamespace(monotonic=lambda: left.pop(0)))


def test_a_child_that_does_not_answer_is_left_when_its_time_is_over(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch, 100.0, 100.1, 159.9, 160.0)
    made = make(Child(), waits=FOREVER)
    assert made.guest.timeout == 60.0
    line = "the subject did not answer within 60 seconds; a longer --timeout may help"
    assert lost(made.guest) == line
    assert Thread.made[-1].joined == [LOOK, LOOK, GRACE]
    assert made.ended == [(4711, signal.SIGKILL)]
    assert made.let_go == ["lifeline"]
    assert (made.child.stdin.closed, made.child.stdout.closed) == (True, True)
    # lost for good: nothing is tried again, and leaving it lets go of nothing twice
    assert lost(made.guest) == line
    assert len(Thread.made) == 2
    with made.guest:
        pass
    assert made.let_go == ["lifeline"]


def test_an_answer_may_take_several_looks(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, 0.0, 0.1, 0.2, 0.3)
    made = make(Child(READY, ({"at": 1}, [])), waits=3, timeout=1)
    assert made.guest.request({"operation": "call"})[0] == {"at": 1}
    assert Thread.made[-1].joined == [LOOK] * 3


def test_what_was_answered_before_the_end_is_still_read(make: Any) -> None:
    made = make(Child(READY, ({"at": 1}, []), code=0), waits=2)
    assert made.guest.request({"operation": "call"})[0] == {"at": 1}
    assert Thread.made[-1].joined == [LOOK, GRACE]


@pytest.mark.parametrize(
    ("ready", "code", "line"),
    [
        (True, 9, "the subject ended its process with exit code 9"),
        (True, 0, "the subject ended its process with exit code 0"),
        (False, 0, "the subject ended its process with exit code 0"),
        (True, -9, "the subject's process died of signal 9 (SIGKILL)"),
        (False, -11, "the subject's process died of signal 11 (SIGSEGV)"),
        (False, 1, "py ended with exit code 1 before it answered; required: Python 3.9 or later"),
        (
            True,
            None,
            "the subject closed the pipe to its own process; required: a subject that leaves other files alone",
        ),
    ],
)
def test_why_there_is_no_answer_is_said(ready: bool, code: int | None, line: str, make: Any) -> None:
    child = Child(*([READY] if ready else []), code=code)
    assert lost(make(child, python="py").guest) == line
    assert child.waited[0] == GRACE


def test_an_end_of_the_child_is_said_though_its_pipe_is_still_held(make: Any) -> None:
    # by a copy of it, so that the wait for an answer never ends
    made = make(Child(READY, code=-6), waits=FOREVER)
    assert lost(made.guest) == "the subject's process died of signal 6 (SIGABRT)"
    assert Thread.made[-1].joined == [LOOK, GRACE, GRACE]


@pytest.mark.parametrize("error", [OSError("broken"), ValueError("closed"), EOFError(), MemoryError()])
def test_a_pipe_that_fails_is_no_answer(error: Exception, make: Any) -> None:
    child = Child(READY, code=0)
    child.stdin.error = error
    assert lost(make(child).guest) == "the subject ended its process with exit code 0"


def test_hanging_up_waits_as_long_as_was_said(make: Any) -> None:
    made = make(Child(code=7))
    assert made.guest.hang_up(2.5) == 7
    assert made.child.waited == [2.5]
    assert made.child.stdin.closed


def test_a_child_of_which_nothing_was_asked_is_ended_too(make: Any) -> None:
    made = make(Child())
    with made.guest as guest:
        assert guest is made.guest
        assert guest.process_id == 4711
    assert made.ended == [(4711, signal.SIGKILL)]


def test_a_child_that_is_gone_already_is_no_trouble(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: int) -> None:
        raise ProcessLookupError

    made = make(Child(code=0))
    monkeypatch.setattr(os, "killpg", gone)
    made.guest.close()
    assert made.let_go == ["lifeline"]
