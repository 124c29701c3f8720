"""The verbs: one module each with `main(argv) -> int`. One entry here registers a verb, in order of help."""

from __future__ import annotations

from faults.model import Text

VERBS: dict[str, Text] = {
    "run": {
        "en": "inject faults into the correct block and report which detectors catch them",
        "zh": "把故障注入正确的 block，报告哪些检测器抓住了它们",
    },
    "check": {
        "en": "check somebody's own attention, block or model: which contract is broken, which fault it looks like",
        "zh": "检查任意的 attention、block 或模型：哪条契约不成立，像哪种故障",
    },
    "list": {
        "en": "the faults that can be injected",
        "zh": "列出可以注入的故障",
    },
    "show": {
        "en": "explain faults: formula, shapes, numbers before, after and repaired",
        "zh": "讲解故障：公式、shape，以及注入前、注入后、修复后的数值",
    },
    "evidence": {
        "en": "measure the five evidence metrics, or check a file of evidence",
        "zh": "测量五项 evidence 指标，或检查一份 evidence 文件",
    },
    "page": {
        "en": "write one HTML file in which every fault can be seen",
        "zh": "生成一个 HTML 文件，让每种故障都看得见",
    },
    "quiz": {
        "en": "the self-test, with answers computed on the spot",
        "zh": "自测题，答案当场计算",
    },
    "score": {
        "en": "the mutation score: which changes of the source the tests miss",
        "zh": "变异得分：测试放过了源码的哪些改动",
    },
    "clean-room": {
        "en": "check a block that a learner wrote from its interface alone",
        "zh": "检查学习者只凭接口独立写出的 block",
    },
}
"""Verb -> one line about it. A verb's module is imported only when it is called: start-up time counts."""
