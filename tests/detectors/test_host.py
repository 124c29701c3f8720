"""The parent's end of a child process: it ends with its parent, and says why it ended before."""

from __future__ import annotations

import os
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


@pytest.mark.skipif(os.name != "posix", reason="signal 0")
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
