"""Evidence as text and JSON, in both languages."""

from __future__ import annotations

import json

import pytest

from faults.evidence_model import BOUNDS, Check, Measure, Part, Problem, said
from reports.evidence import SHOWN_PROBLEMS, check_to_json, render_check, render_measurement, to_json
from reports.wrap import width

HELD = said("holds", "满足")


def check(problems: int = 0, present: bool = True, name: str = "record.yaml") -> Check:
    listed = tuple(
        Problem(said(f"line {n}", f"第 {n} 行"), said(f"wrong {n}", f"错误 {n}")) for n in range(problems)
    )
    measures = tuple(Measure(bound, 0.5, HELD) for bound in BOUNDS[:2])
    return Check(name, listed, measures, (Part(said("parity", "对拍"), present, said("why", "理由")),))


def test_a_complete_record_is_said_to_be_complete_and_to_prove_no_learning() -> None:
    text = render_check(check(), "en")
    assert text.startswith("evidence check of record.yaml\n")
    assert "problems: none" in text
    assert "  [present] parity: why" in text
    assert "not that anybody learned" in text
    assert text.splitlines()[-1].startswith("complete: ")


def test_problems_and_missing_parts_are_counted() -> None:
    text = render_check(check(problems=2, present=False), "en")
    assert "problems (2)\n  line 0: wrong 0\n  line 1: wrong 1\n" in text
    assert "  [missing] parity: why" in text
    assert text.splitlines()[-1] == "incomplete: 2 problem(s), 1 of 4 parts missing"


def test_the_bounds_are_shown_with_their_source() -> None:
    lines = render_check(check(), "en").splitlines()
    row = next(line for line in lines if line.startswith("future_token_invariance"))
    assert row.split("  ")[0] == "future_token_invariance"
    assert "< 1e-6" in row
    assert "chapter 7, expected output" in row


def test_the_chapters_own_values_are_named_as_belonging_to_a_fixture_that_is_not_given() -> None:
    for language, required in (("en", "a fixture that it does not give"), ("zh", "没有给出的 fixture")):
        text = render_check(check(), language)
        assert required in text
        for value in ("0.0", "10.799219943491902", "0.2811741490082953", "1.7321348424395848"):
            assert value in text


def test_thousands_of_problems_are_cut_in_the_text_and_whole_in_the_json() -> None:
    many = check(problems=SHOWN_PROBLEMS + 7)
    assert "  ... and 7 more" in render_check(many, "en")
    assert render_check(many, "en").count("wrong") == SHOWN_PROBLEMS
    assert len(json.loads(check_to_json(many))["problems"]) == SHOWN_PROBLEMS + 7


def test_what_a_terminal_would_obey_is_escaped() -> None:
    text = render_check(check(name="a\x1b[31m\nb\u202e"), "en")
    assert "evidence check of a\\x1b[31m\\nb\\u202e\n" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_columns_of_the_table_stand_under_each_other(language: str) -> None:
    lines = render_check(check(), language).splitlines()
    rule = next(number for number, line in enumerate(lines) if line.startswith("-----"))
    starts = [place for place in range(len(lines[rule])) if (" " + lines[rule])[place : place + 2] == " -"]
    for line in lines[rule + 1 : rule + 3]:
        for start in starts[1:]:
            prefix = next(line[:end] for end in range(len(line)) if width(line[:end]) == start)
            assert prefix.endswith("  ")
            assert line[len(prefix)] != " "


def test_the_chinese_text_is_chinese() -> None:
    text = render_check(check(problems=1, present=False), "zh")
    assert "  第 0 行：错误 0" in text
    assert "  [缺失] 对拍：理由" in text
    assert text.splitlines()[-1] == "不完整：1 个问题，gate 四部分缺 1 部分"


def test_json_keeps_the_verdict_with_sorted_keys() -> None:
    found = json.loads(check_to_json(check()))
    assert list(found) == sorted(found)
    assert found["complete"] is True
    assert found["metrics"][0] == {
        "actual": 0.5,
        "holds": False,
        "name": "future_token_invariance",
        "required": "< 1e-6",
        "source": {"en": "chapter 7, expected output", "zh": "第7章「命令与预期输出」"},
        "verdict": {"en": "holds", "zh": "满足"},
    }
    assert found["gate"] == [
        {"name": {"en": "parity", "zh": "对拍"}, "present": True, "why": {"en": "why", "zh": "理由"}}
    ]


def test_a_measurement_names_its_files_and_says_what_it_is_not() -> None:
    run = {"seed": 5, "commit": "0012e45", "statement": said("a machine record", "机器记录")}
    text = render_measurement([Measure(BOUNDS[2], 0.5, HELD)], run, ["out/evidence.yaml"], "en")
    assert text.startswith("evidence measured with seed 5\n")
    assert "a machine record\n" in text
    assert "wrote out/evidence.yaml" in text
    assert text.splitlines()[-1] == "all five metrics hold"


def test_a_measurement_out_of_bounds_says_so_last() -> None:
    run = {"seed": 5, "commit": "0012e45", "statement": said("a machine record", "机器记录")}
    text = render_measurement([Measure(BOUNDS[2], 0.0, HELD), Measure(BOUNDS[2], None, HELD)], run, [], "zh")
    assert text.splitlines()[-1] == "五项指标中有 2 项越界"


def test_the_json_of_a_check_names_the_file_and_each_problem_with_its_place() -> None:
    text = check_to_json(check(problems=1))
    found = json.loads(text)
    assert found["file"] == "record.yaml"
    assert found["problems"] == [
        {"where": {"en": "line 0", "zh": "第 0 行"}, "what": {"en": "wrong 0", "zh": "错误 0"}}
    ]
    assert text.startswith('{\n  "complete": false,\n  "file"')
    assert "第 0 行" in text
    with pytest.raises(ValueError, match="JSON"):
        to_json({"value": float("nan")})


def test_a_table_has_its_headers_over_a_rule_and_numbers_as_they_were_recorded() -> None:
    measures = (Measure(BOUNDS[0], 1.25e-07, HELD), Measure(BOUNDS[1], None, HELD))
    lines = render_check(Check("record.yaml", (), measures, ()), "en").splitlines()
    rule = next(at for at, line in enumerate(lines) if set(line) == {"-", " "})
    assert lines[rule - 1].split()[0] == "metric"
    assert [line.split()[1] for line in lines[rule + 1 : rule + 3]] == ["1.25e-07", "-"]


def test_problems_that_are_not_shown_are_counted() -> None:
    assert "... and" not in render_check(check(problems=SHOWN_PROBLEMS), "en")
    assert "... and 1 more" in render_check(check(problems=SHOWN_PROBLEMS + 1), "en")
