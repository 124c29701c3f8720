"""The blocks inside a torch model: which of them the model itself calls with x alone."""

from __future__ import annotations

from typing import Any

from .calling import quiet, undisturbed, watched
from .subjects import callable_of

ROUNDED = 1e-5
"""What another token may change by rounding, relative to the output."""


def part(subject: Any, name: str) -> Any:
    """A sub-module by its dotted name; the subject itself for the empty one."""
    return callable_of(subject).get_submodule(name) if name else subject


def alone(subject: Any, names: list[str], arrays: list[Any], options: dict[str, Any]) -> list[str]:
    """Those of the names that one call of the model runs with x [batch, token, channel] and nothing else.

    A block that is handed a mask or positions besides behaves differently when it is called without them. Lists of
    norms or of feed-forward networks hold no blocks: nothing in them lets one token matter to another.
    """
    module, seen = callable_of(subject), dict[str, Any]()

    def note(name: str, positional: Any, keywords: Any, output: Any) -> None:
        inputs = [value for value in [*positional, *keywords.values()] if _says_something(value)]
        whole = len(inputs) == 1 and getattr(inputs[0], "ndim", 0) == 3
        fits = whole and getattr(_main(output), "shape", None) == inputs[0].shape
        seen[name] = inputs[0] if fits and seen.get(name, inputs) is not None else None

    watched(subject, names, arrays, options, note)
    with quiet(), undisturbed(options):
        alone = [(name, module.get_submodule(name)) for name in names if seen.get(name) is not None]
        return [name for name, block in alone if _deep(block) or _mixes(block, seen[name])]


def _deep(block: Any) -> bool:
    """Whether its parts have parts: with attention in it of its own, it is a block even where that mixes nothing."""
    return any(True for part in block.children() for _ in part.children())


def _mixes(block: Any, x: Any) -> bool:
    """Whether the first or the last token of x matters to any other."""
    whole, (first, last) = _main(block(x)), (x.clone(), x.clone())
    first[:, 0], last[:, -1] = x[:, 0].flip(-1), x[:, -1].flip(-1)
    apart = (_main(block(first)) - whole)[:, 1:], (_main(block(last)) - whole)[:, :-1]
    return not all(float(one.abs().max()) <= ROUNDED * float(whole.abs().max()) for one in apart)


def _main(output: Any) -> Any:
    return output[0] if isinstance(output, (tuple, list)) and output else output


def _says_something(value: Any) -> bool:
    return not (value is None or value is False)
