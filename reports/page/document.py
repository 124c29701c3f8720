"""Puts the page together: template, style, script and data in one file that loads nothing.

The policy in its head allows that one script and that one style, by their hashes, and nothing else; whatever a
subject is called or says stands in the data as escaped JSON and reaches the page as text only.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faults.model import Report
from reports.json_report import to_json

HERE = Path(__file__).parent

SCRIPTS = (
    "numbers.js", "elements.js", "pictures.js", "explorer.js", "matrix.js",
    "attention.js", "softmax.js", "positions.js", "shapes.js", "subject.js", "main.js",
)  # fmt: skip
"""In this order they are one script."""

OF_SUBJECT = "subject"
"""How the files and words begin that stand in the page only where somebody's own subject is shown."""

LINK = """<a href="#subject" data-say="subject.nav"></a>
      """
"""To the section of the subject."""

LANGUAGES = ("en", "zh")

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What could end a script element or a line inside one, as JSON writes it in escapes."""


def render(report: Report, language: str = "", subject: Mapping[str, Any] | None = None) -> str:
    """The whole page for a report with its page part; `language` "en" or "zh", or "" for the reader's own.

    `subject`: what `reports.page.subject.tree` makes of one; without it nothing of its section is in the page.
    """
    shown = subject is not None
    style = read("page.css") + (read("subject.css") if shown else "")
    script = "\n".join(read(name) for name in SCRIPTS if shown or not name.startswith(OF_SUBJECT))
    return filled(
        read("page.html"),
        {
            "lang": language or "en",
            "language": language,
            "title": html.escape(words()["en"]["title"]),
            "policy": html.escape(policy(script, style)),
            "style": style,
            "script": script,
            "link": LINK if shown else "",
            "subject": read("subject.html") if shown else "",
            "data": embedded(data(report, subject)),
        },
    )


def filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with each {{name}} replaced, in one pass: what is put in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


def policy(script: str, style: str) -> str:
    """A content-security policy that lets nothing in but this script and this style."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def data(report: Report, subject: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the script draws: the report as its JSON has it, the subject, and the words in both languages.

    Runs that are bit-identical to the healthy one are the word "same", matrices that occur again point to the one of
    `matrices` that they are, and of counts by name those that are 0 are left out: that saves a third of the file.
    """
    tree = json.loads(to_json(report))
    for row in (row for fault in tree["faults"] for row in fault["variants"]):
        row |= {name: _counted(row[name]) for name in ("kills", "observed")}
    for demonstration in (tree["page"] or {}).get("demonstrations", []):
        for stage in demonstration["stages"]:
            stage |= {run: "same" for run in ("after", "repaired") if stage[run] == stage["before"]}
    matrices: list[Any] = []
    tree["page"] = pooled(tree["page"], matrices, {})
    found = {"report": tree, "matrices": matrices, "words": words()}
    if subject is not None:
        return {**found, "subject": subject}
    said = {
        language: {key: text for key, text in known.items() if not key.startswith(OF_SUBJECT)}
        for language, known in words().items()
    }
    return {**found, "words": said}


def _counted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def pooled(branch: Any, matrices: list[Any], known: dict[str, int]) -> Any:
    """The tree with {"pooled": at} for each matrix; the matrices are appended, each once."""
    if isinstance(branch, dict):
        return {name: pooled(inner, matrices, known) for name, inner in branch.items()}
    if not isinstance(branch, list):
        return branch
    if not _is_matrix(branch):
        return [pooled(inner, matrices, known) for inner in branch]
    text = json.dumps(branch)
    if text not in known:
        known[text] = len(matrices)
        matrices.append(branch)
    return {"pooled": known[text]}


def _is_matrix(branch: list[Any]) -> bool:
    return bool(branch) and all(
        isinstance(row, list) and not any(isinstance(cell, dict | list) for cell in row) for row in branch
    )


def words() -> dict[str, dict[str, str]]:
    """Every word of the page, by language."""
    return {language: json.loads(read(f"{language}.json")) for language in LANGUAGES}


def embedded(tree: Any) -> str:
    """JSON that may stand inside a script element whatever strings are in it."""
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A string can hold half a surrogate pair, which no UTF-8 file can.
    text = re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)
    return re.sub("[<>&\u2028\u2029]", lambda letter: UNSAFE[letter[0]], text)


def read(name: str) -> str:
    """One of the files beside this one; a browser hashes line ends as they stand, so they are always "\\n"."""
    return (HERE / name).read_text(encoding="utf-8")
