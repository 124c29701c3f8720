"""The mutation score as JSON in Stryker's mutation-testing-report-schema, version 2."""

from __future__ import annotations

import json
from typing import Any

from faults import __version__
from faults.model import Status
from faults.mutation.model import Mutant, ScoreReport, missed

STATUS = {
    Status.KILLED: "Killed",
    Status.SURVIVED: "Survived",
    Status.NO_COVERAGE: "NoCoverage",
    Status.TIMEOUT: "Timeout",
    Status.ERROR: "RuntimeError",
    Status.NOT_APPLICABLE: "Ignored",
    None: "Pending",
}


def to_json(report: ScoreReport) -> str:
    """The report as JSON with a line end."""
    return json.dumps(tree(report), indent=1) + "\n"


def tree(report: ScoreReport) -> dict[str, Any]:
    """The report as the schema wants it. Tests are listed where they say something: killers and tests that missed."""
    tests = _Tests()
    files: dict[str, Any] = {}
    for mutant in report.run.mutants:
        path = mutant.change.path
        file = files.setdefault(
            path, {"language": "python", "source": report.run.sources[path], "mutants": []}
        )
        file["mutants"].append(_mutant(mutant, tests))
    return {
        "schemaVersion": "2",
        "thresholds": {"high": 100, "low": 90},
        "files": files,
        "testFiles": tests.files,
        "framework": {"name": "faults", "version": __version__},
        "config": {name: value for name in ("since", "part") if (value := getattr(report.run, name))},
    }


class _Tests:
    """Numbers the tests that are mentioned, and lists them by file."""

    def __init__(self) -> None:
        self.files: dict[str, Any] = {}
        self.numbers: dict[str, str] = {}

    def number(self, test: str) -> str:
        """The id of a test."""
        if test not in self.numbers:
            self.numbers[test] = str(len(self.numbers))
            file, _, name = test.partition("::")
            entry = {"id": self.numbers[test], "name": name or test}
            self.files.setdefault(file, {"tests": []})["tests"].append(entry)
        return self.numbers[test]


def _mutant(mutant: Mutant, tests: _Tests) -> dict[str, Any]:
    change = mutant.change
    found: dict[str, Any] = {
        "id": mutant.key,
        "mutatorName": change.mutator or str(mutant.origin),
        "replacement": change.replacement,
        "description": f"{change.before} -> {change.after}",
        "location": {
            "start": {"line": change.place.line, "column": change.place.column},
            "end": {"line": change.place.end_line, "column": change.place.end_column},
        },
        "status": "Ignored" if mutant.equivalent else STATUS[mutant.status],
    }
    found |= _reason(mutant)
    if mutant.seconds is not None:
        found["duration"] = round(1000 * mutant.seconds)
    if mutant.killed_by:
        found["killedBy"] = [tests.number(mutant.killed_by)]
    if missed(mutant):
        found["coveredBy"] = [tests.number(test) for test in mutant.tests]
    return found


def _reason(mutant: Mutant) -> dict[str, str]:
    reason = f"equivalent: {mutant.equivalent}" if mutant.equivalent else mutant.reason
    return {"statusReason": reason} if reason else {}
