"""The verdict on an evidence file: fields, figures, artifacts, gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faults.evidence_check import check
from faults.evidence_model import Check

COMMIT = "1234567890123456789012345678901234567890"
RECORD = """\
schema: learn-llm.evidence.v1
module: 07-attention-transformer
commit: 1234567890123456789012345678901234567890
verified_at: 2024-05-01T12:00:00Z
environment: Python 3.12, NumPy 2.1, CPU
seed: 5
commands:
  - python -m pytest -q
metrics:
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
artifacts:
  - out/trace.npz
cost:
  gross_usd: 0
  credit_usd: 0
licenses:
  - source: own code
    version: 1
    license: MIT
    attribution: me
    redistribution: yes
known_failures:
  - none
"""

# Worked out by hand: d_k = 4 halves the scores, equal scores give equal weights.
TRACE: dict[str, Any] = {
    "scores": [[2.0, 8.0], [6.0, 6.0]],
    "scaled": [[1.0, 4.0], [3.0, 3.0]],
    "masked": [[1.0, -np.inf], [3.0, 3.0]],
    "weights": [[1.0, 0.0], [0.5, 0.5]],
    "output": [[1.0, 2.0], [2.0, 3.0]],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one sound artifact."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "out").mkdir()
    np.savez(tmp_path / "out" / "trace.npz", **TRACE)
    return tmp_path


def checked(root: Path, text: str = RECORD) -> Check:
    file = root / "record.yaml"
    file.write_text(text, encoding="utf-8")
    return check(file)


def problems(found: Check) -> list[str]:
    assert all(one.where["zh"] and one.what["zh"] for one in found.problems)
    return [f"{one.where['en']}: {one.what['en']}" for one in found.problems]


def chinese(found: Check) -> list[str]:
    return [f"{one.where['zh']}：{one.what['zh']}" for one in found.problems]


def changed(root: Path, old: str, new: str) -> list[str]:
    assert old in RECORD
    found = checked(root, RECORD.replace(old, new))
    assert not found.complete
    return problems(found)


def gate(found: Check) -> dict[str, bool]:
    return {part.name["en"]: part.present for part in found.gate}


def test_a_record_with_every_field_filled_and_every_bound_met_is_complete(root: Path) -> None:
    found = checked(root)
    assert problems(found) == []
    names = ["intermediates", "causal perturbation", "three ablations", "clean-room parity"]
    assert gate(found) == dict.fromkeys(names, True)
    assert [measure.actual for measure in found.measures] == [0.0, 3e-16, 1.5, 0.25, 2.0]
    assert found.file == str(root / "record.yaml")
    assert found.complete


@pytest.mark.parametrize("line", RECORD.splitlines())
def test_no_line_of_the_record_can_be_left_out(root: Path, line: str) -> None:
    if line.endswith(":"):
        # A heading without its lines: the whole block goes.
        head, _, rest = RECORD.partition(line + "\n")
        block = rest.splitlines(keepends=True)
        kept = next((i for i, one in enumerate(block) if not one.startswith(" ")), len(block))
        text = head + "".join(block[kept:])
    else:
        text = RECORD.replace(line + "\n", "", 1)
    assert not checked(root, text).complete


@pytest.mark.parametrize(
    ("old", "new", "required"),
    [
        (
            "learn-llm.evidence.v1",
            "learn-llm.evidence.v2",
            "schema: found 'learn-llm.evidence.v2', required learn",
        ),
        (
            "07-attention-transformer",
            "08-other",
            "module: found '08-other', required 07-attention-transformer",
        ),
        (COMMIT, "HEAD", "commit: found 'HEAD', required a commit id"),
        (COMMIT, "123456", "commit: found '123456', required a commit id"),
        (COMMIT, "[1, 2]", "commit: found a list, required text"),
        (COMMIT, "~", "commit: is empty"),
        ("2024-05-01T12:00:00Z", "yesterday", "verified_at: found 'yesterday', required an ISO date"),
        ("2024-05-01T12:00:00Z", "2024-02-30", "verified_at: found '2024-02-30', required an ISO date"),
        (
            "Python 3.12, NumPy 2.1, CPU",
            "/home/ada/venv",
            "environment: found '/home/ada/venv', required no path",
        ),
        (
            "Python 3.12, NumPy 2.1, CPU",
            "py at C:\\ada",
            "environment: found 'py at C:\\\\ada', required no path",
        ),
        ("seed: 5", "seed: true", "seed: found 'true', required a whole number"),
        ("seed: 5", "seed: -5", "seed: found '-5', required a whole number"),
        ("seed: 5", "seed: 5.0", "seed: found '5.0', required a whole number"),
        ("seed: 5", "seed: ５", "seed: found '５', required a whole number"),
        ("commands:\n  - python -m pytest -q", "commands: []", "commands: is an empty list"),
        ("commands:\n  - python -m pytest -q", "commands: x", "commands: found text, required a list"),
        ("  - python -m pytest -q", "  - {a: b}", "commands[0]: found a mapping, required text"),
        (
            "  - python -m pytest -q",
            "  - python /home/ada/run.py",
            "commands[0]: found 'python /home/ada/run.py', required no path",
        ),
        ("license: MIT", "license: see ~/MIT", "licenses[0].license: found 'see ~/MIT', required no path"),
        ("gross_usd: 0", "gross_usd: -1", "cost.gross_usd: found '-1', required an amount"),
        ("gross_usd: 0", "gross_usd: .nan", "cost.gross_usd: found '.nan', required an amount"),
        ("cost:\n  gross_usd: 0\n  credit_usd: 0", "cost: [0, 0]", "cost: found a list, required a mapping"),
        ("    license: MIT\n", "", "licenses[0].license: is missing"),
        ("  - out/trace.npz", "  - out/trace.npz\n  - ''", "artifacts[1]: is empty"),
        ("license: MIT", "license: ''", "licenses[0].license: is empty"),
        (
            "  - none",
            "  - failed in /home/ada",
            "known_failures[0]: found 'failed in /home/ada', required no path",
        ),
        ("seed: 5\n", "", "seed: is missing"),
        ("seed: 5", "seed: 5\nseed: 6", "line 7: key 'seed' appears twice"),
    ],
)
def test_each_wrong_field_is_one_line(root: Path, old: str, new: str, required: str) -> None:
    found = changed(root, old, new)
    assert len(found) == 1
    assert found[0].startswith(required)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("learn-llm.evidence.v1", "v2", "schema：是 'v2'，应为 learn-llm.evidence.v1"),
        (COMMIT, "HEAD", "commit：是 'HEAD'，应为 commit id：7 到 64 位 0-9 a-f"),
        (COMMIT, "[1, 2]", "commit：是列表，应为文本"),
        (COMMIT, "{a: b}", "commit：是映射，应为文本"),
        (COMMIT, "''", "commit：为空"),
        ("seed: 5\n", "", "seed：缺少该字段"),
        ("commands:\n  - python -m pytest -q", "commands: x", "commands：是文本，应为列表"),
        ("commands:\n  - python -m pytest -q", "commands: []", "commands：是空列表"),
        ("cost:\n  gross_usd: 0\n  credit_usd: 0", "cost: x", "cost：是文本，应为映射"),
    ],
)
def test_what_is_wrong_with_a_field_is_also_said_in_chinese(
    root: Path, old: str, new: str, line: str
) -> None:
    assert old in RECORD
    assert chinese(checked(root, RECORD.replace(old, new))) == [line]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("verified_at: 2024-05-01T12:00:00Z", "verified_at: 2024-05-01"),
        (f"commit: {COMMIT}", "commit: 0012e45"),
        ("actual: 3e-16", 'actual: "3.0e-16"'),
        ("actual: 3e-16", "actual: 0.000001"),
        ("expected: <= 1e-6", "expected: 1e-6"),
        ("expected: <= 1e-6", "expected: atol=1e-7"),
        ("expected: <= 1e-6", "expected: ≤ 1e-9"),
        ('expected: ">0.01"', "expected: numpy-v1 >= 0.2"),
        ("environment: Python 3.12, NumPy 2.1, CPU", "environment: Python ~3.12 / CPU"),
        ("commands:", "extra: 1\ncommands:"),
        ("metrics:", "metrics:\n  - {name: my_own, expected: any, actual: many}"),
    ],
)
def test_other_ways_to_write_the_same_are_accepted(root: Path, old: str, new: str) -> None:
    assert old in RECORD
    assert problems(checked(root, RECORD.replace(old, new, 1))) == []


@pytest.mark.parametrize(
    ("old", "actual", "part"),
    [
        ("actual: 0.0", "1e-6", "causal perturbation"),
        ("actual: 0.0", "-0.5", "causal perturbation"),
        ("actual: 3e-16", "1.1e-6", "clean-room parity"),
        ("actual: 3e-16", "-1", "clean-room parity"),
        ("actual: 1.5", "1e-5", "three ablations"),
        ("actual: 1.5", "-2", "three ablations"),
        ("actual: 0.25", "0.01", "three ablations"),
        ("actual: 0.25", "1.01", "three ablations"),
        ("actual: 2", "0", "three ablations"),
    ],
)
def test_a_figure_on_the_wrong_side_of_our_bound_opens_the_gate_part(
    root: Path, old: str, actual: str, part: str
) -> None:
    found = checked(root, RECORD.replace(f"{old}\n", f"actual: {actual}\n", 1))
    assert gate(found) == {name: name != part for name in gate(found)}
    assert any(".actual: found" in line for line in problems(found))


@pytest.mark.parametrize("metrics", ["x", "[]", "{a: b}", "[[1]]", "[{name: [1]}]"])
def test_metrics_of_another_form_leave_all_three_parts_missing(root: Path, metrics: str) -> None:
    head, rest = RECORD.split("metrics:\n")
    found = checked(root, f"{head}metrics: {metrics}\nartifacts:{rest.split('artifacts:')[1]}")
    assert list(gate(found).values()) == [True, False, False, False]
    assert not found.complete


def test_a_file_that_is_not_yaml_leaves_all_four_parts_missing(root: Path) -> None:
    found = checked(root, RECORD.replace('">1e-5"', ">1e-5"))
    assert [line.partition(":")[0] for line in problems(found)] == ["line 17"]
    assert not any(gate(found).values())
    unread = {"en": "no record could be read from the file", "zh": "未能从文件中读出记录"}
    assert [part.why for part in found.gate] == [unread] * 4


def test_a_placeholder_is_reported_once(root: Path) -> None:
    assert changed(root, "actual: 1.5", "actual: <recorded-value>") == [
        "line 18: actual: <recorded-value> is not filled in"
    ]
    assert changed(root, '">0.01"', "<versioned-tolerance>") == [
        "line 20: expected: <versioned-tolerance> is not filled in"
    ]
    assert changed(root, "out/trace.npz", "<path>") == ["line 26: artifacts: <path> is not filled in"]
    assert changed(root, "seed: 5", "seed: <seed>") == ["line 6: seed: <seed> is not filled in"]


def test_missing_metrics_are_one_problem(root: Path) -> None:
    head, rest = RECORD.split("metrics:\n")
    assert problems(checked(root, f"{head}artifacts:{rest.split('artifacts:')[1]}")) == [
        "metrics: is missing"
    ]


def test_a_file_that_is_not_a_mapping_is_refused(root: Path) -> None:
    found = checked(root, "[a, b]")
    assert problems(found) == ["file: not a mapping of fields to values"]
    assert chinese(found) == ["文件：不是“字段: 值”的映射"]
    assert not any(gate(found).values())


def test_an_artifact_that_is_refused_is_named_and_the_gate_says_what_is_missing(root: Path) -> None:
    found = checked(root, RECORD.replace("out/trace.npz", "../trace.npz"))
    assert problems(found) == ["artifacts: '../trace.npz' contains \"..\": name the file itself"]
    assert gate(found)["intermediates"] is False


def test_the_best_set_of_intermediates_decides(root: Path) -> None:
    np.savez(root / "out" / "other.npz", scores=[1.0])
    (root / "out" / "figure.json").write_text("not json")
    np.savez(root / "out" / "flawed.npz", **TRACE | {"scaled": TRACE["scores"]})
    listed = "out/other.npz\n  - out/figure.json\n  - out/flawed.npz\n  - out/trace.npz"
    assert checked(root, RECORD.replace("out/trace.npz", listed)).complete
    found = checked(root, RECORD.replace("out/trace.npz", "out/figure.json\n  - out/other.npz"))
    assert found.gate[0].why == {
        "en": "'other.npz': without scaled, masked, weights, output",
        "zh": "'other.npz'：缺少 scaled, masked, weights, output",
    }


def test_intermediates_that_leak_are_missing_with_the_reason(root: Path) -> None:
    np.savez(root / "out" / "trace.npz", **TRACE | {"weights": [[0.9, 0.1], [0.5, 0.5]]})
    found = checked(root)
    assert not found.complete
    assert found.gate[0].why["en"] == "'trace.npz': weight on the future 1.0e-01: required 0"


def test_each_part_of_the_gate_says_in_both_languages_why_it_is_there(root: Path) -> None:
    three = ("no_mask_future_prefix_influence", "scale_ablation_max_weight_delta")
    found = checked(root, RECORD.replace("actual: 2\n", "actual: 0\n"))
    assert [part.why["en"] for part in found.gate] == [
        "'trace.npz': five arrays, rows of weights sum to 1, nothing on the future",
        "future_token_invariance holds",
        f"{three[0]} holds, {three[1]} holds, residual_ablation_max_output_delta out of bounds",
        "reference_output_max_error holds",
    ]
    assert [part.why["zh"] for part in found.gate] == [
        "'trace.npz'：五个数组齐全，weights 每行和为 1，未来位置为 0",
        "future_token_invariance 满足",
        f"{three[0]} 满足, {three[1]} 满足, residual_ablation_max_output_delta 越界",
        "reference_output_max_error 满足",
    ]


def test_figures_that_overflow_leave_the_intermediates_missing(root: Path) -> None:
    np.savez(root / "out" / "trace.npz", **TRACE | {"scores": [[1e308, -1e308], [1e308, 1e308]]})
    found = checked(root)
    assert not gate(found)["intermediates"]
    assert found.gate[0].why["en"] == "'trace.npz': scaled is not scores / sqrt(d_k), d_k = 2, 3, ..."


def test_without_a_repository_the_root_must_be_named(root: Path) -> None:
    (root / ".git").rmdir()
    found = checked(root)
    assert problems(found) == [
        "artifacts: the file lies in no Git repository: name the folder that holds the artifacts with --root"
    ]
    assert chinese(found) == ["artifacts：该文件不在任何 Git 仓库中：请用 --root 指定产物所在的目录"]
    unfilled = checked(root, RECORD.replace("out/trace.npz", "<path>"))
    assert problems(unfilled) == ["line 26: artifacts: <path> is not filled in"]
    checked(root)
    assert check(root / "record.yaml", root).complete


def test_a_file_may_list_no_more_artifacts_than_anyone_would_read(root: Path) -> None:
    line = "  - out/trace.npz\n"
    assert checked(root, RECORD.replace(line, line * 100)).complete
    assert changed(root, line, line * 101) == ["artifacts: more than 100 entries"]
