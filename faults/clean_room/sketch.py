"""The shape sketch: what the learner wrote, against the shapes observed in the learner's own program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from faults.clean_room.inputs import LETTERS
from faults.clean_room.interface import SKETCH
from faults.evidence_model import said
from faults.model import Text

SYNONYMS = {
    "d_head": "d",
    "dk": "d",
    "d_k": "d",
    "head_dim": "d",
    "n_embd": "D",
    "d_model": "D",
    "Tq": "T",
    "Tk": "T",
    "vocab": "V",
}
DOCUMENTED = re.compile(r"(\w+)\s*[:：]\s*(\([^()\n]*\))")


def written(declared: Any, documents: Mapping[str, str]) -> dict[str, str]:
    """Name -> sketch: the mapping SHAPES first, then lines such as "scores: (B, H, T, T)" in docstrings."""
    found = {name: text for document in documents.values() for name, text in DOCUMENTED.findall(document)}
    given = declared if isinstance(declared, Mapping) else {}
    plain = {
        name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in given.items()
    }
    return {name: (plain.get(name) or found.get(name) or "").strip() for name in SKETCH}


def lengths(text: str) -> tuple[int, ...] | None:
    """The extents that a sketch stands for, such as (2, 5, 12) for "(B, T, H*d)"; None where it is no sketch."""
    axes = [axis for axis in text.strip("()[] （）").replace("，", ",").split(",") if axis.strip()]
    found = [_length(axis) for axis in axes]
    return tuple(one for one in found if one is not None) if found and None not in found else None


def _length(axis: str) -> int | None:
    product = 1
    for factor in re.split(r"[*×·x]", axis.strip()):
        factor = SYNONYMS.get(factor.strip(), factor.strip())
        if factor not in LETTERS and not (factor.isascii() and factor.isdigit()):
            return None
        product *= LETTERS.get(factor) or int(factor)
    return product


def compare(sketched: Mapping[str, str], observed: Mapping[str, tuple[int, ...]]) -> Iterator[Text]:
    """What is wrong with the sketch, one line for each array; nothing where it is right."""
    for name, text in sketched.items():
        if not text:
            yield said(f"{name} is not sketched", f"{name} 尚未画出")
        elif (found := lengths(text)) is None:
            shown = repr(text[:40])
            yield said(
                f"{name}: {shown} is no shape such as (B, T, D)",
                f"{name}：{shown} 不是 (B, T, D) 这样的 shape",
            )
        elif name not in observed:
            yield said(f"{name} could not be observed", f"{name} 无法观测")
        elif found != observed[name]:
            seen = observed[name]
            yield said(
                f"{name}: you wrote {text} = {found}, observed {seen}",
                f"{name}：你写的是 {text} = {found}，实际是 {seen}",
            )
