"""What was done instead: the end of a sentence that begins with "your function"."""

from __future__ import annotations

from faults.evidence_model import said

INSTEAD = {
    "other": said("returns its arrays in another order", "返回数组的顺序不对"),
    "no_bias": said("forgets the bias", "漏加偏置"),
    "early_scale": said('scales the scores already in "scores"', '在 "scores" 里就已经缩放'),
    "swapped_axes": said('has query and key axes swapped in "scores"', '的 "scores" 交换了 query 与 key 轴'),
    "unscaled": said("does not divide by sqrt(d) (missing_scale)", "没有除以 √d（missing_scale）"),
    "by_d": said("divides by d, not by sqrt(d) (missing_scale)", "除以了 d 而不是 √d（missing_scale）"),
    "times": said("multiplies by sqrt(d) (missing_scale)", "乘以了 √d（missing_scale）"),
    "by_width": said(
        "divides by sqrt(D), not by sqrt(d) (missing_scale)", "除以了 √D 而不是 √d（missing_scale）"
    ),
    "dropped": said("drops the skip connection (residual_shape)", "丢掉了残差连接（residual_shape）"),
    "normed_skip": said(
        "adds the normalised x, not x itself (residual_shape)",
        "加的是归一化后的 x，不是 x 本身（residual_shape）",
    ),
    "post_norm": said(
        "is post-norm: Norm(x + branch(x)) (residual_shape)",
        "是 post-norm：Norm(x + branch(x))（residual_shape）",
    ),
    "late_norm": said(
        "normalises what the branch returns, not what it reads (residual_shape)",
        "归一化的是分支的输出，而不是输入（residual_shape）",
    ),
    "no_norm": said("does not normalise (residual_shape)", "没有归一化（residual_shape）"),
    "doubled": said("adds x twice (residual_shape)", "把 x 加了两次（residual_shape）"),
    "no_relu": said("has no ReLU", "没有 ReLU"),
    "own_skip": said("adds x: the residual does that", "自己加了 x：那是残差的事"),
    "no_b1": said("forgets the bias b1", "漏加偏置 b1"),
    "no_b2": said("forgets the bias b2", "漏加偏置 b2"),
    "no_bo": said("forgets the bias bo", "漏加偏置 bo"),
    "cut": said(
        "drops the skip connection around attention (residual_shape)",
        "丢掉了 attention 的残差连接（residual_shape）",
    ),
    "no_feed": said("has no FFN sublayer", "缺少 FFN 子层"),
    "no_attention": said("has no attention sublayer", "缺少 attention 子层"),
    "other_norms": said("swaps the two normalisations", "用反了两个归一化的参数"),
    "feed_from_x": said(
        "feeds x to the FFN, not what attention left (residual_shape)",
        "把 x 而不是 attention 之后的结果送进 FFN（residual_shape）",
    ),
    "sum": said("is the sum, not the mean", "求的是和，不是平均"),
    "bits": said("is in bits, not in nats", "单位是 bit，不是 nat"),
    "negative": said("has the wrong sign", "符号反了"),
}
