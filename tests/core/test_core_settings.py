from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

from core import settings
from core.errors import CoreError

LARGEST = sys.float_info.max


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_become_ints(value: Any) -> None:
    found = settings.whole(value, "heads", 3)
    assert (found, type(found)) == (3, int)


@pytest.mark.parametrize("value", [2, True, 3.0, "3", None])
def test_what_is_no_whole_number_of_that_size_is_refused(value: Any) -> None:
    with pytest.raises(CoreError) as caught:
        settings.whole(value, "heads", 3)
    assert str(caught.value) == f"heads is {value!r}; an integer of at least 3 is required; pass such an int"


@pytest.mark.parametrize("value", [0.5, LARGEST, np.float32(0.5), 1, np.int8(1)])
def test_finite_numbers_become_floats(value: Any) -> None:
    found = settings.real(value, "rate", 0.5)
    assert (found, type(found)) == (float(value), float)


@pytest.mark.parametrize("value", [0.4999, math.nan, math.inf, 10**400, True, "1", None, 1j])
def test_what_is_no_finite_number_of_that_size_is_refused(value: Any) -> None:
    with pytest.raises(CoreError) as caught:
        settings.real(value, "rate", 0.5)
    message = f"rate is {value!r}; a finite number of at least 0.5 is required; pass a float"
    assert str(caught.value) == message


def test_an_object_of_another_type_is_refused() -> None:
    settings.instance(3, "count", int)
    with pytest.raises(CoreError) as caught:
        settings.instance("3", "count", int)
    assert str(caught.value) == "count is a str; a int is required; make one of it first"


@pytest.mark.parametrize("value", ["float32", np.float32, np.dtype(np.float32)])
def test_a_floating_type_is_understood(value: Any) -> None:
    assert settings.float_dtype(value) == np.dtype(np.float32)


@pytest.mark.parametrize(("value", "shown"), [(np.int64, "int64"), ("complex64", "complex64")])
def test_another_type_is_refused(value: Any, shown: str) -> None:
    with pytest.raises(CoreError) as caught:
        settings.float_dtype(value)
    assert str(caught.value) == f"dtype is {shown}; a floating type is required; pass np.float64"


def test_what_is_no_type_is_refused_under_its_name() -> None:
    with pytest.raises(CoreError) as caught:
        settings.float_dtype("x", "format")
    assert str(caught.value) == "format is 'x'; a floating type is required; pass np.float64"
