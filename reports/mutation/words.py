"""Every word of the mutation score's reports, in English and Chinese."""

from __future__ import annotations

from faults.model import Text


def say(entry: str, language: str, /, **figures: object) -> str:
    """One entry of `WORDS` in one language, with its figures filled in."""
    return WORDS[entry][language].format(**figures)


def both(english: str, chinese: str) -> Text:
    """One sentence in both languages."""
    return {"en": english, "zh": chinese}


COLUMNS: dict[str, Text] = {
    "name": both("module", "模块"),
    "mutants": both("mutants", "变异体"),
    "killed": both("killed", "杀死"),
    "timeout": both("timeout", "超时"),
    "survived": both("survived", "存活"),
    "no_tests": both("no tests", "无测试"),
    "unchecked": both("unchecked", "未判定"),
    "error": both("error", "出错"),
    "equivalent": both("equivalent", "等价"),
    "skipped": both("skipped", "跳过"),
    "score": both("score", "得分"),
    "cost": both("s each", "秒/个"),
}
"""Headings of the tables; all but the first, the score and the cost are counts of a row."""

WORDS: dict[str, Text] = {
    "title": both("Mutation score", "变异得分"),
    "partial": both(
        "PARTIAL: only mutants in functions changed since {since}, or reached by tests changed since then.",
        "仅为部分结果：只运行了自 {since} 以来改动过的函数中的变异体，以及改动过的测试所到达的变异体。",
    ),
    "partial part": both(
        "PARTIAL: only the part {part}.",
        "仅为部分结果：只有 {part} 部分。",
    ),
    "parts heading": both("By part", "按部分"),
    "modules heading": both("By module", "按模块"),
    "variants heading": both("Fault variants under the contract suite", "契约测试对各故障变体"),
    "survivors heading": both("Survivors: {count}", "存活者：{count} 个"),
    "checks heading": both("Checks on the run itself", "对本次运行自身的检查"),
    "bar": both("required", "要求"),
    "part": both("part", "部分"),
    "variant": both("variant", "变体"),
    "status": both("status", "状态"),
    "killed by": both("killed by", "被谁杀死"),
    "side by side": both("mutmut's operators", "mutmut 的算子"),
    "writes": both("{count}: {key}", "{count} 个：{key}"),
    "nothing": both("none", "无"),
    "total": both("all", "全部"),
    "note": both(
        "Score = (killed + timeout) / (killed + timeout + survived + no tests). Proved equivalents are in "
        "neither part; an error or a mutant without a verdict fails the gate whatever the score is.",
        "得分 =（杀死 + 超时）/（杀死 + 超时 + 存活 + 无测试）。已证明的等价变异体不计入；"
        "出错或没有判定的变异体，无论得分多少都不通过。",
    ),
    "likeness": both(
        "Of {variants} fault variants, mutmut's operators write {written} (mutants of core compared: {compared}).",
        "{variants} 个故障变体中，mutmut 的算子能写出 {written} 个（比较了 core 的 {compared} 个变异体）。",
    ),
    "control": both("Control {name}: {status}, as it must be.", "对照 {name}：{status}，符合要求。"),
    "control broken": both(
        "Control {name}: {status}, but it must be {expected} {detail}",
        "对照 {name}：{status}，本应为 {expected} {detail}",
    ),
    "cost": both(
        "Cost: {seconds} s of tests over {timed} mutants, {each} s each{wall}.",
        "耗时：{timed} 个变异体的测试共 {seconds} 秒，每个 {each} 秒{wall}。",
    ),
    "wall": both("; the whole run took {minutes} min", "；整个运行用时 {minutes} 分钟"),
    "equivalents": both(
        "Equivalent, each with a proof that was run here: {count} of {mutants} ({percent}).",
        "等价变异体（每个都在此运行了证明）：{mutants} 个中的 {count} 个（{percent}）。",
    ),
    "survivor": both("{status} in {name} ({path}:{line})", "{name}（{path}:{line}）：{status}"),
    "key": both("mutant {key}", "变异体 {key}"),
    "reached": both("reached by {count} tests: {tests}", "到达它的测试 {count} 个：{tests}"),
    "more": both(" and {count} more", " 等，另有 {count} 个"),
    "unreached": both("no test reached it", "没有测试到达它"),
    "pass": both(
        "PASS: killed {killed} of {judged}, score {percent}.",
        "通过：杀死 {killed}/{judged}，得分 {percent}。",
    ),
    "fail": both("FAIL: {problem}", "未通过：{problem}"),
    "others": both(" (and {count} more)", "（另有 {count} 项）"),
    "cut": both(
        "Cut here: {count} more survivors did not fit into a job summary; see the HTML report.",
        "到此截断：另有 {count} 个存活者放不下；见 HTML 报告。",
    ),
    "label": both("mutation score", "变异得分"),
}
