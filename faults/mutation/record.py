"""What `score` keeps of its own run beside mutmut's files, so that the run can be read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from faults.model import Control, Status, Text
from faults.mutation import finished
from faults.mutation.model import Likeness, Mutant

NAME = "faults-score.json"
VERSION = 1


@dataclass(frozen=True)
class Record:
    """The verdicts of the programs of our own, and what is known of the run as a whole."""

    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Key -> status, reason, killed_by, seconds."""
    controls: tuple[Control, ...] = ()
    broken: tuple[Text, ...] = ()
    likeness: tuple[Likeness, ...] = ()
    compared: int | None = None
    since: str = ""
    part: str = ""
    seconds: float | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    """Path -> SHA-256 of every file that programs of our own were made from."""
    schema_version: int = VERSION


def write(project: Path, record: Record) -> None:
    """Writes the record into the folder of the run."""
    text = json.dumps(asdict(record))
    (project / finished.FOLDER / NAME).write_bytes(text.encode())


def read(project: Path) -> Record:
    """The record of a run; an empty one where `score` did not make it. A damaged one says so in `broken`."""
    try:
        content = json.loads((project / finished.FOLDER / NAME).read_bytes().decode())
        if content["schema_version"] != VERSION:
            raise ValueError(f"schema_version {content['schema_version']!r}, required is {VERSION}")
        return Record(**{**content, **_typed(content)})
    except FileNotFoundError:
        return Record()
    except finished.DAMAGED as error:
        return Record(broken=(finished.unreadable(NAME, error),))


def _typed(content: Mapping[str, Any]) -> dict[str, Any]:
    controls = tuple(
        Control(**{**entry, "expected": Status(entry["expected"]), "status": Status(entry["status"])})
        for entry in content["controls"]
    )
    likeness = tuple(Likeness(entry["variant"], tuple(entry["keys"])) for entry in content["likeness"])
    return {"controls": controls, "likeness": likeness, "broken": tuple(content["broken"])}


def decided(mutant: Mutant, results: Mapping[str, Mapping[str, Any]]) -> Mutant:
    """The mutant with its recorded verdict; as it was where there is none."""
    found = results.get(mutant.key)
    if found is None:
        return mutant
    values = {name: found[name] for name in ("reason", "killed_by", "seconds")}
    return replace(mutant, status=Status(found["status"]), **values)


def digests(project: Path, paths: Iterable[str]) -> dict[str, str]:
    """SHA-256 of files of the project."""
    return {path: hashlib.sha256((project / path).read_bytes()).hexdigest() for path in sorted(set(paths))}


def changed(project: Path, record: Record, paths: Sequence[str]) -> tuple[Text, ...]:
    """One line for each file that is not the one the recorded verdicts are about."""
    now = digests(project, paths)
    return tuple(
        finished.outdated(path, "the file")
        for path in now
        if path in record.digests and record.digests[path] != now[path]
    )
