"""A report written as JSON and read back."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from faults.model import FaultsError, Reading, Report, Status
from reports.json_report import from_json, to_json


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def edited(report: Report, **changes: Any) -> str:
    return json.dumps({**json.loads(to_json(report)), **changes})


def with_reading(report: Report, reading: Reading) -> Report:
    variant = replace(report.faults[0].variants[0], reading=reading)
    return replace(report, faults=(replace(report.faults[0], variants=(variant,)),))


def test_a_report_comes_back_equal(report: Report) -> None:
    assert from_json(to_json(report)) == report


def test_a_status_comes_back_as_a_status(report: Report) -> None:
    assert from_json(to_json(report)).faults[0].variants[0].status is Status.KILLED


def test_infinite_values_are_strings_in_strict_json(report: Report) -> None:
    text = to_json(with_reading(report, Reading("future", "relative", 1e-9, 0.0, math.inf)))
    tree = json.loads(text, parse_constant=refuse)
    assert tree["faults"][0]["variants"][0]["reading"]["faulty"] == "inf"
    assert from_json(text).faults[0].variants[0].reading.faulty == math.inf


def test_nan_comes_back_as_nan(report: Report) -> None:
    text = to_json(with_reading(report, Reading("future", "relative", 1e-9, math.nan, None)))
    reading = from_json(text).faults[0].variants[0].reading
    assert math.isnan(reading.healthy)
    assert reading.faulty is None


def test_keys_are_sorted(report: Report) -> None:
    names = list(json.loads(to_json(report)))
    assert names == sorted(names)


def test_chinese_stays_readable(report: Report) -> None:
    assert "未来信息泄漏" in to_json(report)


def test_whole_numbers_may_stand_for_floats(report: Report) -> None:
    symptoms = from_json(edited(report, symptoms=[{"head_width": 64}])).symptoms
    assert symptoms == ({"head_width": 64.0},)
    assert isinstance(symptoms[0]["head_width"], float)


@pytest.mark.parametrize("version", [0, 2, "1", None, True, 1.5])
def test_another_schema_is_refused_by_its_number(report: Report, version: object) -> None:
    with pytest.raises(FaultsError, match=r"found schema_version .*, required is 1"):
        from_json(edited(report, schema_version=version))


@pytest.mark.parametrize("text", ["", "{", "[]", "nul", "[" * 100_000])
def test_text_that_is_no_report_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(FaultsError) as refusal:
        from_json(text)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"seed": "5"}, r"report\.seed: found '5'"),
        ({"seed": True}, r"report\.seed"),
        ({"seed": 1.5}, r"report\.seed"),
        ({"faults": {}}, r"report\.faults: .* required is a list"),
        ({"faults": [7]}, r"report\.faults\[0\]: .* required is an object"),
        ({"symptoms": [{"entropy": "wide"}]}, r"report\.symptoms\[0\]\.entropy: .* required is a number"),
        ({"symptoms": [{"entropy": True}]}, r"report\.symptoms\[0\]\.entropy: .* required is a number"),
        ({"controls": [{"name": "x", "expected": "dead", "status": "killed"}]}, r"required is a status"),
        ({"controls": [{"name": "x", "status": "killed"}]}, "found no field 'expected'"),
        ({"extra": 1}, "unknown field 'extra'"),
    ],
)
def test_a_wrong_field_is_named_with_its_place(report: Report, changes: dict[str, Any], place: str) -> None:
    with pytest.raises(FaultsError, match=place):
        from_json(edited(report, **changes))
