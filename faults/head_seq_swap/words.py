"""What is said of this fault, in English and Chinese."""

from __future__ import annotations

TITLE = {"en": "head and sequence axes confused", "zh": "多头 reshape 时 head 与序列维混淆"}
INJECTED = {
    "en": "split or merge reshapes without moving the head axis, heads are taken for the batch, or repeated in the wrong "
    "order",
    "zh": "拆分或合并时只 reshape、没有移动 head 维，把 head 当作 batch，或 kv 头的重复顺序错误",
}
SIGNAL = {
    "en": "the merge fails, or the weighting is scrambled",
    "zh": "拼回时 shape 报错，或注意力加权错位",
}
REPAIR = {
    "en": "move the head axis in front of the tokens before the matmul; parity with heads computed one by one",
    "zh": "先把 head 维移到 batch 维后面，再做 matmul；与逐头参考对拍通过",
}
FORMULA = "[batch, token, head * channel] -> reshape [batch, token, head, channel] -> transpose [batch, head, token, channel]"
ENTERS = {
    "en": "in the split and the merge of heads (core.heads.split_heads, merge_heads, repeat_heads)",
    "zh": "头的拆分与合并（core.heads.split_heads、merge_heads、repeat_heads）",
}
SHAPES = {
    "en": "split: [batch, token, D] -> [batch, head, token, d_k]; merge: the way back; D = H * d_k",
    "zh": "拆分：[batch, token, D] -> [batch, head, token, d_k]；合并为其逆；D = H * d_k",
}

VARIANTS = {
    "both": {
        "en": "split and merge are plain reshapes to [batch, head, token, channel] and back",
        "zh": "拆分与合并都直接 reshape 成 [batch, head, token, channel] 再变回",
    },
    "split": {"en": "the split is a plain reshape, the merge is right", "zh": "拆分直接 reshape，合并正确"},
    "merge": {"en": "the merge is a plain reshape, the split is right", "zh": "合并直接 reshape，拆分正确"},
    "untransposed": {
        "en": "the head axis stays behind the tokens: attention runs across heads",
        "zh": "head 维一直留在 token 之后：attention 在头之间进行",
    },
    "tiled": {
        "en": "key/value heads are tiled (0 1 0 1) instead of repeated (0 0 1 1)",
        "zh": "kv 头被平铺（0 1 0 1），而不是逐个重复（0 0 1 1）",
    },
    "batch": {
        "en": "[batch * head] is read as [head, batch] before the merge: sequences mix",
        "zh": "合并前把 [batch * head] 读成 [head, batch]：序列之间混淆",
    },
    "stacked": {
        "en": "heads are stacked in front of the batch and read without moving them back",
        "zh": "各头叠在 batch 之前，没有移回就直接 reshape",
    },
}
