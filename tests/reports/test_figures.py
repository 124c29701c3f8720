"""How numbers are written."""

from __future__ import annotations

import math

import pytest

from reports import figures


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (None, "-"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        (2.8e-6, "2.8e-6"),
        (1e-9, "1e-9"),
        (0.0285, "0.0285"),
        (0.001, "0.001"),
        (12.34, "12.3"),
        (2048.0, "2048"),
        (1e4, "1e4"),
        (-0.5, "-0.5"),
    ],
)
def test_a_value_is_short_and_keeps_its_size(number: float | None, text: str) -> None:
    assert figures.value(number) == text


def test_a_margin_is_given_in_decades() -> None:
    assert figures.decades(3.26, 1e-9, "exact") == "3.3"


def test_a_margin_over_exactly_zero_is_exact() -> None:
    assert figures.decades(15.0, 0.0, "exact") == "exact"


def test_no_margin_is_a_dash_even_over_zero() -> None:
    assert figures.decades(None, 0.0, "exact") == "-"


def test_percent_never_rounds_up_to_all() -> None:
    assert figures.percent(9999, 10000) == "99.9 %"
    assert figures.percent(7, 7) == "100.0 %"


def test_percent_of_nothing_is_not_a_number() -> None:
    assert figures.percent(0, 0) == "n/a"


def test_extents_use_the_letters_of_the_papers() -> None:
    sizes = {"batch": 1, "tokens": 2, "heads": 3, "kv_heads": 3, "head_width": 4, "dtype": "float32"}
    assert figures.extents(sizes) == "B=1 T=2 H=3 Hkv=3 d_k=4 float32"


def test_a_part_that_a_fixture_does_not_have_is_not_mentioned() -> None:
    assert figures.extents({"batch": 1, "vocab": 0}) == "B=1"


def test_an_extent_nobody_named_keeps_its_name() -> None:
    assert figures.extents({"window": 8, "gain": 1.0}) == "window=8 gain=1"
