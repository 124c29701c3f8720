"""The registry: five faults, and only five. Names cost nothing to read; a fault is imported when it is asked for."""

from __future__ import annotations

import difflib
import importlib

from faults.model import Fault, UsageError, Variant

NAMES = ("residual_shape", "missing_scale", "mask_adds_zero", "flipped_triangle", "head_seq_swap")


def load(name: str) -> Fault:
    """The fault of that name. Raises UsageError, with the nearest name, where there is none."""
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(NAMES)}"
        raise UsageError(f"no fault is called {name!r}; {hint}")
    fault: Fault = importlib.import_module(f"faults.{name}.fault").FAULT
    return fault


def all_faults() -> tuple[Fault, ...]:
    """The five, in the order of the table they come from."""
    return tuple(load(name) for name in NAMES)


def variant(fault: Fault, name: str) -> Variant:
    """One variant of a fault. Raises UsageError, with the nearest name, where there is none."""
    names = [known.name for known in fault.variants]
    if name not in names:
        near = difflib.get_close_matches(name, names, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise UsageError(f"{fault.name} has no variant {name!r}; {hint}")
    return fault.variants[names.index(name)]
