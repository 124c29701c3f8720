"""The mutation score as one page that opens from disk and loads nothing.

The page shows Stryker's report with Stryker's own elements, which lie in `vendor` with their licence. Its policy lets
exactly these two scripts run and nothing be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources

from faults.mutation.model import ScoreReport
from reports.mutation import cells, stryker
from reports.mutation.words import say

ELEMENTS = "vendor/mutation-test-elements.js"

SHOW = """
const app = document.querySelector("mutation-test-report-app");
app.report = JSON.parse(document.getElementById("report").textContent);
const theme = () => { document.body.style.backgroundColor = app.themeBackgroundColor; };
app.addEventListener("theme-changed", theme);
theme();
"""

PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<script type="application/json" id="report">{report}</script>
</head>
<body>
<noscript>{verdict}</noscript>
<mutation-test-report-app title-postfix="{title}"></mutation-test-report-app>
<script>{elements}</script>
<script>{show}</script>
</body>
</html>
"""


def to_html(report: ScoreReport, language: str) -> str:
    """The whole page."""
    script = elements()
    return PAGE.format(
        language=language,
        policy=policy(script, SHOW),
        title=html.escape(say("title", language)),
        verdict=html.escape(cells.verdict(report, language)),
        report=embedded(report),
        elements=script,
        show=SHOW,
    )


def elements() -> str:
    """The vendored script."""
    return resources.files("reports.mutation").joinpath(ELEMENTS).read_bytes().decode()


def embedded(report: ScoreReport) -> str:
    """The report as JSON that cannot end the element it stands in."""
    return json.dumps(stryker.tree(report)).replace("<", "\\u003c")


def policy(*scripts: str) -> str:
    """A content security policy under which these scripts run and nothing is loaded."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    # Style sheets are adopted by the script; the width of a bar is an attribute, and all there is to allow.
    return (
        f"default-src 'none'; script-src {hashes}; style-src-elem 'none'; style-src-attr 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
