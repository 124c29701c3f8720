"""The words of the report of `faults check`, in English and Chinese; reasons are in `check_reasons`."""

from __future__ import annotations

import re

from faults.model import Text
from reports.words import both


def say(entry: str, language: str, /, **figures: object) -> str:
    """One entry of `WORDS` in one language, with its figures filled in."""
    return WORDS[entry][language].format(**figures)


VERDICTS: dict[str, Text] = {
    "sound": both("SOUND", "正常"),
    "fragile": both("FRAGILE", "脆弱"),
    "broken": both("BROKEN", "有故障"),
    "undecided": both("UNDECIDED", "无法判定"),
    "unusable": both("UNUSABLE", "无法使用"),
    "holds": both("holds", "成立"),
    "not observable": both("not observable", "无法观测"),
    "not applicable": both("not applicable", "不适用"),
}
"""Of a subject in capitals, of one contract in plain letters; "broken" is both."""

BROKEN_CONTRACT = both("broken", "不成立")

MEANING: dict[str, Text] = {
    "sound": both(
        "each of the five that applies was looked for, and every contract that could be observed holds",
        "适用的故障都检查过，能观测到的契约全部成立",
    ),
    "fragile": both("a contract breaks, but only at declared extremes", "只在极端输入下有契约不成立"),
    "broken": both("a contract is broken", "有契约不成立"),
    "undecided": both(
        "nothing is broken, but what would tell was not observed", "没有发现问题，但关键契约没有观测到"
    ),
    "unusable": both("it could not be built or called", "无法构造或调用"),
}

COVERED: dict[str, Text] = {
    "checked": both("checked", "已检查"),
    "checked in part": both(
        "checked, but not for {variants}: {reason}", "已检查，但不含 {variants}：{reason}"
    ),
    "not observable": both("not observable: {reason}", "无法观测：{reason}"),
    "does not apply": both("does not apply: {reason}", "不适用：{reason}"),
}
"""How far one of the five was looked for."""

ACCESS: tuple[tuple[str, Text], ...] = (
    (
        r"its attention can be neither called nor followed|the subject's attention cannot be called by itself.*"
        r"|no softmax over the product of two projections.*|its operations could not be followed.*",
        both(
            'to see it, give its attention too, as {{"call": block, "attention": f}} with f(q, k, v), '
            "or check that function with --kind attention",
            '若要观测，请连同 attention 一起给出：{{"call": block, "attention": f}}，其中 f(q, k, v)；'
            "或者用 --kind attention 检查这个函数",
        ),
    ),
    (
        r"the subject's weights cannot be written",
        both(
            'to see it, give its weights by role, as {{"call": block, "weights": {{"Wo": Wo, "W2": W2, ...}}}}, '
            "each for x @ W (of a torch layer its weight.data.T)",
            '若要观测，请按角色给出权重：{{"call": block, "weights": {{"Wo": Wo, "W2": W2, ...}}}}，'
            "均按 x @ W 排列（torch 的层用 weight.data.T）",
        ),
    ),
    (
        r"the subject's (?P<roles>.*) could not be found among its weights",
        both(
            'to see it, name them, as {{"call": block, "weights": {{"{role}": layer.weight.data.T, ...}}}}, '
            "each for x @ W",
            '若要观测，请指出它们：{{"call": block, "weights": {{"{role}": layer.weight.data.T, ...}}}}，'
            "均按 x @ W 排列",
        ),
    ),
)
"""What could not be observed, and what to give so that it can be."""


def access(reason: str, language: str) -> str:
    """What to give so that this can be observed; empty where nothing would help."""
    for pattern, text in ACCESS:
        found = re.fullmatch(pattern, reason)
        if found:
            role = str(found.groupdict().get("roles", "")).split(", ")[0]
            return text[language].format(role=role)
    return ""


WORDS: dict[str, Text] = {
    "contract": both("contract", "契约"),
    "value": both("value", "数值"),
    "threshold": both("threshold", "阈值"),
    "verdict": both("verdict", "结论"),
    "why": both("why", "原因"),
    "subject": both("subject", "对象"),
    "applies": both("applies: {reason}", "适用：{reason}"),
    "counts": both(
        "{observed} contracts measured, {broken} of them broken; {unseen} could not be observed, "
        "{inapplicable} do not apply",
        "测量了 {observed} 条契约，其中 {broken} 条不成立；{unseen} 条无法观测，{inapplicable} 条不适用",
    ),
    "examined": both("examined as", "检查依据"),
    "fault": both("fault", "故障"),
    "relative": both("not one of the five", "不在五种故障之内"),
    "unknown": both("none of the known defects looks like this", "与已知的缺陷都不相像"),
    "runner-up": both("runner-up", "次近"),
    "evidence": both("evidence", "依据"),
    "patterns": both("visibility", "可见性"),
    "repair": both("repair", "修复"),
    "witness": both("smallest witness", "最小见证"),
    "failure": both("first failed call", "首个失败的调用"),
    "advice": both("if it is meant so", "若本意如此"),
    "note": both("note", "说明"),
    "question": both("question", "问题"),
    "distance": both("distance {distance:.2f}", "距离 {distance:.2f}"),
    "tie": both("not told apart from {others}", "无法与 {others} 区分"),
    "scale": both(
        "scores are multiplied by {factor}; required 1/sqrt(d_k) = {required} at d_k = {head_width}",
        "分数乘以了 {factor}；应乘以 1/sqrt(d_k) = {required}（d_k = {head_width}）",
    ),
    "measured": both(
        "{name} = {value} (threshold {threshold}): {law}", "{name} = {value}（阈值 {threshold}）：{law}"
    ),
    "at": both("{extents} seed={seed}: {name} = {value}", "{extents} seed={seed}：{name} = {value}"),
    "declare": both("declare {flags}", "声明 {flags}"),
    "causal": both("causal", "因果"),
    "causal assumed": both("causal (assumed)", "因果（默认假定）"),
    "bidirectional": both("not causal", "非因果"),
    "summary": both("summary", "汇总"),
    "about": both("{subject}: {said}", "{subject}：{said}"),
    "as far as seen": both(
        "sound as far as seen; not observable: {faults}", "就所见而言正常；无法观测：{faults}"
    ),
    "converted": both("; {notes}", "；{notes}"),
    "in part": both("; in part: {faults}", "；部分检查：{faults}"),
    "holes": both(
        "the output of token {tokens} of {all}: look at what its row of the mask hides",
        "第 {tokens} 个 token（共 {all} 个）的输出：请看遮罩中它的那一行遮住了什么",
    ),
    "all tokens": both("the output of every token", "每个 token 的输出"),
    "not finite": both("not finite", "非有限值"),
    "or": both(" or ", " 或 "),
    "separator": both("; ", "；"),
    "list": both(", ", "、"),
}

PATTERNS: dict[str, Text] = {
    "block": both("through the whole", "整体"),
    "attention": both("of attention", "attention"),
    "huge": both("at huge logits", "极大 logit 下"),
    "short": both("with few queries", "query 较少时"),
    "calls": both("calls", "调用"),
    "causal": both("causal", "因果"),
    "full": both("everything sees everything", "全部互相可见"),
    "triangle": both("a triangle, mirrored or displaced", "三角形被翻转或错位"),
    "nothing": both("nothing is seen", "什么也看不到"),
    "scrambled": both("scrambled", "错乱"),
    "fail": both("fail", "失败"),
    "fail unless square": both(
        "fail unless there are as many tokens as heads", "只有 token 数等于头数时才不失败"
    ),
}
