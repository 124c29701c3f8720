"""The frozen interface: which functions a learner writes, what each takes, and which part of the work it is."""

from __future__ import annotations

from dataclasses import dataclass

from faults.evidence_model import said
from faults.model import Text


@dataclass(frozen=True)
class Function:
    """One function of the interface. `synonyms`: other names by which courses know it, for a proposed mapping."""

    name: str
    parameters: tuple[str, ...]
    synonyms: tuple[str, ...]


FUNCTIONS = (
    Function("project_qkv", ("x", "weights", "heads"), ("qkv", "qkv_projection", "project", "split_heads")),
    Function(
        "causal_mask", ("tokens",), ("mask", "make_mask", "build_mask", "make_causal_mask", "look_ahead_mask")
    ),
    Function(
        "causal_attention",
        ("query", "key", "value"),
        ("attention", "attn", "scaled_dot_product_attention", "causal_self_attention", "self_attention"),
    ),
    Function(
        "merge_heads", ("attended",), ("merge", "combine", "combine_heads", "concat_heads", "head_merge")
    ),
    Function(
        "pre_norm_residual",
        ("x", "branch", "gain", "shift"),
        ("residual", "pre_norm", "prenorm_residual", "prenorm", "add_norm"),
    ),
    Function("feed_forward", ("x", "weights"), ("ffn", "mlp", "feedforward")),
    Function("block", ("x", "weights", "heads"), ("transformer_block", "decoder_block", "block_forward")),
    Function("logits", ("tokens", "model", "heads"), ("forward", "model_logits", "gpt", "gpt_forward")),
    Function(
        "loss",
        ("tokens", "targets", "model", "heads"),
        ("cross_entropy", "cross_entropy_loss", "compute_loss"),
    ),
    Function(
        "update",
        ("tokens", "targets", "model", "heads", "learning_rate"),
        ("step", "sgd_step", "train_step", "sgd_update"),
    ),
    Function(
        "generate",
        ("prompt", "model", "heads", "new_tokens"),
        ("sample", "greedy", "generate_tokens", "decode"),
    ),
)

BY_NAME = {function.name: function for function in FUNCTIONS}

PARTS: tuple[tuple[str, tuple[str, ...], Text], ...] = (
    ("qkv", ("project_qkv",), said("QKV projection", "QKV 投影")),
    ("attention", ("causal_mask", "causal_attention"), said("causal attention", "因果 attention")),
    ("merge", ("merge_heads",), said("head merge", "head 合并")),
    ("residual", ("pre_norm_residual",), said("pre-norm residual", "pre-norm 残差")),
    ("ffn", ("feed_forward",), said("FFN", "FFN")),
    ("block", ("block",), said("block", "block")),
    ("logits", ("logits",), said("logits", "logits")),
    ("learning", ("loss", "update"), said("loss and update", "loss 与 update")),
    ("generate", ("generate",), said("generate", "generate")),
)
"""Key, functions and title of each part of the work, in the order in which it is best done."""

SKETCH = {
    "query": "(B, H, T, d)",
    "scores": "(B, H, T, T)",
    "mask": "(T, T)",
    "weights": "(B, H, T, T)",
    "attended": "(B, H, T, d)",
    "merged": "(B, T, D)",
    "block": "(B, T, D)",
    "logits": "(B, T, V)",
}
"""What the learner sketches; the right column is shown nowhere: the sketch is compared with what was observed."""
