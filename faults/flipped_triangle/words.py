"""What is said of this fault, in English and Chinese."""

from __future__ import annotations

TITLE = {"en": "flipped mask triangle", "zh": "mask 上下三角写反"}
INJECTED = {
    "en": "the triangle of hidden keys is turned over, inverted, displaced by one, aligned to the wrong corner, or has "
    "wrong rows",
    "zh": "mask 三角上下颠倒、取反、错开一格、对齐到错误的角，或某些行错误",
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
    "inverted": {
        "en": "the keep mask is read as a hide mask: only later tokens are seen",
        "zh": "把可见遮罩当作遮挡遮罩：只看得到后面的 token",
    },
    "kept_hidden": {
        "en": "-1e9 times the keep mask is added: what should be seen is hidden",
        "zh": "加上 -1e9 乘以可见遮罩：该看到的反而被遮住",
    },
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
    "first_row": {
        "en": "every row is the first one: all tokens see the first token alone",
        "zh": "每一行都是第一行：所有 token 只看得到第一个 token",
    },
    "late_rows": {
        "en": "the mask was made for two queries, all later rows hide everything",
        "zh": "遮罩只为两个 query 而造，之后的行全部被遮住",
    },
}
