"""What is said of this fault, in English and Chinese."""

from __future__ import annotations

TITLE = {"en": "flipped mask triangle", "zh": "mask 上下三角写反"}
INJECTED = {
    "en": "the triangle of hidden keys is turned over, displaced by one, or aligned to the wrong corner",
    "zh": "mask 三角上下颠倒、错开一格，或对齐到错误的角",
}
SIGNAL = {
    "en": "the current token is ruled by the future, or cut off from itself or its past",
    "zh": "当前 token 被未来位置主导，或看不到自己、看不到过去",
}
REPAIR = {
    "en": "hide the strict upper triangle, s > t; the causality and reach tests pass",
    "zh": "遮住严格上三角（s > t）；因果性与可达性测试通过",
}
FORMULA = "query t sees keys s <= t + (T_k - T_q); everything above that diagonal is hidden"
ENTERS = {
    "en": "in the triangle of the mask (core.mask.causal_mask)",
    "zh": "遮罩的三角（core.mask.causal_mask）",
}
SHAPES = {
    "en": "mask [query, key]; row = query t, column = key s",
    "zh": "mask 为 [query, key]；行是 query t，列是 key s",
}

VARIANTS = {
    "flipped": {"en": "hides the past and shows the future", "zh": "遮住过去，露出未来"},
    "one_too_far": {
        "en": "one future key stays visible (triu with k = 2)",
        "zh": "多露出一个未来位置（triu 的 k 写成 2）",
    },
    "diagonal_lost": {
        "en": "the token itself is hidden too (triu with k = 0)",
        "zh": "连自己也遮住了（triu 的 k 写成 0）",
    },
    "wrong_corner": {
        "en": "with fewer queries than keys the triangle starts at the first key",
        "zh": "query 少于 key 时，三角从第一个 key 开始对齐",
    },
}
