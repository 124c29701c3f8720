"""Which fault is applicable to which form of a block, and what a block shows of it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, TypeVar

Form = TypeVar("Form", bound=Any)

NOT_HERE = {
    "mask_adds_zero/weak": "a block never makes logits large enough: attention itself has to be called",
    "flipped_triangle/wrong_corner": "a block asks as many queries as keys: attention itself has to be called",
}
"""Variants that no block shows, with the reason."""


def applicable(fault: str, form: Any) -> bool:
    """Whether a block of this form can have the fault and show it.

    Post-norm blocks have no residual law and none on single heads, fused kernels no place behind the softmax; tiling
    needs groups, and with groups an axis left where it was fits nothing at all.
    """
    if fault.startswith("residual_shape/") and form.norm == "post":
        return False
    if fault.endswith(("/after_softmax", "/each_block")) and form.fused:
        return False
    if fault == "head_seq_swap/untransposed" and form.grouped:
        return False
    return fault != "head_seq_swap/tiled" or (form.grouped and form.norm == "pre")


def declared(form: Any, norm_kind: str, longest: int = 12) -> dict[str, Any]:
    """What a user says of such a block: four heads of six channels."""
    kv_heads = 2 if form.grouped else 4
    extents = {"width": 24, "heads": 4, "kv_heads": kv_heads, "max_length": longest}
    return {
        "kind": "block",
        "norm": form.norm,
        "norm_kind": norm_kind,
        "positions": form.positions,
        **extents,
    }


def chosen(fault: str, forms: Sequence[Form], salt: int) -> list[Form]:
    """Two forms that can show the fault, other ones for each fault, so that all options take their turn."""
    fit = [form for form in forms if applicable(fault, form)]
    start = zlib.crc32(f"{fault} {salt}".encode()) % len(fit)
    return [fit[start], fit[(start + len(fit) // 2 + 1) % len(fit)]]


def said_of(fault: str, form: Any, nan_rows: bool) -> str:
    """The name that such a block gets.

    A row that hides every key is NaN where the kernel is written so. Of many such rows no more can be said. Heads that
    attend to each other within one token show in a post-norm block only as tokens that do not.
    """
    if fault == "flipped_triangle/late_rows" and nan_rows:
        return "not_finite"
    if fault == "head_seq_swap/untransposed" and form.norm == "post":
        return "attention_disconnected"
    return fault.partition("/")[0]
