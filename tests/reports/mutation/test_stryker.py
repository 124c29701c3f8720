from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import faults
from faults.model import Status
from reports.mutation import stryker
from tests.reports.mutation.made_score import (
    AFTER,
    BEFORE,
    RUN,
    SOURCE,
    TESTS,
    broken,
    made_score,
    mutant,
    passed,
)

SCHEMA = Path(__file__).parent / "schema" / "mutation-testing-report-schema.json"
# mutation-testing-report-schema 3.8.4, from the npm registry.
CHECKSUM = "404575e9264686dbf85c399f6531fdb489bebc3146e7e1d793b8083bc6a041ae"


def validate(tree: Any) -> None:
    jsonschema.Draft7Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(tree)


def mutants(tree: Any) -> dict[str, Any]:
    return {entry["id"]: entry for file in tree["files"].values() for entry in file["mutants"]}


def test_the_schema_is_the_published_one() -> None:
    assert hashlib.sha256(SCHEMA.read_bytes()).hexdigest() == CHECKSUM


@pytest.mark.parametrize("report", [made_score(), passed(), broken(), made_score(replace(RUN, since="main"))])
def test_the_json_is_valid_by_the_schema(report: Any) -> None:
    validate(json.loads(stryker.to_json(report)))


def test_the_schema_tells_a_wrong_report() -> None:
    tree = stryker.tree(made_score())
    tree["files"]["core/box.py"]["mutants"][0]["status"] = "Alive"
    with pytest.raises(jsonschema.ValidationError, match="Alive"):
        validate(tree)


def test_the_json_has_a_line_for_each_value_and_ends_with_a_line_end() -> None:
    text = stryker.to_json(passed())
    assert text.startswith('{\n "schemaVersion": "2",\n')
    assert text.endswith("\n}\n")


def test_a_mutant_with_everything() -> None:
    tree = stryker.tree(made_score())
    entry = mutants(tree)["core.box.x_larger__mutmut_1"]
    numbers = {
        test["id"]: (file, test["name"])
        for file in tree["testFiles"]
        for test in tree["testFiles"][file]["tests"]
    }
    assert {file + "::" + name for file, name in map(numbers.get, entry.pop("coveredBy"))} == set(TESTS)  # type: ignore[misc]  # all known
    assert entry == {
        "id": "core.box.x_larger__mutmut_1",
        "mutatorName": "mutmut",
        "replacement": ">=",
        "description": f"{BEFORE} -> {AFTER}",
        "location": {"start": {"line": 2, "column": 27}, "end": {"line": 2, "column": 28}},
        "status": "Survived",
        "duration": 500,
    }
    assert mutants(tree)["core.box.x_larger__mutmut_3"]["duration"] == 15250
    assert tree["files"]["core/box.py"]["source"] == SOURCE
    assert tree["files"]["core/box.py"]["language"] == "python"


def test_the_place_is_that_of_the_replaced_text() -> None:
    entry = mutants(stryker.tree(made_score()))["core.box.x_larger__mutmut_1"]
    start, end = entry["location"]["start"], entry["location"]["end"]
    assert SOURCE.splitlines()[start["line"] - 1][start["column"] - 1 : end["column"] - 1] == ">"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.KILLED, "Killed"),
        (Status.SURVIVED, "Survived"),
        (Status.NO_COVERAGE, "NoCoverage"),
        (Status.TIMEOUT, "Timeout"),
        (Status.ERROR, "RuntimeError"),
        (Status.NOT_APPLICABLE, "Ignored"),
        (None, "Pending"),
    ],
)
def test_each_status_in_the_words_of_the_schema(status: Status | None, expected: str) -> None:
    found = mutants(stryker.tree(made_score(replace(RUN, mutants=(mutant("m", status, reason="why"),)))))["m"]
    assert (found["status"], found["statusReason"]) == (expected, "why")
    assert "duration" not in found


def test_a_proved_equivalent_is_ignored_with_its_reason() -> None:
    entry = mutants(stryker.tree(made_score()))["core.box.x_larger__mutmut_4"]
    assert (entry["status"], entry["statusReason"]) == ("Ignored", "equivalent: equal ones are one")
    assert "coveredBy" not in entry


def test_the_killer_is_named_once_in_its_file() -> None:
    tree = stryker.tree(made_score())
    found = mutants(tree)
    (test,) = tree["testFiles"]["tests/core/test_mask.py"]["tests"]
    assert test["name"] == "test_future[float32]"
    assert found["a/zero"]["killedBy"] == found["a/tiny"]["killedBy"] == [test["id"]]
    assert found["a/zero"]["mutatorName"] == "a"


def test_the_report_says_who_made_it() -> None:
    tree = stryker.tree(made_score())
    assert tree["framework"] == {"name": "faults", "version": faults.__version__}
    assert (tree["schemaVersion"], tree["thresholds"]) == ("2", {"high": 100, "low": 90})
    assert tree["config"] == {}
    assert stryker.tree(made_score(replace(RUN, since="main")))["config"] == {"since": "main"}
