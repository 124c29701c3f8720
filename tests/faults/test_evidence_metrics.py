"""The recorded metrics against our bounds, whatever the file itself expects."""

from __future__ import annotations

import pytest

from faults.evidence_metrics import measures_of, metric_problems
from faults.evidence_model import BOUNDS, Bound, Measure, Problem
from faults.evidence_yaml import Tree, parse

LEAK = "no_mask_future_prefix_influence"
METRICS = """\
- name: future_token_invariance
  expected: "< 1e-6 (v1)"
  actual: 0.0
- name: reference_output_max_error
  expected: <= 1e-6
  actual: 3e-16
- name: no_mask_future_prefix_influence
  expected: ">1e-5"
  actual: 1.5
- name: scale_ablation_max_weight_delta
  expected: ">0.01"
  actual: 0.25
- name: residual_ablation_max_output_delta
  expected: ">1e-5"
  actual: 2
"""


def tree(old: str = "", new: str = "") -> Tree:
    assert old in METRICS
    found = parse(METRICS.replace(old, new) if old else METRICS).tree
    assert found is not None
    return found


def changed(old: str, new: str) -> list[str]:
    """What is wrong once `old` is written as `new`."""
    problems = list(metric_problems(tree(old, new)))
    assert all(one.where["zh"] and one.what["zh"] for one in problems)
    return [f"{one.where['en']}: {one.what['en']}" for one in problems]


def chinese(old: str, new: str) -> list[str]:
    return [f"{one.where['zh']}：{one.what['zh']}" for one in metric_problems(tree(old, new))]


def measured(old: str, new: str) -> tuple[Measure, ...]:
    return measures_of(tree(old, new))


def test_metrics_within_their_bounds_have_no_problem() -> None:
    assert list(metric_problems(tree())) == []
    assert all(one.holds for one in measures_of(tree()))


@pytest.mark.parametrize(
    "actual",
    [".nan", "nan", ".inf", "-.inf", "1e999", "true", "yes", "0x1p3", "1_0", "１", "[1]", "{a: 1}", "''"],
)
@pytest.mark.parametrize(
    "old", ["actual: 0.0", "actual: 3e-16", "actual: 1.5", "actual: 0.25", "actual: 2\n"]
)
def test_no_metric_accepts_what_is_not_a_finite_number(old: str, actual: str) -> None:
    assert len(changed(old, f"actual: {actual}\n")) == 1


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("actual", [float("nan"), float("inf"), -float("inf"), -1e-9])
def test_no_bound_allows_what_a_largest_difference_cannot_be(bound: Bound, actual: float) -> None:
    assert not bound.allows(actual)


@pytest.mark.parametrize("expected", ['">-1"', '"> 0"', '"< 1e-5"', '">1e-5 or >-1"', '"> 9e-6"'])
def test_a_file_cannot_lower_our_bound(expected: str) -> None:
    found = changed('influence\n  expected: ">1e-5"', f"influence\n  expected: {expected}")
    assert "looser than > 1e-5 (chapter 7, template), which decides" in found[0]


def test_an_unquoted_bound_that_yaml_takes_for_an_empty_text_is_reported() -> None:
    # `>-1` begins a block of text in YAML: here one without any line.
    found = changed('influence\n  expected: ">1e-5"', "influence\n  expected: >-1")
    assert found == ["metrics[2].expected: is empty"]


def test_what_a_file_expects_must_be_a_bound_and_met_by_its_own_figure() -> None:
    assert 'required a bound such as "> 0.01"' in changed('">0.01"', "positive")[0]
    assert changed('">0.01"', '">0.3"') == [
        "metrics.scale_ablation_max_weight_delta.expected: actual 0.25 misses its own '>0.3'"
    ]


def test_a_metric_recorded_twice_is_ambiguous() -> None:
    again = '- {name: future_token_invariance, expected: "< 1e-6", actual: 0.0}\n'
    found = changed("- name: reference", f"{again}- name: reference")
    assert found == ["metrics.future_token_invariance: found 2 entries, required 1"]


@pytest.mark.parametrize(
    ("old", "new", "actual", "en", "zh"),
    [
        ("actual: 1.5", "actual: 1e-4", 1e-4, "holds", "满足"),
        ("actual: 1.5", "actual: 1e-6", 1e-6, "out of bounds", "越界"),
        ("actual: 1.5", "actual: many", None, "not a number", "不是数值"),
        ("actual: 1.5", "actual: <recorded-value>", None, "not filled in", "未填写"),
        ("actual: 1.5", "actual: ''", None, "not filled in", "未填写"),
        ("actual: 1.5", "actual: [1]", None, "not filled in", "未填写"),
        ("  actual: 1.5\n", "", None, "not filled in", "未填写"),
        ("name: no_mask_future_prefix_influence", "name: other", None, "not recorded", "未记录"),
        ("name: scale_ablation_max_weight_delta", f"name: {LEAK}", None, "ambiguous", "有歧义"),
    ],
)
def test_each_metric_has_its_verdict_in_words(
    old: str, new: str, actual: float | None, en: str, zh: str
) -> None:
    assert measured(old, new)[2] == Measure(BOUNDS[2], actual, {"en": en, "zh": zh})


def test_a_figure_that_no_difference_can_have_is_named_as_such() -> None:
    path = "metrics.{}.actual: found {}, but such a difference is at least 0{}"
    weight, output = "scale_ablation_max_weight_delta", "residual_ablation_max_output_delta"
    assert changed("0.25", "1.5") == [path.format(weight, 1.5, " and at most 1")]
    assert changed("0.25", "-0.5")[0] == path.format(weight, -0.5, " and at most 1")
    assert changed("actual: 2\n", "actual: -2\n")[0] == path.format(output, -2.0, "")
    required = "metrics.{}.actual: found {}, required {}"
    assert changed("0.25", "0.001")[0] == required.format(weight, 0.001, "> 0.01 (chapter 7, template)")
    assert changed("0.25", "0.0")[0] == required.format(weight, 0.0, "> 0.01 (chapter 7, template)")
    assert changed("0.25", "1.0") == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("0.25", "1.5", "scale_ablation_max_weight_delta.actual：是 1.5，但这样的差值不小于 0且不大于 1"),
        (
            "actual: 2\n",
            "actual: -2\n",
            "residual_ablation_max_output_delta.actual：是 -2.0，但这样的差值不小于 0",
        ),
        ("3e-16", "many", "reference_output_max_error.actual：是 'many'，应为有限数值"),
        (
            '- name: future_token_invariance\n  expected: "< 1e-6 (v1)"\n  actual: 0.0\n',
            "",
            "future_token_invariance：有 0 条记录，应为 1 条",
        ),
    ],
)
def test_what_is_wrong_with_a_metric_is_also_said_in_chinese(old: str, new: str, line: str) -> None:
    assert chinese(old, new)[0] == f"metrics.{line}"


def test_a_figure_or_a_bound_in_other_digits_is_none() -> None:
    path = "metrics.reference_output_max_error"
    assert changed("3e-16", "many") == [f"{path}.actual: found 'many', required a finite number"]
    assert changed("expected: <= 1e-6", "expected: ０") == [
        f"{path}.expected: found '０', required a bound such as \"<= 1e-6\""
    ]


def test_metrics_must_be_a_list_of_mappings() -> None:
    missing = {"en": "is missing", "zh": "缺少该字段"}
    assert [one.what for one in metric_problems(None)] == [missing]
    assert next(metric_problems([["a"]])) == Problem(
        {"en": "metrics[0]", "zh": "metrics[0]"},
        {"en": "required name, expected and actual", "zh": "应含 name、expected、actual"},
    )
