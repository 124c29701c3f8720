"""What is declared of somebody's subject, what can be read off it, and what has to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from detectors.errors import DetectorError
from detectors.fixtures import DTYPES, NORMS

KINDS = ("attention", "self_attention", "block", "model")
LAYOUTS = ("bhtc", "bthc")
PADDINGS = ("keep", "hide", "ones")
MASKS = ("none", "additive", "keep", "hide")
POSITIONS = ("none", "learned", "sinusoidal", "rope", "alibi")
DESIGNS = ("sequential", "parallel", "sandwich", "scaled", "sink", "qk_norm")
FRAMEWORKS = ("numpy", "torch", "jax")


BOUNDS: Mapping[str, tuple[int, int]] = {
    "heads": (1, 2**10),
    "kv_heads": (1, 2**10),
    "width": (2, 2**16),
    "vocab": (2, 2**30),
    "max_length": (2, 2**30),
    "window": (0, 2**30),
}
"""Least and most of each size: more heads or channels than any model has would only fill the memory."""

LONELY: Mapping[str, str] = {
    "width": "one channel shows no norm and no scale",
    "vocab": "one token id cannot be replaced by another",
    "max_length": "one token shows no mask and no attention",
}
"""What cannot be seen with one of it: everything would look sound."""


class Question(DetectorError):  # noqa: N818 - it asks
    """Something that cannot be inferred and must not be guessed; the text says how to answer it."""


@dataclass(frozen=True)
class Declaration:
    """How to call a subject and what it claims to be. None: not said.

    kind: "attention" (query, key, value -> output), "self_attention" (x -> output, no skip), "block" (x -> y) or
    "model" (token ids -> logits). causal: assumed unless it is denied. layout of attention's arrays: "bhtc" [batch,
    head, token, channel] or "bthc". order: of query, key and value, e.g. "kqv". mask: how the caller passes one, as
    fourth argument: "none", "additive", "keep" (True may be seen) or "hide" (True may not). padding: the argument by
    whose name a padding mask [batch, token] is passed; padding_form: "keep" (True for real tokens), "hide" (True for
    padding) or "ones" (integers, 1 for real tokens). window: keys seen, the own included; 0 for all. cached: whether
    attention takes fewer queries than keys, the last ones, as when keys come from a cache; not asked for unless it is
    said. design: one or several, with commas, of "sequential", "parallel" (both branches read x), "sandwich" (norms on
    both sides of a branch), "scaled" (residual branches),
    "sink" (weights that need not sum to 1), "qk_norm" (q and k are normalised inside attention). output: index or
    name of the result in a tuple or mapping. framework: of the arrays that the callable takes.
    """

    kind: str | None = None
    causal: bool | None = None
    norm: str | None = None
    norm_kind: str = "rms"
    heads: int | None = None
    kv_heads: int | None = None
    width: int | None = None
    vocab: int | None = None
    max_length: int | None = None
    layout: str = "bhtc"
    order: str = "qkv"
    mask: str = "none"
    padding: str | None = None
    padding_form: str = "keep"
    positions: str | None = None
    window: int = 0
    cached: bool | None = None
    design: str = "sequential"
    output: int | str | None = None
    dtype: str = "float32"
    framework: str | None = None

    def __post_init__(self) -> None:
        _among("kind", self.kind, (None, *KINDS))
        _among("norm", self.norm, (None, "pre", "post"))
        _among("layout", self.layout, LAYOUTS)
        _among("mask", self.mask, MASKS)
        _among("padding_form", self.padding_form, PADDINGS)
        _among("positions", self.positions, (None, *POSITIONS))
        for word in self.design.split(","):
            _among("design", word, DESIGNS)
        _among("dtype", self.dtype, DTYPES)
        _among("norm_kind", self.norm_kind, NORMS)
        _among("framework", self.framework, (None, *FRAMEWORKS))
        _among("causal", self.causal, (None, True, False))
        _among("cached", self.cached, (None, True, False))
        if self.padding is not None and not (isinstance(self.padding, str) and self.padding.isidentifier()):
            raise Question(
                f"padding: found {self.padding!r}, required: the name of an argument, such as attention_mask"
            )
        if sorted(self.order) != sorted("qkv"):
            raise Question(f"order: found {self.order!r}, required: the letters q, k and v, such as qkv")
        for name, (least, most) in BOUNDS.items():
            _whole(name, getattr(self, name), least, most)
        if (self.heads or 1) % (self.kv_heads or 1):
            raise Question(f"kv_heads: found {self.kv_heads}, required: a divisor of heads = {self.heads}")
        if self.width and self.width % (self.heads or 1):
            raise Question(f"heads: found {self.heads}, required: a divisor of width = {self.width}")

    @property
    def designs(self) -> frozenset[str]:
        """Each of the words of `design`."""
        return frozenset(self.design.split(","))


def _among(name: str, value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        listed = ", ".join(str(word) for word in known if word is not None)
        raise Question(f"{name}: found {value!r}, required: one of {listed}")


def _whole(name: str, value: Any, least: int, most: int) -> None:
    if value is None:
        return
    whole = type(value) is int  # True and False are no sizes
    if not whole or value < least:
        why = f"; {LONELY[name]}" if whole and value == 1 else ""
        raise Question(f"{name}: found {value!r}, required: a whole number of at least {least}{why}")
    if value > most:
        raise Question(f"{name}: found {value!r}, required: a whole number of at most {most}")


NAMES = tuple(field.name for field in fields(Declaration))

ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    "heads": ("n_head", "n_heads", "num_heads", "num_attention_heads", "heads"),
    "kv_heads": ("n_kv_head", "n_kv_heads", "num_kv_heads", "num_key_value_heads"),
    "width": ("n_embd", "d_model", "hidden_size", "embed_dim", "model_dim", "emb_dim", "dim", "width"),
    "vocab": ("vocab_size", "n_vocab", "vocab", "vocabulary"),
    "max_length": (
        "block_size", "n_ctx", "max_position_embeddings", "context_length", "max_seq_len", "max_length", "max_len",
        "seq_len",
    ),
}  # fmt: skip
"""Attribute names from which an extent is read, in this order."""

SWITCHES: Mapping[str, Mapping[str, Mapping[bool, Any]]] = {
    "norm": {
        "norm_first": {True: "pre", False: "post"},
        "pre_norm": {True: "pre", False: "post"},
        "normalize_before": {True: "pre", False: "post"},
    },
    "causal": {"is_causal": {True: True, False: False}, "causal": {True: True, False: False}},
}
"""Attributes that say yes or no, and what is declared by either."""

WANTED: Mapping[str, list[str]] = {
    "declared": list(NAMES),
    "numbers": [name for names in ATTRIBUTES.values() for name in names],
    "switches": [name for known in SWITCHES.values() for name in known],
}
"""What a guest is asked to look for."""


def complete(given: Mapping[str, Any], described: Mapping[str, Any]) -> Declaration:
    """What was given by flags, over what the subject declares, over what can be read off it.

    Raises Question for what must be known and is not: the kind, and the width or the vocabulary.
    """
    said = {name: value for name, value in given.items() if value is not None}
    declared = {**described["declared"], **said}
    unknown = set(declared) - set(NAMES)
    if unknown:
        raise Question(f"declared key {min(unknown)!r} is not known; required: some of {', '.join(NAMES)}")
    read = Declaration(**declared)
    found: dict[str, Any] = {name: _read(name, described) for name in ATTRIBUTES}
    found |= {name: _switched(name, described) for name in SWITCHES}
    found = {name: value for name, value in found.items() if getattr(read, name) is None}
    if (read.width or found.get("width") or 0) % (found.get("heads") or 1):
        found["heads"] = found["kv_heads"] = None  # heads of another width than channels / heads
    read = replace(read, **found, framework=read.framework or described["framework"])
    return _asked(replace(read, kind=read.kind or _kind(described)))


def _read(name: str, described: Mapping[str, Any]) -> int | None:
    numbers = described["numbers"]
    values: list[int] = next((numbers[known] for known in ATTRIBUTES[name] if known in numbers), [])
    return int(values[0]) if len(set(values)) == 1 and values[0] > 0 else _from_shapes(name, described)


def _switched(name: str, described: Mapping[str, Any]) -> Any:
    """What all the switches that are found agree on; None where there are none, or they do not."""
    switches = described["switches"]
    said = {meaning[value] for known, meaning in SWITCHES[name].items() for value in switches.get(known, [])}
    return said.pop() if len(said) == 1 else None


def _from_shapes(name: str, described: Mapping[str, Any]) -> int | None:
    """Width from an embedding or the norms, vocabulary from the largest embedding."""
    shapes = [(tuple(shape), holder) for _, shape, holder in described["parameters"]]
    tables = [shape for shape, holder in shapes if holder == "Embedding" and len(shape) == 2]
    norms = {shape[0] for shape, holder in shapes if "Norm" in holder and len(shape) == 1}
    if name == "width":
        widths = {shape[1] for shape in tables} or norms
        return widths.pop() if len(widths) == 1 else None
    if name == "vocab" and tables:
        return int(max(shape[0] for shape in tables))
    return None


def _kind(described: Mapping[str, Any]) -> str | None:
    needed, own = len(described["required"]), bool(described["parameters"])
    if described["embedding"]:
        return "model"
    if (needed == 3 and not own) or (not needed and described["attention"]):
        return "attention"
    if described["framework"] == "torch" and own and needed == 1:
        return "self_attention" if "attention" in described["name"].lower() else "block"
    return None


def claims(declared: Declaration) -> frozenset[str]:
    """What the contracts may assume, from what was declared."""
    designs = declared.designs
    pre_norm = declared.kind == "block" and declared.norm != "post" and "scaled" not in designs
    held = {
        "causal": declared.causal is not False,
        "pre_norm": pre_norm,
        "sequential": pre_norm and "parallel" not in designs,
        "unwindowed": declared.window == 0,
        "cached": declared.cached is True,
        # With a declared width the scale may be a constant made for it.
        "any_width": declared.width is None,
        # A norm behind the heads mixes their channels.
        "heads": declared.heads is not None and "sandwich" not in designs,
    }
    return frozenset(name for name, holds in held.items() if holds)


ROTATED = "positions inside attention change q·k"
DRAINED = "an attention sink takes some of the weight"
LAST = "it answers for the last token alone: no later token was in the call"
NORMED = "queries and keys are normalised before their product: the scale is another one"


def limits(declared: Declaration) -> dict[str, str]:
    """Contract -> why what was declared keeps it from being observed."""
    rotated = declared.kind == "attention" and declared.positions in ("rope", "alibi")
    found = dict.fromkeys(("slope", "duplication"), ROTATED) if rotated else {}
    if declared.positions == "alibi":
        found["zero_query"] = ROTATED
    if "sink" in declared.designs:
        hidden = ("rows", "first_token", "zero_query", "self_weight", "future_weight", "axis")
        found |= dict.fromkeys(hidden, DRAINED)
    if "qk_norm" in declared.designs:
        found |= dict.fromkeys(("slope", "duplication"), NORMED)
    return found


def _asked(read: Declaration) -> Declaration:
    if read.kind is None:
        raise Question(
            "what is it? say --kind attention (q, k, v), self_attention (x, no skip), block (x) or model (token ids)"
        )
    if read.kind in ("block", "self_attention") and read.width is None:
        raise Question("how many channels does x have? say --width N")
    if read.kind == "model" and read.vocab is None:
        raise Question("how many token ids are there? say --vocab N")
    return read
