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
    "attention.js", "softmax.js", "positions.js", "shapes.js", "main.js",
)  # fmt: skip
"""In this order they are one script."""

LANGUAGES = ("en", "zh")

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What could end a script element or a line inside one, as JSON writes it in escapes."""


def render(report: Report, language: str = "") -> str:
    """The whole page for a report with its page part; `language` "en" or "zh", or "" for the reader's own."""
    style, script = read("page.css"), "\n".join(map(read, SCRIPTS))
    return filled(
        read("page.html"),
        {
            "lang": language or "en",
            "language": language,
            "title": html.escape(words()["en"]["title"]),
            "policy": html.escape(policy(script, style)),
            "style": style,
            "script": script,
            "data": embedded(data(report)),
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


def data(report: Report) -> dict[str, Any]:
    """What the script draws: the report as its JSON has it, and the words in both languages.

    Runs that are bit-identical to the healthy one are the word "same": most are, and it saves a fifth of the file.
    """
    tree = json.loads(to_json(report))
    for demonstration in (tree["page"] or {}).get("demonstrations", []):
        for stage in demonstration["stages"]:
            stage |= {run: "same" for run in ("after", "repaired") if stage[run] == stage["before"]}
    return {"report": tree, "words": words()}


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
