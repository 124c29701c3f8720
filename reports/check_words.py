"""Every word that stands in the report of `faults check`, in English and Chinese."""

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
    "sound": both("every contract that could be observed holds", "能观测到的契约全部成立"),
    "fragile": both("a contract breaks, but only at declared extremes", "只在极端输入下有契约不成立"),
    "broken": both("a contract is broken", "有契约不成立"),
    "undecided": both(
        "nothing is broken, but what would tell was not observed", "没有发现问题，但关键契约没有观测到"
    ),
    "unusable": both("it could not be built or called", "无法构造或调用"),
}

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
    "tie": both("equally near", "同样接近"),
    "measured": both(
        "{name} = {value} (threshold {threshold}): {law}", "{name} = {value}（阈值 {threshold}）：{law}"
    ),
    "at": both("{extents} seed={seed}: {name} = {value}", "{extents} seed={seed}：{name} = {value}"),
    "declare": both("declare {flags}", "声明 {flags}"),
    "causal": both("causal", "因果"),
    "causal assumed": both("causal (assumed)", "因果（默认假定）"),
    "bidirectional": both("not causal", "非因果"),
    "summary": both("summary", "汇总"),
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

REASONS: tuple[tuple[str, str], ...] = (
    (r"it can be called", "可以调用"),
    (r"its weights can be written", "权重可写"),
    (r"its attention can be called by itself", "attention 可单独调用"),
    (r"its operations could be followed", "可以跟踪其运算"),
    (r"not for a subject of kind (\w+)", r"不适用于 \1 类对象"),
    (r"it assumes that no token sees the future", "前提是 token 不看未来"),
    (r"it assumes a norm before each branch and a plain skip", "前提是每个分支之前归一化，且残差直接相加"),
    (r"it assumes two sublayers in sequence", "前提是两个子层先后相接"),
    (r"it assumes that every earlier token is visible", "前提是前面的 token 全部可见"),
    (r"it assumes that fewer queries than keys may be asked", "前提是 query 可以少于 key"),
    (r"it asks for another d_k than the declared width gives", "它需要的 d_k 与所声明的宽度不同"),
    (r"it assumes a known number of heads that nothing mixes", "前提是头数已知，且各头不再混合"),
    (r"it assumes the weights and layers of the reference block", "前提是权重与各层都和参考 block 一致"),
    (r"the subject is attention by itself", "对象只是 attention"),
    (r"the subject's weights cannot be written", "权重不可写"),
    (r"the subject's (.*) could not be found among its weights", r"在权重中没有找到 \1"),
    (r"the subject's attention cannot be called by itself", "attention 无法单独调用"),
    (r"its attention can be neither called nor followed", "attention 既无法单独调用，也无法跟踪"),
    (r"its operations could not be followed: (.*)", r"运算无法跟踪：\1"),
    (
        r"no softmax over the product of two projections was found among its operations",
        "在运算中没有找到作用于两个投影之积的 softmax",
    ),
    (r"the call failed: (.*)", r"调用失败：\1"),
    (r"weights are NaN at logits of 1e6: overflow", "logit 为 1e6 时权重是 NaN：溢出"),
    (
        r"queries and keys are normalised before their product: the scale is another one",
        "q、k 相乘之前已归一化，缩放另有含义",
    ),
    (r"no row has two positive weights", "没有一行有两个正的权重"),
    (r"one token: there is no shorter query", "只有一个 token，没有更短的 query"),
    (r"one token: there is no shorter prefix", "只有一个 token，没有更短的前缀"),
    (r"one token: there is no past", "只有一个 token，没有过去"),
    (r"one sequence: there is nothing to interact with", "只有一个序列，谈不上相互影响"),
    (r"one key/value head: no channel lies outside it", "只有一个 key/value 头，没有头外的通道"),
    (r"a change of Wv does not show: values are ignored", "改动 Wv 没有效果：value 未被使用"),
    (
        r"Wo is not square: the merged heads cannot be shown through it",
        "Wo 不是方阵，无法透过它看到合并后的头",
    ),
    (r"its output has too few bits for it", "输出的位数不足以判断"),
    (r"positions inside attention change q·k", "attention 内部的位置编码改变了 q·k"),
    (r"an attention sink takes some of the weight", "attention sink 分走了部分权重"),
    (
        r"pre-norm without its skip, or post-norm\? say --norm pre or post",
        "是缺了残差的 pre-norm，还是 post-norm？请用 --norm pre 或 post 说明",
    ),
    (r"how many heads are there\? say --heads N", "有多少个头？请用 --heads N 说明"),
    (r"how many channels does x have\? say --width N", "x 有多少个通道？请用 --width N 说明"),
    (r"how many token ids are there\? say --vocab N", "token id 有多少个？请用 --vocab N 说明"),
    (
        r"what is it\? say --kind attention \(q, k, v\), self_attention \(x, no skip\), block \(x\) "
        r"or model \(token ids\)",
        "它是什么？请用 --kind 说明：attention（q、k、v）、self_attention（x，无残差）、block（x）或 model（token id）",
    ),
    (r"output of shape (.*), required: (.*)", r"输出的 shape 是 \1，需要 \2"),
    (r"(\w+): found (.*), required: one of (.*)", r"\1：得到 \2，需要其中之一：\3"),
    (r"(\w+): found (.*), required: a whole number of at least (\d)", r"\1：得到 \2，需要不小于 \3 的整数"),
    (r"(\w+): found (.*), required: a divisor of (\w+) = (\d+)", r"\1：得到 \2，需要能整除 \3 = \4"),
    (
        r"order: found (.*), required: the letters q, k and v, such as qkv",
        r"order：得到 \1，需要由 q、k、v 组成，如 qkv",
    ),
    (r"declared key (.*) is not known; required: some of (.*)", r"不认识声明的 \1；可用的有：\2"),
    (
        r"subject (.*): required: module:attribute or path/file.py:attribute, such as my_gpt.py:Block",
        r"对象 \1：需要 module:attribute 或 path/file.py:attribute，如 my_gpt.py:Block",
    ),
    (r"the call writes into its input; it was given copies", "调用会改写输入；给它的都是副本"),
    (r"the output is (\w+); thresholds were widened to what it can hold", r"输出是 \1；阈值已按其精度放宽"),
    (r"(\w+) parameters were examined as float32", r"\1 参数按 float32 检查"),
    (
        r"its blocks are handed more than x; they were not examined by themselves",
        "它的 block 除 x 外还接受别的输入，没有单独检查",
    ),
    (r"it cannot be built: (.*)", r"无法构造：\1"),
    (r"there is no file (.*)", r"文件 \1 不存在"),
    (r"no module named (.*) for (.*) in (.*)", r"\2 在 \3 中找不到模块 \1"),
    (
        r"(.*) needs the module (.*), which (.*) does not have; install it there, "
        r"or name another interpreter with --python",
        r"\1 需要模块 \2，而 \3 中没有；请在那里安装，或用 --python 指定别的解释器",
    ),
    (r"(.*) has no attribute (.*); it has: (.*)", r"\1 没有 \2；它有：\3"),
    (r"(.*) needs arguments \((.*)\); say how to build it, (.*)", r"\1 需要参数（\2）；请说明如何构造：\3"),
    (r"--init (.*) is not an expression: (.*)", r"--init \1 不是表达式：\2"),
    (r"NumPy is required in (.*), which does not have it; install it", r"\1 中没有 NumPy；请安装"),
    (
        r"the subject is (.*); required: a callable, a torch.nn.Module or a mapping with 'call'",
        r"对象是 \1；需要可调用对象、torch.nn.Module 或带 'call' 的映射",
    ),
    (r"the subject ended the program: (.*)", r"对象结束了程序：\1"),
    (r"the call returned (.*); required: an array of real numbers", r"调用返回 \1；需要实数数组"),
    (
        r"the call returned (\d+) MB; required: at most (\d+) MB for an input this small",
        r"调用返回 \1 MB；这么小的输入最多 \2 MB",
    ),
    (r"the call returned (.*); required: an array", r"调用返回 \1；需要数组"),
    (
        r"the subject did not answer within (\S+) seconds; a longer --timeout may help",
        r"\1 秒内没有回应；可以试试更长的 --timeout",
    ),
    (r"the subject's process died of signal (.*)", r"对象的进程死于信号 \1"),
    (r"the subject ended its process with exit code (\d+)", r"对象以退出码 \1 结束了进程"),
    (
        r"the subject closed the pipe to its own process; required: a subject that leaves other files alone",
        "对象关闭了自己进程的管道；它不得动用别的文件",
    ),
    (
        r"(.*) ended with exit code (\d+) before it answered; required: Python 3.9 or later",
        r"\1 还没有回应就以退出码 \2 结束；需要 Python 3.9 或更高版本",
    ),
    (r"(.*) cannot be used: (.*); required: a Python interpreter", r"\1 无法使用：\2；需要 Python 解释器"),
    (r"--timeout: found (.*), required is more than 0 seconds", r"--timeout：得到 \1，需要大于 0 的秒数"),
    (r"--seed: found (.*), required is 0 or more", r"--seed：得到 \1，需要 0 或更大的整数"),
    (r"found -q and -v, required is one of them", "-q 与 -v 只能选一个"),
    (
        r"--init builds one subject, found several; check them one by one",
        "--init 只能构造一个对象；请逐个检查",
    ),
    (r"--cwd: found no folder (.*), required is a folder", r"--cwd：文件夹 \1 不存在"),
    (r"--json and --junitxml name the same file", "--json 与 --junitxml 是同一个文件"),
)
"""What is said of subjects elsewhere in English, as patterns, and the same in Chinese."""


def translated(text: str, language: str) -> str:
    """A reason, question or cause in one language; what somebody's code said itself stays as it is."""
    for pattern, chinese in REASONS if language == "zh" else ():
        found = re.fullmatch(pattern, text)
        if found:
            return found.expand(chinese)
    return text
