"""Renders a clean room in the learner's language: what is done, what is wrong, in which line. Decides nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from faults.clean_room.model import CleanRoom, Contract, Finding, Likeness, Repair, Requirement, Trace
from faults.language import printable, say
from faults.model import Text

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "title": "clean room of {file}",
        "contract": "interface of {file}",
        "line": ": line {line}",
        "place": " (line {line})",
        "headline": "{done} of {all} done",
        "first": "{headline}; {what}{line}",
        "finished": "{headline}; the clean room is complete",
        "interface": "{headline}; the interface is as required",
        "independence": "independence of the reference",
        "independent": "nothing in the text or at run time reaches the reference",
        "traces": "the reference must stay closed; {count} way(s) to it were found",
        "proposal": "Functions with other names were found. To use them, confirm the mapping by running again with:",
        "contracts": "contracts of the detectors: {verdict}{named}",
        "looks": ", looks like {names}",
        "repairs": "faults made in your own code (the file itself was not changed)",
        "repair": "{fault} in {function}{line}: {healthy} as you wrote it, {broken} with the fault (before), "
        "{repaired} repaired (after); "
        "{signal}",
        "evidence": "evidence written: {path}",
        "no_evidence": "no evidence written: {why}",
        "joint": ": ",
    },
    "zh": {
        "title": "clean-room 检查：{file}",
        "contract": "接口检查：{file}",
        "line": "：第 {line} 行",
        "place": "（第 {line} 行）",
        "headline": "{all} 项中已完成 {done} 项",
        "first": "{headline}；{what}{line}",
        "finished": "{headline}；clean-room 已完成",
        "interface": "{headline}；接口符合要求",
        "independence": "与参考实现的独立性",
        "independent": "文本与运行中都没有接触参考实现",
        "traces": "参考实现必须保持关闭；发现 {count} 处接触",
        "proposal": "发现了用其他名字写的函数。确认后请加上下面的映射再运行：",
        "contracts": "检测器契约：{verdict}{named}",
        "looks": "，像是 {names}",
        "repairs": "在你自己的代码上注入的故障（文件本身没有改动）",
        "repair": "{function}{line}里的 {fault}：原样 {healthy}，注入故障后（修复前）{broken}，"
        "修复后 {repaired}；{signal}",
        "evidence": "已写入 evidence：{path}",
        "no_evidence": "未写 evidence：{why}",
        "joint": "：",
    },
}

STATES: dict[str, Text] = {
    "done": {"en": "done", "zh": "完成"},
    "wrong": {"en": "wrong", "zh": "有误"},
    "not written": {"en": "not written", "zh": "未写"},
    "missing": {"en": "missing", "zh": "缺少"},
    "failed": {"en": "failed", "zh": "出错"},
}
MARKS: dict[bool | None, Text] = {
    True: {"en": "holds", "zh": "满足"},
    False: {"en": "broken", "zh": "不满足"},
    None: {"en": "open", "zh": "未测"},
}
VERDICTS: dict[str, Text] = {
    "sound": {"en": "sound", "zh": "健全"},
    "fragile": {"en": "fragile (broken only at extremes)", "zh": "脆弱（只在极端输入下不满足）"},
    "broken": {"en": "broken", "zh": "不满足"},
    "undecided": {"en": "undecided", "zh": "无法判定"},
}
LIKENESS: dict[str, Text] = {
    "similar": {
        "en": "similar to the reference: {share:.0%} of {size} runs of 12 syntax nodes also occur there, most in "
        "{nearest}. Independent files have 0 to 2 %, a copy with other names 90 % or more. "
        "This is a number, no judgement.",
        "zh": "与参考实现相似：{size} 段（每段 12 个语法节点）中有 {share:.0%} 也出现在参考实现里，最多的是 {nearest}。"
        "独立写成的文件为 0 到 2%，只改名字的副本为 90% 以上。这只是一个数值，不是判断。",
    },
    "different": {
        "en": "similarity with the reference: {share:.0%} of {size} runs of 12 syntax nodes "
        "(20 % or more is called similar)",
        "zh": "与参考实现的相似度：{size} 段（每段 12 个语法节点）中占 {share:.0%}（达到 20% 才称为相似）",
    },
    "small": {
        "en": "similarity with the reference: nothing is said below {floor} runs of syntax nodes, the file has {size}",
        "zh": "与参考实现的相似度：少于 {floor} 段语法节点时不作说明，该文件有 {size} 段",
    },
}


def render(room: CleanRoom, written: Sequence[str], why: Text | None, language: str) -> str:
    """Everything about one file, the headline last. `written`: paths of the evidence; `why`: why there is none."""
    title = WORDS[language]["contract" if room.kind == "contract" else "title"].format(
        file=printable(room.file)
    )
    parts = [title, _findings(room.findings, language), _independence(room, language)]
    if room.kind != "contract":
        parts += [
            _requirements(room.requirements, language),
            *_contracts(room, language),
            *_repairs(room, language),
        ]
        parts += [_likeness(room.likeness, language)] if room.likeness else []
        parts += [_evidence(written, why, language)]
    parts += [_proposal(room, language)] if room.proposal else []
    return "\n\n".join([*parts, headline(room, language)])


def headline(room: CleanRoom, language: str) -> str:
    """One line: how much is done, and the first thing that is wrong, with its line."""
    words = WORDS[language]
    count = words["headline"].format(done=room.finished, all=len(room.findings))
    what = _first(room, language)
    if what is None:
        return words["interface" if room.kind == "contract" else "finished"].format(headline=count)
    return words["first"].format(headline=count, what=what[0], line=_line(what[1], language))


def _first(room: CleanRoom, language: str) -> tuple[str, int | None] | None:
    if room.traces:
        return printable(_trace(room.traces[0], language)), room.traces[0].line
    order = {"wrong": 0, "failed": 1, "missing": 2, "not written": 2}
    open_parts = sorted((one for one in room.findings if not one.done), key=lambda one: order[one.state])
    if open_parts:
        shown = open_parts[0]
        what = _named(shown, language) if room.kind == "contract" else say(shown.what, language)
        return printable(what), shown.line
    for one in room.requirements:
        if not one.holds:
            return say(one.title, language) + WORDS[language]["joint"] + say(one.what, language), None
    return None


def _named(finding: Finding, language: str) -> str:
    """What is wrong, with the function's name, which the interface's table does not repeat."""
    what = say(finding.what, language)
    return (
        f"{finding.key} {what}" if finding.state in ("missing", "wrong") and finding.key not in what else what
    )


def _line(line: int | None, language: str, form: str = "line") -> str:
    return "" if line is None else WORDS[language][form].format(line=line)


def _findings(findings: Sequence[Finding], language: str) -> str:
    rows = []
    for one in findings:
        what = "" if one.done else f"  {printable(say(one.what, language))}{_line(one.line, language)}"
        rows.append(f"  [{say(STATES[one.state], language)}] {say(one.title, language)}{what}")
    return "\n".join(rows)


def _independence(room: CleanRoom, language: str) -> str:
    words = WORDS[language]
    head = words["independence"] + words["joint"]
    if not room.traces:
        return head + words["independent"]
    lines = [f"  {printable(_trace(one, language))}{_line(one.line, language)}" for one in room.traces]
    return "\n".join([head + words["traces"].format(count=len(room.traces)), *lines])


def _trace(one: Trace, language: str) -> str:
    return f"{one.file} {say(one.what, language)}" if one.file else say(one.what, language)


def _requirements(requirements: Sequence[Requirement], language: str) -> str:
    joint = WORDS[language]["joint"]
    return "\n".join(
        f"  [{say(MARKS[one.holds], language)}] {say(one.title, language)}{joint}{printable(say(one.what, language))}"
        for one in requirements
    )


def _contracts(room: CleanRoom, language: str) -> Iterator[str]:
    broken = [one for one in room.contracts if one.verdict == "broken"]
    if not broken:
        return
    words = WORDS[language]
    named = words["looks"].format(names=" = ".join(room.named)) if room.named else ""
    verdict = say(VERDICTS.get(room.verdict, room.verdict), language)
    lines = [f"  {one.name} {_number(one.value)} > {one.threshold:g}" for one in broken]
    yield "\n".join([words["contracts"].format(verdict=verdict, named=named), *lines])


def _repairs(room: CleanRoom, language: str) -> Iterator[str]:
    if room.repairs:
        yield "\n".join(
            [WORDS[language]["repairs"], *(f"  {_repair(one, language)}" for one in room.repairs)]
        )


def _repair(one: Repair, language: str) -> str:
    numbers = {"healthy": one.healthy, "broken": one.broken, "repaired": one.repaired}
    return WORDS[language]["repair"].format(
        fault=one.fault,
        function=one.function,
        line=_line(one.line, language, "place"),
        signal=say(one.signal, language),
        **{name: _number(value) for name, value in numbers.items()},
    )


def _likeness(like: Likeness, language: str) -> str:
    kind = "small" if like.share is None else "similar" if like.similar else "different"
    return LIKENESS[kind][language].format(
        share=like.share, size=like.size, floor=like.floor, nearest=like.nearest
    )


def _evidence(written: Sequence[str], why: Text | None, language: str) -> str:
    words = WORDS[language]
    if why is not None:
        return words["no_evidence"].format(why=say(why, language))
    return "\n".join(words["evidence"].format(path=printable(path)) for path in written)


def _proposal(room: CleanRoom, language: str) -> str:
    options = " ".join(f"--map {theirs}={ours}" for theirs, ours in room.proposal)
    return f"{WORDS[language]['proposal']}\n  {options}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def to_json(room: CleanRoom, written: Sequence[str]) -> str:
    """Everything as strict JSON with sorted keys, sentences in both languages."""
    content = {
        "schema_version": 1,
        "file": room.file,
        "kind": room.kind,
        "done": room.done,
        "parts_done": room.finished,
        "parts": [_part(one) for one in room.findings],
        "reference_reached": [
            {"what": dict(one.what), "line": one.line, "file": one.file} for one in room.traces
        ],
        "proposed_mapping": [{"theirs": theirs, "ours": ours} for theirs, ours in room.proposal],
        "similarity": None if room.likeness is None else vars(room.likeness),
        "verdict": room.verdict,
        "named": list(room.named),
        "contracts": [_contract(one) for one in room.contracts],
        "requirements": [
            {"name": one.key, "holds": one.holds, "title": dict(one.title), "what": dict(one.what)}
            for one in room.requirements
        ],
        "faults_made": [_strict(vars(one)) | {"signal": dict(one.signal)} for one in room.repairs],
        "shapes": {name: list(shape) for name, shape in (room.shapes or {}).items()},
        "evidence": list(written),
    }
    return json.dumps(content, sort_keys=True, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _part(one: Finding) -> dict[str, Any]:
    return {"name": one.key, "state": one.state, "what": dict(one.what), "line": one.line}


def _contract(one: Contract) -> dict[str, Any]:
    return _strict(
        {
            "name": one.name,
            "value": one.value,
            "threshold": one.threshold,
            "verdict": one.verdict,
            "reason": one.reason,
        }
    )


def _strict(row: dict[str, Any]) -> dict[str, Any]:
    """Strict JSON has no nan and no inf: they become text."""
    return {k: str(v) if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
