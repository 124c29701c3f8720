from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from faults.model import Control, Status, Text
from faults.mutation import gate
from faults.mutation.gate import Bars
from faults.mutation.model import Judgement, Mutant, Origin, Part, Run
from tests.faults.mutation.made_run import mutant

KILLED, TIMEOUT, SURVIVED = Status.KILLED, Status.TIMEOUT, Status.SURVIVED
NONE, ERROR, SKIPPED = Status.NO_COVERAGE, Status.ERROR, Status.NOT_APPLICABLE


def mutants(*statuses: Status | None) -> tuple[Mutant, ...]:
    return tuple(mutant(f"m{at}", status, before=f"{at}") for at, status in enumerate(statuses))


def judged(found: Sequence[Mutant], bars: Bars = Bars(), **run: Any) -> Judgement:  # noqa: B008 - frozen
    return gate.report(Run(tuple(found), **run), bars).judgement


def english(judgement: Judgement) -> list[str]:
    return [problem["en"] for problem in judgement.problems]


def chinese(judgement: Judgement) -> list[str]:
    return [problem["zh"] for problem in judgement.problems]


def test_a_run_in_which_every_mutant_dies_passes() -> None:
    assert judged(mutants(KILLED, TIMEOUT)) == Judgement(0, (), ())


@pytest.mark.parametrize("status", [SURVIVED, NONE])
def test_without_a_bar_nothing_may_survive(status: Status) -> None:
    judgement = judged(mutants(KILLED, status))
    assert (judgement.exit_code, english(judgement)) == (1, ["survivor: m1"])
    assert chinese(judgement) == ["存活者：m1"]


def test_no_mutants_are_no_pass() -> None:
    judgement = judged([])
    assert (judgement.exit_code, english(judgement)) == (5, ["no mutants: nothing was tested"])
    assert chinese(judgement) == ["没有变异体：什么也没有测试"]


def test_an_error_fails_whatever_the_score_is() -> None:
    found = (*mutants(KILLED), mutant("bad", ERROR, reason="killed by signal 11"))
    judgement = judged(found, Bars(fail_under=0.0))
    assert (judgement.exit_code, english(judgement)) == (3, ["bad: error: killed by signal 11"])
    assert chinese(judgement) == ["bad：出错：killed by signal 11"]


def test_mutants_without_a_verdict_fail_whatever_the_score_is() -> None:
    judgement = judged(mutants(KILLED, None, None), Bars(fail_under=0.0))
    assert judgement.exit_code == 3
    assert english(judgement) == ["mutants without a verdict: 2, the first is m1; the run did not finish"]
    assert chinese(judgement) == ["没有判定的变异体：2 个，第一个是 m1；运行没有完成"]


def test_in_a_partial_run_mutants_that_were_not_chosen_have_no_verdict() -> None:
    assert judged(mutants(KILLED, None), since="main").exit_code == 0


def test_a_partial_run_that_touched_nothing_is_no_pass() -> None:
    judgement = judged(mutants(None), since="main")
    assert judgement.exit_code == 5
    assert english(judgement) == ["no mutant is touched by what changed since main: nothing was tested"]
    assert chinese(judgement) == ["自 main 以来的改动没有涉及任何变异体：什么也没有测试"]


def test_what_breaks_the_run_comes_before_what_survived() -> None:
    line: Text = {"en": "mutmut ended with 1", "zh": "mutmut 以 1 结束"}
    judgement = judged(mutants(KILLED, SURVIVED), broken=(line,))
    assert (judgement.exit_code, english(judgement)) == (3, ["mutmut ended with 1", "survivor: m1"])


def test_a_broken_run_without_mutants_is_broken() -> None:
    assert judged([], broken=({"en": "no", "zh": "不"},)).exit_code == 3


@pytest.mark.parametrize("status", [SURVIVED, ERROR, NONE])
def test_a_control_that_should_die_and_does_not_fails(status: Status) -> None:
    judgement = judged(mutants(KILLED), controls=(Control("must_die", KILLED, status, "(m7)"),))
    assert judgement.exit_code == 3
    assert english(judgement) == [f"control must_die: {status}, required: killed (m7)"]
    assert chinese(judgement) == [f"对照 must_die：{status}，应为 killed (m7)"]


def test_a_control_that_should_live_and_dies_fails() -> None:
    judgement = judged(mutants(KILLED), controls=(Control("must_live", SURVIVED, KILLED),))
    assert english(judgement) == ["control must_live: killed, required: survived"]
    assert chinese(judgement) == ["对照 must_live：killed，应为 survived"]


def test_controls_that_hold_say_nothing() -> None:
    held = (Control("must_die", KILLED, KILLED), Control("must_live", SURVIVED, SURVIVED))
    assert judged(mutants(KILLED), controls=held).exit_code == 0


# 3 of 4 is 75 %, exactly representable.
@pytest.mark.parametrize(("bar", "code"), [(75.0, 0), (75.1, 1), (0.0, 0), (100.0, 1)])
def test_a_bar_is_reached_or_not(bar: float, code: int) -> None:
    judgement = judged(mutants(KILLED, KILLED, TIMEOUT, SURVIVED), Bars(fail_under=bar))
    assert judgement.exit_code == code


def test_a_score_under_the_bar_says_both() -> None:
    judgement = judged(mutants(KILLED, KILLED, SURVIVED), Bars(fail_under=66.7))
    assert english(judgement) == ["score: 66.6 % killed, at least 66.7 % is required"]
    assert chinese(judgement) == ["得分：杀死 66.6 %，至少需要 66.7 %"]


def test_a_bar_cannot_be_reached_where_nothing_can_be_judged() -> None:
    judgement = judged(mutants(SKIPPED), Bars(fail_under=0.0))
    assert (judgement.exit_code, english(judgement)) == (1, ["score n/a: no mutant could be judged"])
    assert chinese(judgement) == ["得分 n/a：没有可判定的变异体"]


def part(name: str, bar: float, *modules: str) -> Part:
    return Part(name, modules, bar)


def in_module(module: str, *statuses: Status) -> list[Mutant]:
    return [mutant(f"{module} {at}", status, module=module) for at, status in enumerate(statuses)]


def test_each_part_has_a_bar_of_its_own() -> None:
    found = in_module("core.mask", KILLED, SURVIVED) + in_module("reports.table", KILLED, SURVIVED)
    bars = Bars(parts=(part("deciding", 100, "core.*"), part("rest", 50, "*")))
    judgement = judged(found, bars)
    assert judgement.exit_code == 1
    assert english(judgement) == ["part deciding: 50.0 % killed, at least 100 % is required"]
    assert chinese(judgement) == ["deciding 部分：杀死 50.0 %，至少需要 100 %"]


def test_a_part_just_under_its_bar_fails() -> None:
    # 199 of 200 are 99.5 %.
    found = in_module("core.mask", *[KILLED] * 199, SURVIVED)
    judgement = judged(found, Bars(parts=(part("deciding", 100, "*"),)))
    assert english(judgement) == ["part deciding: 99.5 % killed, at least 100 % is required"]


def test_a_part_and_the_whole_can_both_be_under_their_bars() -> None:
    judgement = judged(mutants(SURVIVED), Bars(fail_under=1.0, parts=(part("all", 1, "*"),)))
    assert [line.partition(":")[0] for line in english(judgement)] == ["part all", "score"]


def test_a_part_at_its_bar_passes_with_survivors() -> None:
    found = in_module("reports.table", KILLED, SURVIVED)
    assert judged(found, Bars(parts=(part("rest", 50, "*"),))).exit_code == 0


def test_a_mutant_belongs_to_the_first_part_that_names_its_module() -> None:
    found = in_module("core.mask", KILLED) + in_module("core", SURVIVED)
    bars = Bars(parts=(part("one", 0, "other", "core.*"), part("two", 0, "*"), part("three", 0, "*")))
    rows = [row for _, row in gate.report(Run(tuple(found)), bars).parts]
    assert [(row.name, row.mutants, row.killed) for row in rows] == [
        ("one", 1, 1),
        ("two", 1, 0),
        ("three", 0, 0),
    ]


def test_a_part_without_mutants_fails_but_in_a_partial_run() -> None:
    bars = Bars(parts=(part("none", 0, "x.*"), part("all", 0, "*")))
    judgement = judged(in_module("core.mask", KILLED), bars)
    assert judgement.exit_code == 3
    assert english(judgement) == [
        "part none: no mutant belongs to it, required is a pattern that fits some module"
    ]
    assert chinese(judgement) == ["none 部分：没有变异体属于它；需要能匹配到模块的模式"]
    assert judged(in_module("core.mask", KILLED), bars, since="main").exit_code == 0
    assert judged(in_module("core.mask", KILLED), bars, part="all").exit_code == 0


def test_survivors_in_the_baseline_may_live() -> None:
    found = mutants(KILLED, SURVIVED)
    assert judged(found, Bars(known={found[1].identity: 1})).exit_code == 0


def test_new_survivors_fail() -> None:
    found = mutants(KILLED, SURVIVED, KILLED, SURVIVED)
    judgement = judged(found, Bars(known={found[1].identity: 1}))
    assert (judgement.exit_code, english(judgement)) == (1, ["new survivor: m3"])
    assert chinese(judgement) == ["新的存活者：m3"]


def test_one_more_of_a_known_kind_is_new() -> None:
    twins = [mutant("a", SURVIVED), mutant("b", SURVIVED)]
    assert english(judged(twins, Bars(known={twins[0].identity: 1}))) == ["new survivor: b"]
    assert judged(twins, Bars(known={twins[0].identity: 2})).exit_code == 0


def test_an_empty_baseline_knows_nobody() -> None:
    assert english(judged(mutants(SURVIVED), Bars(known={}))) == ["new survivor: m0"]


def test_a_baseline_does_not_lower_a_bar() -> None:
    found = mutants(KILLED, SURVIVED)
    judgement = judged(found, Bars(fail_under=60.0, known={found[1].identity: 1}))
    assert english(judgement) == ["score: 50.0 % killed, at least 60 % is required"]


def test_a_baseline_that_is_too_long_is_noted() -> None:
    found = mutants(KILLED, SURVIVED)
    judgement = judged(found, Bars(known={found[0].identity: 2, found[1].identity: 2}))
    assert judgement.exit_code == 0
    assert [note["en"] for note in judgement.notes] == [
        "killed since the baseline was written: 3; write it again with --write-baseline"
    ]
    assert [note["zh"] for note in judgement.notes] == [
        "写入基线之后又杀死 3 个；请用 --write-baseline 重新写入"
    ]


def test_a_baseline_that_fits_is_not_noted() -> None:
    found = mutants(SURVIVED)
    assert judged(found, Bars(known={found[0].identity: 1})).notes == ()
    assert judged(mutants(KILLED)).notes == ()


def test_a_partial_run_says_nothing_about_the_rest_of_the_baseline() -> None:
    assert judged(mutants(KILLED), Bars(known={"other": 1}), since="main").notes == ()


def equivalent(key: str) -> Mutant:
    return mutant(key, SURVIVED, equivalent="0 + x is x")


def test_a_proved_equivalent_is_no_survivor() -> None:
    found = (equivalent("e"), *mutants(*[KILLED] * 99))
    assert judged(found).exit_code == 0


def test_there_may_not_be_too_many_equivalents() -> None:
    # 3 of 100 are 3 %; 4 are 4 %.
    three = [equivalent(f"e{at}") for at in range(3)] + list(mutants(*[KILLED] * 97))
    assert judged(three).exit_code == 0
    four = [equivalent("e3"), *three[:-1]]
    assert english(judged(four)) == ["equivalents are 4.0 % of all mutants, at most 3 % may be"]
    assert chinese(judged(four)) == ["等价变异体占 4.0 %，最多 3 %"]
    assert judged(four, Bars(equivalents_at_most=4.0)).exit_code == 0
    half = judged([equivalent("e"), *mutants(KILLED)])
    assert english(half) == ["equivalents are 50.0 % of all mutants, at most 3 % may be"]


def test_what_is_wrong_with_the_list_of_equivalents_fails() -> None:
    judgement = judged(mutants(KILLED), unproved=({"en": "stale", "zh": "过时"},))
    assert (judgement.exit_code, english(judgement)) == (1, ["stale"])


def test_one_row_for_each_module_in_order_and_one_for_each_fault_variant() -> None:
    found = in_module("b", KILLED, SURVIVED) + in_module("a", NONE)
    found.append(mutant("missing_scale/absent", KILLED, module="core.attention", origin=Origin.SEMANTIC))
    report = gate.report(Run(tuple(found)), Bars())
    assert [(row.name, row.mutants) for row in report.modules] == [("a", 1), ("b", 2)]
    assert [(row.name, row.killed) for row in report.variants] == [("missing_scale/absent", 1)]
    assert (report.total.name, report.total.mutants, report.total.score) == ("all", 4, 0.5)
    assert [mutant.key for mutant in report.survivors] == ["b 1", "a 0"]
