"""What is said of subjects elsewhere in English, and the same in Chinese."""

from __future__ import annotations

import re

REASONS: tuple[tuple[str, str], ...] = (
    (r"it can be called", "可以调用"),
    (r"its weights can be written", "权重可写"),
    (r"its attention can be called by itself", "attention 可单独调用"),
    (r"its operations could be followed", "可以跟踪其运算"),
    (r"it takes a padding mask", "可以传入填充遮罩"),
    (r"no padding mask is declared; say --padding NAME", "没有声明填充遮罩；请用 --padding NAME 说明"),
    (r"it takes a cache", "可以带缓存调用"),
    (r"no cache is declared; give 'step' beside 'call'", "没有声明缓存；请在 call 之外给出 step"),
    (r"one token: there is nothing to continue with", "只有一个 token，无从续接"),
    (
        r"the step returned (.*); required: \(output, cache\)",
        r"step 返回 \1；需要两项：output, cache",
    ),
    (
        r"after a step the call fails: (.*); required: a step that leaves the call as it was, "
        r"such as one on a copy of the model",
        r"step 之后 call 失败：\1；step 不得改变 call，可用模型的一份副本",
    ),
    (
        r"the step returned None as its cache; required: something else, since None begins another sequence",
        "step 返回的缓存是 None；需要别的值，因为 None 表示新序列的开始",
    ),
    (
        r"its step failed on several tokens at once and was given one at a time: (.*)",
        r"一次给多个 token 时 step 失败，因而逐个给出：\1",
    ),
    (
        r"its step cannot be called: (.*); required: a function \(x or ids, cache\) -> \(output, cache\)",
        r"step 无法调用：\1；需要函数 f(x, cache)，返回 output 与 cache 两项",
    ),
    (
        r"it cannot be called with (\w+): (.*); required: the name of an argument for a padding mask "
        r"\[batch, token\]",
        r"带参数 \1 无法调用：\2；需要接受填充遮罩 [batch, token] 的参数名",
    ),
    (
        r"it takes no padding mask of the form (\w+): (.*); required: --padding-form keep or hide",
        r"它不接受 \1 形式的填充遮罩：\2；请用 --padding-form keep 或 hide",
    ),
    (
        r"it takes no padding mask of the form (\w+): (.*); required: --padding-form ones",
        r"它不接受 \1 形式的填充遮罩：\2；请用 --padding-form ones",
    ),
    (
        r"'step' has the type (.*); required: a function \(x or ids, cache\) -> \(output, cache\)",
        r"step 的类型是 \1；需要函数 f(x, cache)，返回 output 与 cache 两项",
    ),
    (
        r"'norms' has the type (.*); required: a mapping of names to functions of x",
        r"norms 的类型是 \1；需要从名称到 x 的函数的映射",
    ),
    (
        r"the norm (.*) has the type (.*); required: a function x -> y",
        r"归一化 \1 的类型是 \2；需要函数 x -> y",
    ),
    (r"its norm (.*) cannot be called by itself: (.*)", r"归一化 \1 无法单独调用：\2"),
    (r"norm (.*): the call returned (.*); required: an array.*", r"归一化 \1 返回 \2；需要实数数组"),
    (r"one token: there is nothing to pad", "只有一个 token，无从填充"),
    (r"too few tokens: behind padding there is no past", "token 太少：填充之后没有过去"),
    (
        r"padding: found (.*), required: the name of an argument, such as attention_mask",
        r"padding：得到 \1，需要参数名，如 attention_mask",
    ),
    (r"its norms can be called by themselves", "归一化可单独调用"),
    (r"no norm inside it can be called by itself", "其中没有可单独调用的归一化"),
    (r"its norm gives hardly anything but its bias", "它的归一化几乎只给出偏置"),
    (
        r"its norm is no layer norm and no RMS norm of single tokens",
        "它的归一化既不是逐 token 的 LayerNorm，也不是 RMSNorm",
    ),
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
    (r"the call failed", "调用失败"),
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
    (
        r"it answers for the last token alone: no later token was in the call",
        "它只给出最后一个 token 的输出：调用中没有更后面的 token",
    ),
    (r"an attention sink takes some of the weight", "attention sink 分走了部分权重"),
    (r"a subject of kind (\w+) has no residual", r"\1 类对象没有残差"),
    (r"a subject of kind (\w+) is given its heads", r"\1 类对象的各个头由调用者给出"),
    (r"it changes nothing at the declared sizes", "在所声明的尺寸下它什么都不改变"),
    (
        r"there is not enough memory for inputs of the declared sizes; declare smaller ones",
        "内存不足以容纳所声明尺寸的输入；请声明更小的尺寸",
    ),
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
    (r"(\w+): found (.*), required: a whole number of at least (\d+)", r"\1：得到 \2，需要不小于 \3 的整数"),
    (r"(\w+): found (.*), required: a whole number of at most (\d+)", r"\1：得到 \2，需要不大于 \3 的整数"),
    (
        r"width: found 1, required: a whole number of at least 2; one channel shows no norm and no scale",
        "width：得到 1，需要不小于 2 的整数；只有一个通道时看不出归一化和缩放",
    ),
    (
        r"vocab: found 1, required: a whole number of at least 2; one token id cannot be replaced by another",
        "vocab：得到 1，需要不小于 2 的整数；只有一个 token id 时无从替换",
    ),
    (
        r"max_length: found 1, required: a whole number of at least 2; one token shows no mask and no attention",
        "max_length：得到 1，需要不小于 2 的整数；只有一个 token 时看不出遮罩和 attention",
    ),
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
    (r"this machine cannot run it in (\w+)", r"这台机器无法用 \1 运行它"),
    (r"one call in (\w+) itself gave finite numbers", r"直接用 \1 调用一次，得到的全是有限值"),
    (r"in its own (\w+)", r"使用它自己的 \1 时"),
    (
        r"none of its repeated parts is a block that takes x alone; none was examined by itself",
        "重复的部分中没有只接受 x 的 block，因而没有单独检查",
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
"""As patterns, and what each becomes."""


def translated(text: str, language: str) -> str:
    """A reason, question or cause in one language; what somebody's code said itself stays as it is."""
    for pattern, chinese in REASONS if language == "zh" else ():
        found = re.fullmatch(pattern, text)
        if found:
            return found.expand(chinese)
    return text
