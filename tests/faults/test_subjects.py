"""How a subject gets its process, and what is answered where it cannot be used. No process is started."""

from __future__ import annotations

from typing import Any

import pytest

from detectors import foreign
from detectors.declaration import Question
from detectors.host import GuestError, SubjectRaised
from faults import subjects
from faults.answers import Answer
from faults.subjects import Request


class Child:
    """In place of a guest: notes how it was asked for."""

    made: tuple[Any, ...] = ()

    def __init__(self, *how: Any) -> None:
        Child.made = how

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: object) -> None:
        Child.made = (*Child.made, "closed")


def test_the_process_is_the_one_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Answer("mine.py:f")]
    told: list[Any] = []
    monkeypatch.setattr(subjects, "Guest", Child)
    monkeypatch.setattr(subjects, "_all", lambda guest, target, request: found)
    request = Request("mine.py:f", python="/other/python", folder="/there", timeout=7.5)
    assert subjects.answers(request, lambda answers: told.append((answers, Child.made))) is found
    # Whoever asks more afterwards finds the child still there.
    assert told == [(found, ("/other/python", "/there", 7.5))]
    assert Child.made[-1] == "closed"


@pytest.mark.parametrize(
    ("error", "cause", "code"),
    [
        (Question("how many heads?"), "how many heads?", 2),
        (
            MemoryError(),
            "there is not enough memory for inputs of the declared sizes; declare smaller ones",
            2,
        ),
        (GuestError("the child is gone"), "the child is gone", 3),
        (SubjectRaised("ValueError: so"), "ValueError: so", 3),
    ],
)
def test_a_subject_that_cannot_be_used_has_an_answer_with_the_cause(
    error: Exception, cause: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(subjects, "Guest", Child)
    monkeypatch.setattr(subjects, "_all", fails)
    assert subjects.answers(Request("mine.py:f")) == [Answer("mine.py:f", cause=cause, code=code)]
    assert Child.made == (None, None, 60.0, "closed")


@pytest.mark.parametrize(
    ("error", "code"), [(Question("how?"), 2), (GuestError("gone"), 3), (SubjectRaised("raised"), 3)]
)
def test_a_block_that_cannot_be_used_is_named_with_its_model(
    error: Exception, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(foreign, "describe", fails)
    found = subjects._block(Child(), "blocks.0", {}, Request("mine.py:Model"), [])  # type: ignore[arg-type]
    assert found == Answer("mine.py:Model.blocks.0", cause=str(error), code=code)
