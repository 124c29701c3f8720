"""The verdict: every exit code, which of two wins, and the lines that say why."""

from __future__ import annotations

import math
import re

import pytest

from faults import verdict
from faults.model import Control, DetectorInfo, Report, Status, VariantResult
from tests.faults.samples import TEXT, report, result, row

ALARM = DetectorInfo("rows", TEXT, "weight", 1e-3, 0.25, 2, 4)
BROKEN_CONTROL = Control("no_op", Status.SURVIVED, Status.KILLED, "scale moved")

GOOD = row()
SURVIVOR = row(
    Status.SURVIVED, variant="alive", witnessing=7, caught=5, reason="missed on 2 of 7 witnessing fixtures"
)
UNREACHED = row(
    Status.NO_COVERAGE, variant="unreached", reason="the patched code was not reached on 2 of 2 fixtures"
)
CRASHED = row(Status.ERROR, variant="crashed", reason="RuntimeError: no patch")
ELSEWHERE = row(Status.NOT_APPLICABLE, variant="elsewhere", witnessing=0)
LATE = row(Status.TIMEOUT, variant="late")
MOVED = row(variant="moved", restored=1e-9)


def english(found: Report, fail_under: float | None = None) -> list[str]:
    return [line["en"] for line in verdict.problems(found, fail_under)]


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (report([GOOD]), 0),
        (report([GOOD, LATE]), 0),
        (report([GOOD, ELSEWHERE]), 0),
        (report([GOOD, SURVIVOR]), 1),
        (report([GOOD, UNREACHED]), 1),
        (report([GOOD, MOVED]), 1),
        (report([ELSEWHERE]), 1),
        (report([GOOD, CRASHED]), 3),
        (report([GOOD], detectors=(ALARM,)), 3),
        (report([GOOD], controls=(BROKEN_CONTROL,)), 3),
        (report([]), 5),
        (report([GOOD], interrupted=True), 130),
        (report([], interrupted=True), 130),
    ],
)
def test_each_end_has_its_exit_code(found: Report, code: int) -> None:
    assert verdict.exit_code(found) == code


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (report([CRASHED, SURVIVOR], detectors=(ALARM,), interrupted=True), 130),
        (report([CRASHED, SURVIVOR, MOVED]), 3),
        (report([SURVIVOR], detectors=(ALARM,)), 3),
        (report([], detectors=(ALARM,)), 3),
        (report([], controls=(BROKEN_CONTROL,)), 3),
    ],
)
def test_the_worse_exit_code_wins(found: Report, code: int) -> None:
    assert verdict.exit_code(found) == code


@pytest.mark.parametrize("apart", [1e-300, -0.5, math.inf, math.nan])
def test_anything_but_exactly_nothing_is_not_restored(apart: float) -> None:
    found = report([row(restored=apart)])
    assert verdict.exit_code(found) == 1
    assert english(found) == [f"made_up/made: not restored: healthy values moved by {apart:.3g}"]


@pytest.mark.parametrize("diagnosis", ["missing_scale", "made_up = missing_scale", "none"])
def test_a_fault_that_is_named_otherwise_or_tied_fails(diagnosis: str) -> None:
    found = report([GOOD], faults=(result(GOOD, diagnosis=diagnosis),))
    assert verdict.exit_code(found) == 1
    assert english(found) == [f"made_up: its signals were named {diagnosis}"]


def test_a_fault_that_no_fixture_witnessed_need_not_be_named() -> None:
    other = result(ELSEWHERE, name="other", diagnosis="none")
    assert verdict.exit_code(report([], faults=(result(GOOD), other))) == 0


THREE_OF_FOUR = report([GOOD, GOOD, GOOD, SURVIVOR])


@pytest.mark.parametrize(
    ("fail_under", "code"),
    [
        (None, 1),
        (0.0, 0),
        (74.9, 0),
        (75.0, 0),
        (75.1, 1),
        (100.0, 1),
        (math.nan, 1),
        (math.inf, 1),
        (-1.0, 0),
    ],
)
def test_a_bar_allows_survivors_down_to_its_score_and_no_number_allows_none(
    fail_under: float | None, code: int
) -> None:
    assert verdict.exit_code(THREE_OF_FOUR, fail_under) == code


def test_a_full_score_passes_the_highest_bar() -> None:
    assert verdict.exit_code(report([GOOD] * 29), 100.0) == 0


@pytest.mark.parametrize(("killed", "of"), [(29, 100), (57, 100), (58, 100), (7, 25), (1, 3), (9, 29)])
def test_a_score_just_at_its_bar_passes_however_it_rounds(killed: int, of: int) -> None:
    found = report([GOOD] * killed + [SURVIVOR] * (of - killed))
    assert verdict.exit_code(found, 100 * killed / of) == 0
    assert verdict.exit_code(found, 100 * killed / of + 1e-6) == 1


@pytest.mark.parametrize("bad", [MOVED, CRASHED])
def test_a_bar_excuses_survivors_only(bad: VariantResult) -> None:
    assert verdict.exit_code(report([GOOD, bad]), 0.0) != 0


def test_a_score_that_misses_its_bar_by_no_more_than_rounding_passes() -> None:
    assert verdict.exit_code(report([SURVIVOR]), 1e-9) == 0
    assert verdict.exit_code(report([SURVIVOR]), 2e-9) == 1


def test_nothing_that_could_be_judged_is_no_pass_under_any_bar() -> None:
    for fail_under in (None, 0.0, 100.0):
        assert verdict.exit_code(report([ELSEWHERE]), fail_under) == 1
        assert verdict.problems(report([ELSEWHERE]), fail_under) == (
            {"en": "score n/a: no variant could be judged", "zh": "得分 n/a：没有可判定的变体"},
        )


def test_a_good_report_has_no_problem() -> None:
    assert verdict.problems(report([GOOD, LATE, ELSEWHERE])) == ()


EVERYTHING = report(
    [GOOD, SURVIVOR, UNREACHED, CRASHED, MOVED],
    detectors=(ALARM,),
    controls=(BROKEN_CONTROL,),
    faults=(result(GOOD, SURVIVOR, UNREACHED, CRASHED, MOVED, diagnosis="none"),),
)


def test_problems_are_one_line_each_and_the_worst_come_first() -> None:
    assert english(EVERYTHING) == [
        "baseline: rows fires on 2 of 4 healthy fixtures (largest 0.25, threshold 0.001); nothing was injected",
        "control no_op: killed, required: survived scale moved",
        "made_up/crashed: error: RuntimeError: no patch",
        "made_up/alive: survived: missed on 2 of 7 witnessing fixtures",
        "made_up/unreached: no coverage: the patched code was not reached on 2 of 2 fixtures",
        "made_up/moved: not restored: healthy values moved by 1e-09",
        "made_up: its signals were named none",
    ]


def test_the_bar_that_was_missed_stands_before_those_who_missed_it() -> None:
    lines = english(THREE_OF_FOUR, 80.0)
    assert lines == [
        "score 75.0% is under --fail-under 80 %",
        "made_up/alive: survived: missed on 2 of 7 witnessing fixtures",
    ]
    assert english(THREE_OF_FOUR, 75.0) == []


@pytest.mark.parametrize("fail_under", [None, 99.0])
def test_every_problem_is_told_in_both_languages_in_one_line(fail_under: float | None) -> None:
    for line in verdict.problems(EVERYTHING, fail_under):
        assert set(line) == {"en", "zh"}
        assert re.search(r"[\u4e00-\u9fff]", line["zh"])
        assert not re.search(r"[\u4e00-\u9fff]", line["en"])
        assert "\n" not in line["en"] + line["zh"]


def test_both_languages_give_the_same_figures_and_no_status_stays_english() -> None:
    def figures(text: str) -> list[str]:
        return sorted(re.findall(r"\d[\d.e-]*", text))

    for line in verdict.problems(EVERYTHING, 99.0):
        assert "unreached" in line["en"] or figures(line["en"]) == figures(line["zh"])
        assert not any(f"{status}" in line["zh"] for status in Status if status is not Status.ERROR)


def test_the_lines_on_what_is_alive_are_these_in_chinese() -> None:
    lines = [line["zh"] for line in verdict.problems(report([SURVIVOR, UNREACHED]))]
    assert lines == [
        "made_up/alive：存活：7 个见证的 fixture 中漏掉 2 个",
        "made_up/unreached：未覆盖：被替换的代码没有在每个 fixture 上都执行到",
    ]


def test_a_control_without_details_ends_its_line_with_what_was_required() -> None:
    assert verdict.problems(report([GOOD], controls=(Control("no_op", Status.ERROR, Status.KILLED),))) == (
        {"en": "control no_op: killed, required: error", "zh": "对照 no_op：已杀死，应为出错"},
    )


def test_every_status_has_a_chinese_word_of_its_own() -> None:
    assert set(verdict.CHINESE) == set(Status)
    assert len(set(verdict.CHINESE.values())) == len(Status)


def test_a_variant_that_is_caught_and_mostly_named_otherwise_fails_the_run() -> None:
    once = report([GOOD, row(variant="unnamed", named=1)])
    assert verdict.problems(once) == (
        {
            "en": "made_up/unnamed: named rightly on 1/2 fixtures only",
            "zh": "made_up/unnamed：仅在 1/2 个 fixture 上被正确认出",
        },
    )
    assert verdict.exit_code(once) == 1


def test_a_fault_known_by_each_variants_own_signature_alone_fails_the_run() -> None:
    blind = report([row(named_without_own=1), row(variant="other", named_without_own=2)])
    assert verdict.problems(blind) == (
        {
            "en": "made_up: named on 3/4 fixtures only when a variant's own signature is left out",
            "zh": "made_up：去掉变体自身的特征后，仅在 3/4 个 fixture 上被认出",
        },
    )
    assert verdict.exit_code(blind) == 1


@pytest.mark.parametrize(("caught", "named", "code"), [(10, 9, 0), (10, 8, 1), (1, 0, 1), (0, 0, 0)])
def test_nine_in_ten_names_are_enough_for_a_variant(caught: int, named: int, code: int) -> None:
    found = report([row(witnessing=caught, caught=caught, named=named, named_without_own=caught), GOOD])
    assert verdict.exit_code(found) == code


@pytest.mark.parametrize(("without_own", "code"), [(9, 0), (8, 1)])
def test_nine_in_ten_names_without_the_own_signature_are_enough_for_a_fault(
    without_own: int, code: int
) -> None:
    found = report([row(witnessing=10, caught=10, named=10, named_without_own=without_own)])
    assert verdict.exit_code(found) == code
