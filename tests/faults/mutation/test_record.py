from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from faults.model import Control, Status
from faults.mutation import record
from faults.mutation.model import Likeness
from faults.mutation.record import Record
from tests.faults.mutation.made_run import mutant, put

RESULT = {"status": "killed", "reason": "", "killed_by": "test_a", "seconds": 0.5}
FULL = Record(
    results={"m1": RESULT},
    controls=(Control("no_op", Status.SURVIVED, Status.KILLED, "why"),),
    broken=({"en": "no", "zh": "不"},),
    likeness=(Likeness("missing_scale/absent", ("k",)),),
    compared=7,
    since="main",
    seconds=1.5,
    digests={"a.py": "0"},
)


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "mutants").mkdir()
    record.write(tmp_path, FULL)
    assert record.read(tmp_path) == FULL


def test_a_run_of_mutmut_alone_has_an_empty_record(tmp_path: Path) -> None:
    assert record.read(tmp_path) == Record()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"schema_version": 1}'])
def test_a_damaged_record_breaks_the_run(tmp_path: Path, text: str) -> None:
    put(tmp_path / "mutants/faults-score.json", text)
    (line,) = record.read(tmp_path).broken
    assert line["en"].startswith("faults-score.json: cannot be read")


def test_a_record_of_another_version_breaks_the_run(tmp_path: Path) -> None:
    (tmp_path / "mutants").mkdir()
    record.write(tmp_path, FULL)
    path = tmp_path / "mutants/faults-score.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema_version": 2}))
    (line,) = record.read(tmp_path).broken
    assert "schema_version 2, required is 1" in line["en"]


def test_a_recorded_verdict_is_the_mutants(tmp_path: Path) -> None:
    found = record.decided(mutant("m1", None), {"m1": RESULT})
    assert (found.status, found.killed_by, found.seconds, found.reason) == (Status.KILLED, "test_a", 0.5, "")


def test_without_a_recorded_verdict_a_mutant_stays_as_it_is() -> None:
    assert record.decided(mutant("m2", None), {"m1": RESULT}) == mutant("m2", None)


def test_digests_are_those_of_the_files(tmp_path: Path) -> None:
    put(tmp_path / "b.py", "x")
    assert record.digests(tmp_path, ["b.py", "b.py"]) == {"b.py": hashlib.sha256(b"x").hexdigest()}


def test_a_file_that_changed_since_is_said(tmp_path: Path) -> None:
    for name in ("a.py", "b.py", "c.py"):
        put(tmp_path / name, name)
    kept = Record(digests={**record.digests(tmp_path, ["a.py", "b.py"])})
    assert record.changed(tmp_path, kept, ["a.py", "b.py", "c.py"]) == ()
    put(tmp_path / "a.py", "other")
    (line,) = record.changed(tmp_path, kept, ["a.py", "b.py", "c.py"])
    assert line["en"] == "a.py: the file has changed since mutmut ran; run it again"
