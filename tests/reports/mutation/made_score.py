"""A judged run written by hand, with every kind of row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from faults.model import Control, Status
from faults.mutation import gate
from faults.mutation.gate import Bars
from faults.mutation.model import Change, Likeness, Mutant, Origin, Part, Place, Run, ScoreReport

SOURCE = "def larger(first, second):\n    return first if first > second else second\n"
BEFORE, AFTER = "return first if first > second else second", "return first if first >= second else second"
DIFF = f"--- core/box.py\n+++ core/box.py\n@@\n def larger(first, second):\n-    {BEFORE}\n+    {AFTER}"
TESTS = (
    "tests/test_box.py::test_a[x|y]",
    "tests/test_box.py::test_b",
    "tests/test_more.py::test_c",
    "tests/test_d.py::d",
)


def mutant(key: str, status: Status | None, module: str = "core.box", **more: Any) -> Mutant:
    """A mutant of `larger`."""
    change = Change("core/box.py", "larger", BEFORE, AFTER, DIFF, Place(2, 27, 2, 28), ">=")
    return Mutant(key, module, Origin.MUTMUT, change, status, **more)


def semantic(key: str, status: Status, **more: Any) -> Mutant:
    """A fault variant."""
    change = Change("faults/a/fault.py", key, "core.mask.f", "adds 0", "", Place(1, 1, 1, 4), "adds 0", "a")
    return Mutant(key, "core.mask", Origin.SEMANTIC, change, status, tests=("tests/core",), **more)


RUN = Run(
    mutants=(
        mutant("core.box.x_larger__mutmut_1", Status.SURVIVED, tests=TESTS, seconds=0.5),
        mutant("core.box.x_larger__mutmut_2", Status.KILLED, seconds=0.25),
        mutant("core.box.x_larger__mutmut_3", Status.TIMEOUT, seconds=15.25),
        mutant("core.box.x_larger__mutmut_4", Status.SURVIVED, equivalent="equal ones are one", seconds=0.0),
        mutant("reports.a|b.x_f__mutmut_1", Status.NO_COVERAGE, "reports.a|b"),
        semantic(
            "a/zero", Status.KILLED, killed_by="tests/core/test_mask.py::test_future[float32]", seconds=2.0
        ),
        semantic(
            "a/tiny", Status.KILLED, killed_by="tests/core/test_mask.py::test_future[float32]", seconds=2.0
        ),
    ),
    controls=(Control("must_die", Status.KILLED, Status.KILLED),),
    likeness=(Likeness("a/zero", ("core.mask.x_f__mutmut_7",)), Likeness("a/tiny", ())),
    compared=12,
    seconds=90.0,
    sources={"core/box.py": SOURCE, "faults/a/fault.py": '"zero"\n'},
)
PARTS = (Part("deciding", ("core.*",), 100.0), Part("rest", ("*",), 90.0))


def made_score(run: Run = RUN, bars: Bars = Bars(parts=PARTS, equivalents_at_most=50.0)) -> ScoreReport:  # noqa: B008 - frozen
    """The run, judged: two parts are under their bars."""
    return gate.report(run, bars)


def passed() -> ScoreReport:
    """A run in which the one mutant died."""
    return gate.report(Run((RUN.mutants[1],), sources=RUN.sources), Bars())


def broken() -> ScoreReport:
    """A run that cannot be trusted."""
    return gate.report(
        replace(RUN, broken=({"en": "mutmut ended with 1", "zh": "mutmut 以 1 结束"},)), Bars()
    )
