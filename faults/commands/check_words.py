"""What `faults check --help` says of each option, and the flags that declare something of a subject."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from faults.model import Text

HELP: dict[str, Text] = {
    "subjects": {
        "en": "module:attribute or path/file.py:attribute: a callable, a torch.nn.Module, a mapping with 'call', "
        "or a class or function without arguments that makes one",
        "zh": "module:attribute 或 path/file.py:attribute：可调用对象、torch.nn.Module、带 call 的映射，"
        "或无需参数即可得到它们的类或函数",
    },
    "init": {
        "en": 'expression in the subject\'s module that builds it, such as "GPT(Config(n_layer=2))"',
        "zh": '在该模块中构造对象的表达式，如 "GPT(Config(n_layer=2))"',
    },
    "python": {
        "en": "interpreter of the subject's environment (default: the one that runs this)",
        "zh": "对象所在环境的 Python 解释器（默认用当前的）",
    },
    "cwd": {"en": "working directory of the subject's process", "zh": "对象进程的工作目录"},
    "timeout": {
        "en": "seconds that one call may take (default %(default)g)",
        "zh": "单次调用的时限，秒（默认 %(default)g）",
    },
    "strict": {
        "en": "exit 1 for fragile and undecided subjects too, which exit 0 otherwise; undecided: nothing is broken, "
        "but one of the five faults could not be looked for",
        "zh": "脆弱或无法判定的对象也以 1 退出（否则以 0 退出）；无法判定：没有发现问题，但五种故障中有的无法检查",
    },
    "seed": {"en": "seed of all inputs (default %(default)s)", "zh": "全部输入的种子（默认 %(default)s）"},
    "json": {"en": "also write the result as JSON", "zh": "另存结果为 JSON"},
    "junitxml": {"en": "also write the result as JUnit XML", "zh": "另存结果为 JUnit XML"},
    "format": {
        "en": "table format of tabulate, such as github, html, grid (default: drawn for a terminal)",
        "zh": "tabulate 的表格格式，如 github、html、grid（默认按终端绘制）",
    },
    "quiet": {"en": "print one line for each subject", "zh": "每个对象只输出一行"},
    "verbose": {"en": "also print what each contract says", "zh": "另外输出每条契约的含义"},
}


@dataclass(frozen=True)
class Flag:
    """One declared key as an option."""

    key: str
    help: Text
    kind: Callable[[str], object] = str
    choices: tuple[str, ...] | None = None
    metavar: str | None = None
    switch: bool = False

    @property
    def option(self) -> str:
        return "--" + self.key.replace("_", "-")


def item(text: str) -> int | str:
    """An index where the text is one, else a name."""
    return int(text) if text.isdecimal() else text


FLAGS: tuple[Flag, ...] = (
    Flag(
        "kind",
        {
            "en": "what it is: q, k, v -> output; x -> output without skip; x -> y; token ids -> logits",
            "zh": "它是什么：q、k、v → 输出；x → 输出（无残差）；x → y；token id → logits",
        },
        choices=("attention", "self_attention", "block", "model"),
    ),
    Flag(
        "causal",
        {"en": "no token may see the future (default: yes)", "zh": "token 不得看到未来（默认是）"},
        switch=True,
    ),
    Flag(
        "norm",
        {"en": "norm before or after each branch", "zh": "归一化在分支之前或之后"},
        choices=("pre", "post"),
    ),
    Flag(
        "norm_kind",
        {"en": "LayerNorm, or RMSNorm (default)", "zh": "LayerNorm，或 RMSNorm（默认）"},
        choices=("layer", "rms"),
    ),
    Flag("heads", {"en": "number of query heads", "zh": "query 头数"}, int, metavar="N"),
    Flag("kv_heads", {"en": "number of key/value heads", "zh": "key/value 头数"}, int, metavar="N"),
    Flag("width", {"en": "channels of the model", "zh": "模型宽度（通道数）"}, int, metavar="N"),
    Flag("vocab", {"en": "number of token ids", "zh": "token id 个数"}, int, metavar="N"),
    Flag("max_length", {"en": "most tokens it takes", "zh": "最多接受的 token 数"}, int, metavar="N"),
    Flag(
        "layout",
        {
            "en": "axes of attention's arrays: batch, head, token, channel",
            "zh": "attention 数组的轴：batch、head、token、channel",
        },
        choices=("bhtc", "bthc"),
    ),
    Flag(
        "order",
        {"en": "order of query, key and value, such as kqv", "zh": "query、key、value 的顺序，如 kqv"},
        metavar="QKV",
    ),
    Flag(
        "mask",
        {
            "en": "mask that it takes as fourth argument: added, or True where to keep or to hide",
            "zh": "第四个参数的遮罩：相加，或用 True 表示保留／隐藏",
        },
        choices=("none", "additive", "keep", "hide"),
    ),
    Flag(
        "padding",
        {
            "en": "name of the argument that takes a padding mask [batch, token] (default: padding is not examined)",
            "zh": "接受填充遮罩 [batch, token] 的参数名（默认不检验填充）",
        },
        metavar="NAME",
    ),
    Flag(
        "padding_form",
        {
            "en": "padding mask as True for real tokens (default) or for padding, or as integers, 1 for real tokens",
            "zh": "填充遮罩：True 表示真实 token（默认）或填充，或用整数 1 表示真实 token",
        },
        choices=("keep", "hide", "ones"),
    ),
    Flag(
        "positions",
        {"en": "how it knows positions", "zh": "位置信息的方式"},
        choices=("none", "learned", "sinusoidal", "rope", "alibi"),
    ),
    Flag(
        "cached",
        {
            "en": "attention takes fewer queries than keys, the last ones (default: not asked)",
            "zh": "attention 可用少于 key 的 query（取最后几个；默认不检验）",
        },
        switch=True,
    ),
    Flag(
        "window",
        {
            "en": "keys each token sees, its own included (0: all)",
            "zh": "每个 token 能看到的 key 数，含自身（0 为全部）",
        },
        int,
        metavar="N",
    ),
    Flag(
        "design",
        {
            "en": "one or several of sequential, parallel, sandwich, scaled, sink, qk_norm, with commas",
            "zh": "sequential、parallel、sandwich、scaled、sink、qk_norm 中的一个或几个，用逗号分隔",
        },
        metavar="WORDS",
    ),
    Flag(
        "output",
        {"en": "index or name of the result in what it returns", "zh": "返回值中结果的下标或名称"},
        item,
        metavar="ITEM",
    ),
    Flag("dtype", {"en": "of the inputs", "zh": "输入的数据类型"}, choices=("float32", "float64")),
    Flag(
        "framework",
        {"en": "of the arrays it takes", "zh": "它接受的数组所属框架"},
        choices=("numpy", "torch", "jax"),
    ),
)
"""One option for each declared key."""
