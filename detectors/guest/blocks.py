"""The blocks inside a torch model: which of them the model itself calls with x alone."""

from __future__ import annotations

from typing import Any

from .calling import invoke, quiet
from .conversion import given
from .subjects import callable_of, torch_module


def part(subject: Any, name: str) -> Any:
    """A sub-module by its dotted name; the subject itself for the empty one."""
    return callable_of(subject).get_submodule(name) if name else subject


def alone(subject: Any, names: list[str], arrays: list[Any], options: dict[str, Any]) -> list[str]:
    """Those of the names that one call of the model runs with x [batch, token, channel] and nothing else.

    A block that is handed a mask or positions besides behaves differently when it is called without them.
    """
    module, seen = torch_module(callable_of(subject)), dict[str, bool]()
    handles = [_watch(module.get_submodule(name), name, seen) for name in names]
    try:
        with quiet():
            invoke(callable_of(subject), given(arrays, module, options["framework"]), subject, {}, options)
    finally:
        for handle in handles:
            handle.remove()
    return [name for name in names if seen.get(name)]


def _watch(block: Any, name: str, seen: dict[str, bool]) -> Any:
    def note(module: Any, positional: Any, keywords: Any, output: Any) -> None:
        inputs = [value for value in [*positional, *keywords.values()] if _says_something(value)]
        first = output[0] if isinstance(output, (tuple, list)) and output else output
        whole = len(inputs) == 1 and getattr(inputs[0], "ndim", 0) == 3
        fits = whole and getattr(first, "shape", None) == inputs[0].shape
        seen[name] = seen.get(name, True) and fits

    return block.register_forward_hook(note, with_kwargs=True)


def _says_something(value: Any) -> bool:
    return not (value is None or value is False)
