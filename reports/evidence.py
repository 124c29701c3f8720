"""Renders evidence: the verdict on a file, and what a measurement found. Nothing here measures or decides."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tabulate import tabulate

from faults.evidence_model import NO_COMMIT, Check, Measure, Part, Problem
from faults.language import printable
from faults.model import Text

SHOWN_PROBLEMS = 100
"""A hostile file can have thousands; the JSON has them all."""

HEADERS: dict[str, tuple[str, ...]] = {
    "en": ("metric", "actual", "required", "bound from", "verdict"),
    "zh": ("指标", "实测值", "要求", "界限出处", "结论"),
}
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "check": "evidence check of {file}",
        "measured": "evidence measured with seed {seed}",
        "problems": "problems ({count})",
        "none": "problems: none",
        "more": "... and {count} more",
        "gate": "gate",
        "present": "present",
        "missing": "missing",
        "complete": "complete: every field is filled, every bound holds, all four parts are present",
        "incomplete": "incomplete: {problems} problem(s), {missing} of 4 parts missing",
        "holds": "all five metrics hold",
        "broken": "{count} of 5 metrics out of bounds",
        "wrote": "wrote {path}",
        "no commit": "no commit: faults evidence --check will refuse this record; write it in a Git repository",
        "join": "{where}: {what}",
    },
    "zh": {
        "check": "检查 evidence 文件 {file}",
        "measured": "evidence 测量结果，seed {seed}",
        "problems": "问题（{count} 个）",
        "none": "问题：无",
        "more": "……另有 {count} 个",
        "gate": "gate",
        "present": "具备",
        "missing": "缺失",
        "complete": "完整：字段均已填写，界限均满足，gate 四部分齐备",
        "incomplete": "不完整：{problems} 个问题，gate 四部分缺 {missing} 部分",
        "holds": "五项指标全部满足",
        "broken": "五项指标中有 {count} 项越界",
        "wrote": "已写入 {path}",
        "no commit": "没有 commit：faults evidence --check 不会接受这份记录；请写入有 commit 的 Git 仓库",
        "join": "{where}：{what}",
    },
}
BOUNDS_NOTE: Text = {
    "en": "The bounds are this program's, from the sources named; a file may expect more, never less.",
    "zh": "界限由本程序按所列出处设定；文件自己的 expected 只能更严，不能更宽。",
}
CHAPTER_NOTE: Text = {
    "en": (
        "The chapter's own ablation values (0.0, 10.799219943491902, 0.2811741490082953, 1.7321348424395848)\n"
        "belong to a fixture that it does not give: they can be neither reproduced nor compared here."
    ),
    "zh": (
        "章节自己的四个消融值（0.0、10.799219943491902、0.2811741490082953、1.7321348424395848）\n"
        "属于它没有给出的 fixture：这里既不能复现，也不作比较。"
    ),
}
CHECK_NOTE: Text = {
    "en": (
        "A complete record shows that figures were recorded and can be traced: not that the clean-room\n"
        "reference was written independently, and not that anybody learned."
    ),
    "zh": "记录完整只说明数值有记录、可追溯：不能证明 clean-room 参考是独立写成的，也不能证明有人已经掌握。",
}


def render_check(check: Check, language: str) -> str:
    """The whole verdict on one file, as text in one language."""
    words = WORDS[language]
    parts = [
        words["check"].format(file=printable(check.file)),
        _problems(check.problems, language),
        _table(check.measures, language),
        _gate(check.gate, language),
        "\n".join(note[language] for note in (BOUNDS_NOTE, CHAPTER_NOTE, CHECK_NOTE)),
        _verdict(check, language),
    ]
    return "\n\n".join(parts)


def render_measurement(
    measures: Sequence[Measure], run: Mapping[str, Any], paths: Sequence[str], language: str
) -> str:
    """What was measured, what the machine record is and is not, and the files written, in one language."""
    words = WORDS[language]
    broken = sum(not measure.holds for measure in measures)
    parts = [
        words["measured"].format(seed=run["seed"]),
        _table(measures, language),
        "\n".join([run["statement"][language], CHAPTER_NOTE[language]]),
        "\n".join(words["wrote"].format(path=printable(path)) for path in paths),
        *([words["no commit"]] if run["commit"] == NO_COMMIT else []),
        words["broken"].format(count=broken) if broken else words["holds"],
    ]
    return "\n\n".join(parts)


def check_to_json(check: Check) -> str:
    """The verdict as JSON with sorted keys; `actual` is null where no number was recorded."""
    content = {
        "file": check.file,
        "complete": check.complete,
        "problems": [{"where": dict(one.where), "what": dict(one.what)} for one in check.problems],
        "metrics": [_measure(one) for one in check.measures],
        "gate": [{"name": dict(p.name), "present": p.present, "why": dict(p.why)} for p in check.gate],
    }
    return to_json(content)


def to_json(content: Mapping[str, Any]) -> str:
    """Strict JSON, sorted, one line end at the end."""
    return json.dumps(content, sort_keys=True, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def _measure(measure: Measure) -> dict[str, Any]:
    bound = measure.bound
    return {
        "name": bound.metric,
        "actual": measure.actual,
        "required": str(bound),
        "source": dict(bound.source),
        "holds": measure.holds,
        "verdict": dict(measure.verdict),
    }


def _table(measures: Sequence[Measure], language: str) -> str:
    rows = [
        (m.bound.metric, _number(m.actual), str(m.bound), m.bound.source[language], m.verdict[language])
        for m in measures
    ]
    return tabulate(rows, headers=HEADERS[language], tablefmt="simple", disable_numparse=True)


def _number(actual: float | None) -> str:
    return "-" if actual is None else repr(actual)


def _problems(problems: Sequence[Problem], language: str) -> str:
    words = WORDS[language]
    if not problems:
        return words["none"]
    lines = [_problem(problem, language) for problem in problems[:SHOWN_PROBLEMS]]
    rest = len(problems) - len(lines)
    more = [words["more"].format(count=rest)] if rest else []
    return "\n  ".join([words["problems"].format(count=len(problems)), *lines, *more])


def _problem(problem: Problem, language: str) -> str:
    return WORDS[language]["join"].format(
        where=problem.where[language], what=printable(problem.what[language])
    )


def _gate(gate: Sequence[Part], language: str) -> str:
    words = WORDS[language]
    lines = [
        words["join"].format(
            where=f"[{words['present' if part.present else 'missing']}] {part.name[language]}",
            what=printable(part.why[language]),
        )
        for part in gate
    ]
    return "\n  ".join([words["gate"], *lines])


def _verdict(check: Check, language: str) -> str:
    words = WORDS[language]
    missing = sum(not part.present for part in check.gate)
    return words["complete" if check.complete else "incomplete"].format(
        problems=len(check.problems), missing=missing
    )
