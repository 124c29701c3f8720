"""The evidence of a clean room by itself: its numbers, its record of faults, and whose files it may replace."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

from faults.clean_room import evidence
from faults.clean_room.inputs import Inputs
from faults.clean_room.model import Repair
from faults.clean_room.room import Room
from faults.evidence import Measurement
from faults.evidence_model import BOUNDS
from tests.faults.clean_room_samples.variants import COMPLETE

LN3 = math.log(3)
REPAIR = Repair(
    fault="head_seq_swap",
    function="merge_heads",
    line=44,
    signal={"en": "largest difference", "zh": "最大差"},
    healthy=0.0,
    broken=2.5,
    repaired=1e-9,
    threshold=1e-6,
    identical=False,
)


def test_a_weight_without_the_scale_is_the_softmax_of_the_scores_where_the_mask_lets_them_through() -> None:
    # Of the two in the second row the softmax is 1/4 and 3/4; they are so large that their exponentials are not
    # finite. The first row sees itself alone, whatever the score of what it must not see.
    scores = np.array([[[[0.0, 7.0], [1000.0, 1000.0 + LN3]]]])
    weights = np.array([[[[1.0, 0.0], [0.5, 0.5]]]])
    assert evidence._unscaled({"scores": scores, "weights": weights}) == pytest.approx(0.25)


def test_the_record_of_faults_names_the_file_its_text_and_what_was_seen(tmp_path: Path) -> None:
    source = tmp_path / "mine.py"
    source.write_text("x = 1\n")
    assert json.loads(evidence.fault_record((REPAIR,), source)) == {
        "kind": "attention-faults.clean-room-fault-record.v1",
        "file": "mine.py",
        "file_sha256": hashlib.sha256(b"x = 1\n").hexdigest(),
        "faults": [
            {
                "fault": "head_seq_swap",
                "function": "merge_heads",
                "line": 44,
                "signal": {"en": "largest difference", "zh": "最大差"},
                "threshold": 1e-6,
                "before_repair": 2.5,
                "after_repair": 1e-9,
                "healthy": 0.0,
                "bit_identical_after_repair": False,
            }
        ],
    }


def test_a_record_of_faults_that_no_run_lists_is_somebody_elses(tmp_path: Path) -> None:
    assert evidence.foreign(tmp_path) == []
    (tmp_path / "fault_record.json").write_text("{}")
    assert evidence.foreign(tmp_path) == ["fault_record.json"]


def test_the_files_of_a_record_are_sorted_and_in_the_readers_own_letters(tmp_path: Path) -> None:
    source = tmp_path / "我的.py"
    source.write_bytes(b"")
    empty = hashlib.sha256(b"").hexdigest()
    assert evidence.fault_record((), source) == (
        "{\n"
        '  "faults": [],\n'
        '  "file": "我的.py",\n'
        f'  "file_sha256": "{empty}",\n'
        '  "kind": "attention-faults.clean-room-fault-record.v1"\n'
        "}\n"
    )


def test_a_file_is_named_by_its_place_in_its_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "deep").mkdir()
    source = tmp_path / "deep/mine.py"
    source.write_bytes(b"")
    assert json.loads(evidence.fault_record((), source))["file"] == "deep/mine.py"


def measured(folder: Path, text: str) -> Measurement | None:
    path = folder / "mine.py"
    path.write_text(text)
    with Room(str(path), {}, None, 60, str(folder)) as room:
        return evidence.measure(room, Inputs())


@pytest.mark.usefixtures("room_here")
def test_what_is_measured_says_on_which_extents(tmp_path: Path) -> None:
    found = measured(tmp_path, COMPLETE)
    assert found is not None
    assert (found.seed, found.extents) == (5, {"batch": 2, "token": 5, "channel": 12, "dtype": "float64"})
    assert [one.bound.metric for one in found.measures] == [bound.metric for bound in BOUNDS]
    assert found.holds


@pytest.mark.usefixtures("room_here")
def test_without_one_of_the_five_numbers_there_is_no_measurement(tmp_path: Path) -> None:
    own = "\n\ndef other(x, branch, gain, shift):\n    return x + branch(standardise(x, gain, shift))\n"
    text = COMPLETE.replace("middle = pre_norm_residual(", "middle = other(")
    assert (
        measured(tmp_path, text.replace("return pre_norm_residual(middle", "return other(middle") + own)
        is None
    )
