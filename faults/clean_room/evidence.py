"""The evidence of a clean room: the chapter's five metrics on the learner's own code, and the files of the record."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import plain_block
from faults import evidence_record as records
from faults.clean_room import repair
from faults.clean_room.block_parts import intermediates
from faults.clean_room.inputs import EXTENTS, Inputs
from faults.clean_room.judging import Judged, error
from faults.clean_room.model import Repair
from faults.clean_room.room import Raised, Room
from faults.evidence import Measurement
from faults.evidence_artifacts import repository
from faults.evidence_model import BOUNDS, judged

Array = NDArray[Any]

FAULT_RECORD = "fault_record.json"
NAMES = (*records.FILES, FAULT_RECORD)
"""Files of the record."""

FAULT_KIND = "attention-faults.clean-room-fault-record.v1"


def measure(room: Room, inputs: Inputs) -> Measurement | None:
    """The five metrics on the learner's code and the learner's intermediates; None where one cannot be measured."""
    try:
        found = intermediates(room, inputs.projected)
        actual = dict(_metrics(room, inputs, found))
    except (Judged, Raised, ValueError, TypeError):
        return None
    measures = tuple(judged(bound, actual[bound.metric]) for bound in BOUNDS if bound.metric in actual)
    extents = {"batch": EXTENTS.batch, "token": EXTENTS.tokens, "channel": EXTENTS.width, "dtype": "float64"}
    return Measurement(inputs.seed, extents, measures, found) if len(measures) == len(BOUNDS) else None


def _metrics(room: Room, inputs: Inputs, found: Mapping[str, Array]) -> Iterator[tuple[str, float]]:
    output = repair.run(room, inputs, inputs.x)
    yield "future_token_invariance", repair.leak(room, inputs) or 0.0
    yield "reference_output_max_error", error(output, plain_block.output(inputs.fixture))
    leaks = [repair.leak(room, inputs, *how) for how in repair.LEAKS if room.has(how[0])]
    yield from (("no_mask_future_prefix_influence", one) for one in leaks if one is not None)
    yield "scale_ablation_max_weight_delta", _unscaled(found)
    cut = repair.run(room, inputs, inputs.x, "pre_norm_residual", "no_skip")
    if room.activations:
        yield "residual_ablation_max_output_delta", error(cut, output)


def _unscaled(found: Mapping[str, Array]) -> float:
    """Largest change of a weight when the learner's scores are used as they are, where the mask lets them through."""
    hidden = found["weights"] == 0
    sharp = np.where(hidden, -np.inf, found["scores"])
    powers = np.exp(sharp - sharp.max(axis=-1, keepdims=True))
    return error(powers / powers.sum(axis=-1, keepdims=True), found["weights"])


def files(
    measurement: Measurement, repairs: tuple[Repair, ...], source: Path, folder: Path, when: str
) -> dict[str, bytes]:
    """Name -> content of the four files of the record."""
    origin = records.Origin(
        (f"python -m faults clean-room {_relative(source)}",), records.commit(source.parent), when
    )
    content = records.record(measurement, origin, records.relative_artifact(folder))
    content["artifacts"].append(content["artifacts"][0].replace(records.ARTIFACT, FAULT_RECORD))
    made = {
        records.ARTIFACT: records.archive(measurement),
        FAULT_RECORD: fault_record(repairs, source).encode(),
        records.RECORD: records.to_yaml(content).encode(),
    }
    run = records.run_record(measurement, origin, made)
    return {**made, records.RUN: _json(run).encode()}


def fault_record(repairs: tuple[Repair, ...], source: Path) -> str:
    """The record of the faults made in the learner's code, failing before and fixed after, as JSON."""
    rows = [
        {
            "fault": one.fault,
            "function": one.function,
            "line": one.line,
            "signal": dict(one.signal),
            "threshold": one.threshold,
            "before_repair": one.broken,
            "after_repair": one.repaired,
            "healthy": one.healthy,
            "bit_identical_after_repair": one.identical,
        }
        for one in repairs
    ]
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    return _json({"kind": FAULT_KIND, "file": _relative(source), "file_sha256": digest, "faults": rows})


def foreign(folder: Path) -> list[str]:
    """Files in the folder that a new record would replace and that no earlier run wrote as they are now."""
    mine = folder / FAULT_RECORD
    strangers = records.foreign(folder)
    # A link is not ours, wherever it leads and whether anything is there.
    own = not os.path.lexists(mine) or (not mine.is_symlink() and _listed(folder, mine))
    return strangers if own else [*strangers, FAULT_RECORD]


def _listed(folder: Path, mine: Path) -> bool:
    try:
        listed = json.loads((folder / records.RUN).read_bytes())["files"][FAULT_RECORD]
        return bool(listed == hashlib.sha256(mine.read_bytes()).hexdigest())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _relative(source: Path) -> str:
    """The file's path in its repository; where the repository is, is nobody's business."""
    top = repository(source)
    return source.resolve().relative_to(top).as_posix() if top else source.name


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
