"""The page in a headless Chromium: opened from disk, under its own policy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.model import Status
from reports.mutation import page
from tests.reports.mutation.made_score import RUN, made_score, mutant

EVIL = "</script><script>document.title = 'evil'</script><!--"

WIDTHS = """() => {
    const inside = (element) => [element, ...(element.shadowRoot ? deep(element.shadowRoot) : [])];
    const deep = (root) => [...root.querySelectorAll("*")].flatMap(inside);
    const sized = (element) => /width: *\\d/.test(element.getAttribute("style") || "");
    return deep(document).filter(sized).map((element) => element.offsetWidth);
}"""
"""Widths in pixels of all elements whose style attribute sets one."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; the tests that look at the page are skipped where there is none."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install '.[browser]'"
    )
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("needs Chromium on the path")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


class Visit:
    """The page opened from disk, with everything it asked for and complained about."""

    def __init__(self, browser: Any, file: Path) -> None:
        self.page = browser.new_page(viewport={"width": 1280, "height": 900})
        self.requests: list[str] = []
        self.messages: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.goto(file.as_uri())
        self.page.get_by_text("All files").first.wait_for()


def test_a_browser_opens_it_from_disk_and_loads_nothing(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "score.html"
    file.write_text(page.to_html(made_score(), "en"), "utf-8")
    visit = Visit(browser, file)
    assert visit.requests == [file.as_uri()]
    assert visit.messages == []
    assert "Mutation score" in visit.page.title()
    row = visit.page.get_by_role("row", name="core/box.py")
    # Killed and timed out 2, survived 1, of 3: 66.67 %.
    assert "66.67" in row.inner_text()
    row.get_by_role("link", name="core/box.py").click()
    visit.page.get_by_text("return").first.wait_for()
    assert visit.page.get_by_text("Survived (1)").count() == 1
    assert visit.messages == []


def test_a_bar_is_as_long_as_its_share(browser: Any, tmp_path: Path) -> None:
    """The policy lets styles be set: the green part of the bar takes its share of the width."""
    file = tmp_path / "score.html"
    file.write_text(page.to_html(made_score(), "en"), "utf-8")
    visit = Visit(browser, file)
    widths = visit.page.evaluate(WIDTHS)
    assert max(widths) > 400


def test_text_that_looks_like_a_script_does_not_run(browser: Any, tmp_path: Path) -> None:
    evil = mutant(EVIL, Status.SURVIVED, tests=(EVIL,))
    file = tmp_path / "score.html"
    report = made_score(replace(RUN, mutants=(evil,), sources={"core/box.py": EVIL}))
    file.write_text(page.to_html(report, "en"), "utf-8")
    visit = Visit(browser, file)
    assert "evil" not in visit.page.title()
    assert visit.messages == []
