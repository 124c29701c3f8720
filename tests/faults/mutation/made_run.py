"""A small project with a finished run of mutmut, written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faults.model import Status
from faults.mutation.model import Change, Mutant, Origin, Place

SOURCE = '''"""A module."""

LIMIT = 3


def larger(first, second):
    """The larger one."""
    if first > second:
        return first
    return second


class Box:
    def size(self, unit=1):
        return self.width * unit
'''

MUTATED = '''"""A module."""

LIMIT = 3


@_mutmut_mutated(mutants_x_larger__mutmut)
def larger(first, second):
    """The larger one."""
    if first > second:
        return first
    return second


def x_larger__mutmut_orig(first, second):
    """The larger one."""
    if first > second:
        return first
    return second


def x_larger__mutmut_1(first, second):
    """The larger one."""
    if first >= second:
        return first
    return second


class Box:
    @_mutmut_mutated(mutants_xǁBoxǁsize__mutmut)
    def size(self, unit=1):
        return self.width * unit

    def xǁBoxǁsize__mutmut_orig(self, unit=1):
        return self.width * unit

    def xǁBoxǁsize__mutmut_1(self, unit=2):
        return self.width * unit

    def xǁBoxǁsize__mutmut_2(self, unit=1):
        return self.width / unit
'''

LARGER, UNIT, TIMES = (
    "shop.box.x_larger__mutmut_1",
    "shop.box.xǁBoxǁsize__mutmut_1",
    "shop.box.xǁBoxǁsize__mutmut_2",
)
CODES: dict[str, int | None] = {LARGER: 0, UNIT: 1, TIMES: 33}
SECONDS = {LARGER: 0.5, UNIT: 0.25}
FAST, SLOW = "tests/test_box.py::test_fast", "tests/test_box.py::test_slow"
STATS: dict[str, Any] = {
    "tests_by_mangled_function_name": {"shop.box.x_larger": [SLOW, FAST], "shop.box.xǁBoxǁsize": [SLOW]},
    "duration_by_test": {FAST: 0.01, SLOW: 1.5},
}


def project(
    folder: Path,
    codes: Mapping[str, int | None] = CODES,
    source: str = SOURCE,
    mutated: str = MUTATED,
) -> Path:
    """Writes the project and its run into a folder; returns the folder."""
    put(folder / "shop/box.py", source)
    put(folder / "mutants/shop/box.py", mutated)
    meta = {"exit_code_by_key": codes, "durations_by_key": SECONDS, "estimated_durations_by_key": {}}
    put(folder / "mutants/shop/box.py.meta", json.dumps(meta))
    put(folder / "mutants/mutmut-stats.json", json.dumps(STATS))
    return folder


def put(path: Path, text: str) -> None:
    """Writes a file, its folders too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def mutant(
    key: str = "shop.box.x_larger__mutmut_1", status: Status | None = Status.KILLED, **more: Any
) -> Mutant:
    """A mutant made by hand; `function`, `before`, `after` and `path` go into its change."""
    change = Change(
        more.pop("path", "shop/box.py"),
        more.pop("function", "larger"),
        more.pop("before", "if first > second:"),
        more.pop("after", "if first >= second:"),
        more.pop("diff", "-if first > second:\n+if first >= second:"),
        Place(8, 14, 8, 15),
        ">=",
        more.pop("mutator", ""),
    )
    more = {"module": "shop.box", "origin": Origin.MUTMUT, **more}
    return Mutant(key, change=change, status=status, **more)
