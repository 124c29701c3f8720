"""The records of one measurement: the chapter's YAML form, our JSON form, and which files are ours."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from faults import __version__
from faults.evidence import Measurement
from faults.evidence_artifacts import repository
from faults.evidence_model import MODULE, NO_COMMIT, SCHEMA, Measure, said

ARTIFACT, RECORD, RUN = "intermediates.npz", "evidence.yaml", "evidence.json"
FILES = (ARTIFACT, RECORD, RUN)
RUN_KIND = "attention-faults.evidence-run.v1"
RUN_LIMIT = 2**20
GIT_SECONDS = 30
"""What git may take to name the commit."""

EPOCH = "SOURCE_DATE_EPOCH"
STATEMENT = said(
    "This is a machine record of one run of this program, no proof that anyone learned anything.",
    "这是本程序一次运行的机器记录，不能证明任何人已经掌握。",
)


@dataclass(frozen=True)
class Origin:
    """Where a measurement comes from: the commands that made it, the commit, the time (ISO, UTC)."""

    commands: tuple[str, ...]
    commit: str
    when: str


class _Quoted(str):
    """Text that is written in quotes whatever it looks like: 12e4567 is a commit id, elsewhere a number."""


class _Dumper(yaml.SafeDumper):
    """SafeDumper that knows `_Quoted`."""


# Pairs keep their order, where a mapping would be sorted.
_Dumper.add_representer(dict, lambda dumper, data: dumper.represent_dict(data.items()))
_Dumper.add_representer(
    _Quoted, lambda dumper, data: dumper.represent_scalar("tag:yaml.org,2002:str", str(data), style='"')
)


def to_yaml(content: Mapping[str, Any]) -> str:
    """YAML in the order of the content; the commit id stays text for every reader."""
    quoted = {**content, "commit": _Quoted(content["commit"])}
    return yaml.dump(quoted, Dumper=_Dumper, allow_unicode=True, width=math.inf)


def commit(folder: Path) -> str:
    """Id of the commit that is checked out around `folder`, or a statement that there is none.

    The folder need not exist yet: the nearest one above it that does is asked.
    """
    here = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.is_dir())
    command = ["git", "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=GIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return NO_COMMIT
    return done.stdout.strip() if done.returncode == 0 else NO_COMMIT


def now() -> str:
    """The time in UTC as an ISO date-time, or SOURCE_DATE_EPOCH (seconds since 1970) where that is set.

    Raises ValueError, OverflowError or OSError where it is set to something that is no time.
    """
    fixed = os.environ.get(EPOCH)
    time = datetime.fromtimestamp(int(fixed), UTC) if fixed else datetime.now(UTC)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def environment() -> str:
    """Versions and system family only: nothing that names a machine or its user."""
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    return f"{versions}, {platform.system() or 'unknown system'}, CPU"


def archive(measurement: Measurement) -> bytes:
    """The healthy intermediates as a .npz file: scores, scaled, masked, weights, output."""
    stream = io.BytesIO()
    arrays: dict[str, Any] = dict(measurement.intermediates)
    np.savez(stream, **arrays)
    return stream.getvalue()


def record(measurement: Measurement, origin: Origin, artifact: str) -> dict[str, Any]:
    """The record in the form of the chapter's template, every field filled."""
    return {
        "schema": SCHEMA,
        "module": MODULE,
        "commit": origin.commit,
        "verified_at": origin.when,
        "environment": environment(),
        "seed": measurement.seed,
        "commands": list(origin.commands),
        "metrics": [_recorded(one) for one in measurement.measures],
        "artifacts": [artifact],
        "cost": {"gross_usd": 0, "credit_usd": 0},
        "licenses": _licenses(),
        "known_failures": _known_failures(measurement),
    }


def _recorded(measure: Measure) -> dict[str, Any]:
    return {"name": measure.bound.metric, "expected": str(measure.bound), "actual": measure.actual}


def _licenses() -> list[dict[str, str]]:
    return [
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


def _known_failures(measurement: Measurement) -> list[str]:
    broken = [one for one in measurement.measures if not one.holds]
    failures = [f"{one.bound.metric}: {one.actual!r} is out of bounds ({one.bound})" for one in broken]
    return failures or ["none in this run"]


def run_record(measurement: Measurement, origin: Origin, files: Mapping[str, bytes]) -> dict[str, Any]:
    """The machine record: what ran, what came out, SHA-256 of the other files, and of the record itself."""
    content = {
        "kind": RUN_KIND,
        "statement": dict(STATEMENT),
        "program": {"name": "attention-faults", "version": __version__},
        "commands": list(origin.commands),
        "commit": origin.commit,
        "environment": environment(),
        "seed": measurement.seed,
        "fixture": dict(measurement.extents),
        "metrics": [_metric(one) for one in measurement.measures],
        "files": {name: _digest(raw) for name, raw in files.items()},
    }
    return {**content, "sha256": _own_digest(content)}


def _metric(measure: Measure) -> dict[str, Any]:
    bound, actual = measure.bound, measure.actual
    # Strict JSON has no nan and no inf.
    plain = actual if actual is not None and np.isfinite(actual) else str(actual)
    return {"name": bound.metric, "required": str(bound), "actual": plain, "holds": measure.holds}


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _own_digest(content: Mapping[str, Any]) -> str:
    others = {name: value for name, value in content.items() if name != "sha256"}
    return _digest(json.dumps(others, sort_keys=True).encode())


def foreign(folder: Path) -> list[str]:
    """Files in `folder` that a new record would replace, and that no earlier run wrote as they are now."""
    known = _written_before(folder / RUN)
    names = [name for name in FILES if os.path.lexists(folder / name)]
    return [name for name in names if not _is_as_written(folder / name, known)]


def _is_as_written(path: Path, known: Mapping[str, str]) -> bool:
    if path.name not in known or path.is_symlink() or not path.is_file():
        return False
    return path.name == RUN or known[path.name] == _digest(path.read_bytes())


def _written_before(run: Path) -> dict[str, str]:
    """Name -> SHA-256 by an unchanged earlier run record, which stands for itself too; else nothing."""
    try:
        if not run.is_file() or run.stat().st_size > RUN_LIMIT:
            return {}
        content = json.loads(run.read_bytes())
        genuine = content["kind"] == RUN_KIND and content["sha256"] == _own_digest(content)
        return {**content["files"], RUN: content["sha256"]} if genuine else {}
    # It may be anybody's file: whatever is wrong with it, it is not ours.
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def relative_artifact(folder: Path) -> str:
    """The artifact's path in the record: from the top of the repository, else from its own folder."""
    top = repository(folder / ARTIFACT) or folder.resolve()
    return (folder.resolve() / ARTIFACT).relative_to(top).as_posix()


def command_line(seed: int) -> str:
    """The command that makes this record again; where it was written is nobody's business."""
    return f"python -m faults evidence --seed {seed}"
