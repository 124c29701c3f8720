"""The report of a run, as a reader sees it. Figures are those of the hand-made report in conftest."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from faults.model import Alone, Control, Reading, Report, Status, Text
from reports import cells, words
from reports.campaign import render, verdict_line
from reports.wrap import width

TOO_LOW: Text = {"en": "the score is too low", "zh": "得分过低"}
LEFT: Text = {"en": "something is left", "zh": "还有遗留"}


def row(text: str, name: str, table: int = 0) -> list[str]:
    """The cells of the row that begins with `name`, in the table counted from 0 that has one."""
    lines = [line for line in text.splitlines() if line.startswith(f"| {name} ")]
    return [cell.strip() for cell in lines[table].strip("|").split(" | ")]


def changed(report: Report, **changes: Any) -> Report:
    """The report with fields of its first variant replaced."""
    first = report.faults[0]
    variants = (replace(first.variants[0], **changes), *first.variants[1:])
    return replace(report, faults=(replace(first, variants=variants), *report.faults[1:]))


def english(report: Report, problems: tuple[Text, ...] = (), verbosity: int = 0) -> str:
    return render(report, problems, "en", "github", verbosity)


def test_a_fault_shows_what_was_injected_and_how_it_ended(report: Report) -> None:
    assert row(english(report), "mask_adds_zero") == [
        "mask_adds_zero",
        "mask adds 0, not -inf",
        "probability on the future &gt; 0, the future leaks",
        "2/2",
        "18/18/20",
        "bit-identical",
        "mask_adds_zero",
    ]


def test_a_fault_shows_the_figures_of_its_signal(report: Report) -> None:
    assert row(english(report), "missing_scale", table=1) == [
        "missing_scale",
        "slope<br>relative",
        "0",
        "1e-9",
        "0.25",
        "exact",
        "B=1 T=2 H=1 Hkv=1 d_k=2 float64 seed=7",
    ]


def test_the_signal_is_the_worst_over_the_variants_with_the_same_lead(report: Report) -> None:
    weaker = Reading("future", "relative", 1e-9, 2e-12, 0.002)
    text = english(changed(report, reading=weaker, margin=9.0))
    assert row(text, "mask_adds_zero", table=1)[2:6] == ["2e-12", "1e-9", "0.002", "9.0"]


def test_one_variant_without_a_margin_leaves_the_fault_without_one(report: Report) -> None:
    text = english(changed(report, status=Status.SURVIVED, margin=None))
    assert row(text, "mask_adds_zero", table=1)[5] == "-"


def test_a_variant_with_another_lead_does_not_enter_the_row(report: Report) -> None:
    first = report.faults[0]
    other = replace(first.variants[1], reading=Reading("huge", "relative", 1e-9, 0.0, 1e-6))
    report = replace(report, faults=(replace(first, variants=(first.variants[0], other)),))
    assert row(english(report), "mask_adds_zero", table=1)[4] == "0.25"


def test_a_survivor_is_not_counted_as_killed(report: Report) -> None:
    text = english(changed(report, status=Status.SURVIVED))
    assert row(text, "mask_adds_zero")[3] == "1/2"
    assert "2/3 = 66.6 %" in text


def test_a_timeout_scores_and_an_error_does_not(report: Report) -> None:
    assert "3/3 = 100.0 %" in english(changed(report, status=Status.TIMEOUT))
    assert "2/2 = 100.0 %" in english(changed(report, status=Status.ERROR))


@pytest.mark.parametrize(
    ("difference", "shown"), [(1e-17, "differs by 1e-17"), (float("nan"), "differs by nan")]
)
def test_a_fix_that_did_not_restore_shows_how_far_off(report: Report, difference: float, shown: str) -> None:
    assert row(english(changed(report, restored=difference)), "mask_adds_zero")[5] == shown


def test_nan_is_the_worst_of_all_differences() -> None:
    assert math.isnan(cells.worst([0.0, math.nan, 1.0]))
    assert cells.worst([0.0, 2.0, 1.0]) == 2.0
    assert cells.worst([]) == 0.0


def test_a_tie_in_the_name_is_shown_as_a_tie(report: Report) -> None:
    tied = replace(report.faults[0], diagnosis="mask_adds_zero = flipped_triangle")
    assert "mask_adds_zero = flipped_triangle" in english(replace(report, faults=(tied,)))


def test_a_fault_without_variants_is_shown_without_figures(report: Report) -> None:
    bare = replace(report.faults[0], variants=(), diagnosis="")
    assert row(english(replace(report, faults=(bare,))), "mask_adds_zero")[3:] == [
        "0/0",
        "0/0/0",
        "bit-identical",
        "-",
    ]


def test_what_other_tests_alone_would_have_caught(report: Report) -> None:
    text = english(report)
    assert row(text, "output shape")[1:] == ["0/3", "0/2", "0/1"]
    assert row(text, "future-token perturbation")[1:] == ["1/3 (+1)", "1/2 (+1)", "0/1"]
    assert (
        "necessary, not sufficient: alone it catches 1 of 3 variants on every fixture and 1 on none." in text
    )


def test_a_test_that_catches_everything_misses_nothing(report: Report) -> None:
    names = ("mask_adds_zero/zero", "mask_adds_zero/missing", "missing_scale/absent")
    text = english(replace(report, alone=(Alone("rows", names, (), 3),)))
    assert row(text, "row sums of the weights")[1:] == ["3/3", "2/2", "1/1"]


def test_a_false_alarm_is_named_with_its_figures(report: Report) -> None:
    noisy = replace(report.detectors[1], alarms=2, healthy=0.5)
    text = english(replace(report, detectors=(report.detectors[0], noisy)))
    assert "false alarms: 2." in text
    assert "slope fired on 2 of 10 healthy fixtures (largest 0.5, threshold 1e-4)" in text


def test_a_control_that_ended_wrong_says_what_it_had_to_do(report: Report) -> None:
    dead = Control("no-op", Status.SURVIVED, Status.KILLED, "slope")
    assert "Control no-op: killed, but it must be survived (slope)." in english(
        replace(report, controls=(dead,))
    )


def test_diagnosis_and_its_weakest_fault_are_summed_up(report: Report) -> None:
    text = english(changed(report, named=8, tied=1, named_without_own=3))
    assert "the right fault on 26 of 27 witnessing fixtures (96.2 %); ties: 1." in text
    assert "21 of 27 (77.7 %); lowest is mask_adds_zero with 66.6 %" in text


def test_the_last_line_is_the_verdict(report: Report) -> None:
    last = "PASS: variants killed 3/3, false alarms 0, every fix restored."
    assert english(report).splitlines()[-1] == last


def test_problems_are_listed_and_the_worst_ends_the_report(report: Report) -> None:
    lines = english(report, (TOO_LOW, LEFT)).splitlines()
    assert lines[-1] == "FAIL: the score is too low (and 1 more)"
    assert "- something is left" in lines


def test_the_verdict_is_one_line_however_long_it_is(report: Report) -> None:
    long: Text = {"en": "word " * 60 + "end", "zh": "字"}
    assert english(report, (long,), verbosity=-1).count("\n") == 0
    assert render(report, (long,), "en", "lines").splitlines()[-1].endswith("end")


def test_the_whole_is_one_document_that_says_how_much_was_run(report: Report) -> None:
    lines = english(report).splitlines()
    assert [line for line in lines if line.startswith("## ")] == lines[:1]
    assert lines[2].startswith("Fixtures per fault: 10, ")


def test_a_unit_is_said_in_the_readers_language_below_the_detector_and_none_leaves_no_line(
    report: Report,
) -> None:
    second = report.faults[1]
    for unit, language, shown in (("weight", "zh", "slope<br>权重"), ("", "en", "slope")):
        variants = (replace(second.variants[0], reading=Reading("slope", unit, 1e-9, 0.0, 0.25)),)
        text = render(replace(report, faults=(replace(second, variants=variants),)), (), language, "github")
        assert row(text, "missing_scale", table=1)[1] == shown


def test_a_long_problem_in_the_list_does_not_break(report: Report) -> None:
    long: Text = {"en": "word " * 60 + "end", "zh": "字"}
    lines = render(report, (long, TOO_LOW), "en", "lines").splitlines()
    assert "word " * 60 + "end" in [line.strip() for line in lines]


def test_quiet_is_the_verdict_alone(report: Report) -> None:
    assert english(report, (TOO_LOW,), verbosity=-1) == "FAIL: the score is too low"


def test_an_interrupted_run_is_never_a_pass(report: Report) -> None:
    text = english(replace(report, interrupted=True))
    assert "INTERRUPTED: the block was restored" in text
    assert text.splitlines()[-1] == "INTERRUPTED: variants measured 3, killed 3."


def test_nothing_selected_is_said_so(report: Report) -> None:
    assert verdict_line(replace(report, faults=()), (), "zh") == "没有选中任何故障。"


def test_the_kill_matrix_tells_never_fired_from_not_observable(report: Report) -> None:
    text = english(changed(report, observed={"future": 9}, kills={}), verbosity=1)
    assert row(text[text.index("Kill matrix") :], "future") == ["future", ".", "9/9"]
    text = english(changed(report, observed={}, kills={}), verbosity=1)
    assert row(text[text.index("Kill matrix") :], "future") == ["future", "-", "9/9"]


def test_the_kill_matrix_lists_the_detectors_that_fired_and_names_the_others(report: Report) -> None:
    text = english(changed(report, kills={"future": 7}), verbosity=1)
    first, second = text.split("Kill matrix")[1:3]
    assert row(first, "future") == ["future", "7/9", "9/9"]
    assert "Never fired here: slope." in first
    assert row(second, "slope") == ["slope", "9/9"]


def test_verbose_shows_every_variant_with_its_reason(report: Report) -> None:
    text = english(changed(report, status=Status.ERROR, reason="ValueError: shapes"), verbosity=1)
    assert row(text, "mask_adds_zero/zero")[1:4] == [
        "zero in words<br>[ValueError: shapes]",
        "error",
        "future",
    ]


def test_verbose_shows_named_left_out_and_witness(report: Report) -> None:
    text = english(changed(report, named=8, tied=1, named_without_own=3), verbosity=1)
    assert row(text, "mask_adds_zero/zero", table=1)[1:] == [
        "8/9",
        "1",
        "3/9",
        "bit-identical",
        "B=1 T=2 H=1 Hkv=1 d_k=2 float64 seed=7<br>future = 0.25",
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("verbosity", [0, 1])
def test_no_line_is_wider_than_a_wide_terminal(report: Report, language: str, verbosity: int) -> None:
    lines = render(report, (TOO_LOW,), language, "simple_grid", verbosity).splitlines()
    assert max(map(width, lines)) <= 120


@pytest.mark.parametrize("language", ["en", "zh"])
def test_table_borders_line_up(report: Report, language: str) -> None:
    lines = render(report, (), language, "simple_grid", 1).splitlines()
    table: set[int] = set()
    for line in lines:
        if line.startswith("┌"):
            table = set()
        if line[:1] in "┌│├└" and line:
            table.add(width(line))
            assert len(table) == 1, line


def test_a_page_is_whole_and_escapes_what_it_shows(report: Report) -> None:
    odd = replace(report.faults[0], injected={"en": "<script>", "zh": "<script>"})
    text = render(replace(report, faults=(odd,)), ({"en": "<i>", "zh": "<i>"},), "zh", "html", 1)
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>")
    assert '<html lang="zh">' in text
    assert "<script>" not in text
    assert "<i>" not in text


def test_the_same_report_gives_the_same_text(report: Report) -> None:
    assert english(report, verbosity=1) == english(report, verbosity=1)


@pytest.mark.parametrize("table", [words.WORDS, words.STATUS, words.TESTS, words.AXES])
def test_every_entry_has_words_and_the_same_figures_in_both_languages(table: dict[Any, Text]) -> None:
    for entry, text in table.items():
        assert set(text) == {"en", "zh"}, entry
        figures = [sorted(part.split("}")[0] for part in text[language].split("{")[1:]) for language in text]
        assert figures[0] == figures[1], entry
