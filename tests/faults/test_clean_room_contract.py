"""The interface of a learner's file, function by function: what is said of each, where, and in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.clean_room.interface import FUNCTIONS
from faults.clean_room.model import Finding
from tests.faults.clean_room_samples.variants import COMPLETE, changed, examined, line

pytestmark = pytest.mark.usefixtures("reference_as_written", "room_here")

REQUIRED = {"en": "as required", "zh": "符合要求"}
PROJECTED = {
    "en": "project_qkv does not return (query, key, value)",
    "zh": "project_qkv 应返回 (query, key, value)",
}


def found(folder: Path, text: str, name: str, **mapping: str) -> Finding:
    findings = examined(folder, text, mapping, whole=False).findings
    return next(finding for finding in findings if finding.key == name)


def test_a_finished_file_is_as_required_function_by_function(tmp_path: Path) -> None:
    room = examined(tmp_path, COMPLETE, whole=False)
    expected = [
        Finding(
            one.name, {"en": one.name, "zh": one.name}, "done", REQUIRED, line(COMPLETE, f"def {one.name}(")
        )
        for one in FUNCTIONS
    ]
    assert list(room.findings) == expected


def test_a_function_of_another_name_carries_both_names_and_its_own_line(tmp_path: Path) -> None:
    text = COMPLETE.replace("merge_heads", "combine")
    mapped = found(tmp_path, text, "merge_heads", merge_heads="combine")
    assert mapped.title == {"en": "merge_heads (= combine)", "zh": "merge_heads（= combine）"}
    assert (mapped.state, mapped.what, mapped.line) == ("done", REQUIRED, line(text, "def combine("))


def test_what_is_missing_is_asked_for_with_its_parameters(tmp_path: Path) -> None:
    text = COMPLETE.replace("pre_norm_residual", "other")
    missing = found(tmp_path, text, "pre_norm_residual")
    assert (missing.state, missing.line) == ("missing", None)
    assert missing.what == {
        "en": "missing: required is pre_norm_residual(x, branch, gain, shift)",
        "zh": "缺少：需要 pre_norm_residual(x, branch, gain, shift)",
    }


def test_parameters_are_compared_with_those_required(tmp_path: Path) -> None:
    text = changed("def merge_heads(attended: Any)", "def merge_heads(attended, heads, width=4)")
    wrong = found(tmp_path, text, "merge_heads")
    assert (wrong.state, wrong.line) == ("wrong", line(text, "def merge_heads("))
    assert wrong.what == {
        "en": "takes (attended, heads, width), required (attended)",
        "zh": "参数是 (attended, heads, width)，应为 (attended)",
    }


@pytest.mark.parametrize("returned", ["tuple(out)[:2]", "np.stack(out)"])
def test_query_key_and_value_are_three_things(tmp_path: Path, returned: str) -> None:
    text = changed("return tuple(out)", f"return {returned}")
    wrong = found(tmp_path, text, "project_qkv")
    assert (wrong.state, wrong.what) == ("wrong", PROJECTED)
    assert wrong.line == line(text, "def project_qkv(")


def test_each_of_query_key_and_value_has_its_shape(tmp_path: Path) -> None:
    text = changed("return tuple(out)", "return [*out[:2], out[2][:1]]")
    wrong = found(tmp_path, text, "project_qkv")
    assert wrong.what["en"] == "project_qkv returns shape (1, 3, 5, 4), required (2, 3, 5, 4)"


def test_where_a_function_raises_is_the_line_that_is_shown(tmp_path: Path) -> None:
    text = changed(
        '    inner = x @ weights["W1"]', '    raise ValueError("so")\n    inner = x @ weights["W1"]'
    )
    failed = found(tmp_path, text, "feed_forward")
    assert failed.what["en"] == "feed_forward raises ValueError: so"
    assert failed.line == line(text, "    raise ValueError")
