"""One fault explained: words, then numbers before, with the fault and repaired."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from faults.model import Demonstration, Fault, Signature, Stage, Variant
from reports import explanation
from reports.document import Grid
from reports.explanation import render
from reports.wrap import width

FAULT = Fault(
    name="mask_adds_zero",
    title={"en": "mask adds 0", "zh": "mask 加 0"},
    injected={"en": "0 instead of -inf", "zh": "加 0 而不是负无穷"},
    signal={"en": "the future leaks", "zh": "未来信息泄漏"},
    repair={"en": "add -inf", "zh": "加负无穷"},
    formula="softmax(Q K^T / sqrt(d_k) + M)",
    enters={"en": "in the mask", "zh": "在遮罩里"},
    shapes={"en": "mask [query, key]", "zh": "mask 为 [query, key]"},
    variants=(
        Variant(
            "zero",
            {"en": "adds 0", "zh": "加 0"},
            {},
            "future",
            Signature(frozenset()),
            lambda extents: True,
        ),
    ),
)

HEALTHY = [[1.0, 0.0], [0.5, 0.5]]
FAULTY = [[0.5, 0.5], [0.5, 0.5]]

SHOWN = Demonstration(
    fault="mask_adds_zero",
    variant="zero",
    extents={"batch": 1, "tokens": 2},
    stages=(
        Stage("input", ("token", "channel"), [[1.0]], [[1.0]], [[1.0]]),
        Stage("weights", ("query", "key"), HEALTHY, FAULTY, HEALTHY),
    ),
    detector="future",
    before=0.0,
    after=0.25,
    repaired=0.0,
)


def with_stage(stage: Stage) -> Demonstration:
    return replace(SHOWN, stages=(stage,))


def english(shown: Demonstration) -> str:
    return render([(FAULT, shown)], "en", "lines")


def rows(text: str) -> list[list[str]]:
    """Cells of all table rows, header rows included."""
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[" ".join(cell.split()) for cell in line.strip("│").split("│")] for line in lines]


def test_the_words_of_the_fault_come_first() -> None:
    text = english(SHOWN)
    for word in (
        "0 instead of -inf",
        FAULT.formula,
        "mask [query, key]",
        "in the mask",
        "the future leaks",
        "add -inf",
    ):
        assert word in text
    assert text.index("add -inf") < text.index("query 0")


def test_numbers_stand_before_with_the_fault_and_repaired() -> None:
    assert ["query 0", "1.000 0.000", "*0.500 *0.500", "1.000 0.000"] in rows(english(SHOWN))


def test_a_row_that_the_fault_leaves_alone_has_no_star() -> None:
    assert ["query 1", "0.500 0.500", "0.500 0.500", "0.500 0.500"] in rows(english(SHOWN))


def test_a_stage_that_never_changes_is_shown_once() -> None:
    assert ["token 0", "1.000"] in rows(english(SHOWN))


def test_a_difference_in_hidden_digits_still_has_a_star() -> None:
    stage = Stage("weights", ("query", "key"), [[0.5]], [[0.5 + 1e-9]], [[0.5]])
    assert ["query 0", "0.500", "*0.500", "0.500"] in rows(english(with_stage(stage)))


def test_a_small_number_is_not_shown_as_zero() -> None:
    stage = Stage("weights", ("query", "key"), [[0.0]], [[1e-9]], [[0.0]])
    assert ["query 0", "0.000", "*1e-9", "0.000"] in rows(english(with_stage(stage)))


@pytest.mark.parametrize(("number", "shown"), [(-math.inf, "-inf"), (math.nan, "nan"), (-1e4, "-1e4")])
def test_numbers_that_are_not_of_order_one_stay_short(number: float, shown: str) -> None:
    stage = Stage("masked", ("query", "key"), [[0.0]], [[number]], [[0.0]])
    assert rows(english(with_stage(stage)))[1][2] == f"*{shown}"


def test_a_stage_that_raised_says_so_and_the_error_is_quoted() -> None:
    stage = Stage("weights", ("query", "key"), HEALTHY, None, HEALTHY)
    text = english(replace(with_stage(stage), error="ValueError: shapes (3,) and (2,)"))
    assert ["query 0", "1.000 0.000", "raised an error", "1.000 0.000"] in rows(text)
    assert "The faulty block raised: ValueError: shapes (3,) and (2,)" in text


def test_a_fault_that_changes_the_shape_is_shown_with_all_its_numbers() -> None:
    stage = Stage("output", ("token", "channel"), [[1.0]], [[1.0, 2.0], [3.0, 4.0]], [[1.0]])
    shown = rows(english(with_stage(stage)))
    assert ["token 0", "1.000", "1.000 *2.000", "1.000"] in shown
    assert ["token 1", "", "*3.000 *4.000", ""] in shown


def test_the_signal_closes_with_its_three_values() -> None:
    assert "Failure signal future: 0 before, 0.25 with the fault, 0 repaired." in english(SHOWN)


def test_a_full_repair_is_called_bit_identical() -> None:
    assert "bit-identical to the one before" in english(SHOWN)


def test_a_repair_that_is_not_exact_is_not_called_bit_identical() -> None:
    stage = Stage("weights", ("query", "key"), [[0.5]], [[0.1]], [[0.5 + 1e-16 * 4]])
    assert "bit-identical" not in english(with_stage(stage))


def test_wide_matrices_stand_below_each_other() -> None:
    wide = [[float(column) + 0.5 for column in range(12)]]
    text = english(with_stage(Stage("output", ("token", "channel"), wide, [[0.0] * 12], wide)))
    assert rows(text)[1][:2] == ["before", "token 0"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_explanation_fits_into_a_hundred_columns(language: str) -> None:
    four = [[-1.25, 0.5, 0.25, 0.75]] * 3
    shown = with_stage(Stage("output", ("token", "channel"), four, [[-0.5, 1.0, 2.0, 3.0]] * 3, four))
    lines = render([(FAULT, shown)], language, "lines").splitlines()
    assert max(map(width, lines)) <= 100


def test_chinese_names_the_axes_without_blanks_between_chinese_words() -> None:
    text = render([(FAULT, SHOWN)], "zh", "lines")
    assert "每行一个 token，每列一个通道" in text


def test_several_faults_are_one_page() -> None:
    page = render([(FAULT, SHOWN), (FAULT, SHOWN)], "en", "html")
    assert page.count("<!doctype html>") == 1
    assert page.count("<h1>") == 2


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (0.0, 3, "0.000"),
        (-0.0, 2, "0.00"),
        (0.001, 3, "0.001"),
        (0.0009, 3, "9e-4"),
        (0.01, 2, "0.01"),
        (0.0094, 2, "9e-3"),
        (-12.345, 2, "-12.35"),
        (999.9, 2, "999.90"),
        (1000.0, 2, "1e3"),
        (1000.5, 2, "1e3"),
        (math.inf, 2, "inf"),
        (math.nan, 2, "nan"),
    ],
)
def test_a_number_has_fixed_decimals_unless_they_would_hide_or_bloat_it(
    number: float, digits: int, text: str
) -> None:
    assert explanation._number(number, digits) == text


def test_up_to_three_columns_have_three_decimals_and_two_blanks_between_them() -> None:
    assert explanation._cells([[1.0, 0.5, 0.25], [10.0, 0.0, 0.0]], [[1.0, 0.5, 0.25], [10.0, 0.0, 0.0]]) == [
        " 1.000   0.500   0.250",
        "10.000   0.000   0.000",
    ]
    assert explanation._cells([[1.0, 0.5, 0.25, 2.0]], [[1.0, 0.5, 0.5, 2.0]]) == [" 1.00  0.50 *0.25  2.00"]
    assert explanation._cells([], []) == []
    assert explanation._cells([[]], [[]]) == [""]
    assert explanation._cells(None, []) is None


def test_matrices_side_by_side_have_a_column_each() -> None:
    grid = explanation._beside({"before": ["1", "2"], "after": None}, "query", "en")
    assert grid == Grid(
        ["", "before", "with the fault"],
        [["query 0", "1", "raised an error"], ["query 1", "2", ""]],
        (0, 0, 0),
        "lrr",
    )


def test_matrices_below_each_other_say_once_which_they_are() -> None:
    grid = explanation._below({"before": ["1", "2"], "after": None}, "query", "en")
    rows = [
        ["before", "query 0", "1"],
        ["", "query 1", "2"],
        ["with the fault", "query 0", "raised an error"],
    ]
    assert grid == Grid(["", "", ""], rows, (0, 0, 0), "llr")
