"""What is in the page; what a browser makes of it is looked at elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from importlib import resources

from faults.model import Status
from reports.mutation import page, stryker
from tests.reports.mutation.made_score import RUN, made_score, mutant

# mutation-testing-elements 3.9.0, from the npm registry.
CHECKSUM = "751fb010242b0b44e32d84fe7fe0b9ff1da182823b94f59f5c52b001fcfc163b"
EVIL = "</script><script>document.title = 'evil'</script><!--"


def vendored(name: str) -> bytes:
    return resources.files("reports.mutation").joinpath("vendor", name).read_bytes()


def test_the_vendored_script_is_the_published_one_and_has_its_licence_beside_it() -> None:
    assert hashlib.sha256(vendored("mutation-test-elements.js")).hexdigest() == CHECKSUM
    assert b"Apache License" in vendored("LICENSE")
    notice = vendored("NOTICE").decode()
    assert CHECKSUM in notice
    assert "3.9.0" in notice


def test_the_vendored_script_cannot_end_the_element_it_stands_in() -> None:
    text = page.elements()
    assert "</script" not in text.lower()
    assert "<script" not in text.lower()


def scripts(text: str) -> list[str]:
    return re.findall(r"<script>(.*?)</script>", text, re.DOTALL)


def test_exactly_the_two_scripts_of_the_page_may_run() -> None:
    text = page.to_html(made_score(), "en")
    found = scripts(text)
    assert found == [page.elements(), page.SHOW]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in found]
    allowed = " ".join(f"'sha256-{value}'" for value in hashes)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy == (
        f"default-src 'none'; script-src {allowed}; style-src-elem 'none'; style-src-attr 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert text.index("Content-Security-Policy") < text.index("<script")


def test_the_report_is_in_the_page_and_cannot_end_its_element() -> None:
    evil = replace(mutant(EVIL, Status.SURVIVED, tests=(EVIL,)), equivalent="")
    report = made_score(replace(RUN, mutants=(evil,), sources={"core/box.py": EVIL}))
    (data,) = re.findall(
        r'<script type="application/json" id="report">(.*?)</script>', page.to_html(report, "en"), re.DOTALL
    )
    assert json.loads(data) == stryker.tree(report)
    assert "<" not in data


def test_without_scripts_the_verdict_can_be_read() -> None:
    assert "<title>Mutation score</title>" in page.to_html(made_score(), "en")
    assert "<noscript>FAIL: part deciding" in page.to_html(made_score(), "en")
    assert '<html lang="zh">' in page.to_html(made_score(), "zh")
