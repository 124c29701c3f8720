from __future__ import annotations

from dataclasses import replace

import pytest

from faults.model import Control, Status
from faults.mutation.gate import Bars
from reports.mutation import terminal
from reports.mutation.words import COLUMNS, WORDS
from tests.reports.mutation.made_score import DIFF, RUN, broken, made_score, mutant, passed


def render(language: str = "en", verbosity: int = 0, **more: object) -> str:
    return terminal.render(made_score(replace(RUN, **more)), language, "ascii", verbosity)  # type: ignore[arg-type]  # fields


def row(text: str, name: str) -> list[str]:
    """The cells of the first line of a table that begins with a name."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_for_each_module_and_one_for_all() -> None:
    text = render()
    assert row(text, "module") == [
        "module", "mutants", "killed", "timeout", "survived", "no tests", "unchecked", "equivalent", "score", "s each",
    ]  # fmt: skip
    # 2 of 3 judged; 16 s over 4 timed.
    assert row(text, "core.box") == ["core.box", "4", "1", "1", "1", "0", "0", "1", "66.6 %", "4.00"]
    # 4 of 6 judged, fault variants included; 20 s over 6 timed.
    assert row(text, "all") == ["all", "7", "3", "1", "1", "1", "0", "1", "66.6 %", "3.33"]
    assert "| reports.a|b " in text


def test_errors_and_skipped_mutants_get_columns_when_there_are_some() -> None:
    mutants = (mutant("a", Status.ERROR, reason="died"), mutant("b", Status.NOT_APPLICABLE))
    text = render(mutants=mutants)
    assert row(text, "module")[7:9] == ["error", "equivalent"]
    assert row(text, "core.box") == ["core.box", "2", "0", "0", "0", "0", "0", "1", "0", "1", "n/a", "-"]


def test_a_row_for_each_part_with_what_it_must_reach() -> None:
    text = render()
    assert row(text, "part")[-2:] == ["s each", "required"]
    assert row(text, "deciding") == ["deciding", "6", "3", "1", "1", "0", "0", "1", "80.0 %", "3.33", "100 %"]
    assert row(text, "rest") == ["rest", "1", "0", "0", "0", "1", "0", "0", "0.0 %", "-", "90 %"]


def test_without_parts_there_is_no_table_of_them() -> None:
    text = terminal.render(made_score(bars=Bars(fail_under=0)), "en", "ascii")
    assert WORDS["parts heading"]["en"] not in text


def test_a_row_for_each_fault_variant_with_its_killer_and_what_mutmut_makes_of_it() -> None:
    text = render()
    assert row(text, "variant") == ["variant", "status", "killed by", "mutmut's operators"]
    assert row(text, "a/zero") == [
        "a/zero",
        "killed",
        "test_mask.py::test_future[float32]",
        "1: core.mask.x_f__mutmut_7",
    ]
    assert row(text, "a/tiny") == ["a/tiny", "killed", "test_mask.py::test_future[float32]", "none"]


def test_where_nothing_was_compared_nothing_is_claimed() -> None:
    text = render(likeness=(), compared=None)
    assert row(text, "variant") == ["variant", "status", "killed by"]
    assert row(text, "a/tiny") == ["a/tiny", "killed", "test_mask.py::test_future[float32]"]
    assert "mutmut's operators" not in text


def test_every_survivor_is_shown_with_its_diff_and_its_tests() -> None:
    text = render()
    assert "Survivors: 2" in text
    assert "survived in core.box.larger (core/box.py:2)\nmutant core.box.x_larger__mutmut_1\n" + DIFF in text
    assert "no coverage in reports.a|b.larger (core/box.py:2)" in text
    assert (
        "reached by 4 tests: tests/test_box.py::test_a[x|y], tests/test_box.py::test_b, tests/test_more.py::test_c"
        " and 1 more" in text
    )
    assert "no test reached it" in text
    assert "x_larger__mutmut_4" not in text


def test_verbose_names_every_test() -> None:
    text = render(verbosity=1)
    assert "tests/test_more.py::test_c, tests/test_d.py::d" in text
    assert " more" not in text.partition("Checks on the run")[0].partition("Survivors")[2]


def test_a_survivor_without_a_diff_says_what_it_changes() -> None:
    alive = replace(RUN.mutants[5], status=Status.SURVIVED)
    assert "core.mask.f -> adds 0" in render(mutants=(alive,))


def test_the_run_says_what_it_checked_of_itself() -> None:
    text = render()
    assert "Control must_die: killed, as it must be." in text
    assert "Equivalent, each with a proof that was run here: 1 of 7 (14.2 %)." in text
    assert "Cost: 20 s of tests over 6 mutants, 3.33 s each; the whole run took 1.5 min." in text
    assert "Of 2 fault variants, mutmut's operators write 1 (mutants of core compared: 12)." in text


def test_a_run_that_was_read_has_no_time_of_its_own() -> None:
    assert "3.33 s each.\n" in render(seconds=None)
    untimed = tuple(replace(mutant, seconds=None) for mutant in RUN.mutants)
    assert "Cost" not in render(mutants=untimed)


def test_a_broken_control_is_said() -> None:
    control = Control("must_die", Status.KILLED, Status.SURVIVED, "(key)")
    assert "Control must_die: survived, but it must be killed (key)\n" in render(controls=(control,))


def test_a_partial_run_says_so_first() -> None:
    assert (
        render(since="main")
        .splitlines()[2]
        .startswith("PARTIAL: only mutants in functions changed since main")
    )
    assert "PARTIAL" not in render()


def test_problems_stand_above_the_verdict() -> None:
    lines = render().splitlines()
    assert lines[-4:] == [
        "part deciding: 80.0 % killed, at least 100 % is required",
        "part rest: 0.0 % killed, at least 90 % is required",
        "",
        "FAIL: part deciding: 80.0 % killed, at least 100 % is required (and 1 more)",
    ]


def test_a_pass_is_one_line_when_quiet() -> None:
    assert terminal.render(passed(), "en", "ascii", -1) == "PASS: killed 1 of 1, score 100.0 %."
    assert terminal.render(passed(), "zh", "ascii", -1) == "通过：杀死 1/1，得分 100.0 %。"
    assert terminal.render(broken(), "en", "ascii", -1).startswith("FAIL: mutmut ended with 1 (and ")


def test_what_took_too_long_counts_as_killed() -> None:
    report = made_score(replace(RUN, mutants=RUN.mutants[1:3], part="deciding"))
    assert terminal.render(report, "en", "ascii", -1) == "PASS: killed 2 of 2, score 100.0 %."


def test_hours_are_minutes() -> None:
    assert "the whole run took 60.0 min." in render(seconds=3600.0)


def test_numbers_stand_to_the_right_and_names_to_the_left() -> None:
    line = next(line for line in render().splitlines() if line.startswith("| core.box"))
    assert line.startswith("| core.box    |       4 |")


def test_a_long_name_of_a_test_is_cut() -> None:
    def killer(name: str) -> str:
        killed = replace(RUN.mutants[5], killed_by=f"tests/core/test_mask.py::{name}")
        return row(render(mutants=(killed,)), "a/zero")[2]

    # "test_mask.py::" has 14 letters, and 56 may stand there.
    assert killer("x" * 42) == "test_mask.py::" + "x" * 42
    assert killer("x" * 43) == "test_mask.py::" + "x" * 41 + "…"
    assert killer("test_a[b::c]") == "test_mask.py::test_a[b::c]"


def test_a_variant_that_was_not_run_says_so() -> None:
    assert row(render(mutants=(replace(RUN.mutants[5], status=None, killed_by=""),)), "a/zero")[1:3] == [
        "unchecked",
        "",
    ]


def test_sections_follow_each_other_after_an_empty_line() -> None:
    text = render()
    for heading in ("By part", "By module", "Fault variants under the contract suite"):
        assert f"\n\n{heading}\n+-" in text
    assert "XX" not in text
    assert terminal.render(made_score(), "en", "ascii") == text


def test_a_run_without_mutants_is_the_verdict_alone() -> None:
    assert render(mutants=()) == "FAIL: no mutants: nothing was tested"


def test_notes_are_among_the_checks() -> None:
    text = terminal.render(made_score(bars=Bars(known={"gone": 1}, equivalents_at_most=50)), "en", "ascii")
    assert "killed since the baseline was written: 1" in text


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_chinese_reports_have_no_english_sentence(verbosity: int) -> None:
    text = render("zh", verbosity, since="main")
    for entry in ("modules heading", "variants heading", "note", "checks heading"):
        assert WORDS[entry]["en"] not in text
    assert verbosity < 0 or COLUMNS["survived"]["zh"] in text


def test_every_word_is_there_in_both_languages() -> None:
    for text in (*WORDS.values(), *COLUMNS.values()):
        assert set(text) == {"en", "zh"}
        assert all(text.values())
