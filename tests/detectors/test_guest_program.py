"""The guest's own program, in the test's process: which request gets which reply."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from detectors.guest import loading, program, refusal, wire

NUMPY = {"framework": "numpy"}
WANTED: dict[str, list[str]] = {"declared": [], "numbers": [], "switches": []}


class Ended(BaseException):
    """In place of the end of the process."""


@pytest.fixture
def end(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit codes with which the process would have ended."""
    codes: list[int] = []

    def ends(code: int) -> None:
        codes.append(code)
        raise Ended

    monkeypatch.setattr(os, "_exit", ends)
    return codes


def frames(*requests: tuple[dict[str, Any], list[Any]]) -> io.BytesIO:
    pipe = io.BytesIO()
    for header, arrays in requests:
        wire.write_frame(pipe, header, arrays)
    pipe.seek(0)
    return pipe


def replies(pipe: io.BytesIO) -> list[Any]:
    pipe.seek(0)
    found = []
    while (frame := wire.read_frame(pipe)) is not None:
        found.append(frame)
    return found


CALL = {"operation": "call", "options": NUMPY}


def served(subject: Any, header: dict[str, Any], *arrays: Any) -> Any:
    return program.served({"subject": subject}, header, list(arrays))


def test_requests_are_answered_in_turn_until_the_parent_hangs_up(
    end: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "answer", lambda state, header, arrays: ({"n": header["n"]}, arrays))
    out = io.BytesIO()
    with pytest.raises(Ended):
        program.start(frames(({"n": 1}, []), ({"n": 2}, [np.ones(2, "f4")])), out)
    (ready, _), (first, _), (second, arrays) = replies(out)
    assert (ready, first, second) == ({"ready": True}, {"n": 1}, {"n": 2})
    assert arrays[0].tolist() == [1.0, 1.0]
    assert end == [0]


def test_a_copy_that_the_subject_forked_ends_before_it_answers(
    end: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter([7, 8])
    monkeypatch.setattr(os, "getpid", lambda: next(numbers))
    out = io.BytesIO()
    with pytest.raises(Ended):
        program.start(frames((CALL, [])), out)
    assert [header for header, _ in replies(out)] == [{"ready": True}]
    assert end == [0]


@pytest.mark.parametrize(
    ("error", "reply"),
    [
        (refusal.Refused("say how"), {"refused": "say how"}),
        (SystemExit(3), {"refused": "the subject ended the program: SystemExit: 3"}),
        (KeyboardInterrupt(), {"refused": "the subject ended the program: KeyboardInterrupt"}),
        (ValueError("odd\n thing"), {"raised": "ValueError: odd thing"}),
        (GeneratorExit(), {"raised": "GeneratorExit"}),
    ],
)
def test_whatever_is_raised_is_a_reply(
    error: BaseException, reply: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def raises(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(program, "answer", raises)
    monkeypatch.setattr(refusal, "_place", lambda error: "")
    assert program.served({}, {}, []) == (reply, [])


def test_nothing_can_be_asked_before_there_is_a_subject() -> None:
    refused = "unknown operation call before a subject was loaded"
    assert program.served({}, CALL, []) == ({"refused": refused}, [])
    assert served(len, {"operation": "dance"}) == ({"refused": "unknown operation dance"}, [])


def test_a_call_gives_its_output_and_says_what_happened() -> None:
    notes, (output,) = served(lambda x: 2 * x, CALL, np.ones((1, 2, 3), "f4"))
    assert notes == {"half": "", "wrote": False}
    assert (output.dtype, output.tolist()) == (np.float32, [[[2.0] * 3] * 2])

    def writes(x: Any) -> Any:
        x[...] = 5
        return x

    x = np.ones((1, 2, 3))
    notes, (output,) = served(writes, CALL, x)
    assert notes == {"half": "", "wrote": True}
    assert x.max() == 1
    assert output.dtype == np.float64


def test_replaced_weights_are_in_force_during_the_call_alone() -> None:
    weights = {"Wq": np.eye(2), "Wk": np.eye(2)}
    subject = {"call": lambda x: x @ weights["Wq"] - weights["Wk"], "weights": weights}
    header = {**CALL, "roles": {"query": ["Wq", False, 0, 0]}}
    _, (output,) = served(subject, header, np.eye(2), 3 * np.eye(2))
    assert output.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert weights["Wq"].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_role_is_read_and_a_second_call_goes_on_with_what_the_first_one_kept() -> None:
    def step(x: Any, cache: Any) -> Any:
        past = x if cache is None else np.concatenate([cache, x], axis=1)
        return past.sum(axis=1, keepdims=True), past

    subject = {"call": lambda x: x, "weights": {"Wq": np.full((2, 2), 4.0)}, "step": step}
    _, (weight,) = served(subject, {"operation": "read", "wanted": [["Wq", False, 0, 0]]})
    assert weight.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    header = {"operation": "continue", "options": NUMPY}
    _, outputs = served(subject, header, np.full((1, 1, 2), 1.0), np.full((1, 2, 2), 2.0))
    assert [output.tolist() for output in outputs] == [[[[1.0, 1.0]]], [[[5.0, 5.0]]]]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda x, cache: x, "the step returned a ndarray; required: (output, cache)"),
        (lambda x, cache: (x, cache, 1), "the step returned a tuple of 3 items; required: (output, cache)"),
        (lambda x, cache: None, "the step returned None; required: (output, cache)"),
        (
            lambda x, cache: (x, None),
            "the step returned None as its cache; required: something else, since None begins another sequence",
        ),
    ],
)
def test_a_step_returns_an_output_and_a_cache(step: Callable[..., Any], words: str) -> None:
    subject = {"call": lambda x: x, "step": step}
    header = {"operation": "continue", "options": NUMPY}
    reply = served(subject, header, np.ones((1, 1, 2)), np.ones((1, 1, 2)))
    assert reply == ({"refused": words}, [])


def test_a_step_may_keep_nothing_after_the_last_chunk() -> None:
    subject = {"call": lambda x: x, "step": lambda x, cache: [x, None]}
    _, (output,) = served(subject, {"operation": "continue", "options": NUMPY}, np.ones((1, 1, 2)))
    assert output.tolist() == [[[1.0, 1.0]]]


def test_operations_of_numpy_code_cannot_be_followed() -> None:
    reply = served(lambda x: x, {"operation": "sites", "options": NUMPY}, np.ones((1, 1, 2)))
    assert reply == ({"refused": "the operations of numpy code cannot be followed"}, [])


def test_declared_norms_are_examined_and_called_by_name() -> None:
    subject = {"call": lambda x: x, "norms": {"first": lambda x: x - 1, "odd": 7}}
    header = {"operation": "norms", "names": [], "options": NUMPY}
    reply, gains = served(subject, header, np.ones((1, 2, 3)))
    assert (reply, gains) == ({"norms": {"first": {"channels": 3, "gains": 0}}}, [])
    header = {"operation": "norm", "name": "first", "options": NUMPY}
    _, (output,) = served(subject, header, np.full((1, 2, 3), 4.0))
    assert output.tolist() == [[[3.0] * 3] * 2]
    subject = {"call": lambda x: x, "norms": {"first": lambda x: None}}
    refused = "norm first: the call returned None; required: an array"
    assert served(subject, header, np.ones((1, 2, 3))) == ({"refused": refused}, [])


def test_what_is_loaded_is_described_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def load(header: Any) -> Any:
        asked.append(header)
        return subject

    def subject(x: Any) -> Any:
        return x

    monkeypatch.setattr(loading, "load", load)
    state: dict[str, Any] = {}
    header = {"operation": "load", "wanted": WANTED}
    reply, arrays = program.served(state, header, [])
    assert (arrays, reply["notes"], reply["name"]) == ([], [], "subject")
    assert (asked, state["subject"], state["halves"]) == ([header], subject, [])
    # Where the parent is the same process it has been there before.
    assert program.served({"subject": len}, header, [])[0]["name"] == "len"
    assert len(asked) == 1


def test_a_python_without_numpy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    refused = f"NumPy is required in {sys.executable}, which does not have it; install it"
    assert served(len, {"operation": "load", "wanted": WANTED}) == ({"refused": refused}, [])


# Frames


def test_a_frame_is_a_line_of_json_and_the_bytes_of_its_arrays() -> None:
    pipe = frames(({"a": 1}, [np.array([[1, 2]], ">i2"), np.zeros((0, 3), "?")]))
    line, _, rest = pipe.getvalue().partition(b"\n")
    assert json.loads(line) == {"a": 1, "arrays": [[">i2", [1, 2]], ["|b1", [0, 3]]]}
    assert rest == b"\x00\x01\x00\x02"
    frame = wire.read_frame(pipe)
    assert frame is not None
    header, (numbers, nothing) = frame
    assert (header, numbers.tolist(), nothing.shape) == ({"a": 1}, [[1, 2]], (0, 3))
    assert wire.read_frame(pipe) is None


# Words


def test_an_exception_is_worded_with_the_last_line_of_the_users_code(tmp_path: Any) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def f(x):\n    return x.shape\n\ndef g(x):\n    return list(map(f, x))\n")
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises(AttributeError) as error:
        space["g"]([1])
    assert refusal.worded(error.value) == (
        "AttributeError: 'int' object has no attribute 'shape' (mine.py, line 2)"
    )


def test_an_error_without_a_message_has_no_colon_and_a_wrong_text_no_place() -> None:
    assert refusal.worded(ValueError()) == "ValueError"
    assert refusal.worded(SyntaxError("odd")) == "SyntaxError: odd"


@pytest.mark.parametrize(
    ("file", "users"),
    [
        ("/home/me/block.py", True),
        ("/home/me/lib/block.py", True),
        ("<string>", False),
        ("/usr/lib/python3.11/json/decoder.py", False),
        ("/venv/site-packages/torch/nn.py", False),
        (os.path.join(refusal.OWN, "calling.py"), False),
        (os.path.join(refusal.OWN, "deeper", "calling.py"), True),
    ],
)
def test_whose_line_it_is(file: str, users: bool) -> None:
    assert refusal._users(file) is users
