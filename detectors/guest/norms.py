"""The norms inside a subject, each to be called by itself: those of a torch model, or the declared ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .calling import invoke, quiet, watched
from .conversion import as_array, chosen, given
from .loading import required
from .refusal import Refused
from .subjects import callable_of, field, torch_module


def named(subject: Any) -> list[str]:
    """Names of the declared norms, else of the modules inside that are called a norm and map one array to another."""
    declared = _declared(subject)
    if declared:
        return list(declared)
    module = torch_module(callable_of(subject))
    parts = module.named_modules() if module is not None else ()
    return [name for name, part in parts if name and _is_norm(part)]


def _declared(subject: Any) -> dict[str, Any]:
    declared = field(subject, "norms")
    found = declared if isinstance(declared, Mapping) else {}
    return {str(name): call for name, call in found.items() if callable(call)}


def _is_norm(part: Any) -> bool:
    if "norm" not in type(part).__name__.lower():
        return False
    # `PreNorm(width, branch)` is called so too, and holds what it is put around.
    return next(part.children(), None) is None and len(required(part.forward)) == 1


def examined(
    subject: Any, names: list[str], arrays: list[Any], options: dict[str, Any]
) -> tuple[dict[str, Any], list[Any]]:
    """(name -> {channels, gains}, the arrays of the gains one after the other), one norm of each class.

    Of a torch model those that one call with the arrays, x the first, hands [batch, token, channel] and nothing else,
    so that the layout is known; declared ones take that, of as many channels as x has. gains: how many arrays it may
    multiply by.
    """
    declared = _declared(subject)
    whole = arrays[0].shape[-1]
    widths = dict.fromkeys(declared, whole) if declared else _watched(subject, names, arrays, options)
    gains = {name: _gains(_norm(subject, name), width) for name, width in widths.items()}
    found = {name: {"channels": widths[name], "gains": len(gains[name])} for name in widths}
    return found, [one for own in gains.values() for one in own]


def _norm(subject: Any, name: str) -> Any:
    declared = _declared(subject)
    return declared[name] if declared else callable_of(subject).get_submodule(name)


def _gains(norm: Any, width: int) -> list[Any]:
    module = torch_module(norm)
    values = list(module.parameters(recurse=False)) if module is not None else []
    return [as_array(value).reshape(-1) for value in values if value.numel() in (1, width)]


def _watched(subject: Any, names: list[str], arrays: list[Any], options: dict[str, Any]) -> dict[str, int]:
    module, seen, sizes = callable_of(subject), dict[str, int](), tuple(arrays[0].shape[:2])

    def note(name: str, positional: Any, keywords: Any, output: Any) -> None:
        shapes = [tuple(getattr(value, "shape", ())) for value in [*positional, *keywords.values()]]
        plain = len(shapes) == 1 and len(shapes[0]) == 3 and shapes[0] == tuple(getattr(output, "shape", ()))
        # With as many channels as tokens nobody could tell the two axes apart.
        fits = plain and shapes[0][:2] == sizes and shapes[0][2] not in sizes
        seen[name] = shapes[0][2] if fits and seen.get(name, 1) else 0

    watched(subject, names, arrays, options, note)
    first: dict[type, str] = {}
    for name, width in seen.items():
        if width:
            first.setdefault(type(module.get_submodule(name)), name)
    return {name: seen[name] for name in first.values()}


def normed(subject: Any, name: str, x: Any, options: dict[str, Any]) -> Any:
    """What one norm gives for x [batch, token, channel], as a NumPy array."""
    inputs = given([x], callable_of(subject), options["framework"])
    with quiet():
        output = invoke(_norm(subject, name), inputs, None, {}, options)
    try:
        return as_array(chosen(output, None))
    except Refused as error:
        raise Refused(f"norm {name}: {error}") from None
