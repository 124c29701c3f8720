"""The records of a measurement, and which files are ours to replace."""

from __future__ import annotations

import getpass
import hashlib
import io
import json
import platform
import subprocess
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from faults import __version__
from faults import evidence_record as records
from faults.evidence import Measurement
from faults.evidence_model import BOUNDS, NO_COMMIT, Measure
from faults.evidence_yaml import parse

ORIGIN = records.Origin(("python -m faults evidence --seed 5",), "0" * 40, "2024-05-01T12:00:00Z")
# The chapter's template, key by key.
FIELDS = "schema module commit verified_at environment seed commands metrics artifacts cost licenses known_failures"


def measurement(figure: float = 1.0) -> Measurement:
    measures = tuple(Measure(bound, 0.0 if bound.sign[0] == "<" else figure, {}) for bound in BOUNDS)
    return Measurement(5, {"token": 2}, measures, {"scores": np.zeros((2, 2))})


def test_the_record_has_every_field_of_the_template_in_its_order() -> None:
    record = records.record(measurement(), ORIGIN, "out/intermediates.npz")
    assert list(record) == FIELDS.split()
    assert record["metrics"][0] == {"name": "future_token_invariance", "expected": "< 1e-6", "actual": 0.0}
    assert record["cost"] == {"gross_usd": 0, "credit_usd": 0}
    assert record["known_failures"] == ["none in this run"]


def test_the_record_names_the_licence_of_the_program_and_of_what_it_needs() -> None:
    assert records.record(measurement(), ORIGIN, "x")["licenses"] == [
        {
            "source": "attention-faults: the program, and the synthetic tokens and weights it generates",
            "version": __version__,
            "license": "Apache-2.0",
            "attribution": "the attention-faults authors",
            "redistribution": "permitted under Apache-2.0; no third-party data is contained",
        },
        {
            "source": "NumPy",
            "version": np.__version__,
            "license": "BSD-3-Clause",
            "attribution": "the NumPy developers",
            "redistribution": "not contained; installed separately",
        },
    ]


def test_a_metric_out_of_bounds_is_a_known_failure() -> None:
    failures = records.record(measurement(figure=0.0), ORIGIN, "x")["known_failures"]
    assert failures[0] == "no_mask_future_prefix_influence: 0.0 is out of bounds (> 1e-5)"
    assert len(failures) == 3


@pytest.mark.parametrize("commit", ["1234567890" * 4, "12e4567", "0x1234", "1_234_567", "0012345"])
def test_a_commit_id_stays_text_for_every_reader(commit: str) -> None:
    origin = records.Origin(ORIGIN.commands, commit, ORIGIN.when)
    text = records.to_yaml(records.record(measurement(), origin, "x"))
    # In quotes: YAML 1.2 reads 12e4567 as a number where PyYAML does not.
    assert f'commit: "{commit}"\n' in text
    assert yaml.safe_load(text)["commit"] == commit
    tree = parse(text).tree
    assert isinstance(tree, dict)
    assert tree["commit"] == commit


def test_the_record_is_plain_yaml_that_says_what_was_given() -> None:
    record = records.record(measurement(), ORIGIN, "x")
    text = records.to_yaml(record)
    assert yaml.safe_load(text) == record
    assert list(yaml.safe_load(text)) == FIELDS.split()
    # One line for each value, however long: nothing is folded.
    assert text.count("\n") == 42


def test_a_folder_may_have_a_name_in_any_script() -> None:
    text = records.to_yaml(records.record(measurement(), ORIGIN, "证据/intermediates.npz"))
    assert "\n- 证据/intermediates.npz\n" in text


def test_the_environment_names_neither_machine_nor_user() -> None:
    found = records.environment()
    assert found.startswith("Python 3.")
    assert "NumPy" in found
    assert platform.system() in found
    assert "/" not in found
    assert platform.node() not in found
    assert platform.release() not in found
    assert getpass.getuser() not in found


def test_a_system_that_does_not_say_what_it_is_is_named_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "")
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    assert records.environment() == f"{versions}, unknown system, CPU"


def test_the_archive_holds_the_intermediates_and_is_the_same_each_time() -> None:
    raw = records.archive(measurement())
    with np.load(io.BytesIO(raw), allow_pickle=False) as found:
        assert found["scores"].tolist() == [[0, 0], [0, 0]]
    assert records.archive(measurement()) == raw


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is nine hours ahead of UTC."""
    with monkeypatch.context() as changed:
        changed.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("tokyo")
def test_the_time_is_utc_and_can_be_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert records.now() == "1970-01-02T00:00:00Z"
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert records.now().endswith("Z")
    assert abs(datetime.fromisoformat(records.now()).timestamp() - time.time()) < 60


def test_the_commit_is_that_of_the_repository_or_a_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert records.commit(tmp_path) == NO_COMMIT
    git(tmp_path, "init", "-q")
    assert records.commit(tmp_path) == NO_COMMIT
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    assert records.commit(tmp_path) == git(tmp_path, "log", "-1", "--format=%H").strip()


def test_without_git_there_is_a_statement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert records.commit(tmp_path) == NO_COMMIT


def test_a_git_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    def stuck(command: list[str], timeout: float, **options: Any) -> Any:
        waited.append(timeout)
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", stuck)
    assert records.commit(tmp_path) == NO_COMMIT
    assert waited == [30]  # seconds


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_the_artifact_is_named_from_the_top_of_the_repository(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    assert records.relative_artifact(folder) == "a/b/intermediates.npz"
    (folder / ".git").mkdir()
    assert records.relative_artifact(folder) == "intermediates.npz"


def written(folder: Path) -> dict[str, Any]:
    """The three files of one run, as the verb writes them."""
    files = {records.ARTIFACT: b"npz", records.RECORD: b"yaml"}
    run = records.run_record(measurement(), ORIGIN, files)
    for name, raw in {**files, records.RUN: json.dumps(run).encode()}.items():
        (folder / name).write_bytes(raw)
    return run


def test_the_run_record_says_that_it_proves_no_learning_and_names_no_time(tmp_path: Path) -> None:
    run = written(tmp_path)
    assert run["statement"]["en"].startswith("This is a machine record")
    assert "no proof that anyone learned" in run["statement"]["en"]
    assert "不能证明" in run["statement"]["zh"]
    assert ORIGIN.when not in json.dumps(run)
    # printf npz | sha256sum
    assert (
        run["files"]["intermediates.npz"]
        == "207040fa141238a4f7268fe56968eb205c799bd18b71ff34169713e15f1a00c2"
    )


def test_the_run_record_says_what_ran_and_what_came_out() -> None:
    run = records.run_record(measurement(), ORIGIN, {})
    assert run.pop("sha256")
    assert run.pop("statement")
    assert len(run.pop("metrics")) == 5
    assert run == {
        "kind": "attention-faults.evidence-run.v1",
        "program": {"name": "attention-faults", "version": __version__},
        "commands": ["python -m faults evidence --seed 5"],
        "commit": "0" * 40,
        "environment": records.environment(),
        "seed": 5,
        "fixture": {"token": 2},
        "files": {},
    }


def test_a_figure_that_is_no_number_is_written_as_a_word() -> None:
    run = records.run_record(measurement(float("nan")), ORIGIN, {})
    assert [one["actual"] for one in run["metrics"][1:3]] == [0.0, "nan"]
    assert run["metrics"][2] == {
        "name": "no_mask_future_prefix_influence",
        "required": "> 1e-5",
        "actual": "nan",
        "holds": False,
    }
    json.dumps(run, allow_nan=False)


def test_files_of_an_earlier_run_are_ours(tmp_path: Path) -> None:
    assert records.foreign(tmp_path) == []
    written(tmp_path)
    assert records.foreign(tmp_path) == []


def test_the_order_in_which_a_run_record_is_written_does_not_matter(tmp_path: Path) -> None:
    run = written(tmp_path)
    (tmp_path / records.RUN).write_text(json.dumps(dict(reversed(run.items()))))
    assert records.foreign(tmp_path) == []


def test_a_run_record_that_is_larger_than_any_of_ours_vouches_for_nothing(tmp_path: Path) -> None:
    run = json.dumps(written(tmp_path))
    (tmp_path / records.RUN).write_text(run.ljust(2**20))
    assert records.foreign(tmp_path) == []
    (tmp_path / records.RUN).write_text(run.ljust(2**20 + 1))
    assert records.foreign(tmp_path) == list(records.FILES)


@pytest.mark.parametrize("name", records.FILES)
def test_a_file_that_was_changed_since_is_not_ours(tmp_path: Path, name: str) -> None:
    written(tmp_path)
    path = tmp_path / name
    path.write_bytes(path.read_bytes().replace(b'"seed": 5', b'"seed": 6') + b" ")
    # A changed run record vouches for nothing any more.
    assert records.foreign(tmp_path) == (list(records.FILES) if name == records.RUN else [name])


def test_a_link_in_place_of_one_of_our_files_is_not_ours(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / records.RECORD).rename(tmp_path / "moved")
    (tmp_path / records.RECORD).symlink_to("moved")
    assert records.foreign(tmp_path) == [records.RECORD]


def test_a_record_of_another_kind_vouches_for_nothing(tmp_path: Path) -> None:
    content = {**written(tmp_path), "kind": "another"}
    # Its own digest is right: made by the rule of the run record.
    others = json.dumps({name: value for name, value in content.items() if name != "sha256"}, sort_keys=True)
    content["sha256"] = hashlib.sha256(others.encode()).hexdigest()
    (tmp_path / records.RUN).write_text(json.dumps(content))
    assert records.foreign(tmp_path) == list(records.FILES)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"kind": 1}', "[" * 100_000, "\x00"])
def test_a_run_record_of_somebody_else_vouches_for_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / records.RUN).write_text(text)
    (tmp_path / records.RECORD).write_text("precious")
    assert records.foreign(tmp_path) == [records.RECORD, records.RUN]
