"""The second kinds of call of somebody's code: with a padding mask, and by steps with a cache."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.foreign import Foreign
from detectors.host import Answer, GuestError, SubjectRaised
from tests.detectors.test_foreign import TABLE, held, running_mean
from tests.detectors.test_foreign_host import DESCRIBED

Array = NDArray[Any]

WIDE: Mapping[str, Any] = {"kind": "self_attention", "width": 4}
KEEP = np.array([[False, True, True], [True, True, True], [False, False, True]])
X = np.random.default_rng(6).standard_normal((3, 3, 4)).astype("f4")


def padded_of(made: Foreign) -> Callable[[Array, Array], Array]:
    call = made.subject("it").padded
    assert call is not None
    return call


def continued_of(made: Foreign) -> Callable[[Sequence[Array]], Array]:
    call = made.subject("it").continued
    assert call is not None
    return call


# --- padding ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "call"),
    [
        ("keep", lambda x, pad=None: x if pad is None else x * pad[..., None]),
        ("hide", lambda x, pad=None: x if pad is None else x * ~pad[..., None]),
        ("ones", lambda x, pad=None: x if pad is None else x * (1 - (1 - pad))[..., None].astype("f4")),
    ],
)
def test_a_padding_mask_is_passed_by_name_in_the_declared_form(form: str, call: Any) -> None:
    made = held(call, padding="pad", padding_form=form, **WIDE)
    assert made.problem == ""
    assert padded_of(made)(X, KEEP) == pytest.approx(X * KEEP[..., None])


def test_a_plain_call_passes_no_mask_unless_there_must_be_one() -> None:
    masks: list[Any] = []

    def optional(x: Array, pad: Any = None) -> Array:
        masks.append(pad)
        return x

    def required(x: Array, pad: Any) -> Array:
        masks.append(pad)
        return x

    for call, passed in ((optional, [None]), (required, [np.zeros((3, 3), bool)])):
        made = held(call, padding="pad", padding_form="hide", **WIDE)
        masks.clear()
        plain = made.subject("it").call
        assert plain is not None
        assert plain(X, {}).tolist() == X.tolist()
        assert [np.array(mask).tolist() for mask in masks] == [np.array(mask).tolist() for mask in passed]


def test_the_first_padded_call_hides_nothing() -> None:
    masks: list[Array] = []

    def call(x: Array, pad: Any = None) -> Array:
        masks.extend([] if pad is None else [pad])
        return x

    held(call, padding="pad", **WIDE)
    assert [mask.tolist() for mask in masks] == [[[True] * 5] * 2]


def test_a_name_that_the_call_does_not_know_is_a_problem_and_no_fault() -> None:
    problem = held(lambda x: x, padding="pad", **WIDE).problem
    assert problem.startswith("it cannot be called with pad: TypeError: ")
    assert problem.endswith("; required: the name of an argument for a padding mask [batch, token]")
    assert held(lambda x: x, **WIDE).problem == ""
    assert held(lambda x: x, **WIDE).subject("it").padded is None


def only(kind: str) -> Callable[..., Array]:
    def call(x: Array, *, pad: Any = None) -> Array:
        if pad is not None and pad.dtype.kind != kind:
            raise ValueError(f"not {pad.dtype}")
        assert pad is None or (np.all(pad == 1) and pad.shape == x.shape[:2])
        return x

    return call


@pytest.mark.parametrize(
    ("form", "kind", "found", "right"),
    [("keep", "i", "bool", "ones"), ("hide", "i", "bool", "ones"), ("ones", "b", "int64", "keep or hide")],
)
@pytest.mark.parametrize("required", [True, False])
def test_a_mask_of_another_form_than_the_declared_one_is_a_problem_and_no_fault(
    form: str, kind: str, found: str, right: str, required: bool
) -> None:
    call = only(kind)
    made = held(
        (lambda x, pad: call(x, pad=pad)) if required else call, padding="pad", padding_form=form, **WIDE
    )
    assert made.problem.startswith(f"it takes no padding mask of the form {form}: ValueError: not {found}")
    assert made.problem.endswith(f"; required: --padding-form {right}")


def test_a_mask_that_is_taken_in_no_form_is_a_fault() -> None:
    made = held(only("f"), padding="pad", **WIDE)
    assert made.problem == ""
    with pytest.raises(SubjectRaised, match="not bool"):
        padded_of(made)(X, KEEP)


def test_a_mask_may_be_refused_in_every_form() -> None:
    def call(x: Array, pad: Any = None) -> Any:
        if pad is not None and pad.dtype.kind == "b":
            raise ValueError("no")
        return x if pad is None else None

    assert held(call, padding="pad", **WIDE).problem == ""


def test_padding_says_nothing_of_a_call_that_fails_without_it() -> None:
    def call(x: Array, other: Any = None) -> Array:
        if other is None:
            raise ValueError("shape")
        return x

    assert held(call, **WIDE).problem == ""


def test_padded_sequences_that_there_is_no_room_for_go_through_in_parts() -> None:
    def narrow(x: Array, pad: Any = None) -> Array:
        if len(x) > 2:
            raise ValueError("no room")
        return x if pad is None else x * pad[..., None]

    assert padded_of(held(narrow, padding="pad", **WIDE))(X, KEEP) == pytest.approx(X * KEEP[..., None])


def test_a_padded_model_that_answers_for_the_last_token_alone_is_asked_prefix_by_prefix() -> None:
    def model(tokens: Array, pad: Any = None) -> Array:
        found = running_mean(tokens)
        return (found if pad is None else found * pad[..., None])[:, -1:]

    made = held(model, kind="model", vocab=7, padding="pad")
    tokens = np.array([[1, 2, 3], [4, 5, 6], [0, 1, 2]])
    assert padded_of(made)(tokens, KEEP) == pytest.approx(running_mean(tokens) * KEEP[..., None], abs=1e-6)


class Recorded:
    """A host that keeps what it is asked, and hands the first array back."""

    def __init__(self, **others: Any) -> None:
        self.asked: list[tuple[dict[str, Any], list[Array]]] = []
        self.others = others

    def request(self, header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
        self.asked.append((dict(header), list(arrays)))
        if header["operation"] in self.others:
            answer: Answer = self.others[header["operation"]](header, arrays)
            return answer
        return {"wrote": False, "half": "", "sites": [], "blocks": []}, [arrays[0]]


def asked_of(host: Recorded, seen: Mapping[str, Any], **given: Any) -> Foreign:
    made = Foreign(host, {**DESCRIBED, **seen}, given, "p")
    host.asked.clear()
    return made


def test_a_mask_that_there_must_be_goes_with_every_operation() -> None:
    host = Recorded(call=lambda header, arrays: ({"wrote": False, "half": ""}, [np.zeros((2, 5, 7))]))
    seen = {
        "declared": {"kind": "model", "vocab": 7}, "required": ["x", "pad"], "blocks": ["h.0"],
        "notes": ["float16 parameters were examined as float32"],
    }  # fmt: skip
    made = Foreign(host, {**DESCRIBED, **seen}, {"padding": "pad"})
    narrow = [header["options"] for header, _ in host.asked if "own precision" in header["options"]]
    assert narrow == [{"framework": "torch", "output": None, "keyword": "pad", "own precision": True}]
    made.blocks()
    made.sites(np.zeros((2, 3), int))
    for header, arrays in host.asked:
        assert header["options"]["keyword"] == "pad"
        assert arrays[1].tolist() == np.ones(arrays[0].shape, bool).tolist()
    assert [header["operation"] for header, _ in host.asked[-2:]] == ["blocks", "sites"]


def test_weights_follow_the_mask() -> None:
    host = Recorded(read=lambda header, arrays: ({}, [np.eye(4)]))
    made = asked_of(host, {"weights": ["W2"], "required": ["x", "pad"]}, padding="pad")
    made.block(X, {"W2": 2 * np.eye(4)})
    ((header, arrays),) = host.asked
    assert header == {
        "operation": "call",
        "part": "p",
        "options": {"framework": "torch", "output": None, "keyword": "pad"},
        "roles": {"W2": ["W2", False, 0, 0]},
    }
    assert [array.shape for array in arrays] == [(3, 3, 4), (3, 3), (4, 4)]


# --- a cache ---------------------------------------------------------------------------------------------------


def totals(x: Array) -> Array:
    found: Array = np.cumsum(x, axis=1)
    return found


def step(x: Array, cache: Any) -> Any:
    found = totals(x) + (0 if cache is None else cache)
    return found, found[:, -1:]


CHUNKS = [X[:, :1], X[:, 1:2], X[:, 2:]]


def test_a_step_is_fed_chunk_after_chunk_with_the_cache_it_gave() -> None:
    made = held({**WIDE, "call": totals, "step": step})
    assert made.problem == ""
    assert continued_of(made)(CHUNKS) == pytest.approx(totals(X), abs=1e-6)


def test_the_chunks_cross_in_one_request() -> None:
    host = Recorded()
    host.others["continue"] = lambda header, arrays: ({}, [2 * array for array in arrays])
    made = asked_of(host, {"step": True})
    assert continued_of(made)(CHUNKS).tolist() == (2 * X).tolist()
    ((header, arrays),) = host.asked
    assert header == {
        "operation": "continue",
        "part": "p",
        "options": {"framework": "torch", "output": None},
    }
    assert [array.tolist() for array in arrays] == [chunk.tolist() for chunk in CHUNKS]


def test_without_a_step_there_is_no_cache() -> None:
    assert held({**WIDE, "call": totals}).subject("it").continued is None
    assert held({**WIDE, "call": totals, "step": None}).subject("it").continued is None


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("step", 3, "'step' has the type int; required: a function (x or ids, cache) -> (output, cache)"),
        ("norms", [totals], "'norms' has the type list; required: a mapping of names to functions of x"),
        ("norms", {"a": 3}, "the norm 'a' has the type int; required: a function x -> y"),
    ],
)
def test_what_is_declared_and_of_no_use_is_refused(key: str, value: Any, said: str) -> None:
    with pytest.raises(GuestError) as refused:
        held({**WIDE, "call": totals, key: value})
    assert str(refused.value) == said


def test_the_main_result_of_a_step_is_taken_from_what_it_gives() -> None:
    def packed(x: Array, cache: Any) -> Any:
        found, cache = step(x, cache)
        return {"logits": found}, cache

    made = held({**WIDE, "call": lambda x: (None, totals(x)), "step": packed, "output": 1})
    assert continued_of(made)(CHUNKS) == pytest.approx(totals(X), abs=1e-6)


@pytest.mark.parametrize("width", [5, 7, 9])
def test_the_logits_of_a_model_are_as_wide_as_its_vocabulary(width: int) -> None:
    made = held(
        {
            "kind": "model", "vocab": 7, "call": lambda ids: TABLE[ids],
            "step": lambda ids, cache: (np.ones((*ids.shape, width), "f4"), 0),
        }
    )  # fmt: skip
    found = continued_of(made)([np.array([[1, 2]]), np.array([[3]])])
    assert found.sum(axis=-1).tolist() == [[min(width, 7)] * 3]
    assert found.shape == (1, 3, 7)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda x, cache: x, "the step returned a ndarray; required: (output, cache)"),
        (lambda x, cache: None, "the step returned None; required: (output, cache)"),
        (lambda x, cache: (x, 1, 2), "the step returned a tuple of 3 items; required: (output, cache)"),
        (lambda x, cache: [x], "the step returned a list of 1 items; required: (output, cache)"),
        (lambda x: x, "its step cannot be called: TypeError"),
    ],
)
def test_a_step_that_is_none_is_a_problem_and_no_fault(wrong: Any, problem: str) -> None:
    assert held({**WIDE, "call": totals, "step": wrong}).problem.startswith(problem)


def test_the_first_step_is_tried_on_the_tokens_of_a_first_look() -> None:
    seen: list[Any] = []

    def noted(x: Array, cache: Any) -> Any:
        seen.append((x.shape, cache))
        return x, 0

    held({**WIDE, "call": totals, "step": noted})
    assert seen == [((2, 5, 4), None)]


def test_what_a_step_raises_or_refuses_later_is_told_apart() -> None:
    def late(x: Array, cache: Any) -> Any:
        if cache is not None:
            raise ValueError("two masks")
        return x, 0

    made = held({**WIDE, "call": totals, "step": late})
    with pytest.raises(SubjectRaised, match="ValueError: two masks"):
        continued_of(made)(CHUNKS)
    assert made.problem == ""
    made = held({**WIDE, "call": totals, "step": lambda x, cache: (x, 0) if cache is None else None})
    for _ in range(2):
        with pytest.raises(GuestError):
            continued_of(made)(CHUNKS)
    assert made.problem == "the step returned None; required: (output, cache)"


def closing(ids: Array, cache: Any) -> Any:
    """Logits of the last token alone: running means of TABLE, whose sum and count are kept."""
    rows = TABLE[ids]
    total, count = rows.sum(axis=1), ids.shape[1]
    if cache is not None:
        total, count = total + cache[0], count + cache[1]
    return total / count, (total, count)


@pytest.mark.parametrize("laid", [lambda last: last, lambda last: last[:, None]], ids=["flat", "one token"])
@pytest.mark.parametrize("model", [running_mean, lambda ids: running_mean(ids)[:, -1]])
def test_a_step_that_answers_for_the_last_token_alone_is_asked_prefix_by_prefix(
    model: Any, laid: Any
) -> None:
    def last(ids: Array, cache: Any) -> Any:
        found, cache = closing(ids, cache)
        return laid(found), cache

    made = held({"kind": "model", "vocab": 7, "call": model, "step": last})
    assert made.problem == ""
    tokens = np.array([[1, 2, 3, 4], [4, 5, 6, 0]])
    found = continued_of(made)([tokens[:, :2], tokens[:, 2:3], tokens[:, 3:]])
    assert found == pytest.approx(running_mean(tokens), abs=1e-6)


def test_every_prefix_starts_with_a_cache_of_its_own_and_is_cut_where_the_chunks_are() -> None:
    fed: list[Any] = []

    def last(x: Array, cache: Any) -> Any:
        fed.append((x.shape[1], cache))
        return x[:, -1:], len(fed)

    made = held({**WIDE, "call": totals, "step": last})
    fed.clear()
    assert continued_of(made)([X[:, :2], X[:, 2:]]).tolist() == X.tolist()
    assert fed == [(2, None), (1, 1), (1, None), (2, None), (2, None), (1, 5)]


@pytest.mark.parametrize(
    "given", [lambda x: x[:, :0], lambda x: np.ones(x.shape[1], "f4"), lambda x: x.sum()]
)
def test_what_is_no_answer_of_a_step_is_handed_on_as_it_is(given: Any) -> None:
    made = held({**WIDE, "call": totals, "step": lambda x, cache: (given(x), 0)})
    assert continued_of(made)([X[:, :2], X[:, 2:]]).tolist() == given(X[:, :2]).tolist()


def test_a_step_after_which_the_call_fails_is_a_problem_and_no_fault() -> None:
    class Model:
        ready = False

        def __call__(self, x: Array) -> Array:
            if self.ready:
                raise ValueError("a cache needs a mask")
            return totals(x)

        def step(self, x: Array, cache: Any) -> Any:
            self.ready = True
            return step(x, cache)

    model = Model()
    problem = held({**WIDE, "call": model, "step": model.step}).problem
    assert problem.startswith("after a step the call fails: ValueError: a cache needs a mask (test_calls.py")
    assert problem.endswith(
        "; required: a step that leaves the call as it was, such as one on a copy of the model"
    )


def test_a_cache_of_none_would_begin_another_sequence() -> None:
    made = held({**WIDE, "call": totals, "step": lambda x, cache: (x, None)})
    assert made.problem == ""
    assert continued_of(made)([X]).tolist() == X.tolist()  # nothing follows
    with pytest.raises(GuestError, match="None as its cache; required: something else, since None begins"):
        continued_of(made)(CHUNKS[:2])


def test_a_step_that_takes_one_token_at_a_time_gets_them_so() -> None:
    def single(x: Array, cache: Any) -> Any:
        if x.shape[1] > 1:
            raise ValueError("one at a time")
        return step(x, cache)

    made = held({**WIDE, "call": totals, "step": single})
    for chunks in ([X[:, :2], X[:, 2:]], [X]):
        assert continued_of(made)(chunks) == pytest.approx(totals(X), abs=1e-6)
    (note,) = made.notes
    said = "its step failed on several tokens at once and was given one at a time: ValueError: one at a time"
    assert note.startswith(said)


def test_a_step_that_fails_either_way_fails_as_it_did_first() -> None:
    def fails(x: Array, cache: Any) -> Any:
        raise ValueError(f"{x.shape[1]} tokens")

    made = held({**WIDE, "call": totals, "step": fails})
    assert made.notes == []
    with pytest.raises(SubjectRaised, match="ValueError: 3 tokens"):
        continued_of(made)([X])


def test_a_step_with_other_arguments_is_told_what_it_should_take() -> None:
    problem = held({**WIDE, "call": totals, "step": lambda x: x}).problem
    assert problem.endswith("; required: a function (x or ids, cache) -> (output, cache)")
