"""What the subject says of itself, and what can be read off it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from . import norms
from .calling import writable
from .loading import required
from .refusal import Refused
from .subjects import callable_of, field, framework, torch_module

PARTS_READ = 400
"""Sub-modules whose attributes are looked at; the rest of a huge model repeats them."""

DEEPEST = 6
"""Dots in the name of a part that is offered as a block at most."""


def describe(subject: Any, wanted: dict[str, list[str]]) -> dict[str, Any]:
    """Everything the parent decides from. `wanted`: the declared keys, and the attribute names to look for."""
    _check(subject)
    call = callable_of(subject)
    module = torch_module(call)
    return {
        "declared": _declared(subject, wanted["declared"]),
        "weights": writable(subject),
        "attention": callable(field(subject, "attention")),
        "step": callable(field(subject, "step")),
        "framework": framework(subject),
        "name": getattr(call, "__name__", None) or type(call).__name__,
        "required": required(call if module is None else module.forward),
        "numbers": _attributes(call, wanted["numbers"], int),
        "switches": _attributes(call, wanted["switches"], bool),
        "parameters": _parameters(module),
        "embedding": _has_embedding(module),
        "blocks": list(_repeated(module)),
        "norms": norms.named(subject),
    }


def _check(subject: Any) -> None:
    """Raises Refused for a declared `step` or `norms` that nothing could be done with.

    An object's attribute of that name may be something of its own; in a mapping every key was meant.
    """
    said = subject if isinstance(subject, Mapping) else {}
    held = said.get("norms")
    held = {} if held is None else held
    if not isinstance(held, Mapping):
        raise Refused(
            f"'norms' has the type {type(held).__name__}; required: a mapping of names to functions of x"
        )
    _callable("'step'", said.get("step"), "(x or ids, cache) -> (output, cache)")
    for name, norm in held.items():
        _callable(f"the norm {name!r}", norm, "x -> y")


def _callable(what: str, value: Any, form: str) -> None:
    if value is not None and not callable(value):
        raise Refused(f"{what} has the type {type(value).__name__}; required: a function {form}")


def _declared(subject: Any, names: list[str]) -> dict[str, Any]:
    found = {name: field(subject, name) for name in names}
    # An object's attribute of that name may be a method of its own; in a mapping every key was meant.
    said = isinstance(subject, Mapping)
    plain = {name: value for name, value in found.items() if said or isinstance(value, (str, int))}
    plain = {name: value for name, value in plain.items() if value is not None}
    decoded: dict[str, Any] = json.loads(json.dumps(plain, default=str))
    return decoded


def _attributes(subject: Any, names: list[str], kind: type) -> dict[str, list[Any]]:
    """name -> the different values found under it on the object, its parts and their configurations."""
    found: dict[str, list[Any]] = {}
    for holder in _holders(subject):
        for name in names:
            value = getattr(holder, name, None)
            if type(value) is kind and value not in found.get(name, []):
                found.setdefault(name, []).append(value)
    return found


def _holders(subject: Any) -> Iterator[Any]:
    module = torch_module(subject)
    parts = list(module.modules())[:PARTS_READ] if module is not None else [subject]
    for part in parts:
        yield part
        yield from (getattr(part, name, None) for name in ("config", "cfg", "args"))


def _parameters(module: Any) -> list[list[Any]]:
    """[name, shape, class of the module that holds it] of every parameter."""
    if module is None:
        return []
    holders = dict(module.named_modules())
    return [
        [name, list(value.shape), type(holders.get(name.rpartition(".")[0], module)).__name__]
        for name, value in module.named_parameters()
    ]


def _has_embedding(module: Any) -> bool:
    if module is None:
        return False
    embedding = sys.modules["torch"].nn.Embedding
    return any(isinstance(part, embedding) for part in module.modules())


def _repeated(module: Any) -> Iterator[str]:
    """Names of the first items of lists whose items are modules of one class, the outermost lists only.

    Lists of one length side by side, as of norms and of attentions, hold the parts of blocks and no blocks.
    """
    if module is None:
        return
    holders = (sys.modules["torch"].nn.ModuleList, sys.modules["torch"].nn.Sequential)
    inside: list[str] = []
    found: dict[tuple[str, int], list[str]] = {}
    for name, part in module.named_modules():
        if name.count(".") > DEEPEST or any(name.startswith(outer) for outer in inside):
            continue
        items = list(part) if name and isinstance(part, holders) else []
        if items and len({type(item) for item in items}) == 1:
            inside.append(name + ".")
            found.setdefault((name.rpartition(".")[0], len(items)), []).append(name + ".0")
    yield from (beside[0] for beside in found.values() if len(beside) == 1)
