"""The questions of the self-test and the sentences of the answers, with places for the figures."""

from __future__ import annotations

from faults.model import Text

QUESTIONS: dict[str, Text] = {
    "shapes": {
        "en": "Start from x of shape (B, T, D). Say the shape of Q/K/V, score, mask, softmax, head merge and output projection.",
        "zh": "以 (B, T, D) 为起点，逐步说出 Q/K/V、score、mask、softmax、多头合并和输出投影的 shape。",
    },
    "axes": {
        "en": "Which axis of the score is the query, which is the key? Why is the future invisible wherever the query stands?",
        "zh": "score 的哪个轴是 query，哪个轴是 key？为什么 query 移到哪里都看不见未来？",
    },
    "scale": {
        "en": "Why 1/sqrt(d_k)? At d_k = 64, what is the dot product of two random vectors expected to be, and how large is it usually?",
        "zh": "为什么要除以 sqrt(d_k)？d_k = 64 时，两个随机向量的点积期望是多少，通常有多大？",
    },
    "gradient": {
        "en": "Without the scale, what becomes of the softmax and of its gradient?",
        "zh": "不缩放时，softmax 和它的梯度会怎样？",
    },
    "dot": {
        "en": "dot_product([1, 2, 3], [4, 5, 6]) = ? What does that say about an attention score?",
        "zh": "dot_product([1, 2, 3], [4, 5, 6]) = ？它怎样解释 attention score？",
    },
    "jobs": {
        "en": "What do the causal mask, the residual, the normalisation and the feed-forward network each solve?",
        "zh": "causal mask、residual、normalization、FFN 各自解决什么问题？",
    },
    "necessary": {
        "en": "Moving a future token leaves the prefix unchanged: why is that necessary evidence, and not sufficient?",
        "zh": "“未来扰动不改变 prefix”为什么是必要但不充分的证据？",
    },
    "information": {
        "en": "What has the self-information -log2(p) to do with a softmax?",
        "zh": "自信息 -log2(p) 与 softmax 有什么关系？",
    },
    "positions": {
        "en": "What do sinusoidal positions add, and what does their inner product depend on?",
        "zh": "正弦位置编码补上了什么？它的内积取决于什么？",
    },
}

ANSWERS: dict[str, Text] = {
    "shapes": {
        "en": "With B = {batch:.0f}, T = {tokens:.0f}, H = {heads:.0f}, d_k = {head_width:.0f}, D = H d_k = {width:.0f}: x {x_shape}; "
        "Q, K, V {query_shape}, tokens still in order; score {score_shape}, third axis query, fourth axis key; "
        "mask {mask_shape}, the same for every head; softmax {weights_shape}, along the keys; weighted values {attended_shape}; "
        "merged {merged_shape}; projected {output_shape}; the residual sum keeps that shape.",
        "zh": "取 B = {batch:.0f}，T = {tokens:.0f}，H = {heads:.0f}，d_k = {head_width:.0f}，D = H d_k = {width:.0f}：x {x_shape}；"
        "Q、K、V {query_shape}，token 顺序不变；score {score_shape}，第三轴是 query，第四轴是 key；"
        "mask {mask_shape}，各头共用；softmax {weights_shape}，沿 key 轴归一化；加权和 {attended_shape}；"
        "合并 {merged_shape}；输出投影 {output_shape}；残差相加不改变 shape。",
    },
    "axes": {
        "en": "[batch, head, query, key]: the third is the query, the fourth the key. The softmax runs along the keys: row sums "
        "miss 1 by at most {row_error:.1g}, while column sums run from {least_column:.2f} to {largest_column:.2f}. Query t has just "
        "t + 1 weights above 0 (first {first_seen:.0f}, last {last_seen:.0f}). The rest got -inf before the softmax, and exp(-inf) is "
        "exactly 0: the largest weight on the future is {future_weight:.0f}.",
        "zh": "[batch, head, query, key]：第三轴是 query，第四轴是 key。softmax 沿 key 轴：行和与 1 最多差 {row_error:.1g}，"
        "列和则从 {least_column:.2f} 到 {largest_column:.2f} 不等。query t 恰有 t + 1 个正权重（第一个有 {first_seen:.0f} 个，"
        "最后一个有 {last_seen:.0f} 个）。其余位置在 softmax 之前加了 -inf，而 exp(-inf) 恰为 0：落在未来的最大权重是 {future_weight:.0f}。",
    },
    "scale": {
        "en": "Expected: 0, if the entries are independent with mean 0 and variance 1. What grows is the spread: the standard deviation is "
        "sqrt(d_k) = {spread:.0f}, so |q·k| averages {typical:.2f} = sqrt(2/pi) sqrt(d_k) for a normal product ({exact:.2f} exactly for "
        "Gaussian entries; {measured:.2f} over {pairs:.0f} pairs drawn here). Not linear in d_k: only a vector with itself is, "
        "q·q averages {own:.1f} here. Divided by sqrt(d_k), the score has a spread near 1 at any width ({scaled_spread:.2f} here).",
        "zh": "若各分量独立、均值 0、方差 1，期望是 0。变大的是离散程度：标准差为 sqrt(d_k) = {spread:.0f}，"
        "按正态近似 |q·k| 平均为 sqrt(2/pi) sqrt(d_k) = {typical:.2f}（高斯分量的精确值 {exact:.2f}；此处抽取 {pairs:.0f} 对测得 {measured:.2f}）。"
        "它不随 d_k 线性增长：线性增长的只有向量与自身的 q·q（此处平均 {own:.1f}）。除以 sqrt(d_k) 后，任何宽度下标准差都接近 1（此处 {scaled_spread:.2f}）。",
    },
    "gradient": {
        "en": "It saturates. At d_k = 64 over {keys:.0f} keys the largest weight averages {scaled_largest:.2f} with the scale and "
        "{unscaled_largest:.2f} without. The slope of a weight in its own logit is w(1 - w), which goes to 0 as w goes to 1: for the "
        "largest weight {scaled_slope:.3f} with the scale and {unscaled_slope:.3f} without, at d_k = 512 even {wide_slope:.3f}. "
        "At d_k = 4 it is the other way round ({small_scaled_slope:.3f} and {small_unscaled_slope:.3f}): saturation is a symptom, not a verdict.",
        "zh": "会饱和。d_k = 64、{keys:.0f} 个 key 时，最大权重平均为 {scaled_largest:.2f}（缩放）和 {unscaled_largest:.2f}（不缩放）。"
        "权重对自身 logit 的斜率是 w(1 - w)，w 趋近 1 时趋近 0：最大权重处缩放时为 {scaled_slope:.3f}，不缩放时为 {unscaled_slope:.3f}，"
        "d_k = 512 时只剩 {wide_slope:.3f}。d_k = 4 时恰好相反（{small_scaled_slope:.3f} 与 {small_unscaled_slope:.3f}）：饱和是症状，不能当判据。",
    },
    "dot": {
        "en": "1·4 + 2·5 + 3·6 = {product:.0f} = |a| |b| cos(angle), with cos = {cosine:.3f}. Between given lengths it is largest ({aligned:.2f} "
        "here) in the same direction, {orthogonal:.0f} at a right angle, negative beyond. The score of query and key is this product "
        "over sqrt(d_k): {score:.2f}. It measures length as well as direction: a key twice as long scores {longer:.0f} before scaling.",
        "zh": "1·4 + 2·5 + 3·6 = {product:.0f} = |a| |b| cos θ，其中 cos θ = {cosine:.3f}。长度给定时，方向相同则最大（此处为 {aligned:.2f}），"
        "正交时为 {orthogonal:.0f}，超过直角为负。query 与 key 的 score 就是它除以 sqrt(d_k)：{score:.2f}。它同时反映长度：key 变为两倍长，缩放前得 {longer:.0f}。",
    },
    "jobs": {
        "en": "Causal mask: no output may depend on a later token. Moving one changes earlier outputs by {masked_future:.2g} (relative) with the mask, "
        "{open_future:.2g} where it adds 0. Residual: a way round each sublayer for signal and gradient; with silent branches the block passes x on, "
        "off by {kept_flow:.1g}, and by {lost_flow:.2g} without the residual. Normalisation: sublayers read vectors of one size, whatever the size of the "
        "stream; scaling x changes the branch by {normed_branch:.1g}, without the inner norm of pre-norm by {unnormed_branch:.2g}. Feed-forward network: attention "
        "only averages values over tokens; this works non-linearly on each token alone.",
        "zh": "causal mask：输出不得依赖之后的 token。移动未来 token，有遮罩时前面的输出相对变化 {masked_future:.2g}，mask 加 0 时为 {open_future:.2g}。"
        "residual：让信号和梯度绕过每个子层；分支静默时 block 原样传递 x，误差 {kept_flow:.1g}，去掉残差则为 {lost_flow:.2g}。"
        "normalization：无论残差流多大，子层读到的向量大小一致；缩放 x 时分支变化 {normed_branch:.1g}，写成 post-norm（分支前没有 norm）则为 {unnormed_branch:.2g}。"
        "FFN：attention 只在 token 之间对 value 做加权平均；FFN 对每个 token 单独做非线性变换。",
    },
    "necessary": {
        "en": "Necessary: any leak breaks it. Not sufficient: the commonest axis swap, a plain reshape at split and merge, passes it "
        "with a future signal of {swap_future:.1g} (threshold {threshold:.0e}), and yet differs from heads computed one by one by {swap_heads:.2g}. "
        "The missing scale passes too: {scale_future:.1g} and {scale_heads:.2g}. The test says who may be seen, not that the right "
        "numbers come of it: compare with a per-head reference as well.",
        "zh": "必要：任何泄漏都会破坏它。不充分：最常见的轴混淆（拆分、合并都直接 reshape）照样通过，未来信号为 {swap_future:.1g}（阈值 {threshold:.0e}），"
        "却与逐头计算的结果相差 {swap_heads:.2g}；漏掉缩放也能通过：{scale_future:.1g} 与 {scale_heads:.2g}。"
        "它只说明谁可以被看见，不说明算得对：还要与逐头参考对拍。",
    },
    "information": {
        "en": "p = 1/2 carries {half:.0f} bit, p = 1/8 carries {eighth:.0f}. Averaged under the probabilities it is the entropy: {uniform:.0f} bits for eight equal weights, "
        "{certain:.0f} for a one-hot row, so it measures how sharp a softmax is. At the model's output the loss is the self-information of the right token, and its slope in "
        "that token's logit is p - 1 (in nats): {unlikely:.1f} at p = 0.1, {likely:.1f} at p = 0.9. The less likely the right token, the "
        "harder it pulls. Attention weights themselves are not weighted by information.",
        "zh": "p = 1/2 为 {half:.0f} bit，p = 1/8 为 {eighth:.0f} bit。按概率取平均就是熵：8 个相等权重为 {uniform:.0f} bit，one-hot 行为 {certain:.0f}，"
        "所以熵衡量 softmax 有多尖。在模型输出端，损失就是正确 token 的自信息，它对该 token 的 logit 的斜率是 p - 1（以 nat 计）：p = 0.1 时 {unlikely:.1f}，"
        "p = 0.9 时 {likely:.1f}。正确 token 的概率越低，梯度拉得越重。attention 权重本身并不是“按信息量加权”。",
    },
    "positions": {
        "en": "Without positions attention sees a set of tokens: only the mask knows their order. At D = {channels:.0f}, PE(p)·PE(p+1) = {one_apart:.6f} and "
        "PE(p)·PE(p+5) = {five_apart:.6f}, whatever the start (p = 0, 5, 10 agree within {disagreement:.0e}): the inner product depends on the distance alone. "
        "It does not fall steadily: at distance {rises_at:.0f} it is larger than at {before_rise:.0f}.",
        "zh": "没有位置编码时，attention 看到的是 token 的集合，只有遮罩知道顺序。D = {channels:.0f} 时，PE(p)·PE(p+1) = {one_apart:.6f}，"
        "PE(p)·PE(p+5) = {five_apart:.6f}，与起点无关（p = 0、5、10 相差不超过 {disagreement:.0e}）：内积只取决于间距。"
        "但它不是单调下降的：间距 {rises_at:.0f} 处反而大于间距 {before_rise:.0f} 处。",
    },
}
