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


# The whole text


FULL = replace(
    ROOM,
    findings=(DONE, SCRAMBLED),
    traces=(
        Trace(said("imports the reference core", "导入了参考实现 core"), 2),
        Trace(said("reads a file", "读取了文件"), None, "aside.py"),
    ),
    proposal=(("attn", "causal_attention"), ("ffn", "feed_forward")),
    likeness=Likeness(0.25, 200, 150, True, "core/heads.py"),
    contracts=(
        Contract("future", 0.5, 1e-9, "broken", ""),
        Contract("rows", 0.0, 1e-6, "holds", ""),
        Contract("merge", None, 1e-9, "broken", ""),
    ),
    verdict="broken",
    named=("mask_adds_zero", "flipped_triangle"),
    requirements=(
        Requirement("merge", said("merge", "合并"), True, said("fine", "好")),
        Requirement("chain", said("chain", "链路"), False, said("loss rises", "loss 上升")),
        Requirement("sketch", said("sketch", "草图"), None, said("nothing yet", "还没有")),
    ),
    repairs=(REPAIR, replace(REPAIR, fault="head_seq_swap", function="merge_heads", line=None)),
)

ENGLISH = """\
clean room of mine.py

  [done] QKV projection
  [wrong] head merge  your merge scrambles heads: line 41

independence of the reference: the reference must stay closed; 2 way(s) to it were found
  imports the reference core: line 2
  aside.py reads a file

  [holds] merge: fine
  [broken] chain: loss rises
  [open] sketch: nothing yet

contracts of the detectors: broken, looks like mask_adds_zero = flipped_triangle
  future 0.5 > 1e-09
  merge - > 1e-09

faults made in your own code (the file itself was not changed)
  mask_adds_zero in causal_mask (line 7): 0 as you wrote it, 3.25 with the fault (before), 0 repaired (after); change
  head_seq_swap in merge_heads: 0 as you wrote it, 3.25 with the fault (before), 0 repaired (after); change

similar to the reference: 25% of 200 runs of 12 syntax nodes also occur there, most in core/heads.py. \
Independent files have 0 to 2 %, a copy with other names 90 % or more. This is a number, no judgement.

evidence written: out/a.yaml
evidence written: out/b.json

Functions with other names were found. To use them, confirm the mapping by running again with:
  --map attn=causal_attention --map ffn=feed_forward

1 of 2 done; imports the reference core: line 2"""

CHINESE = """\
clean-room 检查：mine.py

  [完成] QKV 投影
  [有误] head 合并  你的 merge 打乱了 head：第 41 行

与参考实现的独立性：参考实现必须保持关闭；发现 2 处接触
  导入了参考实现 core：第 2 行
  aside.py 读取了文件

  [满足] 合并：好
  [不满足] 链路：loss 上升
  [未测] 草图：还没有

检测器契约：不满足，像是 mask_adds_zero = flipped_triangle
  future 0.5 > 1e-09
  merge - > 1e-09

在你自己的代码上注入的故障（文件本身没有改动）
  causal_mask（第 7 行）里的 mask_adds_zero：原样 0，注入故障后（修复前）3.25，修复后 0；变化
  merge_heads里的 head_seq_swap：原样 0，注入故障后（修复前）3.25，修复后 0；变化

与参考实现相似：200 段（每段 12 个语法节点）中有 25% 也出现在参考实现里，最多的是 core/heads.py。\
独立写成的文件为 0 到 2%，只改名字的副本为 90% 以上。这只是一个数值，不是判断。

已写入 evidence：out/a.yaml
已写入 evidence：out/b.json

发现了用其他名字写的函数。确认后请加上下面的映射再运行：
  --map attn=causal_attention --map ffn=feed_forward

2 项中已完成 1 项；导入了参考实现 core：第 2 行"""

INTERFACE = """\
interface of mine.py

  [done] QKV projection

independence of the reference: nothing in the text or at run time reaches the reference

1 of 1 done; the interface is as required"""

OPEN = """\
clean room of mine.py

  [done] QKV projection

independence of the reference: nothing in the text or at run time reaches the reference

  [holds] merge: fine

contracts of the detectors: undecided
  future 0.5 > 1e-09

no evidence written: so

1 of 1 done; the clean room is complete"""


@pytest.mark.parametrize(("language", "text"), [("en", ENGLISH), ("zh", CHINESE)])
def test_everything_that_was_found_stands_in_one_text(language: str, text: str) -> None:
    assert render(FULL, ["out/a.yaml", "out/b.json"], None, language) == text


def test_what_was_not_found_leaves_nothing_in_the_text() -> None:
    assert render(replace(FINISHED, kind="contract"), [], None, "en") == INTERFACE
    room = replace(
        FINISHED, requirements=FULL.requirements[:1], contracts=FULL.contracts[:1], verdict="undecided"
    )
    assert render(room, [], said("so", "如此"), "en") == OPEN


@pytest.mark.parametrize(
    ("state", "later"), [("wrong", "failed"), ("failed", "missing"), ("failed", "not written")]
)
def test_a_mistake_comes_before_what_is_worse_to_repair(state: str, later: str) -> None:
    first, last = (
        Finding("b", said("b", "b"), state, said("first", "先")),
        Finding("a", said("a", "a"), later, said("last", "后")),
    )
    assert headline(replace(ROOM, findings=(last, first)), "en") == "0 of 2 done; first"


def test_what_is_missing_and_what_is_not_written_stay_in_their_order() -> None:
    assert "feed_forward" in headline(replace(ROOM, findings=(UNWRITTEN, ABSENT)), "en")
    assert "block" in headline(replace(ROOM, findings=(ABSENT, UNWRITTEN)), "en")


def test_json_is_strict_and_in_the_readers_own_letters() -> None:
    text = to_json(FULL, ["out/a.yaml"])
    assert "导入了参考实现 core" in text
    assert text.startswith('{\n  "contracts": [\n')
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(replace(ROOM, likeness=Likeness(float("nan"), 1, 1, False)), [])
