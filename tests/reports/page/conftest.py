"""One campaign, one page and one browser for all tests of the page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from faults import campaign, page_data, registry
from faults.answers import NO_SUBJECT, Answer
from faults.model import Report
from faults.page_subject import looks
from reports.page import document, subject
from tests.faults.made_blocks import Block, Leaky, answered

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCALES = {"en": "en-US", "zh": "zh-CN"}


@dataclass
class Visit:
    """An open page, its language, and everything that went wrong or over the wire since it was opened."""

    page: Any
    language: str
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def say(self, key: str, **places: object) -> str:
        """The words of one entry in the page's language."""
        text = document.words()[self.language][key]
        for name, value in places.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def arrived(self, section: str) -> None:
        """Waits until the address ends in the section: a link within the page is followed a little later."""
        self.page.wait_for_function("(hash) => location.hash === hash", arg=f"#{section}")

    def values(self, selector: str) -> list[float]:
        """The exact numbers behind the figures that are shown."""
        texts = self.page.locator(f"{selector} data").evaluate_all("all => all.map((one) => one.value)")
        return [float(text.replace("Infinity", "inf")) for text in texts]


@pytest.fixture(scope="session")
def saved() -> Report:
    """A small campaign over all five faults, with the page's part."""
    report = campaign.run(registry.all_faults(), examples=16, seed=3)
    return replace(report, page=page_data.part(report))


@pytest.fixture(scope="session")
def own() -> dict[str, Any]:
    """Somebody's own model: the whole leaks, its first block is sound, its second hangs."""
    hanging = "the subject did not answer within 2 seconds; a longer --timeout may help"
    return shown([
        answered(Leaky, "mine.py:Model"),
        answered(Block, "mine.py:Model.h.0"),
        Answer("mine.py:Model.h.1", cause=hanging, code=NO_SUBJECT),
    ])  # fmt: skip


def shown(answers: list[Answer]) -> dict[str, Any]:
    """What the page shows of the answers, with the looks at each that could be measured."""
    taken = {one.subject: looks(one, 0) for one in answers if one.checked is not None}
    return subject.tree(answers, taken)


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Writes a report's page to disk and gives its address."""

    def written(report: Report, language: str = "", own: dict[str, Any] | None = None) -> str:
        path: Path = tmp_path_factory.mktemp("page") / "report.html"
        path.write_text(document.render(report, language, own), encoding="utf-8")
        return path.as_uri()

    return written


@pytest.fixture(scope="session")
def address(saved: Report, write: Callable[[Report], str]) -> str:
    """Where the page of the small campaign lies on disk."""
    return write(saved)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, started once; skips where it or playwright is not installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no Chromium at {CHROMIUM}")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def windows(browser: Any) -> Iterator[Callable[[str, int, str], Visit]]:
    """One window for each language, width and colour scheme: opening one takes longer than working in it."""
    known: dict[tuple[str, int, str], Visit] = {}

    def window(language: str, width: int, scheme: str) -> Visit:
        if (language, width, scheme) not in known:
            size = {"viewport": {"width": width, "height": 900}}
            context = browser.new_context(**size, locale=LOCALES[language], color_scheme=scheme)
            known[language, width, scheme] = _watched(context, language)
        return known[language, width, scheme]

    yield window
    for seen in known.values():
        seen.page.context.close()


def _watched(context: Any, language: str) -> Visit:
    seen = Visit(context.new_page(), language)
    seen.page.set_default_timeout(10_000)
    seen.page.on("console", lambda message: seen.problems.append(message.text))
    seen.page.on("pageerror", lambda error: seen.problems.append(str(error)))
    context.on("request", lambda request: seen.requests.append(request.url))
    return seen


@pytest.fixture
def visit(windows: Callable[[str, int, str], Visit]) -> Iterator[Callable[..., Visit]]:
    """Opens an address; at the end nothing may have been complained of, or asked for but the file itself."""
    opened: list[tuple[Visit, str]] = []

    def open_page(address: str, language: str = "en", width: int = 1600, scheme: str = "light") -> Visit:
        seen = windows(language, width, scheme)
        seen.problems.clear()
        seen.requests.clear()
        # An address without a fragment is always loaded anew, also where the page is at it already.
        seen.page.goto(address)
        opened.append((seen, address))
        return seen

    yield open_page
    for seen, asked in opened:
        assert seen.problems == []
        assert set(seen.requests) <= {asked}
        seen.page.emulate_media(media="screen")
