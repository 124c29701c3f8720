"""What is said of this fault, in English and Chinese."""

from __future__ import annotations

TITLE = {"en": "residual branch of the wrong shape or order", "zh": "残差分支 shape 或顺序错误"}
INJECTED = {
    "en": "the skip connection is lost, doubled, broadcast, or taken on the wrong side of the norm, or there is no norm",
    "zh": "残差连接丢失、加了两次、被广播，取在 norm 的错误一侧，或漏掉 norm",
}
SIGNAL = {
    "en": "wrong output shape, or a broken training signal",
    "zh": "block 输出维度错误，或训练信号断裂",
}
REPAIR = {
    "en": "x + branch(norm(x)); the residual and norm contracts and the ablation pass",
    "zh": "x + branch(norm(x))；残差/norm 契约与消融通过",
}
FORMULA = "x + Attention(Norm(x));  x + FFN(Norm(x))"
ENTERS = {
    "en": "where a sublayer's output joins the stream (core.residual.pre_norm), and where the sublayers follow "
    "each other (core.residual.compose)",
    "zh": "子层输出并入残差流之处（core.residual.pre_norm），以及两个子层衔接之处（core.residual.compose）",
}
SHAPES = {
    "en": "x, branch and sum are all [batch, token, channel]",
    "zh": "x、分支输出与相加结果都是 [batch, token, channel]",
}

VARIANTS = {
    "dropped": {"en": "the skip is left out: branch(norm(x))", "zh": "漏掉残差：branch(norm(x))"},
    "doubled": {
        "en": "the skip is added twice: x + x + branch(norm(x))",
        "zh": "残差加了两次：x + x + branch(norm(x))",
    },
    "after_norm": {
        "en": "the skip is taken after the norm: norm(x) + branch(norm(x))",
        "zh": "残差取自 norm 之后：norm(x) + branch(norm(x))",
    },
    "post_norm": {
        "en": "post-norm in a pre-norm block: norm(x + branch(x))",
        "zh": "pre-norm block 写成了 post-norm：norm(x + branch(x))",
    },
    "broadcast": {
        "en": "the first token's skip is silently broadcast to all tokens",
        "zh": "只取第一个 token 的残差，被静默广播到所有 token",
    },
    "ffn_from_input": {
        "en": "the feed-forward skip starts at the block's input instead of after attention",
        "zh": "FFN 的残差取自 block 输入，而不是 attention 子层之后",
    },
    "ffn_from_branch": {
        "en": "the feed-forward branch reads what attention gave, without the skip",
        "zh": "FFN 分支只读 attention 的输出，没有加上残差",
    },
    "sequence_first": {
        "en": "the branch comes back as [token, batch, channel]",
        "zh": "分支输出的形状变成 [token, batch, channel]",
    },
    "joined": {
        "en": "the branch is joined along the channels instead of added",
        "zh": "分支沿通道拼接，而不是相加",
    },
    "norm_unused": {
        "en": "the norm is made and never called: x + branch(x)",
        "zh": "造了 norm 却没有调用：x + branch(x)",
    },
}
