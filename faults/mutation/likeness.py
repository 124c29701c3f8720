"""Side by side: which mutants of mutmut behave exactly like a fault variant.

Runs in a process of its own inside the folder of mutants, where every mutant of `core` is at hand under its name.
A mutant is like a variant if both give the same numbers wherever the healthy block gives others.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.fixtures import Extents, Fixture
from faults import reference, registry
from faults.injection import inject
from faults.model import Variant
from faults.mutants import output

Array = NDArray[Any]
Behaviour = tuple[Array | None, ...]

VARIABLE = "MUTANT_UNDER_TEST"
"""Where mutmut's functions look for the mutant to run; empty for none."""

TOLERANCE = 1e-11
"""Relative: two ways of writing one formula round differently."""

FIXTURES = (
    Fixture(Extents(batch=2, tokens=5, heads=4, kv_heads=2, head_width=3, hidden=7), 1),
    Fixture(Extents(batch=2, tokens=4, heads=4, kv_heads=2, head_width=3, hidden=7), 2),
    Fixture(Extents(batch=1, tokens=6, heads=2, kv_heads=2, head_width=5, hidden=7, norm_kind="rms"), 3),
)


def main() -> None:
    """Read keys of mutants from stdin, write {variant: keys of the mutants that are like it} to stdout."""
    json.dump(alike(json.load(sys.stdin)), sys.stdout)


def alike(keys: Sequence[str]) -> dict[str, list[str]]:
    """Every variant with the mutants that behave like it."""
    healthy = behaviour()
    variants = dict(_variants())
    found: dict[str, list[str]] = {name: [] for name in variants}
    for key in keys:
        own = mutated(key)
        for name, other in variants.items():
            if same(own, other) and not same(own, healthy):
                found[name].append(key)
    return found


def _variants() -> Iterable[tuple[str, Behaviour]]:
    for fault in registry.all_faults():
        for variant in fault.variants:
            yield f"{fault.name}/{variant.name}", faulty(variant)


def faulty(variant: Variant) -> Behaviour:
    """The behaviour with a fault injected."""
    with inject(variant):
        return behaviour()


def mutated(key: str) -> Behaviour:
    """The behaviour with one mutant in force."""
    os.environ[VARIABLE] = key
    try:
        return behaviour()
    finally:
        os.environ[VARIABLE] = ""


def behaviour() -> Behaviour:
    """Outputs of the block, and of attention at moderate and at huge logits; None where it raised."""
    return tuple(_output(fixture, size) for fixture in FIXTURES for size in (0.0, 1.0, 1e4))


def _output(fixture: Fixture, size: float) -> Array | None:
    try:
        with np.errstate(all="ignore"):
            return _attention(fixture, size) if size else output(fixture)
    except Exception:  # a mutant may raise anything; it then behaves like nothing that has a value
        return None


def _attention(fixture: Fixture, size: float) -> Array:
    extents = fixture.extents
    random = np.random.default_rng(fixture.seed)
    shape = (extents.batch, extents.heads, extents.tokens, extents.head_width)
    query, key, value = (random.standard_normal(shape) for _ in range(3))
    return reference.attend(query * size, key, value)


def same(first: Behaviour, second: Behaviour) -> bool:
    """Whether all outputs are there and agree."""
    return all(map(_agree, first, second))


def _agree(first: Array | None, second: Array | None) -> bool:
    if first is None or second is None or first.shape != second.shape:
        return False
    return bool(np.allclose(first, second, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))


if __name__ == "__main__":
    main()
