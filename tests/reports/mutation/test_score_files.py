"""JUnit XML, the job summary and the badge."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from faults.model import Status
from faults.mutation.model import ScoreReport
from reports.mutation import badge, junit, summary
from tests.reports.mutation.made_score import DIFF, RUN, broken, made_score, mutant, passed

# JUnit XML


def cases(report: ScoreReport) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(junit.to_junit(report))
    return {case.get("name", ""): case for case in root.iter("testcase")}


def test_what_the_tests_missed_is_a_failure_with_its_diff() -> None:
    found = cases(made_score())
    failure = found["core.box.x_larger__mutmut_1"].find("failure")
    assert failure is not None
    assert failure.text == DIFF
    assert (failure.get("message") or "").startswith("survived: return first if first > second")
    assert found["core.box.x_larger__mutmut_1"].get("classname") == "core.box.larger"
    unreached = found["reports.a|b.x_f__mutmut_1"].find("failure")
    assert unreached is not None
    assert (unreached.get("message") or "").startswith("no coverage: ")


@pytest.mark.parametrize("key", ["core.box.x_larger__mutmut_2", "core.box.x_larger__mutmut_3", "a/zero"])
def test_what_died_is_a_case_without_more(key: str) -> None:
    assert list(cases(made_score())[key]) == []


@pytest.mark.parametrize(
    ("status", "outcome"), [(Status.ERROR, "error"), (None, "error"), (Status.NOT_APPLICABLE, "skipped")]
)
def test_what_has_no_verdict_is_no_pass(status: Status | None, outcome: str) -> None:
    (found,) = cases(made_score(replace(RUN, mutants=(mutant("m", status, reason="why"),))))["m"]
    assert (found.tag, found.get("message")) == (outcome, "why")
    root = ElementTree.fromstring(junit.to_junit(made_score(replace(RUN, mutants=(mutant("m", status),)))))
    assert root[1].get({"error": "errors"}.get(outcome, outcome)) == "1"


def test_a_proved_equivalent_is_skipped_with_its_reason() -> None:
    (found,) = cases(made_score())["core.box.x_larger__mutmut_4"]
    assert (found.tag, found.get("message")) == ("skipped", "equivalent: equal ones are one")


def test_a_red_gate_is_red_here_too() -> None:
    root = ElementTree.fromstring(junit.to_junit(broken()))
    gate = root[0]
    assert (gate.get("name"), gate.get("failures")) == ("gate", gate.get("tests"))
    assert (gate[0].get("name"), gate[0].get("classname")) == ("mutmut ended with 1", "gate")
    assert (gate[0][0].tag, gate[0][0].get("message")) == ("failure", "mutmut ended with 1")


def test_a_green_gate_is_one_passed_case() -> None:
    root = ElementTree.fromstring(junit.to_junit(passed()))
    assert [(case.get("name"), len(case)) for case in root[0]] == [("passed", 0)]
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "0", "0")


def test_suites_are_modules_in_order_and_count_their_cases() -> None:
    root = ElementTree.fromstring(junit.to_junit(made_score()))
    assert {suite.tag for suite in root} == {"testsuite"}
    assert [suite.get("name") for suite in root] == ["gate", "core.box", "core.mask", "reports.a|b"]
    counts = [[suite.get(name) for name in ("tests", "failures", "errors", "skipped")] for suite in root]
    assert counts == [["2", "2", "0", "0"], ["4", "1", "0", "1"], ["2", "0", "0", "0"], ["1", "1", "0", "0"]]
    assert root.get("tests") == "9"


def test_what_xml_cannot_hold_is_replaced() -> None:
    text = junit.to_junit(made_score(replace(RUN, mutants=(mutant("a\x00b", Status.KILLED),))))
    assert ElementTree.fromstring(text)[1][0].get("name") == "a\ufffdb"
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="faults score"')
    assert text.endswith("</testsuites>\n")


# Job summary


def test_bars_in_cells_are_escaped() -> None:
    text = summary.to_summary(made_score(), "en")
    assert "| reports.a\\|b " in text
    assert "test_a[x\\|y]" in text
    for line in text.splitlines():
        if line.startswith("| reports.a"):
            assert line.replace("\\|", "").count("|") == 11


def test_the_summary_has_tables_checks_and_survivors() -> None:
    text = summary.to_summary(made_score(), "en")
    assert text.startswith("# Mutation score\n\n**FAIL: part deciding: 80.0 % killed")
    assert "| deciding " in text
    assert "## Fault variants under the contract suite\n\n| variant " in text
    assert "- Control must\\_die" not in text
    assert "- Control must_die: killed, as it must be." in text
    assert "- part rest: 0.0 % killed, at least 90 % is required" in text
    assert (
        f"\n## Survivors: 2\n\nsurvived in core.box.larger (core/box.py:2)\n\n```diff\n{DIFF}\n```\n" in text
    )
    partial = summary.to_summary(made_score(replace(RUN, since="main")), "en")
    assert "\n\nPARTIAL: only mutants in functions changed since main, or reached" in partial
    assert "as it must be.\n- Equivalent, each" in text
    assert "XX" not in text


def test_a_green_summary_lists_nothing_wrong() -> None:
    text = summary.to_summary(passed(), "zh")
    assert text.startswith("# 变异得分\n\n**通过：杀死 1/1，得分 100.0 %。**")
    assert "存活者" not in text


def test_a_diff_with_a_fence_in_it_stays_inside_its_own() -> None:
    alive = mutant("m", Status.SURVIVED)
    alive = replace(alive, change=replace(alive.change, diff="-```\n+````"))
    text = summary.to_summary(made_score(replace(RUN, mutants=(alive,))), "en")
    assert "\n`````diff\n-```\n+````\n`````\n" in text


def many(count: int, width: int) -> ScoreReport:
    change = replace(mutant("m", None).change, diff="+" + "é" * width)
    alive = tuple(replace(mutant(f"m{at}", Status.SURVIVED), change=change) for at in range(count))
    return made_score(replace(RUN, mutants=alive))


def test_a_long_summary_is_cut_under_the_limit_and_says_how_much_is_missing() -> None:
    text = summary.to_summary(many(100, 10_000), "en")
    size = len(text.encode())
    assert size < 1024 * 1024
    # 20 kB each: a little over 50 fit, and the last that does not would have.
    assert size > 1024 * 1024 - summary.ROOM - 25_000
    shown = text.count("```diff")
    assert text.endswith(
        f"Cut here: {100 - shown} more survivors did not fit into a job summary; see the HTML report.\n"
    )


def test_what_is_in_the_file_already_counts() -> None:
    text = summary.to_summary(many(100, 10_000), "en", used=500_000)
    assert 450_000 < len(text.encode()) < 1024 * 1024 - 500_000
    assert len(summary.to_summary(many(100, 10_000), "en", used=2_000_000).encode()) < summary.ROOM


def test_a_text_is_cut_between_lines() -> None:
    assert summary.cut("ab\ncd\n", 6) == "ab\ncd\n"
    assert summary.cut("ab\ncd\n", 5) == "ab\n"
    assert summary.cut("é\né\n", 4) == "é\n"
    assert summary.cut("abc", -1) == "\n"
    assert summary.cut("\nabc\nd", 5) == "\nabc\n"


# Badge


@pytest.mark.parametrize(
    ("report", "message", "color"),
    [
        (passed(), "100.0 %", badge.GREEN),
        (made_score(), "66.6 %", badge.YELLOW),
        (broken(), "failed", badge.RED),
    ],
)
def test_a_badge_shows_the_score_of_a_run_that_can_be_trusted(
    report: ScoreReport, message: str, color: str
) -> None:
    assert json.loads(badge.to_json(report, "en")) == {
        "schemaVersion": 1,
        "label": "mutation score",
        "message": message,
        "color": color,
    }
    picture = ElementTree.fromstring(badge.to_svg(report, "en"))
    names = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert names == ["mutation score", message]
    assert color in badge.to_svg(report, "en")


def test_the_picture_is_as_wide_as_its_words() -> None:
    # 7 pixels for each column, 10 on each side of both: "mutation score" has 14 columns, "100.0 %" has 7.
    picture = ElementTree.fromstring(badge.to_svg(passed(), "en"))
    assert picture.get("width") == str(14 * 7 + 20 + 7 * 7 + 20)
    xs = [element.get("x") for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert xs == [str((14 * 7 + 20) / 2), str(14 * 7 + 20 + (7 * 7 + 20) / 2)]
    # Chinese letters are two columns wide.
    chinese = ElementTree.fromstring(badge.to_svg(passed(), "zh"))
    assert chinese.get("width") == str(8 * 7 + 20 + 7 * 7 + 20)
    assert json.loads(badge.to_json(passed(), "zh"))["label"] == "变异得分"
    rects = [rect.attrib for rect in picture.iter("{http://www.w3.org/2000/svg}rect")]
    assert [(rect["width"], rect.get("x")) for rect in rects] == [("118", None), ("69", "118")]


@pytest.mark.parametrize("color", [badge.GREEN, badge.YELLOW, badge.RED, "#555555"])
def test_white_on_every_color_of_the_badge_can_be_read(color: str) -> None:
    """Contrast by WCAG 2.1, definition of relative luminance."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    assert 1.05 / (luminance + 0.05) >= 4.5
