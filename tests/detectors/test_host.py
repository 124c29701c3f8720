"""The parent's end of a child process: it ends with its parent, and says why it ended before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detectors import foreign
from detectors.foreign import Target
from detectors.host import Guest, GuestError, SubjectRaised

SUBJECT = """
import os, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
def block(x):
    if x.shape[1] == 1: raise ValueError("too short")
    if x.shape[1] == 2: os._exit(9)
    return x * 2
"""


@pytest.fixture
def target(tmp_path: Path) -> Target:
    (tmp_path / "mine.py").write_text(SUBJECT)
    return Target.parse(f"{tmp_path / 'mine.py'}:block")


def call(guest: Guest, tokens: int) -> Any:
    header = {"operation": "call", "options": {"framework": "numpy"}}
    return guest.request(header, [np.ones((1, tokens, 3), "f4")])[1][0]


def test_arrays_go_there_and_back(target: Target) -> None:
    with Guest() as guest:
        foreign.load(guest, target)
        assert call(guest, 3).tolist() == [[[2, 2, 2]] * 3]


def test_what_the_subject_raises_leaves_the_child_alive(target: Target) -> None:
    with Guest() as guest:
        foreign.load(guest, target)
        with pytest.raises(SubjectRaised, match=r"^ValueError: too short \(mine.py, line 5\)$"):
            call(guest, 1)
        assert guest.lost is None
        assert call(guest, 3).shape == (1, 3, 3)


def test_a_child_that_is_lost_stays_lost_and_says_why(target: Target) -> None:
    with Guest() as guest:
        foreign.load(guest, target)
        for tokens in (2, 3):
            with pytest.raises(GuestError, match=r"^the subject ended its process with exit code 9$"):
                call(guest, tokens)


SETTINGS = """
import os
NAMES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")
def block(x):
    settings = [os.environ.get(name) for name in NAMES]
    raise ValueError(" ".join(map(str, [*settings, os.getcwd(), os.getsid(0) == os.getpid()])))
"""


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, "1 1 1 1 0"),
        # what somebody wants is kept, but for what makes runs differ
        (
            {"MKL_NUM_THREADS": "3", "PYTHONDONTWRITEBYTECODE": "", "PYTHONHASHSEED": "5"},
            "1 3 1 1 0",
        ),
    ],
)
def test_a_child_works_with_one_thread_in_a_folder_and_a_group_of_its_own(
    wanted: dict[str, str], found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in wanted.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "settings.py").write_text(SETTINGS)
    with Guest(folder=str(tmp_path)) as guest:
        foreign.load(guest, Target.parse(f"{tmp_path / 'settings.py'}:block"))
        with pytest.raises(SubjectRaised, match=rf"^ValueError: {found} {tmp_path.resolve()} True \("):
            call(guest, 3)


def test_a_child_dies_with_its_lifeline(target: Target) -> None:
    with Guest() as guest:
        foreign.load(guest, target)
        guest._lifeline.close()
        assert guest._process.wait(10) == -9


def test_what_is_no_interpreter_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    missing = str(tmp_path / "python")
    required = "cannot be used: No such file or directory; required: a Python interpreter"
    for folder in (None, str(tmp_path)):
        with pytest.raises(GuestError) as raised:
            Guest(python=missing, folder=folder)
        assert str(raised.value) == f"{missing} {required}"
    with pytest.raises(GuestError) as raised:
        Guest(folder=f"{missing}/folder")
    assert str(raised.value) == f"{missing}/folder {required}"


def test_what_an_interpreter_complains_of_is_not_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho noise >&2\nexit 1\n")
    python.chmod(0o755)
    with (
        Guest(python=str(python)) as guest,
        pytest.raises(GuestError, match="ended with exit code 1 before it"),
    ):
        guest.request({"operation": "load"})
    assert capfd.readouterr().err == ""


def test_leaving_ends_the_child(target: Target) -> None:
    with Guest() as guest:
        foreign.load(guest, target)
        number = guest.process_id
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_child_ends_by_itself_when_its_parent_hangs_up_whatever_threads_it_has(target: Target) -> None:
    with Guest() as guest:
        foreign.load(guest, target)
        assert guest.hang_up(seconds=10) == 0


def test_an_unknown_operation_is_refused() -> None:
    with Guest() as guest, pytest.raises(GuestError, match="unknown operation dance"):
        guest.request({"operation": "dance"})


IN_OUR_GROUP = """
import os, subprocess, sys
from detectors import host
host.subprocess.Popen = lambda *words, popen=subprocess.Popen, **more: popen(
    *words, **{**more, "start_new_session": False}
)
read, write = os.pipe()
guest = host._started(sys.executable, None, read)
os.close(read)
os.close(write)
print(guest.wait(60))
"""

pytestmark = pytest.mark.program


def test_a_child_that_leads_no_group_ends_itself_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_OUR_GROUP], start_new_session=True, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "-9\n", "")
