"""Public bug reports as pairs: the wrong half is caught and named, the right half is left alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from faults import registry
from tests.quality.foreign import score, wild
from tests.quality.foreign.pairs import Pair, examined, row
from tests.quality.foreign.unseen import UNSEEN

REPORTS = {"F1": 11, "F2": 11, "F3": 23, "F4": 15, "F5": 10, "R": 55}
"""How many reports there are of each class."""

MISSED, FAMILIES = 0.02, 0.95

each_pair = pytest.mark.parametrize("pair", wild.PAIRS, ids=lambda pair: pair.report)


def test_every_report_has_a_pair_or_a_sentence_that_says_why_not() -> None:
    told = [pair.report for pair in wild.PAIRS] + list(UNSEEN)
    assert len(set(told)) == len(told)
    counts = {name: sum(report.startswith(name) for report in told) for name in REPORTS}
    assert counts == REPORTS


@pytest.mark.parametrize("report", UNSEEN)
def test_the_sentence_is_one_line_that_says_what_would_tell(report: str) -> None:
    assert re.fullmatch(r"[a-z0-9][^\n.]{30,}", UNSEEN[report])


@each_pair
def test_the_half_without_the_defect_is_sound(pair: Pair) -> None:
    assert row(pair).verdict == "sound"


@each_pair
def test_the_half_with_the_defect_breaks_a_contract(pair: Pair) -> None:
    assert row(pair).detected, row(pair)


def test_nearly_every_defect_of_the_five_is_named_by_its_own_name() -> None:
    found = [one for one in wild.rows() if one.pair.family in registry.NAMES]
    missed = {one.pair.report: one.said for one in found if one.said != one.pair.family}
    assert len(missed) <= MISSED * len(found), missed


def test_the_families_are_told_apart() -> None:
    found = wild.named(wild.rows())
    by_family = {family: round(score.f1(family, found), 2) for family in sorted({name for name, _ in found})}
    assert score.macro_f1(found) >= FAMILIES, by_family


SCALES = [pair for pair in wild.PAIRS if pair.report.startswith("F2")]


@pytest.mark.parametrize("pair", SCALES, ids=lambda pair: pair.report)
def test_wrong_scales_are_told_apart(pair: Pair) -> None:
    assert row(pair).variant == pair.variant


@pytest.mark.parametrize(
    ("report", "factor"),
    [
        ("F2-028", lambda heads, width: 1),
        ("F2-039", lambda heads, width: 1 / width),
        ("F2-026", lambda heads, width: width**0.5),
        ("F2-040", lambda heads, width: (heads * width) ** -0.5),
    ],
)
def test_the_scale_that_was_found_is_told(report: str, factor: Callable[[int, int], float]) -> None:
    (pair,) = [pair for pair in SCALES if pair.report == report]
    found = examined(pair.wrong(), pair.declared).scale
    assert found is not None
    assert found.factor == pytest.approx(factor(found.heads, found.head_width), rel=1e-5)
    assert examined(pair.right(), pair.declared).scale is None


def test_macro_f1_is_the_mean_over_the_families_that_there_are() -> None:
    # a: one right, one missed, none wrongly said: 2/3. b: one right, one wrongly said: 2/3. c: missed: 0.
    found = [("a", "a"), ("a", "b"), ("b", "b"), ("c", "-")]
    assert score.f1("a", found) == pytest.approx(2 / 3)
    assert score.f1("b", found) == pytest.approx(2 / 3)
    assert score.macro_f1(found) == pytest.approx(4 / 9)
