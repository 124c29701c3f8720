"""How a clean room is rendered: the headline, the table, both languages, and the JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from faults.clean_room.model import CleanRoom, Contract, Finding, Likeness, Repair, Requirement, Trace
from faults.evidence_model import said
from reports.clean_room import headline, render, to_json

DONE = Finding("qkv", said("QKV projection", "QKV 投影"), "done", said("done", "完成"), 3)
SCRAMBLED = Finding(
    "merge",
    said("head merge", "head 合并"),
    "wrong",
    said("your merge scrambles heads", "你的 merge 打乱了 head"),
    41,
)
UNWRITTEN = Finding(
    "ffn",
    said("FFN", "FFN"),
    "not written",
    said("feed_forward is not written yet", "feed_forward 尚未编写"),
    50,
)
ABSENT = Finding("block", said("block", "block"), "missing", said("block is missing", "缺少函数 block"))
REPAIR = Repair("mask_adds_zero", "causal_mask", 7, said("change", "变化"), 0.0, 3.25, 0.0, 1e-6, True)
ROOM = CleanRoom("mine.py", "work", (DONE, UNWRITTEN, SCRAMBLED, ABSENT))
FINISHED = CleanRoom("mine.py", "work", (DONE,))


def test_the_headline_counts_and_names_the_first_mistake_with_its_line() -> None:
    assert headline(ROOM, "en") == "1 of 4 done; your merge scrambles heads: line 41"
    assert headline(ROOM, "zh") == "4 项中已完成 1 项；你的 merge 打乱了 head：第 41 行"


def test_what_is_only_unwritten_comes_after_mistakes_and_without_a_line_if_there_is_none() -> None:
    assert headline(replace(ROOM, findings=(DONE, ABSENT)), "en") == "1 of 2 done; block is missing"


def test_a_way_to_the_reference_comes_first() -> None:
    room = replace(ROOM, traces=(Trace(said("imports the reference core", "导入了参考实现 core"), 2),))
    assert headline(room, "en") == "1 of 4 done; imports the reference core: line 2"
    other = replace(
        ROOM, traces=(Trace(said("imports the reference core", "导入了参考实现 core"), 2, "aside.py"),)
    )
    assert headline(other, "zh") == "4 项中已完成 1 项；aside.py 导入了参考实现 core：第 2 行"


def test_where_every_part_is_done_the_first_open_requirement_is_named() -> None:
    open_one = Requirement(
        "sketch", said("shape sketch", "shape 草图"), False, said("mask is not sketched", "mask 尚未画出")
    )
    held = Requirement("merge", said("merge", "合并"), True, said("fine", "好"))
    room = replace(FINISHED, requirements=(held, open_one))
    assert headline(room, "en") == "1 of 1 done; shape sketch: mask is not sketched"
    assert headline(FINISHED, "en") == "1 of 1 done; the clean room is complete"
    assert headline(replace(FINISHED, kind="contract"), "zh") == "1 项中已完成 1 项；接口符合要求"


def test_in_the_interface_the_function_is_named_where_the_sentence_does_not() -> None:
    found = Finding(
        "block", said("block", "block"), "wrong", said("takes (x), required (x, w)", "参数是 (x)"), 9
    )
    assert (
        headline(CleanRoom("f", "contract", (found,)), "en")
        == "0 of 1 done; block takes (x), required (x, w): line 9"
    )


def test_each_part_has_its_state_and_each_mistake_its_line() -> None:
    lines = render(ROOM, [], said("so", "如此"), "en").splitlines()
    assert lines[2:6] == [
        "  [done] QKV projection",
        "  [not written] FFN  feed_forward is not written yet: line 50",
        "  [wrong] head merge  your merge scrambles heads: line 41",
        "  [missing] block  block is missing",
    ]
    assert "no evidence written: so" in lines


@pytest.mark.parametrize(
    ("holds", "mark"),
    [(True, "  [满足] 草图：好"), (False, "  [不满足] 草图：好"), (None, "  [未测] 草图：好")],
)
def test_a_requirement_holds_is_broken_or_open(holds: bool | None, mark: str) -> None:
    room = replace(
        ROOM, requirements=(Requirement("sketch", said("sketch", "草图"), holds, said("good", "好")),)
    )
    assert mark in render(room, ["a"], None, "zh").splitlines()


def test_only_broken_contracts_are_listed_with_what_they_look_like() -> None:
    rows = (
        Contract("rows", 0.0, 1e-6, "holds", ""),
        Contract("future", 0.5, 1e-6, "broken", ""),
        Contract("slope", None, 1.0, "not observable", "why"),
    )
    room = replace(ROOM, contracts=rows, verdict="broken", named=("mask_adds_zero",))
    text = render(room, ["a"], None, "en")
    assert "contracts of the detectors: broken, looks like mask_adds_zero\n  future 0.5 > 1e-06\n" in text
    assert "rows" not in text
    assert "slope" not in text


def test_a_fault_made_shows_its_three_numbers() -> None:
    text = render(replace(ROOM, repairs=(REPAIR,)), ["a"], None, "en")
    assert (
        "mask_adds_zero in causal_mask (line 7): 0 as you wrote it, 3.25 with the fault (before), 0 repaired"
        in text
    )


@pytest.mark.parametrize(
    ("like", "words"),
    [
        (Likeness(0.25, 400, 150, True, "core/heads.py"), "similar to the reference: 25% of 400 runs"),
        (Likeness(0.01, 400, 150, False), "similarity with the reference: 1% of 400 runs"),
        (Likeness(None, 90, 150, False), "nothing is said below 150 runs of syntax nodes, the file has 90"),
    ],
)
def test_likeness_is_a_number_and_no_accusation(like: Likeness, words: str) -> None:
    text = render(replace(FINISHED, likeness=like), ["a"], None, "en")
    assert words in text
    assert text.splitlines()[-1] == "1 of 1 done; the clean room is complete"
    assert not any(word in text.lower() for word in ("cheat", "copied", "plagiar"))


def test_a_proposed_mapping_is_ready_to_be_confirmed() -> None:
    text = render(
        replace(ROOM, proposal=(("attn", "causal_attention"), ("mlp", "feed_forward"))), ["a"], None, "en"
    )
    assert "\n  --map attn=causal_attention --map mlp=feed_forward\n" in text


def test_control_characters_of_a_learner_reach_no_terminal() -> None:
    hostile = Finding("ffn", said("FFN", "FFN"), "failed", said("raises \x1b[31m", "抛出 \x1b[31m"), 1)
    assert "\x1b" not in render(replace(ROOM, findings=(hostile,), file="a\nb"), ["\x1bx"], None, "en")


def test_the_json_is_strict_and_has_both_languages() -> None:
    rows = (Contract("future", float("nan"), 1e-6, "broken", ""),)
    content = json.loads(to_json(replace(ROOM, contracts=rows, repairs=(REPAIR,)), ["x"]))
    assert content["parts"][2] == {
        "name": "merge",
        "state": "wrong",
        "what": {"en": "your merge scrambles heads", "zh": "你的 merge 打乱了 head"},
        "line": 41,
    }
    assert content["contracts"][0]["value"] == "nan"
    assert content["faults_made"][0]["broken"] == 3.25
    assert content["done"] is False
    assert content["evidence"] == ["x"]


def test_json_has_everything_that_was_found_under_its_name() -> None:
    room = replace(
        FINISHED,
        traces=(Trace(said("imports core", "导入 core"), 2, "aside.py"),),
        proposal=(("SDPA", "attention"),),
        likeness=Likeness(0.5, 90, 40, True, "core/mask.py"),
        contracts=(Contract("rows", 0.25, 1e-6, "broken", "why"),),
        verdict="broken",
        named=("missing_scale",),
        requirements=(Requirement("sketch", said("sketch", "草图"), None, said("unseen", "未见")),),
        repairs=(REPAIR,),
        shapes={"q": (2, 3)},
    )
    text = to_json(room, ["evidence.yaml"])
    assert json.loads(text) == {
        "schema_version": 1,
        "file": "mine.py",
        "kind": "work",
        "done": False,
        "parts_done": 1,
        "parts": [{"name": "qkv", "state": "done", "what": {"en": "done", "zh": "完成"}, "line": 3}],
        "reference_reached": [
            {"what": {"en": "imports core", "zh": "导入 core"}, "line": 2, "file": "aside.py"}
        ],
        "proposed_mapping": [{"theirs": "SDPA", "ours": "attention"}],
        "similarity": {"share": 0.5, "size": 90, "floor": 40, "similar": True, "nearest": "core/mask.py"},
        "verdict": "broken",
        "named": ["missing_scale"],
        "contracts": [
            {"name": "rows", "value": 0.25, "threshold": 1e-6, "verdict": "broken", "reason": "why"}
        ],
        "requirements": [
            {
                "name": "sketch",
                "holds": None,
                "title": {"en": "sketch", "zh": "草图"},
                "what": {"en": "unseen", "zh": "未见"},
            }
        ],
        "faults_made": [
            {
                "fault": "mask_adds_zero",
                "function": "causal_mask",
                "line": 7,
                "signal": {"en": "change", "zh": "变化"},
                "healthy": 0.0,
                "broken": 3.25,
                "repaired": 0.0,
                "threshold": 1e-6,
                "identical": True,
            }
        ],
        "shapes": {"q": [2, 3]},
        "evidence": ["evidence.yaml"],
    }
    # Sorted, two blanks a level, Chinese as it is, and one line end at the end.
    assert text.startswith('{\n  "contracts": [\n    {\n      "name": "rows",\n')
    assert '"zh": "草图"' in text
    assert text.endswith('"verdict": "broken"\n}\n')
    assert json.loads(to_json(FINISHED, []))["similarity"] is None


@pytest.mark.parametrize(
    ("state", "what", "line"),
    [
        ("wrong", "is wrong", "block is wrong"),
        ("missing", "is missing", "block is missing"),
        ("wrong", "your block leaks", "your block leaks"),
        ("not written", "is empty", "is empty"),
    ],
)
def test_only_of_what_is_wrong_or_missing_the_function_is_named(state: str, what: str, line: str) -> None:
    found = Finding("block", said("block", "block"), state, said(what, what))
    assert headline(CleanRoom("f", "contract", (found,)), "en") == f"0 of 1 done; {line}"


def test_done_needs_every_part_no_trace_and_every_requirement() -> None:
    held = Requirement("merge", said("merge", "合并"), True, said("", ""))
    assert replace(FINISHED, requirements=(held,)).done
    assert not replace(FINISHED, requirements=(held, replace(held, holds=None))).done
    assert not replace(FINISHED, traces=(Trace(said("x", "x"), 1),)).done
    assert not ROOM.done


@pytest.mark.parametrize(
    "change",
    [{"healthy": 1.0}, {"broken": 1e-6}, {"repaired": 1.0}, {"identical": False}, {"repaired": float("nan")}],
)
def test_a_fault_is_shown_only_where_it_comes_and_goes(change: dict[str, float]) -> None:
    assert REPAIR.shown
    assert not replace(REPAIR, **change).shown  # type: ignore[arg-type]  # one field of several types
