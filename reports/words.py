"""Every word that stands in a report, in English and Chinese; the faults bring their own."""

from __future__ import annotations

from faults.model import Status, Text


def say(entry: str, language: str, /, **figures: object) -> str:
    """One entry of `WORDS` in one language, with its figures filled in."""
    return WORDS[entry][language].format(**figures)


def both(english: str, chinese: str) -> Text:
    """One sentence in both languages."""
    return {"en": english, "zh": chinese}


STATUS: dict[Status, Text] = {
    Status.NOT_APPLICABLE: both("not applicable", "不适用"),
    Status.ERROR: both("error", "出错"),
    Status.TIMEOUT: both("timeout", "超时"),
    Status.NO_COVERAGE: both("no coverage", "未覆盖"),
    Status.KILLED: both("killed", "已杀死"),
    Status.SURVIVED: both("survived", "存活"),
}

TESTS: dict[str, Text] = {
    "shape": both("output shape", "输出 shape"),
    "row_sums": both("row sums of the weights", "权重行和为 1"),
    "future": both("future-token perturbation", "未来 token 扰动"),
}
"""Names in `Report.alone` in words."""

AXES: dict[str, Text] = {
    "channel": both("channel", "通道"),
    "head": both("head", "头"),
}
"""Axes that Chinese texts do not call by their English names."""

WORDS: dict[str, Text] = {
    # Title
    "title": both(
        "Fault injection into the correct block: {faults} faults in {variants} variants",
        "向正确的 block 注入故障：{faults} 种故障，{variants} 个变体",
    ),
    "ran": both(
        "Seed {seed}, {examples} examples; every variant is injected, measured and taken out again.",
        "种子 {seed}，样例数 {examples}；每个变体都经过注入、测量、还原。",
    ),
    "interrupted": both(
        "INTERRUPTED: the block was restored; what follows is only what had been measured by then.",
        "已中断：block 已还原；以下只是中断之前测得的部分。",
    ),
    # Columns
    "fault": both("fault", "故障"),
    "variant": both("variant", "变体"),
    "injected": both("injected", "注入"),
    "signal": both("expected failure signal", "预期失败信号"),
    "killed": both("variants killed", "杀死变体"),
    "fixtures": both("caught / witnessing / generated", "抓住／可见证／生成"),
    "fixed": both("after the fix", "修复后"),
    "named": both("named from the signals", "由信号判定为"),
    "detector": both("signal, unit", "信号（单位）"),
    "healthy": both("healthy, largest", "健康时最大"),
    "threshold": both("threshold", "阈值"),
    "faulty": both("faulty, smallest", "故障时最小"),
    "margin": both("margin, decades", "裕度（数量级）"),
    "witness": both("smallest witness", "最小见证样例"),
    "status": both("status", "状态"),
    "summary": both("what is written", "写法"),
    "lead": both("lead signal", "主信号"),
    "tie": both("tied", "并列"),
    "without": both("named without its own signature", "去掉自身特征后仍判对"),
    "law": both("law", "规律"),
    "unit": both("unit", "单位"),
    "alarms": both("false alarms", "误报"),
    "test": both("a test suite of", "只做这一种测试"),
    "caught": both("would catch", "能抓住"),
    "missed": both("would miss", "会漏掉"),
    "seams": both("enters at", "注入点"),
    "variants": both("variants", "变体数"),
    # Values
    "exact": both("exact", "精确"),
    "identical": both("bit-identical", "逐位一致"),
    "differs": both("differs by {value}", "相差 {value}"),
    "nothing": both("nothing", "无"),
    "all": both("all", "全部"),
    # Headings
    "faults heading": both("Faults", "故障"),
    "signals heading": both("Failure signals, in figures", "失败信号的数值"),
    "alone heading": both("What other tests alone would have caught", "只靠其他测试能抓住多少"),
    "checks heading": both("Checks on the run itself", "对本次运行自身的检查"),
    "variants heading": both("Variants", "各变体"),
    "diagnosis heading": both("Diagnosis and restoration, per variant", "各变体的判定与还原"),
    "matrix heading": both("Kill matrix", "杀伤矩阵"),
    "detectors heading": both("Detectors on the correct block", "检测器在正确 block 上的表现"),
    "symptoms heading": both(
        "Saturation over the head width, shown and never judged", "随头宽变化的饱和程度（只展示，不判定）"
    ),
    "verdict heading": both("Verdict", "结论"),
    # Sentences under the tables
    "signals note": both(
        "Each row quotes the lead signal of the fault's first variant, over all its variants with that lead; "
        '"exact" means that the healthy value is exactly 0. The margin is log10(faulty / healthy).',
        "每行给出该故障第一个变体的主信号，统计范围是以它为主信号的所有变体；"
        "“精确”表示健康时恰好为 0。裕度 = log10(故障时 / 健康时)。",
    ),
    "fixtures note": both(
        "Fixtures are counted once per variant. A fixture is witnessing if the variant can show on it, "
        "which its declared sizes alone decide.",
        "样例按变体分别计数。“可见证”指该变体能在这个样例上显现，只由样例声明的尺寸决定，与输出无关。",
    ),
    "alone note": both(
        "Future invariance is necessary, not sufficient: alone it would have missed {missed} of "
        "{total} variants.",
        "未来不变性只是必要条件，不是充分条件：只靠它会漏掉 {total} 个变体中的 {missed} 个。",
    ),
    "matrix note": both(
        "Witnessing fixtures on which the detector fired / on which it could measure; "
        '"." never fired, "-" not observable.',
        "检测器报警的／能够测量的可见证样例数；“.” 从未报警，“-” 不可观测。",
    ),
    "baseline": both(
        "Baseline: {detectors} detectors on the correct block, {alarms} false alarms.",
        "基线：{detectors} 个检测器在正确的 block 上，误报 {alarms} 次。",
    ),
    "alarm": both(
        "False alarm: {name} fired on {alarms} of {fixtures} healthy fixtures (largest {healthy}, "
        "threshold {threshold}).",
        "误报：{name} 在 {fixtures} 个健康样例中报警 {alarms} 次（最大 {healthy}，阈值 {threshold}）。",
    ),
    "control": both(
        "Control {name}: {status}, as it must be{detail}.", "对照 {name}：{status}，符合要求{detail}。"
    ),
    "control broken": both(
        "Control {name}: {status}, but it must be {expected}{detail}.",
        "对照 {name}：{status}，本应为{expected}{detail}。",
    ),
    "score": both(
        "Score: {share} = {percent} killed (a timeout counts as killed; errors count in neither part).",
        "变异得分：{share} = {percent}（超时计入杀死；出错不计入分子分母）。",
    ),
    "diagnosis": both(
        "Diagnosis from the signals alone: the right fault on {named} of {witnessing} witnessing fixtures "
        "({percent}), {tied} ties.",
        "仅凭信号判定：{witnessing} 个可见证样例中判对 {named} 个（{percent}），并列 {tied} 个。",
    ),
    "left out": both(
        "With the variant's own signature left out of the table: {named} of {witnessing} ({percent}); "
        "lowest is {lowest} with {least}.",
        "从特征表中去掉该变体自身的特征后（留一变体）：{witnessing} 个中判对 {named} 个（{percent}）；"
        "最低的是 {lowest}，{least}。",
    ),
    "restored": both(
        "Restoration: after every fault the healthy values are {how}.",
        "还原：每次注入之后，健康时的数值{how}。",
    ),
    # Verdict
    "pass": both(
        "PASS: {killed} of {variants} variants of {faults} faults killed, {alarms} false alarms, "
        "every fix restored.",
        "通过：{faults} 种故障的 {variants} 个变体中杀死 {killed} 个，误报 {alarms} 次，修复全部还原。",
    ),
    "fail": both("FAIL: {problem}", "未通过：{problem}"),
    "more": both(" (and {count} more)", "（另有 {count} 项）"),
    "stopped": both(
        "INTERRUPTED: {variants} variants of {faults} faults measured.",
        "已中断：已测量 {faults} 种故障的 {variants} 个变体。",
    ),
    # Explanation of one fault
    "explained": both("{name}: {title}", "{name}：{title}"),
    "formula": both("formula", "公式"),
    "shapes": both("shapes", "shape"),
    "enters": both("where it enters", "注入位置"),
    "repair": both("repair", "修复"),
    "ways": both("Ways it is written ({count} variants)", "各种写法（{count} 个变体）"),
    "shown": both("Variant {variant}, on {extents}", "变体 {variant}，样例 {extents}"),
    "follow": both(
        "Small enough to follow by hand. Numbers that the fault changes are marked with *.",
        "小到可以手算。被故障改变的数值以 * 标记。",
    ),
    "stage": both(
        "{name}: one row per {row}, one column per {column}",
        "{name}：每行一个 {row}，每列一个 {column}",
    ),
    "before": both("before", "注入前"),
    "after": both("with the fault", "注入后"),
    "repaired": both("repaired", "修复后"),
    "raised": both("raised an error", "抛出异常"),
    "error": both("The faulty block raised: {error}", "注入故障的 block 抛出异常：{error}"),
    "measured": both(
        "Failure signal {detector}: {before} before, {after} with the fault, {repaired} repaired.",
        "失败信号 {detector}：注入前 {before}，注入后 {after}，修复后 {repaired}。",
    ),
    "back": both(
        "Every number after the repair is bit-identical to the one before the fault.",
        "修复后的每个数值都与注入前逐位一致。",
    ),
    # The list of faults
    "list heading": both("{faults} faults, {variants} variants", "{faults} 种故障，{variants} 个变体"),
    "list note": both(
        "faults show NAME explains one; faults run NAME injects it.",
        "faults show 名称：讲解一种故障；faults run 名称：注入它。",
    ),
    "empty": both("Nothing was selected.", "没有选中任何故障。"),
}
