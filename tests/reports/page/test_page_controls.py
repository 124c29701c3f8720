"""Every control of the page, worked by role and keyboard in a real browser; what is shown is what Python computes."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from core import softmax
from core.positions import sinusoidal_positional_encoding
from faults.model import Report
from reports.page import document
from tests.reports.page.conftest import Visit
from tests.reports.page.test_page_numbers import library

VIEWS = [
    (width, language, scheme) for width in (360, 800, 1600) for language in ("en", "zh") for scheme in ("light", "dark")
]  # fmt: skip
CROSSED = [view for at, view in enumerate(VIEWS) if at in (0, 3, 5, 6, 8, 11)]
"""Each width in both languages, and in both schemes."""

Open = Callable[..., Visit]

THE_CAT_SAT = np.array([[0.4, 0.0], [0.3, 0.2], [0.2, 0.3]])


@pytest.fixture(params=CROSSED, ids=lambda view: "-".join(map(str, view)))
def seen(request: pytest.FixtureRequest, visit: Open, address: str) -> Visit:
    width, language, scheme = request.param
    return visit(address, language, width, scheme)


def radio(seen: Visit, group: str, name: str) -> None:
    """Chooses a radio button with the keyboard alone, whatever is chosen now."""
    options = seen.page.get_by_role("group", name=seen.say(group), exact=True).get_by_role("radio")
    names = options.evaluate_all("all => all.map((one) => one.parentElement.textContent)")
    now = options.evaluate_all("all => all.findIndex((one) => one.checked)")
    options.nth(now).focus()
    steps = names.index(name) - now
    for _ in range(abs(steps)):
        seen.page.keyboard.press("ArrowRight" if steps > 0 else "ArrowLeft")
    assert options.nth(names.index(name)).is_checked()


def slide(seen: Visit, name: str, key: str, times: int = 1) -> None:
    slider = seen.page.get_by_role("slider", name=seen.say(name))
    slider.focus()
    for _ in range(times):
        seen.page.keyboard.press(key)


def test_the_browsers_language_is_taken_and_the_switch_changes_every_word(seen: Visit) -> None:
    other = "zh" if seen.language == "en" else "en"
    assert seen.page.locator("html").get_attribute("lang") == seen.language
    assert seen.page.get_by_role("heading", level=1).inner_text() == seen.say("title")
    seen.page.get_by_role("radio", name="English" if seen.language == "en" else "中文").focus()
    seen.page.keyboard.press("ArrowRight")
    assert seen.page.locator("html").get_attribute("lang") == other
    said = document.words()[other]
    assert seen.page.get_by_role("heading", level=1).inner_text() == said["title"]
    untranslated = seen.page.evaluate(
        "() => [...document.querySelectorAll('[data-say]')].filter((e) => e.textContent === '').length"
    )
    assert untranslated == 0


def test_the_skip_link_comes_first_and_leads_to_the_content(seen: Visit) -> None:
    seen.page.keyboard.press("Tab")
    link = seen.page.get_by_role("link", name=seen.say("skip"))
    assert link.evaluate("(one) => one === document.activeElement && one.getBoundingClientRect().top >= 0")
    seen.page.keyboard.press("Enter")
    seen.arrived("main")


def test_every_section_is_reached_from_the_navigation(seen: Visit) -> None:
    for section in ("faults", "matrix", "attention", "softmax", "positions", "shapes", "quiz"):
        link = seen.page.get_by_role("navigation").get_by_role(
            "link", name=seen.say(f"nav.{section}"), exact=True
        )
        link.focus()
        seen.page.keyboard.press("Enter")
        seen.arrived(section)
        assert seen.page.get_by_role(
            "heading", name=seen.say(f"{section}.title"), exact=True
        ).first.is_visible()


def test_a_card_opens_its_fault_and_gives_it_the_focus(seen: Visit, saved: Report) -> None:
    for fault in saved.faults:
        name = f"{seen.say('faults.open')} {fault.title[seen.language]}"
        seen.page.get_by_role("button", name=name, exact=True).focus()
        seen.page.keyboard.press("Enter")
        assert seen.page.locator("#explorer-title").evaluate("(one) => one === document.activeElement")
        assert seen.page.locator("#fault-options input:checked").get_attribute("value") == fault.name


def test_the_switch_injects_and_repairs_and_the_figures_are_the_librarys(seen: Visit, saved: Report) -> None:
    assert saved.page is not None
    shown = next(d for d in saved.page.demonstrations if (d.fault, d.variant) == ("mask_adds_zero", "zero"))
    title = next(fault for fault in saved.faults if fault.name == "mask_adds_zero").title[seen.language]
    radio(seen, "explorer.fault", title[0].upper() + title[1:] if seen.language == "en" else title)
    switch = seen.page.get_by_role("switch", name=seen.say("explorer.switch"))
    weights = next(at for at, stage in enumerate(shown.stages) if stage.name == "weights")
    for phase in ("before", "after", "repaired"):
        if phase != "before":
            switch.focus()
            seen.page.keyboard.press("Space")
        assert switch.get_attribute("aria-checked") == str(phase == "after").lower()
        assert seen.page.get_by_role("status").first.inner_text() == seen.say(f"phase.{phase}")
        stage = shown.stages[weights]
        expected = [n for run in ("before", phase) for row in getattr(stage, run) for n in row]
        assert seen.values(f"#stages figure:nth-of-type({weights + 1}) .twins") == expected
        changed = seen.page.locator(f"#stages figure:nth-of-type({weights + 1}) td.changed").count()
        assert changed == (6 if phase == "after" else 0)
    assert seen.values("#signal") == [shown.before, shown.after, shown.repaired]


def test_every_variant_can_be_chosen_and_shown_with_its_fault(
    visit: Open, address: str, saved: Report
) -> None:
    seen = visit(address)
    assert saved.page is not None
    for shown in saved.page.demonstrations:
        if seen.page.locator("#fault-options input:checked").get_attribute("value") != shown.fault:
            title = next(fault for fault in saved.faults if fault.name == shown.fault).title["en"]
            radio(seen, "explorer.fault", title[0].upper() + title[1:])
        seen.page.get_by_role("combobox", name=seen.say("explorer.variant")).select_option(shown.variant)
        seen.page.get_by_role("switch").press("Enter")
        assert seen.page.locator("#raised").is_visible() == bool(shown.error)
        assert shown.error.strip() in seen.page.locator("#raised").inner_text()
        np.testing.assert_array_equal(seen.values("#signal"), [shown.before, shown.after, shown.repaired])
        assert seen.page.locator("#looks figure").count() == 4


def test_the_pictures_show_a_full_a_turned_and_a_broken_matrix(visit: Open, address: str) -> None:
    seen = visit(address)
    assert seen.page.locator("#gallery svg").evaluate_all(
        """all => all.map((one) => {
            const empty = one.querySelector('.empty');
            return empty ? empty.getAttribute('d').split('M').length - 1 : 0;
        })"""
    ) == [28, 0, 28, 44]
    labels = seen.page.locator("#gallery svg").evaluate_all("all => all.map((one) => one.ariaLabel)")
    words = document.words()["en"]
    for label, pattern in zip(labels, ("causal", "full", "triangle", "scrambled"), strict=True):
        assert words[f"pattern.{pattern}"] in label


def test_what_other_tests_alone_would_have_seen_is_said_of_each_variant(
    visit: Open, address: str, saved: Report
) -> None:
    seen = visit(address)
    kinds = set()
    for fault in saved.faults[2:4]:
        title = fault.title["en"]
        radio(seen, "explorer.fault", title[0].upper() + title[1:])
        for row in fault.variants:
            seen.page.get_by_role("combobox", name=seen.say("explorer.variant")).select_option(row.variant)
            said = seen.page.locator("#chips li").all_inner_texts()
            for test, text in zip(saved.alone, said, strict=True):
                name = f"{row.fault}/{row.variant}"
                kind = (
                    "caught" if name in test.caught else "sometimes" if name in test.sometimes else "missed"
                )
                assert text == f"{seen.say(f'test.{test.name}')} {seen.say(f'alone.{kind}')}"
                kinds.add(kind)
    assert kinds >= {"caught", "missed"}


def test_the_numbers_of_every_picture_are_one_click_away(seen: Visit) -> None:
    summaries = seen.page.locator("details.numbers > summary")
    assert summaries.count() >= 12
    for at in range(summaries.count()):
        summaries.nth(at).focus()
        seen.page.keyboard.press("Enter")
        seen.page.locator("details.numbers").nth(at).locator("td").first.wait_for(state="attached")


def test_the_kill_matrix_has_the_reports_counts(visit: Open, address: str, saved: Report) -> None:
    seen = visit(address)
    table = seen.page.get_by_role("table", name=seen.say("matrix.title"))
    heads = [text.strip() for text in table.locator("thead th").all_inner_texts()][1:]
    for row in saved.variants:
        line = table.locator("tbody tr", has=seen.page.get_by_role("rowheader", name=row.variant, exact=True))
        line = line.filter(has_text=re.compile(".")).first if row.variant != "after_softmax" else line.first
        cells = line.locator("td").all_inner_texts()
        if row.variant == "after_softmax":
            continue  # two faults have a variant of this name; both are read in the totals below
        for name, cell in zip(heads, cells, strict=True):
            kills, observed = row.kills[name], row.observed[name]
            expected = "–" if not observed else f"{kills}/{observed}" if kills else "·"
            assert cell.split("\n")[0].startswith(expected), (row.variant, name)
    hits = sum(bool(row.kills[name]) for row in saved.variants for name in heads)
    assert table.locator("td.hit").count() == hits


def test_moving_the_query_keeps_the_future_at_exactly_zero(seen: Visit) -> None:
    weights, output = library(THE_CAT_SAT, 1, "")
    for at in (2, 1, 0):
        assert seen.values("#toy-bars") == pytest.approx(list(weights[0, at]), abs=1e-12)
        assert seen.values("#toy-bars")[at + 1 :] == [0.0] * (2 - at)
        assert f"({output[at, 0]:.3f}, {output[at, 1]:.3f})" in seen.page.locator("#toy-output").inner_text()
        slide(seen, "attention.query", "ArrowLeft")


def test_the_toy_sentence_has_the_figures_it_is_known_for(seen: Visit) -> None:
    assert seen.page.locator("#toy-bars data").all_inner_texts() == ["32.6 %", "33.6 %", "33.8 %"]
    slide(seen, "attention.query", "ArrowLeft")
    assert seen.page.locator("#toy-bars data").all_inner_texts() == ["49.8 %", "50.2 %", "0.0 %"]
    # To one digit, as the matrix is read: 1, then .50 .50, then a third each.
    assert seen.page.locator("#toy-matrix .inside").all_text_contents() == [
        "1",
        "0",
        "0",
        ".50",
        ".50",
        "0",
        ".33",
        ".34",
        ".34",
    ]
    slide(seen, "attention.query", "ArrowLeft")
    assert seen.page.locator("#toy-bars data").all_inner_texts() == ["100.0 %", "0.0 %", "0.0 %"]


@pytest.mark.parametrize(
    "fault", ["residual_shape", "missing_scale", "mask_adds_zero", "flipped_triangle", "head_seq_swap"]
)
def test_each_fault_button_shows_what_the_library_computes(visit: Open, address: str, fault: str) -> None:
    seen = visit(address)
    radio(seen, "attention.size", "× 8")
    radio(seen, "attention.fault", seen.say(f"toy fault.{fault}"))
    heads = 2 if fault == "head_seq_swap" else 1
    weights, output = library(THE_CAT_SAT * 8, heads, fault)
    assert seen.values("#toy-bars") == pytest.approx(list(weights[:, 2].ravel()), abs=1e-12)
    assert (
        f"({output[2, 0]:.3f}, {output[2, 1]:.3f})".replace("-", "−")
        in seen.page.locator("#toy-output").inner_text()
    )
    assert seen.page.locator("#toy-state").inner_text() == seen.say(f"toy.{fault}")
    seen.page.locator("#toy-numbers summary").press("Enter")
    seen.page.locator("#toy-numbers td").first.wait_for()
    cells = seen.values("#toy-numbers table:first-of-type")
    assert cells[: weights.size] == pytest.approx(list(weights.ravel()), abs=1e-12)


def test_a_fault_that_cannot_show_with_so_many_heads_says_so(visit: Open, address: str) -> None:
    seen = visit(address)
    for fault, heads in (("missing_scale", "2"), ("head_seq_swap", "1")):
        radio(seen, "attention.fault", seen.say(f"toy fault.{fault}"))
        radio(seen, "attention.heads", heads)
        assert seen.page.locator("#toy-state").inner_text() == seen.say(f"toy.{fault} unseen")
        radio(seen, "attention.heads", "1" if heads == "2" else "2")
        assert seen.page.locator("#toy-state").inner_text() == seen.say(f"toy.{fault}")


def test_two_heads_can_be_chosen(seen: Visit) -> None:
    radio(seen, "attention.heads", "2")
    weights, _ = library(THE_CAT_SAT, 2, "")
    assert seen.values("#toy-bars") == pytest.approx(list(weights[:, 2].ravel()), abs=1e-12)
    assert seen.page.locator("#toy-matrix svg").count() == 2


def test_any_sentence_can_be_typed_and_a_wrong_one_is_answered_beside_the_field(seen: Visit) -> None:
    field = seen.page.get_by_role("textbox", name=seen.say("attention.sentence"))
    field.fill("  The   狗 cat ")
    names = seen.page.locator("#toy-bars .name").all_inner_texts()
    assert names == ["The", "狗", "cat"]
    field.fill("The 狗 cat sat")
    # At the end, the query stays at the end.
    assert seen.page.locator("#query-word").inner_text() == "3 (sat)"
    field.fill("The 狗 cat")
    field.fill("   ")
    assert seen.page.locator("#sentence-error").inner_text() == seen.say("attention.empty")
    assert field.get_attribute("aria-invalid") == "true"
    assert seen.page.locator("#toy-bars .name").all_inner_texts() == names
    field.fill(" ".join(["a"] * 40))
    assert seen.page.locator("#sentence-error").inner_text() == seen.say("attention.long", count=40, most=32)
    assert seen.page.locator("#toy-bars li").count() == 32
    field.fill("the cat")
    assert seen.page.locator("#sentence-error").inner_text() == ""
    assert field.get_attribute("aria-invalid") is None


def test_softmax_follows_logits_and_temperature(seen: Visit) -> None:
    logits = np.array([1.0, 2.0, 0.5, 3.0])
    assert seen.page.locator("#softmax-bars data").all_inner_texts() == ["8.5 %", "23.2 %", "5.2 %", "63.1 %"]
    slide(seen, "softmax.temperature", "ArrowRight", 10)
    assert seen.page.locator("#temperature-reading").inner_text() == "T = 1.50"
    assert seen.values("#softmax-bars") == pytest.approx(list(softmax.softmax(logits, 1.5)), abs=1e-12)
    slide(seen, "softmax.temperature", "Home")
    assert seen.values("#softmax-bars") == pytest.approx(list(softmax.softmax(logits, 0.1)), abs=1e-12)


def test_bad_logits_are_named_beside_the_field(seen: Visit) -> None:
    field = seen.page.get_by_role("textbox", name=seen.say("softmax.logits"))
    for text, message in (
        ("1, two", seen.say("softmax.bad", piece="two")),
        ("", seen.say("softmax.empty")),
        (",".join(["1"] * 33), seen.say("softmax.long", count=33, most=32)),
    ):
        field.fill(text)
        assert seen.page.locator("#logits-error").inner_text() == message
        assert field.get_attribute("aria-invalid") == "true"
        assert field.get_attribute("aria-describedby") == "logits-error"
        assert seen.page.locator("#softmax-bars li").count() == 4
    field.fill("0, 0")
    assert seen.page.locator("#logits-error").inner_text() == ""
    assert seen.values("#softmax-bars") == [0.5, 0.5]


def test_the_saturation_shows_the_reports_figures(visit: Open, address: str, saved: Report) -> None:
    seen = visit(address)
    assert saved.page is not None
    seen.page.locator("#saturation-numbers summary").press("Enter")
    seen.page.locator("#saturation-numbers td").first.wait_for()
    figures = np.array(seen.values("#saturation-numbers")).reshape(len(saved.page.slopes), -1)
    for line, row, slope in zip(figures, saved.symptoms, saved.page.slopes, strict=True):
        names = ("scaled_entropy", "unscaled_entropy", "scaled_largest", "unscaled_largest")
        assert list(line[:4]) == [row[name] for name in names]
        assert list(line[4:6]) == [slope.scaled, slope.unscaled]
    assert seen.page.locator("#saturation svg").count() == 3
    assert seen.page.locator("#saturation svg circle").count() == 3 * len(saved.page.slopes)


def test_the_inner_product_is_the_same_from_any_start(seen: Visit) -> None:
    table = sinusoidal_positional_encoding(64, 32)
    for start in (0, 3):
        assert seen.values("#positions-state")[0] == pytest.approx(table[start] @ table[start + 5], abs=1e-12)
        assert seen.page.locator("#positions-state data").inner_text() == "11.777383"
        slide(seen, "positions.start", "ArrowRight", 3)
    slide(seen, "positions.distance", "ArrowLeft", 4)
    assert seen.page.locator("#positions-state data").inner_text() == "15.313649"
    assert seen.page.locator("#positions-table .marked").count() == 2


def test_shapes_follow_the_sizes_and_a_wrong_size_is_refused(seen: Visit) -> None:
    sizes = {"shapes.batch": 2, "shapes.tokens": 7, "shapes.heads": 3, "shapes.width": 5}
    for name, size in sizes.items():
        seen.page.get_by_role("spinbutton", name=seen.say(name)).fill(str(size))
    shown = seen.page.locator("#flow code").all_inner_texts()
    shapes = [re.sub(r"[^\d,]", "", text.replace("d_k", "")) for text in shown]
    assert shapes == [
        "2,7,15", "2,7,15", "2,3,7,5", "2,3,7,7", "7,7", "2,3,7,7", "2,3,7,5", "2,7,15", "2,7,15", "2,7,15",
    ]  # fmt: skip
    heads = seen.page.get_by_role("spinbutton", name=seen.say("shapes.heads"))
    for wrong in ("0", "1.5", ""):
        heads.fill(wrong)
        assert seen.page.locator("#sizes-error").inner_text() == seen.say("shapes.bad", most=4096)
        assert heads.get_attribute("aria-invalid") == "true"
    heads.fill("1")
    seen.page.keyboard.press("ArrowUp")
    assert heads.input_value() == "2"
    assert seen.page.locator("#sizes-error").inner_text() == ""


def test_the_self_test_answers_on_request_in_the_librarys_words(seen: Visit, saved: Report) -> None:
    assert saved.page is not None
    for at, asked in enumerate(saved.page.questions):
        details = seen.page.locator("#questions details").nth(at)
        assert details.locator("summary").inner_text() == asked.question[seen.language]
        assert not details.locator("p").is_visible()
        details.locator("summary").press("Enter")
        assert details.locator("p").inner_text() == asked.answer[seen.language]


def test_bridges_and_analogies_are_all_there(seen: Visit) -> None:
    assert seen.page.locator("#bridges dt").count() == 7
    assert seen.page.locator("#analogies dt").count() == 3
