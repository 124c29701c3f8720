"""Words of the report of a run, of an explanation and of the list of faults, in English and Chinese.

Faults and detectors bring their own, and so do the other reports.
"""

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
    "rows": both("row sums of the weights", "权重行和为 1"),
    "future": both("future-token perturbation", "未来 token 扰动"),
}
"""Names in `Report.alone` in words."""

UNITS: dict[str, str] = {
    "failed calls": "失败的调用数",
    "relative change": "相对变化",
    "relative difference": "相对差",
    "share of heads": "头的占比",
    "share of pairs": "token 对的占比",
    "share of the change": "变化的占比",
    "share of tokens": "token 的占比",
    "share of values": "数值的占比",
    "weight": "权重",
    "|ln factor|": "|ln 倍数|",
}
"""Units of the detectors, and the same in Chinese."""


def unit(name: str, language: str) -> str:
    """A detector's unit in one language; one that is not known stays as it is."""
    return UNITS.get(name, name) if language == "zh" else name


SYMPTOMS: dict[str, Text] = {
    "head_width": both("d_k", "d_k"),
    "scaled_entropy": both("entropy, bits, scaled", "熵 (bit)，缩放"),
    "scaled_largest": both("largest weight, scaled", "最大权重，缩放"),
    "scaled_gradient": both("gradient norm, scaled", "梯度范数，缩放"),
    "unscaled_entropy": both("entropy, bits, unscaled", "熵 (bit)，不缩放"),
    "unscaled_largest": both("largest weight, unscaled", "最大权重，不缩放"),
    "unscaled_gradient": both("gradient norm, unscaled", "梯度范数，不缩放"),
    "product_spread": both("standard deviation of q.k", "q·k 标准差"),
    "own_product": both("mean of q.q", "q·q 均值"),
}
"""What the columns of `Report.symptoms` are."""

STAGES: dict[str, Text] = {
    "input": both("input", "输入"),
    "scores": both("scores q.k, first head", "score q·k（第一个头）"),
    "scaled": both("scaled scores, first head", "缩放后的 score（第一个头）"),
    "masked": both("scores after scale and mask, first head", "缩放并遮罩后的 score（第一个头）"),
    "weights": both("attention weights, first head", "attention 权重（第一个头）"),
    "output": both("block output", "block 输出"),
}
"""Names of the stages of a demonstration in words."""

AXES: dict[str, Text] = {
    "channel": both("channel", "通道"),
    "head": both("head", "头"),
}
"""Axes that Chinese texts do not call by their English names."""

WORDS: dict[str, Text] = {
    # Title
    "title": both(
        "Fault injection into the correct block: faults {faults}, variants {variants}, seed {seed}",
        "向正确的 block 注入故障：故障 {faults} 种，变体 {variants} 个，种子 {seed}",
    ),
    "ran": both(
        "Fixtures per fault: {examples}, shared out among its variants. Each variant is injected, "
        "measured and taken out again.",
        "每种故障的 fixture 数：{examples}，由各变体分摊。每个变体依次注入、测量、复原。",
    ),
    "interrupted": both(
        "INTERRUPTED: the block was restored; what follows is only what had been measured by then.",
        "已中断：block 已复原；以下只是中断之前测得的部分。",
    ),
    # Columns
    "fault": both("fault", "故障"),
    "variant": both("variant", "变体"),
    "injected": both("injected", "注入"),
    "signal": both("expected failure signal", "预期失败信号"),
    "killed": both("variants killed", "杀死变体"),
    "fixtures": both("caught/ witnessing/ generated", "抓住/见证/生成"),
    "fixed": both("after the fix", "修复后"),
    "named": both("named from the signals", "由信号判定为"),
    "detector": both("signal, unit", "信号（单位）"),
    "detector alone": both("signal", "信号"),
    "healthy": both("healthy, largest", "健康最大"),
    "threshold": both("threshold", "阈值"),
    "faulty": both("faulty, smallest", "故障最小"),
    "margin": both("margin, decades", "裕度\n数量级"),
    "witness": both("smallest witness", "最小见证 fixture"),
    "status": both("status", "状态"),
    "summary": both("what is written", "写法"),
    "lead": both("lead signal", "主信号"),
    "tie": both("tied", "并列"),
    "without": both("named without its own signature", "去掉自身特征后仍判对"),
    "law": both("law", "规律"),
    "alarms": both("false alarms", "误报"),
    "test": both("a test suite of", "只做这一种测试"),
    "total": both("all faults", "全部故障"),
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
    "diagnosis heading": both("Diagnosis and restoration, per variant", "各变体的判定与复原"),
    "detectors heading": both("Detectors on the correct block", "检测器在正确 block 上的表现"),
    "symptoms heading": both(
        "Saturation over the head width, shown and never judged", "随头宽变化的饱和程度（只展示，不判定）"
    ),
    "symptoms note": both(
        "Independent standard normal vectors, 16 keys. q.k spreads as sqrt(d_k) around 0; only q.q grows "
        "linearly with d_k. At small d_k the unscaled gradient is even larger, so this names no fault.",
        "独立标准正态向量，16 个 key。q·k 以 0 为中心，标准差为 sqrt(d_k)；只有 q·q 随 d_k 线性增长。"
        "d_k 小时不缩放的梯度反而更大，因此它不能用来判定故障。",
    ),
    "verdict heading": both("Verdict", "结论"),
    # Sentences under the tables
    "signals note": both(
        "Each row quotes the lead signal of the fault's first variant, over all its variants with that lead; "
        '"exact" means that the healthy value is exactly 0. The margin is log10(faulty / max(healthy, rounding)), '
        "with the rounding of the fixture's dtype.",
        "每行给出该故障第一个变体的主信号，统计范围是以它为主信号的所有变体；"
        "“精确”表示健康值恰好为 0。裕度 = log10(故障值 / max(健康值, 舍入误差))，舍入误差取自 dtype。",
    ),
    "fixtures note": both(
        "A fixture is witnessing if the variant can show on it; its declared sizes alone decide that, "
        "never an output.",
        "“见证”指变体能在这个 fixture 上显现；只由它声明的尺寸决定，与输出无关。",
    ),
    "alone note": both(
        "Future invariance is necessary, not sufficient: alone it catches {caught} of {total} variants on "
        "every fixture and {missed} on none.",
        "未来不变性只是必要条件，不是充分条件：只靠它，{total} 个变体中每次都能抓住的有 {caught} 个，"
        "从来抓不住的有 {missed} 个。",
    ),
    "alone legend": both(
        "Variants caught on every witnessing fixture / variants; (+n): n more on some fixtures only.",
        "在每个见证 fixture 上都抓住的变体数／变体数；(+n) 表示另有 n 个只在部分 fixture 上抓住。",
    ),
    "matrix": both("Kill matrix: {fault}", "杀伤矩阵：{fault}"),
    "silent": both("Never fired here: {names}.", "在此从未报警：{names}。"),
    "matrix note": both(
        "Kill matrices: witnessing fixtures on which the detector fired / on which it could measure; "
        '"." never fired, "-" not observable.',
        "杀伤矩阵：检测器报警的／能够测量的见证 fixture 数；“.” 从未报警，“-” 不可观测。",
    ),
    "baseline": both(
        "Baseline: {detectors} detectors on {fixtures} fixtures of the correct block; "
        "false alarms: {alarms}.",
        "基线：{detectors} 个检测器，正确的 block 上 {fixtures} 个 fixture，误报 {alarms} 次。",
    ),
    "alarm": both(
        "False alarm: {name} fired on {alarms} of {fixtures} healthy fixtures (largest {healthy}, "
        "threshold {threshold}).",
        "误报：{name} 在 {fixtures} 个健康 fixture 中报警 {alarms} 次（最大 {healthy}，阈值 {threshold}）。",
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
        "({percent}); ties: {tied}.",
        "仅凭信号判定：{witnessing} 个见证 fixture 中判对 {named} 个（{percent}），并列 {tied} 个。",
    ),
    "left out": both(
        "With the variant's own signature left out of the table: {named} of {witnessing} ({percent}); "
        "lowest is {lowest} with {least}.",
        "从特征表中去掉该变体自身的特征后（留一变体）：{witnessing} 个中判对 {named} 个（{percent}）；"
        "最低的是 {lowest}，{least}。",
    ),
    # Verdict
    "pass": both(
        "PASS: variants killed {killed}/{variants}, false alarms {alarms}, every fix restored.",
        "通过：杀死变体 {killed}/{variants}，误报 {alarms} 次，修复后全部复原。",
    ),
    "fail": both("FAIL: {problem}", "未通过：{problem}"),
    "more": both(" (and {count} more)", "（另有 {count} 项）"),
    "stopped": both(
        "INTERRUPTED: variants measured {variants}, killed {killed}.",
        "已中断：已测量变体 {variants} 个，杀死 {killed} 个。",
    ),
    # Explanation of one fault
    "explained": both("{name}: {title}", "{name}：{title}"),
    "formula": both("formula", "公式"),
    "shapes": both("shapes", "shape"),
    "enters": both("where it enters", "注入位置"),
    "repair": both("repair", "修复"),
    "ways": both("Ways it is written (variants: {count})", "各种写法（变体 {count} 个）"),
    "shown": both("Variant {variant}, on {extents}", "变体 {variant}，fixture 为 {extents}"),
    "follow": both(
        "Small enough to follow by hand. Numbers that the fault changes are marked with *, also where only "
        "digits not shown differ.",
        "小到可以手算。被故障改变的数值以 * 标记，差别在未显示的位数上时也标记。",
    ),
    "stage": both(
        "{name}: one row per {row}, one column per {column}",
        "{name}：每行一个{row}，每列一个{column}",
    ),
    "same": both("before, with the fault and repaired alike", "注入前、注入后、修复后都相同"),
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
    "list heading": both("Faults {faults}, variants {variants}", "故障 {faults} 种，变体 {variants} 个"),
    "list note": both(
        "faults show NAME explains one; faults run NAME injects it.",
        "faults show 名称：讲解一种故障；faults run 名称：注入它。",
    ),
    "empty": both("Nothing was selected.", "没有选中任何故障。"),
}
