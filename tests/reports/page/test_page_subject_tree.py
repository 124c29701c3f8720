"""What the page holds of somebody's own subject: both languages, nothing that hides or turns, never too much."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faults.answers import Answer
from faults.model import Report
from faults.page_model import Look
from reports.check_words import VERDICTS
from reports.page import document, subject
from tests.faults.made_blocks import Block, Leaky, Raising, answered, weak
from tests.reports.page.conftest import shown

SLOW = "the subject did not answer within 2 seconds; a longer --timeout may help"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("my_gpt.py:Block", "my_gpt.py:Block"),
        ("我的.py:块", "我的.py:块"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\u202egnp.exe\u2066\u200b", "\\u202egnp.exe\\u2066\\u200b"),
        ("half \ud800", "half \\ud800"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("</script>'\"&", "</script>'\"&"),
    ],
)
def test_what_cannot_be_seen_is_written_as_an_escape(text: str, written: str) -> None:
    tree = subject.tree([Answer(text, cause=text, code=3)], {})
    (part,) = tree["parts"]
    assert (part["name"], tree["texts"][part["meaning"]]["en"]) == (written, written)
    json.dumps(tree, ensure_ascii=False).encode("utf-8")


def test_a_long_text_is_cut_in_its_middle() -> None:
    texts = subject.tree([Answer("a", cause="x" * 5000 + "end", code=3)], {})["texts"]
    assert {"en": "x" * 200 + " … " + "x" * 197 + "end"}.items() <= texts[-1].items()
    texts = subject.tree([Answer("a", cause="x" * 400, code=3)], {})["texts"]
    assert texts[-1]["en"] == "x" * 400


def test_a_subject_that_cannot_be_used_has_its_cause_in_both_languages_and_no_contracts() -> None:
    tree = subject.tree([Answer("a", cause=SLOW, code=3)], {})
    (part,) = tree["parts"]
    assert part["verdict"] == "unusable"
    assert tree["texts"][part["meaning"]] == {"en": SLOW, "zh": "2 秒内没有回应；可以试试更长的 --timeout"}
    assert (part["contracts"], part["counts"], part["nearest"], part["compared"]) == ([], None, [], False)


def test_the_headline_has_the_fault_its_variant_its_distance_and_the_next_one() -> None:
    tree = shown([answered(Leaky)])
    (part,), texts = tree["parts"], tree["texts"]
    first = part["nearest"][0]
    assert (first["fault"], first["distance"], first["own"]) == ("mask_adds_zero", 0.0, True)
    assert part["runner_up"]["distance"] > 0
    assert texts[part["title"]] == {"en": "Broken", "zh": VERDICTS["broken"]["zh"]}
    english, chinese = (
        {texts[label][language]: texts[text][language] for label, text in part["facts"]}
        for language in ("en", "zh")
    )
    assert "fault" not in english
    assert english["if it is meant so"] == "declare --no-causal"
    assert chinese["若本意如此"] == "声明 --no-causal"
    assert {"repair", "smallest witness"} <= set(english)
    assert {"修复", "最小见证"} <= set(chinese)
    assert "examined as" in {texts[label]["en"] for label, _ in part["remarks"]}


def test_a_sound_subject_looks_like_nothing() -> None:
    (part,) = shown([answered(Block)])["parts"]
    assert (part["verdict"], part["nearest"], part["runner_up"]) == ("sound", [], None)
    assert part["compared"]


def test_other_tokens_than_the_reference_sees_are_not_compared_with_it() -> None:
    assert [one["compared"] for one in shown([answered(Leaky, causal=False)])["parts"]] == [False]


def test_every_contract_has_its_reason_in_both_languages_and_each_sentence_stands_there_once() -> None:
    tree = shown([answered(Leaky), answered(Block, "b"), answered(weak, "w", kind="attention")])
    reasons = [tree["texts"][one["reason"]] for part in tree["parts"] for one in part["contracts"]]
    assert len(reasons) == 3 * 29
    assert all(reason["en"] != reason["zh"] for reason in reasons)
    assert len({json.dumps(text) for text in tree["texts"]}) == len(tree["texts"])
    verdicts = {one["verdict"] for part in tree["parts"] for one in part["contracts"]}
    assert verdicts <= set(tree["contracts"])


def test_of_too_many_parts_the_whole_and_those_that_are_not_sound_are_kept_in_their_order() -> None:
    sound, unusable = answered(Block, "sound"), Answer("lost", cause=SLOW, code=3)
    answers = [sound, *[sound] * 14, unusable, *[sound] * 3]
    found = subject.kept(answers)
    assert len(found) == subject.MOST_PARTS
    assert found[0] is answers[0]
    assert found[-1] is unusable
    assert subject.tree(answers, {})["left_out"] == len(answers) - subject.MOST_PARTS
    assert subject.kept([sound, unusable, sound]) == [sound, unusable, sound]


def test_the_largest_subject_leaves_the_page_under_400_kilobytes(saved: Report) -> None:
    row = tuple(-1.23456e-05 for _ in range(8))
    worst = Look("block", "scrambled", (row,) * 8)
    answers = [answered(Raising, "x" * 390)] * 20
    looks = {answers[0].subject: (worst,) * 4}
    page = document.render(saved, "", subject.tree(answers, looks))
    assert len(page.encode("utf-8")) < 400_000


def test_a_hostile_subject_cannot_end_the_data(saved: Report, own: dict[str, Any]) -> None:
    hostile = shown([answered(Raising, "</script><script>stolen = 1</script>")])
    page = document.render(saved, "", hostile)
    assert page.count("<script") == document.render(saved, "", own).count("<script") == 2
