from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import arrays
from core.errors import CoreError


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_are_handed_back_as_they_are(dtype: type[np.floating[Any]]) -> None:
    x = np.ones(3, dtype)
    assert arrays.floats(x, "x") is x


@pytest.mark.parametrize(
    "value",
    [[1, 2], np.array([1, 2], np.int8), np.array([1, 2], np.uint8), np.array([True, False]), [1.0, 2.0]],
)
def test_other_numbers_become_float64(value: Any) -> None:
    assert arrays.floats(value, "x").dtype == np.float64


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (np.zeros((2, 0)), r"x is empty \(shape \(2, 0\)\)"),
        ([], "x is empty"),
        (["a"], "x has dtype <U1"),
        (np.array([1j]), "x has dtype complex128"),
        ([None], "x has dtype object"),
        ([[1.0], [1.0, 2.0]], "x cannot be made an array"),
    ],
)
def test_empty_and_non_numeric_input_is_refused_in_one_line(value: Any, found: str) -> None:
    with pytest.raises(CoreError, match=found) as caught:
        arrays.floats(value, "x")
    assert "required" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_rank_is_refused_with_the_axes_that_are_required() -> None:
    with pytest.raises(CoreError, match=r"shape \(2, 3\), rank 2; rank 3 \[batch, token, channel\]"):
        arrays.ranked(np.ones((2, 3)), "x", "batch, token, channel")
