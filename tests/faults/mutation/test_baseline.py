from __future__ import annotations

import json
from typing import Any

import pytest

from faults.model import FaultsError, Status
from faults.mutation import baseline
from tests.faults.mutation.made_run import mutant

ALIVE = Status.SURVIVED


def test_a_baseline_lists_survivors_by_identity_in_order() -> None:
    found = [
        mutant(status=ALIVE, after="z"),
        mutant(status=ALIVE, after="a"),
        mutant(status=ALIVE, after="a"),
        mutant(status=Status.NO_COVERAGE, after="é"),
        mutant(status=Status.KILLED, after="b"),
    ]
    name = "shop.box.larger: if first > second: -> "
    expected = {f"{name}a": 2, f"{name}z": 1, f"{name}é": 1}
    text = baseline.written(found)
    assert json.loads(text) == {"schema_version": 1, "survivors": expected}
    assert list(json.loads(text)["survivors"]) == list(expected)
    assert text.startswith('{\n  "schema_version": 1,\n')
    assert text.endswith("\n}\n")


def test_what_was_written_is_read_back() -> None:
    text = baseline.written([mutant(status=ALIVE)])
    assert baseline.read("file", text) == {mutant().identity: 1}


def test_no_survivors_are_a_baseline_too() -> None:
    assert baseline.read("file", baseline.written([])) == {}


@pytest.mark.parametrize(
    "content",
    [
        {"survivors": {}},
        {"schema_version": 2, "survivors": {}},
        {"schema_version": 1},
        {"schema_version": 1, "survivors": []},
        {"schema_version": 1, "survivors": {"a": 0}},
        {"schema_version": 1, "survivors": {"a": -1}},
        {"schema_version": 1, "survivors": {"a": True}},
        {"schema_version": 1, "survivors": {"a": "1"}},
        [],
        3,
    ],
)
def test_anything_else_is_refused_in_one_line(content: Any) -> None:
    with pytest.raises(FaultsError) as raised:
        baseline.read("known.json", json.dumps(content))
    assert str(raised.value) == (
        "known.json: found no baseline of version 1, required is a file from `faults score --write-baseline`"
    )


@pytest.mark.parametrize("text", ["{", "[" * 100_000], ids=["broken", "deep"])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(FaultsError, match=r"known\.json: found no baseline"):
        baseline.read("known.json", text)
