"""Injection: a variant's patches, in force inside a `with` block and nowhere else.

Restores the same objects on any exception, KeyboardInterrupt included; refuses a second injection, nested or from
another thread, because patches in one process race; and reaches names that were imported by `from x import y`.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType, TracebackType
from typing import Any

from faults.model import FaultsError, Function, Seam, Variant

_STRANGERS = sys.stdlib_module_names | {"numpy", "hypothesis", "_pytest", "pytest"}
"""Packages that cannot hold a copy of a seam, left out of the search for copies."""


class InjectionError(FaultsError):
    """A second injection, a seam that does not exist, or one that was not put back."""


class Injection:
    """What is patched, and how often each seam was called since the last `reset`."""

    _originals: dict[Seam, Function]

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.calls: dict[Seam, int] = dict.fromkeys(variant.patches, 0)
        self._undo: list[tuple[dict[str, Any], str, Function, Function]] = []

    @property
    def activations(self) -> int:
        """Calls of patched seams; 0 means that the faulty code was never reached."""
        return sum(self.calls.values())

    def reset(self) -> None:
        self.calls.update(dict.fromkeys(self.calls, 0))

    def apply(self) -> None:
        """Replaces every seam and every copy of it. Raises InjectionError for a seam that does not exist."""
        self._originals = {seam: _original(seam) for seam in self.variant.patches}
        replacements = {
            id(original): self._counted(seam, self.variant.patches[seam](original))
            for seam, original in self._originals.items()
        }
        for space, name, original in list(_holders(replacements)):
            self._undo.append((space, name, original, replacements[id(original)]))
            space[name] = replacements[id(original)]

    def restore(self) -> None:
        """Puts the same objects back, also into modules that were first imported under the fault."""
        pairs = {id(replacement): (original, replacement) for _, _, original, replacement in self._undo}
        for space, name, original, _ in reversed(self._undo):
            space[name] = original
        for space, name, replacement in list(_holders(pairs)):
            space[name] = pairs[id(replacement)][0]
        self._undo.clear()
        if pairs:
            self._check()

    def _check(self) -> None:
        """Raises InjectionError unless every seam is the very object it was."""
        for seam, original in self._originals.items():
            if _original(seam) is not original:
                raise InjectionError(f"seam {seam}: not put back; start a new process")

    def _counted(self, seam: Seam, replacement: Function) -> Function:
        calls = self.calls

        def faulty(*arguments: Any, **named: Any) -> Any:
            calls[seam] += 1
            return replacement(*arguments, **named)

        return faulty


class inject:  # noqa: N801 - reads as a verb: `with inject(variant) as injection:`
    """Context manager that puts a variant's patches in force and gives the Injection.

    Raises InjectionError where one is in force already, from this thread or another.
    """

    def __init__(self, variant: Variant) -> None:
        self._variant = variant

    def __enter__(self) -> Injection:
        injection = Injection(self._variant)
        try:
            _claim(injection)
            injection.apply()
            self._injection = injection
        except BaseException:
            _leave(injection)
            raise
        return injection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _leave(self._injection)


def unreached_copies(seam: Seam) -> list[str]:
    """Where a copy of the seam is kept that injection cannot replace: containers, defaults, closures, objects.

    Slow (it asks the garbage collector); for explaining a mutant that was never reached.
    """
    import gc

    original = _original(seam)
    modules = [vars(module) for module in _modules()]
    found = set()
    # No comprehension here: its own closure over `original` would be found as one more copy.
    for holder in gc.get_referrers(original):
        if not _known(holder, modules):
            found.add(type(holder).__name__)
    return sorted(found)


def _known(holder: object, modules: list[dict[str, Any]]) -> bool:
    frames = type(holder).__name__ in ("frame", "generator")
    return frames or any(holder is space for space in modules)


_in_force: dict[str, list[Injection]] = {}
"""One entry at most. `setdefault` claims it in one step; a lock could be left held by an interrupt."""

_CLAIM = "claim"


def _claim(injection: Injection) -> None:
    mine = [injection]
    found = _in_force.setdefault(_CLAIM, mine)
    if found is not mine:
        raise InjectionError(
            f"injection of {injection.variant.name!r}: found {found[0].variant.name!r} in force, required: none; "
            "leave the first `with inject(...)` block before entering another"
        )


def _leave(injection: Injection) -> None:
    try:
        injection.restore()
    except KeyboardInterrupt:  # arrived while things were being put back: once more, from the start
        injection.restore()
        _release(injection)
        raise
    _release(injection)


def _release(injection: Injection) -> None:
    if injection in _in_force.get(_CLAIM, ()):
        del _in_force[_CLAIM]


def in_force() -> Variant | None:
    """The variant that is injected right now; None outside every `with inject(...)` block."""
    return next((injection.variant for injection in _in_force.get(_CLAIM, ())), None)


def restore_all() -> None:
    """Puts everything back whatever was going on: for an interrupt that arrived between two steps."""
    for injection in _in_force.get(_CLAIM, ()):
        injection.restore()
        _release(injection)


def _original(seam: Seam) -> Function:
    try:
        found: Function = getattr(importlib.import_module(seam.module), seam.attribute)
    except (ImportError, AttributeError) as error:
        raise InjectionError(
            f"seam {seam}: not found ({error}); required: a function of that name"
        ) from error
    return found


def _holders(wanted: Mapping[int, object]) -> Iterator[tuple[dict[str, Any], str, Function]]:
    """Every module-level name bound to one of the very objects, which are given by their ids and alive."""
    for module in _modules():
        space = vars(module)
        if wanted.keys().isdisjoint(map(id, space.values())):  # most modules, and much faster than the loop
            continue
        for name, held in list(space.items()):
            if id(held) in wanted:
                yield space, name, held


def _modules() -> list[ModuleType]:
    loaded: Mapping[str, ModuleType] = dict(sys.modules)
    return [
        module for name, module in loaded.items() if isinstance(module, ModuleType) and not _strange(name)
    ]


@functools.cache
def _strange(name: str) -> bool:
    return name.partition(".")[0] in _STRANGERS


def patched(variant: Variant, run: Callable[..., Any], *arguments: Any) -> Any:
    """What `run(*arguments)` gives with the variant's patches in force."""
    with inject(variant):
        return run(*arguments)
