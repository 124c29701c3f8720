"""What is said of this fault, in English and Chinese."""

from __future__ import annotations

TITLE = {"en": "mask adds 0 instead of minus infinity", "zh": "mask 加 0 而不是负无穷"}
INJECTED = {
    "en": "future scores get 0, 1e-9, -1e4 or nothing added, or the mask comes after the softmax",
    "zh": "未来位置的 score 只加了 0、1e-9、-1e4 或什么都没加，或在 softmax 之后才遮罩",
}
SIGNAL = {
    "en": "probability on the future > 0, the future leaks",
    "zh": "未来位置概率非零，未来信息泄漏",
}
REPAIR = {
    "en": "add minus infinity where hidden, before the softmax; the future-token difference is back at 0",
    "zh": "softmax 之前在被遮位置加负无穷；future-token 扰动差回到 0",
}
FORMULA = "M[t, s] = 0 where s <= t, -inf where s > t;  softmax(Q K^T / sqrt(d_k) + M)"
ENTERS = {
    "en": "in the additive mask (core.mask.causal_mask) and where it is added (core.attention.add_mask)",
    "zh": "加性遮罩本身（core.mask.causal_mask）与加上遮罩之处（core.attention.add_mask）",
}
SHAPES = {
    "en": "mask [query, key], broadcast to scores [batch, head, query, key]",
    "zh": "mask 为 [query, key]，广播到 score 的 [batch, head, query, key]",
}

VARIANTS = {
    "zero": {"en": "adds 0 where it should hide", "zh": "该遮住的位置加 0"},
    "tiny": {"en": "adds 1e-9, the sign of the exponent slipped", "zh": "加 1e-9（-1e9 的指数写错符号）"},
    "one": {
        "en": "the 0/1 keep mask itself is added to the scores",
        "zh": "把 0/1 的可见遮罩直接加到 score 上",
    },
    "missing": {"en": "the mask is built and never added", "zh": "造了遮罩却没有加上"},
    "weak": {"en": "adds -1e4: holds until a logit is larger", "zh": "加 -1e4：logit 更大时就挡不住"},
    "after_softmax": {
        "en": "weights are multiplied by the mask after the softmax, not normalised again",
        "zh": "softmax 之后才把权重乘以遮罩，且不再归一化",
    },
}
