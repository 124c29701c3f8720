"""The mutation score as a badge: an SVG picture, or the JSON that a badge service reads."""

from __future__ import annotations

import json

from faults.mutation.model import ScoreReport
from reports.mutation import cells
from reports.mutation.words import say
from reports.wrap import width

GREEN, YELLOW, RED = "#3a7d1f", "#8a6500", "#b3261e"
"""White text on each has a contrast of 4.5 or more."""

LETTER, SIDE = 7, 10
"""Pixels: a column of text, and the room beside it."""

PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img">
<title>{label}: {message}</title>
<rect width="{left}" height="20" fill="#555"/>
<rect x="{left}" width="{right}" height="20" fill="{color}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
<text x="{middle_left}" y="14">{label}</text>
<text x="{middle_right}" y="14">{message}</text>
</g>
</svg>
"""


def to_svg(report: ScoreReport, language: str) -> str:
    """The picture."""
    label, text = say("label", language), message(report)
    left, right = (2 * SIDE + LETTER * width(part) for part in (label, text))
    return PICTURE.format(
        width=left + right,
        left=left,
        right=right,
        middle_left=left / 2,
        middle_right=left + right / 2,
        color=color(report),
        label=label,
        message=text,
    )


def to_json(report: ScoreReport, language: str) -> str:
    """The JSON of an endpoint badge."""
    content = {"schemaVersion": 1, "label": say("label", language), "message": message(report)}
    return json.dumps({**content, "color": color(report)}) + "\n"


def message(report: ScoreReport) -> str:
    """The score; a gate that failed closed shows none."""
    return cells.percent(report.total) if report.judgement.exit_code in (0, 1) else "failed"


def color(report: ScoreReport) -> str:
    """Green where the gate passed, yellow where something survived, red where the run cannot be trusted."""
    return {0: GREEN, 1: YELLOW}.get(report.judgement.exit_code, RED)
