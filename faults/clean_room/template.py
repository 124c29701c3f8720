"""The file a learner starts from: the interface with its shapes, and nothing solved."""

from __future__ import annotations

import os
from pathlib import Path

from faults.model import UsageError

TEMPLATE = '''\
"""Chapter 7, clean room: a decoder-only transformer block, written from this interface alone.

第7章 clean-room：只凭这份接口，从零写出 decoder-only Transformer block。

Close the reference implementation first. Import NumPy and the standard library, nothing else.
请先关闭参考实现；只允许导入 NumPy 和标准库。

Letters of shapes / shape 字母:
  B batch, T tokens, D width = H * d, H heads, d channels of one head, F hidden width of the FFN, V vocabulary

`weights` is a dict of arrays that act on the right, y = x @ W + b:
  Wq Wk Wv Wo (D, D)   bq bk bv bo (D,)   W1 (D, F)  b1 (F,)   W2 (F, D)  b2 (D,)
  gain1 shift1 gain2 shift2 (D,): of the LayerNorm before attention (1) and before the FFN (2)
`model` is a dict: token_embedding (V, D), blocks (a list of `weights`), final_gain and final_shift (D,),
  unembedding (D, V). There are no positions: the chapter leaves them out on purpose.
LayerNorm: gain * (x - mean) / sqrt(variance + 1e-5) + shift, over the last axis.
"""

from __future__ import annotations

import numpy as np

# Your sketch, before you run anything: which axes has each array? Write them with the letters above,
# such as "(B, T, D)". 先画 shape 草图：用上面的字母写出每个数组的轴。
SHAPES = {
    "query": "",
    "scores": "",
    "mask": "",
    "weights": "",
    "attended": "",
    "merged": "",
    "block": "",
    "logits": "",
}


def project_qkv(x, weights, heads):
    """x (B, T, D) -> a tuple (query, key, value), each (B, H, T, d).

    Head h reads the h-th run of d consecutive channels. 第 h 个 head 取第 h 段连续的 d 个通道。
    """
    raise NotImplementedError


def causal_mask(tokens):
    """The number of tokens T -> the mask (T, T): additive (0 or very negative), or boolean (True: may be seen).

    Axes: query, key. 两个轴依次是 query、key。
    """
    raise NotImplementedError


def causal_attention(query, key, value):
    """query, key, value (B, H, T, d) -> a dict with the five intermediates under these names:

    "scores", "scaled", "masked", "weights", "output". The output is (B, H, T, d); sketch the others in SHAPES.
    Use your causal_mask. 保存五个中间张量；其余 shape 请写进 SHAPES。
    """
    raise NotImplementedError


def merge_heads(attended):
    """attended (B, H, T, d) -> (B, T, D), the channels of head 0 first. 拼回 (B, T, D)，head 0 的通道在最前。"""
    raise NotImplementedError


def pre_norm_residual(x, branch, gain, shift):
    """x (B, T, D); branch, a function (B, T, D) -> (B, T, D); gain, shift (D,) -> (B, T, D).

    The pre-norm residual of the chapter, with LayerNorm. 本章的 pre-norm 残差，使用 LayerNorm。
    """
    raise NotImplementedError


def feed_forward(x, weights):
    """x (B, T, D) -> (B, T, D), with W1, b1, ReLU, W2, b2."""
    raise NotImplementedError


def block(x, weights, heads):
    """x (B, T, D) -> (B, T, D): attention with its output projection Wo, bo, then the FFN, each pre-norm.

    Call your own functions above. 请调用你自己写的上述函数。
    """
    raise NotImplementedError


def logits(tokens, model, heads):
    """tokens, integers (B, T) -> (B, T, V): embedding, every block, the final LayerNorm, unembedding."""
    raise NotImplementedError


def loss(tokens, targets, model, heads):
    """tokens, targets, integers (B, T) -> one float: the mean of -ln p(target), in nats."""
    raise NotImplementedError


def update(tokens, targets, model, heads, learning_rate):
    """One step of gradient descent on `loss` -> a new model; the given one stays as it is.

    At least `unembedding` moves; whatever moves, moves by -learning_rate * gradient.
    至少更新 unembedding；凡是更新的参数，变化量都是 -learning_rate * 梯度。
    """
    raise NotImplementedError


def generate(prompt, model, heads, new_tokens):
    """prompt, integers (B, T) -> integers (B, T + new_tokens): the prompt, then the likeliest token each time."""
    raise NotImplementedError
'''


def write_new(name: str, language: str) -> Path:
    """Writes the template to a file that does not exist yet; UsageError where one does, or none can be made."""
    path = Path(name)
    if os.path.lexists(path):
        raise UsageError(_exists(name)[language])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(TEMPLATE.encode())
    except OSError as error:
        raise UsageError(_unwritable(name, error.strerror)[language]) from error
    return path


def _exists(name: str) -> dict[str, str]:
    return {
        "en": f"--new {name!r}: found something of that name, which is never overwritten; name another file",
        "zh": f"--new {name!r}：同名文件已存在，不会覆盖；请换一个文件名",
    }


def _unwritable(name: str, reason: str | None) -> dict[str, str]:
    return {
        "en": f"--new {name!r}: cannot be written ({reason}); name another file",
        "zh": f"--new {name!r}：无法写入（{reason}）；请换一个文件名",
    }
