"""The section on somebody's own code, worked by role and keyboard in a real browser at its narrowest and widest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from faults.model import Report
from tests.faults.made_blocks import Raising, answered, weak
from tests.reports.page.conftest import Visit, shown
from tests.reports.page.test_page_controls import radio
from tests.reports.page.test_page_views import AXE, SERIOUS

Open = Callable[..., Visit]

VIEWS = [(360, "en", "light"), (360, "zh", "dark"), (1600, "zh", "light"), (1600, "en", "dark")]


@pytest.fixture(scope="session")
def place(write: Callable[..., str], saved: Report, own: dict[str, Any]) -> str:
    return write(saved, own=own)


@pytest.fixture(params=VIEWS, ids=lambda view: "-".join(map(str, view)))
def seen(request: pytest.FixtureRequest, visit: Open, place: str) -> Visit:
    width, language, scheme = request.param
    return visit(place, language, width, scheme)


def part_named(seen: Visit, own: dict[str, Any], at: int) -> str:
    """What the radio button of a part says."""
    name = [seen.say("subject.whole"), "h.0", "h.1"][at]
    return seen.say("subject.part verdict", part=name, verdict=said(seen, own, own["parts"][at]["title"]))


def said(seen: Visit, own: dict[str, Any], place: int) -> str:
    text: str = own["texts"][place][seen.language]
    return text


def test_it_comes_first_in_the_page_and_in_the_navigation(seen: Visit) -> None:
    seen.page.get_by_role("navigation").get_by_role("link").first.focus()
    seen.page.keyboard.press("Enter")
    seen.arrived("subject")
    section = seen.page.locator("main > section").first
    assert section.get_by_role("heading", level=2).inner_text() == seen.say("subject.title")


def test_verdict_fault_and_repair_are_those_of_the_answer(seen: Visit, own: dict[str, Any]) -> None:
    section, part = (
        seen.page.get_by_role("region", name=seen.say("subject.title"), exact=True),
        own["parts"][0],
    )
    assert section.locator("#subject-name").inner_text() == "mine.py:Model"
    assert said(seen, own, part["title"]) in section.get_by_role("status").inner_text()
    near = part["nearest"][0]
    first = section.locator(".candidate").first.inner_text()
    assert f"{near['fault']}/{near['variant']}" in first
    assert said(seen, own, near["wrong"]) in first
    assert seen.values("#subject-nearest") == [near["distance"], part["runner_up"]["distance"]]
    facts = section.locator("#subject-facts").inner_text()
    assert all(said(seen, own, text) in facts for _, text in part["facts"])


def test_the_parts_are_chosen_with_the_arrow_keys(seen: Visit, own: dict[str, Any]) -> None:
    for at in (1, 2, 0):
        radio(seen, "subject.part", part_named(seen, own, at))
        assert seen.page.locator("#subject-name").inner_text() == own["parts"][at]["name"]
        assert seen.page.locator("#subject-measured").is_visible() == bool(own["parts"][at]["contracts"])
        assert (
            said(seen, own, own["parts"][at]["meaning"]) in seen.page.locator("#subject-verdict").inner_text()
        )


def test_the_contracts_have_the_exact_numbers_and_can_be_filtered(seen: Visit, own: dict[str, Any]) -> None:
    contracts = own["parts"][0]["contracts"]
    wanted = {
        "all": contracts,
        "broken": [one for one in contracts if one["verdict"] == "broken"],
        "measured": [one for one in contracts if one["value"] is not None],
        "unmeasured": [one for one in contracts if one["value"] is None],
    }
    table = seen.page.get_by_role("table", name=seen.say("subject.contracts"), exact=True)
    for name in ("broken", "measured", "unmeasured", "all"):
        radio(seen, "subject.filter", f"{seen.say(f'subject filter.{name}')} ({len(wanted[name])})")
        names = table.locator("tbody code").all_inner_texts()
        assert names == [one["name"] for one in wanted[name]]
        numbers = [n for one in wanted[name] for n in (one["value"], one["threshold"]) if n is not None]
        assert seen.values("#subject-contracts") == [float(number) for number in numbers]
        reasons = table.locator("tbody td:last-child").all_inner_texts()
        assert reasons == [said(seen, own, one["reason"]) for one in wanted[name]]


def test_the_pictures_stand_beside_sound_code_and_the_named_fault(
    seen: Visit, own: dict[str, Any], saved: Report
) -> None:
    look = seen.page.locator("#subject-looks figure").first
    # Nothing is hidden; of the sound triangle 28 squares are empty; the named fault hides nothing either.
    empty = """all => all.map((one) => {
        const path = one.querySelector('.empty');
        return path ? path.getAttribute('d').split('M').length - 1 : 0;
    })"""
    assert look.get_by_role("img").evaluate_all(empty) == [0, 28, 0]
    labels = look.get_by_role("img").evaluate_all("all => all.map((one) => one.ariaLabel)")
    for label, name in zip(labels, ("subject.yours", "subject.sound"), strict=False):
        assert seen.say(name) in label
    assert f"({own['parts'][0]['nearest'][0]['fault']})" in labels[2]
    look.locator("summary").focus()
    seen.page.keyboard.press("Enter")
    look.locator(".numbers td").first.wait_for()
    shares = [share for row in own["parts"][0]["looks"][0]["matrix"] for share in row]
    assert seen.values("#subject-looks figure:first-child .numbers")[:64] == shares


@pytest.mark.parametrize("width", [360, 1600])
def test_the_named_variant_opens_in_the_reference_block(
    visit: Open, write: Callable[..., str], saved: Report, width: int
) -> None:
    # A mask of -1e4: not the first of its fault's variants, which is what a fault alone would open.
    seen = visit(write(saved, own=shown([answered(weak, kind="attention")])), width=width)
    name = f"{seen.say('subject.open')} mask_adds_zero/weak"
    seen.page.get_by_role("button", name=name, exact=True).focus()
    seen.page.keyboard.press("Enter")
    assert seen.page.locator("#explorer-title").evaluate("(one) => one === document.activeElement")
    assert seen.page.locator("#fault-options input:checked").get_attribute("value") == "mask_adds_zero"
    assert seen.page.locator("#variant").input_value() == "weak"


def test_the_other_language_changes_every_word_and_no_choice(seen: Visit, own: dict[str, Any]) -> None:
    radio(seen, "subject.part", part_named(seen, own, 1))
    other = "zh" if seen.language == "en" else "en"
    seen.page.locator(f"#language input[value={other}]").press("Space")
    title = own["texts"][own["parts"][1]["title"]][other]
    assert title in seen.page.locator("#subject-verdict").inner_text()
    assert seen.page.locator("#subject-part-options input:checked").get_attribute("value") == "1"
    reason = own["texts"][own["parts"][1]["contracts"][0]["reason"]][other]
    assert reason in seen.page.locator("#subject-contracts").inner_text()


def test_nothing_is_cut_off_and_the_accessibility_checker_finds_nothing_serious(seen: Visit) -> None:
    seen.page.locator("#subject details summary").first.press("Enter")
    assert (
        seen.page.evaluate("() => document.documentElement.scrollWidth") <= seen.page.viewport_size["width"]
    )
    seen.page.evaluate(AXE)
    found = seen.page.evaluate("() => axe.run('#subject', { resultTypes: ['violations'] })")
    serious = [
        (rule["id"], node["html"][:120])
        for rule in found["violations"]
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]
    assert serious == []


@pytest.mark.parametrize("width", [360, 1600])
def test_a_hostile_subject_is_text_and_nothing_else(
    visit: Open, write: Callable[..., str], saved: Report, width: int
) -> None:
    name = (
        "</script><script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'>\u202e\n"
        + "a" * 300
    )
    seen = visit(write(saved, own=shown([answered(Raising, name)])), width=width)
    text = seen.page.locator("#subject-name").inner_text()
    assert text.startswith(
        "</script><script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'>\\u202e\\n"
    )
    assert "ValueError: </script><b>\\u202e'\"\\x1b[31m" in seen.page.locator("#subject-facts").inner_text()
    assert seen.page.evaluate("() => window.stolen") is None
    assert seen.page.locator("img").count() == seen.page.locator("#subject b").count() == 0
    assert seen.page.evaluate("() => document.documentElement.scrollWidth") <= width


def test_on_paper_the_whole_table_stands_without_its_controls(visit: Open, place: str) -> None:
    seen = visit(place)
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("#subject-filter").is_visible()
    assert seen.page.locator("#subject-contracts tbody tr").count() == 29
    box = seen.page.locator("#subject-contracts").evaluate("(one) => getComputedStyle(one).overflowX")
    assert box == "visible"


def test_a_share_that_is_no_number_or_less_than_nothing_is_crossed_out(visit: Open, place: str) -> None:
    seen = visit(place)
    drawn = """() => {
        const picture = heat([[0, 'nan'], [-0.5, 0.5]], { label: 'x', hue: 'faulty' });
        return [...picture.querySelectorAll('path')].map((one) =>
            [one.getAttribute('class'), one.getAttribute('d').split('M').length - 1]);
    }"""
    assert seen.page.evaluate(drawn) == [["cell empty", 1], ["odd", 2], ["cell", 1]]
