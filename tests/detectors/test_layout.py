"""How arrays are laid out for somebody's code: masks as they are passed, values in parts, logits as wide as asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import layout
from detectors.declaration import Declaration

Array = NDArray[Any]

INF = np.inf


def asked(tokens: int) -> Array:
    """[batch, head, token, channel]"""
    return np.zeros((2, 4, tokens, 5), "f4")


@pytest.mark.parametrize(
    ("mask", "causal", "rows"),
    [
        ("additive", None, [[0, 0, -INF], [0, 0, 0]]),
        ("additive", False, [[0, 0, 0], [0, 0, 0]]),
        ("keep", True, [[True, True, False], [True, True, True]]),
        ("keep", False, [[True, True, True], [True, True, True]]),
        ("hide", True, [[False, False, True], [False, False, False]]),
        ("hide", False, [[False, False, False], [False, False, False]]),
    ],
)
def test_a_mask_lets_the_last_query_see_the_last_key(mask: str, causal: bool | None, rows: Any) -> None:
    (found,) = layout.masks(Declaration(mask=mask, causal=causal), asked(2), asked(3))
    assert found.tolist() == rows
    assert found.dtype == (np.float32 if mask == "additive" else bool)


def test_no_mask_is_passed_unless_one_is_declared() -> None:
    assert layout.masks(Declaration(), asked(2), asked(3)) == []


@pytest.mark.parametrize(("width", "starts"), [(5, [0]), (3, [0, 3]), (2, [0, 2, 4]), (7, [0])])
def test_values_come_in_parts_as_wide_as_asked_the_last_filled_with_zeros(
    width: int, starts: list[int]
) -> None:
    value = np.arange(1, 121, dtype="f4").reshape(2, 4, 3, 5)
    parts = layout.parts(value, width)
    assert [part.shape for part in parts] == [(2, 4, 3, width)] * len(starts)
    assert {part.dtype for part in parts} == {np.dtype("f4")}
    for part, start in zip(parts, starts, strict=True):
        own = value[..., start : start + width]
        assert part[..., : own.shape[-1]].tolist() == own.tolist()
        assert not part[..., own.shape[-1] :].any()


@pytest.mark.parametrize("width", [2, 3, 4])
def test_logits_are_cut_or_filled_to_the_vocabulary(width: int) -> None:
    logits = np.arange(1, 7, dtype="f4").reshape(1, 2, 3)
    rows = [[1, 2, 3, 0][:width], [4, 5, 6, 0][:width]]
    assert layout.as_wide_as(logits, width).tolist() == [rows]


def test_heads_and_tokens_change_places_where_the_layout_says_so() -> None:
    array = np.arange(120).reshape(2, 4, 3, 5)
    assert layout.laid(array, "bhtc") is array
    there = layout.laid(array, "bthc")
    assert there.shape == (2, 3, 4, 5)
    assert there[1, 2, 3].tolist() == array[1, 3, 2].tolist()
    assert layout.laid(there, "bthc").tolist() == array.tolist()


def test_few_sequences_at_a_time_are_two() -> None:
    assert [list(range(5))[own] for own in layout.few(5)] == [[0, 1], [2, 3], [4]]


def test_what_is_no_logits_for_each_token_stays_as_it_is() -> None:
    odd = np.zeros((2, 3))
    assert layout.as_wide_as(odd, 2) is odd


@pytest.mark.parametrize(
    ("form", "row", "dtype"),
    [("keep", [False, True], bool), ("hide", [True, False], bool), ("ones", [0, 1], np.int64)],
)
def test_a_padding_mask_has_the_form_that_was_declared(form: str, row: list[Any], dtype: Any) -> None:
    found = layout.padding(Declaration(padding_form=form), np.array([[False, True]]))
    assert found.tolist() == [row]
    assert found.dtype == dtype


def test_an_output_of_each_token_has_as_many_as_the_input() -> None:
    ids = np.zeros((2, 3))
    assert layout.of_each(np.zeros((2, 3, 5)), ids)
    for shape in [(2, 1, 5), (2, 4, 5), (2, 3), (2, 3, 5, 1)]:
        assert not layout.of_each(np.zeros(shape), ids)


def test_answers_for_the_last_token_stand_side_by_side() -> None:
    first, second = np.arange(6).reshape(2, 3), 10 + np.arange(6).reshape(2, 1, 3)
    found = layout.side_by_side([first, second], 2)
    assert found is not None
    assert found.tolist() == [[[0, 1, 2], [10, 11, 12]], [[3, 4, 5], [13, 14, 15]]]


@pytest.mark.parametrize("shapes", [[(2, 3), (4, 3)], [(2, 0), (2, 0)], [(3,), (3,)]])
def test_what_is_no_answer_for_one_token_each_does_not(shapes: Any) -> None:
    assert layout.side_by_side([np.zeros(shape) for shape in shapes], 2) is None


def test_prefixes_are_the_chunks_up_to_each_token() -> None:
    whole = np.arange(6).reshape(2, 3)
    found = layout.prefixes([whole[:, :2], whole[:, 2:]])
    assert [[chunk.tolist() for chunk in prefix] for prefix in found] == [
        [[[0], [3]]],
        [[[0, 1], [3, 4]]],
        [[[0, 1], [3, 4]], [[2], [5]]],
    ]
