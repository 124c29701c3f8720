"""The page at every width, in both languages and both colour schemes, and with hostile names in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.model import Report
from tests.reports.page.conftest import Visit
from tests.reports.page.test_page_controls import CROSSED, VIEWS, radio

AXE = (Path(__file__).parent.parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
SERIOUS = ("serious", "critical")

INJECTED = """() => new Promise((done) => {
    const refused = (event) => done(event.violatedDirective);
    document.addEventListener('securitypolicyviolation', refused, { once: true });
    const injected = document.createElement('style');
    injected.textContent = 'body { display: none }';
    document.head.append(injected);
    setTimeout(() => done('nothing was refused'), 1000);
})"""
"""A style that somebody slips into the page."""

Open = Callable[..., Visit]


def opened_up(seen: Visit) -> None:
    """A fault is on, two fields hold what they refuse, the answers are open, and some of the tables of numbers."""
    seen.page.locator("#inject").press("Enter")
    radio(seen, "attention.fault", seen.say("toy fault.head_seq_swap"))
    seen.page.locator("#logits").fill("two")
    seen.page.locator("#size-heads").fill("0")
    open_all = "all => all.forEach((one) => { one.open = true; })"
    seen.page.locator("#questions details, #toy-numbers details, #saturation-numbers details").evaluate_all(
        open_all
    )


@pytest.mark.parametrize(("width", "language", "scheme"), VIEWS)
def test_nothing_is_cut_off_or_complained_of_at_any_width_language_and_scheme(
    visit: Open, address: str, width: int, language: str, scheme: str
) -> None:
    seen = visit(address, language, width, scheme)
    opened_up(seen)
    assert seen.page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert seen.page.locator("html").get_attribute("lang") == language


@pytest.mark.parametrize(("width", "language", "scheme"), CROSSED)
def test_the_accessibility_checker_finds_nothing_serious(
    visit: Open, address: str, width: int, language: str, scheme: str
) -> None:
    seen = visit(address, language, width, scheme)
    opened_up(seen)
    # The checker is itself kept out by the page's policy; the debugger's door is not.
    seen.page.evaluate(AXE)
    found: dict[str, Any] = seen.page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    serious = [
        (rule["id"], node["html"][:120])
        for rule in found["violations"]
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]
    assert serious == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colour_scheme_is_the_readers(visit: Open, address: str, scheme: str) -> None:
    seen = visit(address, "en", 800, scheme)
    background = seen.page.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor")
    light = sum(map(int, background[4:-1].split(","))) > 3 * 128
    assert light == (scheme == "light")


def test_on_paper_the_answers_are_open_and_the_controls_of_the_screen_are_gone(
    visit: Open, address: str
) -> None:
    seen = visit(address)
    seen.page.emulate_media(media="print")
    seen.page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert not seen.page.get_by_role("navigation").is_visible()
    assert all(seen.page.locator("#questions details").evaluate_all("all => all.map((one) => one.open)"))


def test_a_hostile_name_is_text_and_nothing_else(visit: Open, write: Any, saved: Report) -> None:
    name = "</script><script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'>"
    first = saved.faults[0]
    rows = (replace(first.variants[0], reason=name, summary={"en": name, "zh": name}), *first.variants[1:])
    hostile = replace(first, title={"en": name, "zh": name}, diagnosis=name, variants=rows)
    seen = visit(write(replace(saved, faults=(hostile, *saved.faults[1:]))))
    assert seen.page.locator("#cards h3").first.inner_text() == name
    assert name in seen.page.locator("#facts").inner_text()
    assert seen.page.evaluate("() => window.stolen") is None
    assert seen.page.locator("img").count() == 0


@pytest.mark.parametrize(
    "sink", ["setAttribute('onclick', 'stolen = 1')", "insertAdjacentHTML('beforeend', '<b>')"]
)
def test_text_that_would_become_script_or_markup_is_refused(visit: Open, address: str, sink: str) -> None:
    seen = visit(address)
    trial = f"() => {{ try {{ document.body.{sink}; }} catch (error) {{ return error.name; }} }}"
    assert seen.page.evaluate(trial) == "TypeError"
    seen.problems.clear()


def test_a_style_that_the_policy_does_not_name_is_refused(visit: Open, address: str) -> None:
    seen = visit(address)
    refused = seen.page.evaluate(INJECTED)
    assert refused.startswith("style-src")
    assert seen.page.locator("body").is_visible()
    # The browser says so in the console: that is the one complaint expected here.
    assert len(seen.problems) >= 1
    seen.problems.clear()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_language_of_the_command_line_wins_over_the_browsers(
    visit: Open, write: Any, saved: Report, language: str
) -> None:
    other = {"en": "zh", "zh": "en"}[language]
    seen = visit(write(saved, language), other)
    assert seen.page.locator("html").get_attribute("lang") == language


def test_survivors_are_named_at_the_top(visit: Open, write: Any, saved: Report) -> None:
    from faults.model import Status

    first = saved.faults[0]
    rows = (replace(first.variants[0], status=Status.SURVIVED), *first.variants[1:])
    failing = replace(saved, faults=(replace(first, variants=rows), *saved.faults[1:]))
    seen = visit(write(failing))
    # A variant that none of so few fixtures can show is no survivor, and is named all the same.
    wrong = [row for row in failing.variants if row.status is not Status.KILLED]
    assert seen.page.locator("#problem").inner_text() == "; ".join(
        f"{row.fault}/{row.variant}: {row.status}" for row in wrong
    )
    assert wrong[0] == rows[0]
    assert (
        seen.page.locator("#tiles dd").first.inner_text()
        == f"{len(saved.variants) - len(wrong)}/{len(saved.variants)}"
    )
