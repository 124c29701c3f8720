"""The answers of `faults check` as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from detectors.checking import Finding
from faults.answers import Answer

SCHEMA_VERSION = 1


def to_json(answers: Sequence[Answer]) -> str:
    """The subjects in the order given, each with its verdict, candidates and contracts; strict JSON with a line end.

    inf and nan are the strings "inf", "-inf" and "nan". A subject that could not be used has a `reason` besides.
    """
    tree = {"schema_version": SCHEMA_VERSION, "subjects": [_subject(answer) for answer in answers]}
    return json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _subject(answer: Answer) -> dict[str, Any]:
    checked = answer.checked
    found = {
        "subject": answer.subject,
        "verdict": answer.verdict,
        "diagnosis": [
            {"fault": one.fault, "variant": one.variant, "distance": one.distance}
            for one in (checked.candidates if checked else ())
        ],
        "contracts": [_contract(finding) for finding in (checked.findings if checked else ())],
    }
    return found if checked else found | {"reason": answer.cause}


def _contract(finding: Finding) -> dict[str, Any]:
    return {
        "name": finding.detector.name,
        "value": _number(finding.value),
        "threshold": finding.detector.threshold,
        "verdict": finding.verdict,
        "reason": finding.reason,
    }


def _number(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else f"{value:.0f}"
