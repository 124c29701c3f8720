"""What is said of this fault, in English and Chinese."""

from __future__ import annotations

TITLE = {"en": "missing 1/sqrt(d_k)", "zh": "忘记除以 sqrt(d_k)"}
INJECTED = {
    "en": "scores are divided by nothing, by another number than sqrt(d_k), by it twice, or after the softmax",
    "zh": "score 没有除以 sqrt(d_k)、除以了别的数、除了两次，或在 softmax 之后才除",
}
SIGNAL = {
    "en": "softmax near one-hot, the gradient vanishes (divided by too much: softmax near flat)",
    "zh": "softmax 趋近 one-hot，梯度消失（除得过多时：softmax 趋于平坦）",
}
REPAIR = {
    "en": "scale right after the dot product; logit slope 1/sqrt(d_k) and the scale ablation agree",
    "zh": "点积后立刻缩放；logit 斜率等于 1/sqrt(d_k)，scale 消融对拍通过",
}
FORMULA = "softmax(Q K^T / sqrt(d_k) + M) V"
ENTERS = {
    "en": "between the dot product and the mask (core.attention.scale)",
    "zh": "点积与遮罩之间（core.attention.scale）",
}
SHAPES = {
    "en": "scores [batch, head, query, key]; d_k is the channel count of one head, not of the model",
    "zh": "score 为 [batch, head, query, key]；d_k 是单个头的通道数，不是模型宽度",
}

VARIANTS = {
    "absent": {"en": "no scale at all", "zh": "完全没有缩放"},
    "by_model_width": {"en": "divided by sqrt(D), the model width", "zh": "除以 sqrt(D)，即模型宽度的平方根"},
    "by_heads": {"en": "divided by sqrt(H), the number of heads", "zh": "除以 sqrt(H)，即头数的平方根"},
    "by_keys": {"en": "divided by sqrt(T), the number of keys", "zh": "除以 sqrt(T)，即 key 个数的平方根"},
    "twice": {"en": "divided by sqrt(d_k) twice", "zh": "除以 sqrt(d_k) 两次"},
    "reciprocal": {"en": "multiplied by sqrt(d_k)", "zh": "乘以 sqrt(d_k)"},
    "after_softmax": {
        "en": "the weights, not the scores, are divided by sqrt(d_k)",
        "zh": "缩放加在 softmax 之后的权重上",
    },
    "each_block": {
        "en": "multiplied by log2(e) once more at every block of keys",
        "zh": "每处理一块 key 就再乘一次 log2(e)",
    },
}
