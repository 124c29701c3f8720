"""The answers of `faults check` as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from detectors.attention.slope import Scale
from detectors.checking import Finding
from faults.answers import Answer, Coverage

SCHEMA_VERSION = 1


def to_json(answers: Sequence[Answer]) -> str:
    """The subjects in the order given, each with its verdict, candidates and contracts; strict JSON with a line end.

    `faults` says how far each of the five was looked for, `unseen` names those that were not: with any of them the
    verdict is never "sound". `scale` is what the scores were multiplied by where that is wrong, beside what is
    required, or null; it is not `single` where no one number explains the weights. `notes` say what was done to it,
    such as other numbers than it came with. inf and nan are the strings "inf", "-inf" and "nan". A subject that
    could not be used has a `reason` besides.
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
        "scale": _scale(checked.scale) if checked and checked.scale else None,
        "faults": [covered(one) for one in answer.covered],
        "unseen": [one.fault for one in answer.unseen],
        "notes": list(answer.notes),
        "contracts": [contract(finding) for finding in (checked.findings if checked else ())],
    }
    return found if checked else found | {"reason": answer.cause}


def _scale(found: Scale) -> dict[str, Any]:
    return {
        "factor": _number(found.factor),
        "required": found.required,
        "heads": found.heads,
        "head_width": found.head_width,
        "keys": found.keys,
        "single": found.single,
    }


def covered(one: Coverage) -> dict[str, Any]:
    """How far one fault was looked for, why not further, and the variants that could not have shown."""
    return {"fault": one.fault, "seen": one.state, "reason": one.reason, "variants": list(one.variants)}


def contract(finding: Finding) -> dict[str, Any]:
    """One contract: its name, value, threshold, verdict and the reason for that."""
    return {
        "name": finding.detector.name,
        "value": _number(finding.value),
        "threshold": finding.detector.threshold,
        "verdict": finding.verdict,
        "reason": finding.reason,
    }


def _number(value: float | None) -> float | str | None:
    return value if value is None or math.isfinite(value) else f"{value:.0f}"
