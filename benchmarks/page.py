"""Time from a click to the drawn page: `python -m benchmarks.page [--rounds N]`. Needs playwright and Chromium.

Each action is a real click or key press at T = 32 tokens. The clock starts at the event's own time stamp and stops
when the frame that shows the result has been painted; the page is built from a small campaign.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from faults import campaign, page_data, registry
from reports.page import document

LIMIT = 50.0
"""Milliseconds."""

TOKENS = 32
EXAMPLES = 10
ROUNDS = 15
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]

WATCH = """() => {
    window.times = [];
    const watch = (event) => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => window.times.push(performance.now() - event.timeStamp);
        // The message is handled after the frame that the callback belongs to.
        requestAnimationFrame(() => channel.port2.postMessage(0));
    };
    for (const kind of ['click', 'input']) document.addEventListener(kind, watch, true);
}"""

Act = Callable[[Any], None]

ACTIONS: dict[str, tuple[Act, Act]] = {
    "query moved": (
        lambda page: _press(page, "#query", "ArrowLeft"),
        lambda page: _press(page, "#query", "ArrowRight"),
    ),
    "fault on and off": (
        lambda page: _choose(page, "toy-fault", 3),
        lambda page: _choose(page, "toy-fault", 0),
    ),
    "two heads, one head": (
        lambda page: _choose(page, "toy-heads", 1),
        lambda page: _choose(page, "toy-heads", 0),
    ),
    "vectors times 8": (lambda page: _choose(page, "toy-size", 1), lambda page: _choose(page, "toy-size", 0)),
    "fault injected, repaired": (lambda page: page.locator("#inject").click(),) * 2,
    "temperature moved": (
        lambda page: _press(page, "#temperature", "ArrowLeft"),
        lambda page: _press(page, "#temperature", "ArrowRight"),
    ),
    "start of positions moved": (
        lambda page: _press(page, "#start", "ArrowRight"),
        lambda page: _press(page, "#start", "ArrowLeft"),
    ),
}


def main() -> int:
    """Prints the median and the slowest time of every action; 1 where a median is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        path.write_text(_page(), encoding="utf-8")
        times = _measured(path.as_uri(), rounds)
    for name, found in times.items():
        print(f"{name:<28} median {statistics.median(found):6.1f} ms   slowest {max(found):6.1f} ms")
    slow = [name for name, found in times.items() if not (statistics.median(found) < LIMIT)]
    print(f"limit {LIMIT:.0f} ms at T = {TOKENS}: " + (f"over it: {', '.join(slow)}" if slow else "held"))
    return 1 if slow else 0


def _page() -> str:
    report = campaign.run(registry.all_faults(), examples=EXAMPLES)
    return document.render(replace(report, page=page_data.part(report)), "en")


def _measured(address: str, rounds: int) -> dict[str, list[float]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or "/usr/bin/chromium"
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.goto(address)
        page.locator("#sentence").fill(" ".join(f"w{at}" for at in range(TOKENS)))
        page.evaluate(WATCH)
        times = {name: _timed(page, both, rounds) for name, both in ACTIONS.items()}
        browser.close()
    return times


def _timed(page: Any, both: tuple[Act, Act], rounds: int) -> list[float]:
    """The slowest event of each action: a click on a radio button is followed by an input event."""
    found = []
    for at in range(2 * rounds):
        page.evaluate("() => { window.times = []; }")
        both[at % 2](page)
        page.wait_for_function("() => window.times.length > 0")
        found.append(max(page.evaluate("() => window.times")))
    return found


def _press(page: Any, selector: str, key: str) -> None:
    page.locator(selector).press(key)


def _choose(page: Any, group: str, at: int) -> None:
    page.locator(f"input[name={group}]").nth(at).click()


if __name__ == "__main__":
    raise SystemExit(main())
