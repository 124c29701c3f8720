"""The verdict: what a report means for the exit code, and why in words."""

from __future__ import annotations

from faults.model import FaultResult, Report, Status, Text, VariantResult, score

GOOD, FAILED, BROKEN, NOTHING_SELECTED, INTERRUPTED = 0, 1, 3, 5, 130

ALIVE = (Status.SURVIVED, Status.NO_COVERAGE)

NAMED = 0.9
"""Share of the fixtures it is caught on where the right fault must be named."""

ROUNDING = 1e-9
"""In percent: a quotient such as 29 / 100 may come out just below the bar that it reaches."""

CHINESE = {
    Status.NOT_APPLICABLE: "不适用",
    Status.ERROR: "出错",
    Status.TIMEOUT: "超时",
    Status.NO_COVERAGE: "未覆盖",
    Status.KILLED: "已杀死",
    Status.SURVIVED: "存活",
}


def exit_code(report: Report, fail_under: float | None = None) -> int:
    """0 good; 1 survived, not restored, misnamed or under the bar; 3 baseline, control or ERROR; 5 nothing
    selected; 130 interrupted. `fail_under` is a percentage of the score; without it nothing may survive."""
    if report.interrupted:
        return INTERRUPTED
    if _broken(report):
        return BROKEN
    if not report.variants:
        return NOTHING_SELECTED
    return FAILED if _failed(report, fail_under) else GOOD


def problems(report: Report, fail_under: float | None = None) -> tuple[Text, ...]:
    """One line for each thing that is wrong, worst first; empty when all is well."""
    return tuple(_broken(report) + _failed(report, fail_under))


def _broken(report: Report) -> list[Text]:
    found: list[Text] = []
    for detector in report.detectors:
        if detector.alarms:
            found.append(_said(
                f"baseline: {detector.name} fires on {detector.alarms} of {detector.fixtures} healthy fixtures "
                f"(largest {detector.healthy:.3g}, threshold {detector.threshold:g}); nothing was injected",
                f"基线：{detector.name} 在 {detector.fixtures} 个健康 fixture 中误报 {detector.alarms} 个"
                f"（最大 {detector.healthy:.3g}，阈值 {detector.threshold:g}）；未注入任何故障",
            ))  # fmt: skip
    for control in report.controls:
        if not control.holds:
            found.append(_said(
                f"control {control.name}: {control.status}, required: {control.expected} {control.detail}".rstrip(),
                f"对照 {control.name}：{CHINESE[control.status]}，"
                f"应为{CHINESE[control.expected]} {control.detail}".rstrip(),
            ))  # fmt: skip
    for row in report.variants:
        if row.status is Status.ERROR:
            found.append(_about(row, f"error: {row.reason}", f"出错：{row.reason}"))
    return found


def _failed(report: Report, fail_under: float | None) -> list[Text]:
    found = _survivors(report, fail_under)
    for row in report.variants:
        if row.restored != 0:
            apart = f"{row.restored:.3g}"
            found.append(
                _about(row, f"not restored: healthy values moved by {apart}", f"未复原：健康值改变了 {apart}")
            )
    for fault in report.faults:
        found += _naming(fault)
    return found


def _naming(fault: FaultResult) -> list[Text]:
    """Whether the signals alone name the fault: each variant, and with its own signature left out the whole."""
    if not fault.total("witnessing"):
        return []
    found = [] if fault.diagnosis == fault.name else [_said(
        f"{fault.name}: its signals were named {fault.diagnosis}",
        f"{fault.name}：其信号被诊断为 {fault.diagnosis}",
    )]  # fmt: skip
    for row in fault.variants:
        if not (row.named >= NAMED * row.caught):
            share = f"{row.named}/{row.caught}"
            found.append(
                _about(
                    row, f"named rightly on {share} fixtures only", f"仅在 {share} 个 fixture 上被正确认出"
                )
            )
    blind = fault.total("named_without_own")
    if not (blind >= NAMED * fault.total("caught")):
        share = f"{blind}/{fault.total('caught')}"
        found.append(_said(
            f"{fault.name}: named on {share} fixtures only when a variant's own signature is left out",
            f"{fault.name}：去掉变体自身的特征后，仅在 {share} 个 fixture 上被认出",
        ))  # fmt: skip
    return found


def _survivors(report: Report, fail_under: float | None) -> list[Text]:
    alive = [row for row in report.variants if row.status in ALIVE]
    reached = score([row.status for row in report.variants])
    if reached is None:
        return [_said("score n/a: no variant could be judged", "得分 n/a：没有可判定的变体")]
    if fail_under is None or not (reached * 100 >= fail_under - ROUNDING):
        under = [] if fail_under is None else [_said(
            f"score {reached:.1%} is under --fail-under {fail_under:g} %",
            f"得分 {reached:.1%} 低于 --fail-under {fail_under:g} %",
        )]  # fmt: skip
        return under + [
            _about(row, f"{row.status}: {row.reason}", f"{CHINESE[row.status]}：{_why(row)}") for row in alive
        ]
    return []


def _why(row: VariantResult) -> str:
    if row.status is Status.NO_COVERAGE:
        return "被替换的代码没有在每个 fixture 上都执行到"
    return f"{row.witnessing} 个见证的 fixture 中漏掉 {row.witnessing - row.caught} 个"


def _about(row: VariantResult, en: str, zh: str) -> Text:
    return _said(f"{row.fault}/{row.variant}: {en}", f"{row.fault}/{row.variant}：{zh}")


def _said(en: str, zh: str) -> Text:
    return {"en": en, "zh": zh}
