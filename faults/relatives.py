"""What else the contracts can tell: defects that are not one of the five, with what they look like.

A relative is named only where its signature lies nearer than every signature of the five.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from detectors.diagnosis import Expected
from faults.model import Text


@dataclass(frozen=True)
class Look:
    """One way in which a relative shows: the contracts that fire, and the visibility patterns."""

    variant: str
    fires: frozenset[str]
    patterns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Relative:
    """A named defect outside the registry: what is wrong, and what to do about it."""

    name: str
    wrong: Text
    repair: Text
    looks: tuple[Look, ...]


NOISE = frozenset(
    {
        "repeatability", "batch", "future", "prefix", "gradient_flow", "attention_branch", "feed_forward_branch",
        "order", "isolation",
    }
)  # fmt: skip
"""What noise breaks: everything that compares two calls."""

IN_ATTENTION = frozenset(
    {"repeatability", "rows", "self_weight", "first_token", "zero_query", "short_queries", "duplication"}
)
"""The same for attention by itself, where the noise falls on the weights."""

NOTHING_SEEN = {"block": "nothing", "attention": "nothing", "huge": "nothing", "short": "nothing"}

IN_ROWS = {"block": "scrambled", "attention": "scrambled", "huge": "scrambled", "short": "scrambled"}
"""Some queries see nothing, as when their row of weights is no number."""

RELATIVES: tuple[Relative, ...] = (
    Relative(
        "not_repeatable",
        {
            "en": "the output changes from call to call, as with dropout that is alive outside training",
            "zh": "同样的输入每次输出不同，例如评估时 dropout 仍在起作用",
        },
        {
            "en": "apply dropout only while training: pass training=self.training, or dropout_p=0 otherwise",
            "zh": "只在训练时用 dropout：传入 training=self.training，否则 dropout_p=0",
        },
        (
            Look("anywhere", NOISE | {"skip"}, {"block": "full"}),
            Look("in_attention", NOISE, {"block": "full"}),
            Look("in_weights", NOISE | {"rows", "first_token", "zero_query"}, {"block": "full"}),
            Look("rare", frozenset({"repeatability"})),
            Look("in_attention_alone", IN_ATTENTION),
        ),
    ),
    Relative(
        "rows_interact",
        {
            "en": "the sequences of a batch change each other's outputs",
            "zh": "同一 batch 内的序列相互影响",
        },
        {
            "en": "check which axis is the batch: batch_first=True for [batch, token, channel], norms over channels",
            "zh": "检查哪一轴是 batch：[batch, token, channel] 需要 batch_first=True，归一化只沿通道轴",
        },
        (
            Look("mixed", frozenset({"batch"})),
            Look("over_the_batch", frozenset({"batch", "reach"}), {"block": "scrambled"}),
            Look(
                "over_the_batch_seen_inside",
                frozenset({"batch", "reach", "future_weight"}),
                {"block": "scrambled"},
            ),
            Look(
                "over_the_batch_under_a_mask",
                frozenset({"batch", "future", "attention_branch", "order"}),
                {"block": "full"},
            ),
            Look(
                "norm_over_the_batch",
                frozenset({"batch", "prefix", "order", "attention_branch", "feed_forward_branch"}),
            ),
            Look("and_over_tokens", frozenset({"batch", "future", "prefix"}), {"block": "full"}),
        ),
    ),
    Relative(
        "softmax_axis",
        {
            "en": "the softmax runs over the wrong axis: columns of the weights sum to 1, rows do not",
            "zh": "softmax 沿错误的轴计算：权重按列而不是按行归一",
        },
        {
            "en": "take the softmax over the keys, the last axis of [batch, head, query, key]: dim=-1",
            "zh": "softmax 沿 key 轴，即 [batch, head, query, key] 的最后一轴：dim=-1",
        },
        (
            Look("over_queries", frozenset({"axis", "rows", "future", "prefix"}), {"block": "full"}),
            Look(
                "over_queries_alone",
                frozenset(
                    {"axis", "rows", "first_token", "zero_query", "short_queries", "slope", "duplication"}
                ),
            ),
            Look(
                "over_queries_in_a_block",
                frozenset({"axis", "rows", "first_token", "zero_query", "slope", "future", "prefix"}),
                {"block": "full"},
            ),
            Look("over_heads", frozenset({"axis", "rows"})),
            Look("over_queries_unmasked", frozenset({"rows", "slope", "axis"})),
            Look("over_all", frozenset({"rows", "slope"})),
            Look("over_heads_unmasked", frozenset({"rows", "zero_query", "slope"})),
            Look("over_heads_masked", frozenset({"rows", "first_token", "zero_query", "slope"})),
        ),
    ),
    Relative(
        "not_finite",
        {
            "en": "the output is not finite: NaN or infinity on ordinary input",
            "zh": "普通输入就得到 NaN 或无穷大",
        },
        {
            "en": "look for a row in which every key is hidden, and for a fill that the dtype cannot hold",
            "zh": "检查是否有整行都被遮住，以及填充值是否超出数据类型的范围",
        },
        (
            # Contracts that give NaN are not counted: left are those that ask which weights are above 0.
            Look("in_places", frozenset({"finite"})),
            Look("everywhere", frozenset({"finite", "reach", "self_weight"}), NOTHING_SEEN),
            Look("in_rows", frozenset({"finite", "reach", "self_weight"}), IN_ROWS),
        ),
    ),
    Relative(
        "attention_disconnected",
        {
            "en": "attention does not reach the output: no earlier token matters",
            "zh": "attention 没有接到输出：前面的 token 都不起作用",
        },
        {
            "en": "add the attention branch to the stream, and check that its output weight is not zero",
            "zh": "把 attention 分支加回主干，并确认它的输出权重不为零",
        },
        (
            Look("seen_from_outside", frozenset({"reach"}), {"block": "scrambled"}),
            Look("input_ignored", frozenset({"reach"}), {"block": "nothing"}),
            Look("nothing_in_the_branch", frozenset({"reach", "attention_branch"}), {"block": "scrambled"}),
        ),
    ),
    Relative(
        "branch_without_norm",
        {
            "en": "a branch does not read its input through a norm, or gives nothing",
            "zh": "某个分支没有经过归一化读取输入，或者没有输出",
        },
        {
            "en": "pre-norm is x + branch(norm(x)), for attention and for the feed-forward network",
            "zh": "pre-norm 写作 x + branch(norm(x))，attention 与 FFN 都如此",
        },
        (
            Look("feed_forward", frozenset({"feed_forward_branch", "skip"})),
            Look("feed_forward_silent", frozenset({"feed_forward_branch"})),
            Look("attention", frozenset({"attention_branch", "skip"})),
            Look("attention_quietly", frozenset({"attention_branch"})),
        ),
    ),
    Relative(
        "norm_differs",
        {
            "en": "a norm does not divide by sqrt(var + eps): eps is outside the root, the variance unbiased, "
            "or taken over tokens too",
            "zh": "归一化的除数不是 sqrt(var + eps)：eps 在根号外、用了无偏方差，或连 token 轴也算在内",
        },
        {
            "en": "write (x - mean) / sqrt(var + eps) over the channels, with var the mean of the squares",
            "zh": "沿通道轴写 (x - mean) / sqrt(var + eps)，其中 var 是平方的平均（unbiased=False）",
        },
        (Look("formula", frozenset({"norm_formula"})),),
    ),
    Relative(
        "tokens_mixed",
        {
            "en": "something besides attention mixes the tokens, such as a norm over the token axis",
            "zh": "attention 之外还有东西混合了各个 token，例如沿 token 轴的归一化",
        },
        {
            "en": "norms and feed-forward networks work on each token alone: normalise the last axis only",
            "zh": "归一化与 FFN 只作用于单个 token：只沿最后一轴归一化",
        },
        (
            Look(
                "seen_beside_attention",
                frozenset({"future", "prefix"}),
                {"block": "full", "attention": "causal"},
            ),
        ),
    ),
    Relative(
        "padding_ignored",
        {
            "en": "the padding mask is ignored, inverted, on the wrong axis, of the wrong shape, or hides real tokens",
            "zh": "填充遮罩被忽略、取反、放错了轴、形状不对，或者遮住了真实 token",
        },
        {
            "en": "hide the keys that are padding: scores.masked_fill(~keep[:, None, None, :], -1e9), keep True for "
            "real tokens",
            "zh": "遮住作为 key 的填充：scores.masked_fill(~keep[:, None, None, :], -1e9)，keep 在真实 token 处为 True",
        },
        (
            Look("ignored", frozenset({"padding"})),
            Look("on_the_queries", frozenset({"padding", "padded_rows"})),
            Look("inverted", frozenset({"padding", "padded_reach"})),
            Look("hides_real_tokens", frozenset({"padded_reach"})),
            Look("does_not_fit", frozenset({"padding", "padded_reach", "padded_rows", "shape"})),
        ),
    ),
    Relative(
        "padding_nan",
        {
            "en": "rows that see nothing, such as padding before the first real token, are not finite",
            "zh": "什么也看不到的行（如第一个真实 token 之前的填充）不是有限值",
        },
        {
            "en": "fill with a large negative number that is finite, or give these rows 0 after the softmax",
            "zh": "用有限的大负数填充，或在 softmax 之后把这些行置 0",
        },
        (
            Look("in_rows", frozenset({"padded_rows"})),
            # A padding contract that gives NaN is not counted.
            Look("everywhere", frozenset({"padded_rows", "padded_reach"})),
        ),
    ),
    Relative(
        "cache_differs",
        {
            "en": "with a cache, token by token, the outputs are not those of the full pass",
            "zh": "带缓存逐个输入 token 时，输出与一次前向不同",
        },
        {
            "en": "append every new key and value, and count positions, rotations and the mask from the cache's length",
            "zh": "每步把新的 key 和 value 追加到缓存；位置、旋转和遮罩都从缓存长度开始计",
        },
        (
            Look("differs", frozenset({"cache"})),
            Look("does_not_fit", frozenset({"cache", "shape"})),
        ),
    ),
)


OTHERWISE: tuple[Expected, ...] = (
    Expected(
        "head_seq_swap",
        "untransposed",
        frozenset({"isolation", "reach", "future_weight"}),
        {"block": "scrambled"},
    ),
    Expected(
        "flipped_triangle",
        "diagonal_lost",
        frozenset({"future", "prefix", "future_weight", "self_weight", "first_token", "zero_query"}),
        {"block": "scrambled", "attention": "scrambled"},
    ),
    Expected("residual_shape", "ffn_from_branch", frozenset({"order", "feed_forward_branch"}), {}),
)
"""Variants of the five as they look when the code around them differs from the reference block: heads attend to each
other without a mask, so that nothing raises; a first row that hides every key is filled with -1e9 and sees them all;
without biases a feed-forward network that reads a silent attention branch alone is silent too."""


def expected() -> tuple[Expected, ...]:
    """The table of expected signatures, one row per look."""
    return tuple(
        Expected(relative.name, look.variant, look.fires, look.patterns)
        for relative in RELATIVES
        for look in relative.looks
    )


def find(name: str) -> Relative | None:
    """The relative of that name; None for one of the five and for anything else."""
    return next((relative for relative in RELATIVES if relative.name == name), None)
