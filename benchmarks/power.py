"""Detection power at length: python -m benchmarks.power --examples 10000

Draws that many fixtures, examines the healthy block on each, and gives every fault all of them, its variants in turn.
Prints for each fault how many fixtures could witness it and how many of these were caught, and for each detector
the largest healthy value beside the smallest value under the variants that declare it. Exit 0 when nothing was
missed, no detector fired on the healthy block and every fix restored it to the bit; 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from tabulate import tabulate

from detectors.catalogue import BY_NAME, DETECTORS
from detectors.detector import Detector
from detectors.examination import Examination
from detectors.fixtures import Fixture
from faults import mutants, registry, results, strategies
from faults.model import Fault
from faults.mutants import Mutant

CHUNK = 250
"""Fixtures drawn at a time: what detectors keep with them is dropped before the next ones are drawn."""


@dataclass
class Count:
    """One fault."""

    generated: int = 0
    witnessing: int = 0
    caught: int = 0
    errors: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    restored: float = 0.0

    @property
    def good(self) -> bool:
        return not self.errors and self.caught == self.witnessing > 0 and self.restored == 0


@dataclass
class Extremes:
    """One detector: the largest healthy value, and the smallest one under a variant that declares it."""

    healthy: float = 0.0
    alarms: int = 0
    faulty: float = float("inf")
    variant: str = ""
    declared: int = 0
    quiet: int = 0
    """Values of declaring variants that do not exceed the threshold."""


def main(argv: Sequence[str] | None = None) -> int:
    """Print both tables. Returns 0 when every witnessing fixture was caught without a false alarm, else 1."""
    options = parse(argv)
    power = Power()
    started = time.monotonic()
    for fixtures in chunks(options.examples, options.seed):
        power.measure(fixtures)
        if sys.stderr.isatty():
            print(f"\r{power.fixtures} of {options.examples}", end="", file=sys.stderr)
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    print(power.report(options.seed))
    return 0 if power.good else 1


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of one run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.power", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--examples", type=int, default=10_000, help="fixtures for each fault (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="seed of the first fixtures (default: %(default)s)"
    )
    options = parser.parse_args(argv)
    if options.examples < 1 or options.seed < 0:
        parser.error("required: --examples of at least 1 and --seed of at least 0")
    return options


def chunks(examples: int, seed: int) -> Iterator[tuple[Fixture, ...]]:
    """The fixtures, a few at a time, each time from the next seed."""
    for at in range(0, examples, CHUNK):
        yield strategies.drawn(min(CHUNK, examples - at), seed + at // CHUNK)


class Power:
    """What was seen so far."""

    def __init__(self) -> None:
        self.fixtures = 0
        self.faults = {fault.name: Count() for fault in registry.all_faults()}
        self.detectors = {name: Extremes() for name in BY_NAME}

    @property
    def good(self) -> bool:
        return all(count.good for count in self.faults.values()) and not self.alarms

    @property
    def alarms(self) -> int:
        return sum(extremes.alarms for extremes in self.detectors.values())

    def measure(self, fixtures: Sequence[Fixture]) -> None:
        """The healthy block on each fixture, then every fault on all of them."""
        healthy = [mutants.examined(fixture) for fixture in fixtures]
        for examination in healthy:
            self._healthy(examination)
        for fault in registry.all_faults():
            count = len(fault.variants)
            for at, variant in enumerate(fault.variants):
                turn = (at - self.fixtures) % count  # goes on where the fixtures before ended
                found = mutants.observe(fault, variant, fixtures[turn::count], healthy[turn::count])
                self._faulty(fault, found)
        self.fixtures += len(fixtures)

    def _healthy(self, examination: Examination) -> None:
        for signal in examination.signals:
            extremes = self.detectors[signal.detector.name]
            extremes.alarms += signal.fired
            if signal.value is not None:
                # np.maximum, not max: a value that is no number must come through and stay.
                extremes.healthy = float(np.maximum(extremes.healthy, signal.value))

    def _faulty(self, fault: Fault, found: Mutant) -> None:
        label, count = results.label(fault, found.variant), self.faults[fault.name]
        count.generated += found.generated
        count.witnessing += len(found.fixtures)
        count.caught += found.caught
        count.restored = float(np.maximum(count.restored, found.restored))
        count.errors += [f"{label}: {found.error}"] if found.error else []
        pairs = zip(found.fixtures, found.faulty, strict=not found.error)
        count.missed += [f"{label} on {f.extents}, seed {f.seed}" for f, seen in pairs if not seen.fired]
        for name in found.variant.signature.fires:
            for examination in found.faulty:
                self._declared(BY_NAME[name], examination.value(name), label)

    def _declared(self, detector: Detector, value: float | None, label: str) -> None:
        if value is None:
            return
        extremes = self.detectors[detector.name]
        extremes.declared += 1
        extremes.quiet += value <= detector.threshold
        if value < extremes.faulty:
            extremes.faulty, extremes.variant = value, label

    def report(self, seed: int) -> str:
        """Both tables, and every fixture that was missed."""
        verdict = "good" if self.good else "not good"
        return "\n".join([
            f"{self.fixtures} fixtures for each fault, seed {seed}",
            table([row(name, count) for name, count in self.faults.items()], FAULT_HEADERS),
            "",
            table([line(one, self.detectors[one.name]) for one in DETECTORS], DETECTOR_HEADERS),
            "",
            *[problem for count in self.faults.values() for problem in [*count.errors, *count.missed]],
            f"{self.alarms} false alarms; {verdict}",
        ])  # fmt: skip


FAULT_HEADERS = ("fault", "generated", "witnessing", "caught", "after the fix")
DETECTOR_HEADERS = (
    "detector",
    "threshold",
    "healthy, largest",
    "faulty, smallest",
    "under",
    "quiet",
    "of declared",
)


def table(rows: Sequence[tuple[str, ...]], headers: tuple[str, ...]) -> str:
    """Rows of text as they are."""
    return tabulate(rows, headers, "simple", disable_numparse=True)


def row(name: str, count: Count) -> tuple[str, ...]:
    """One fault as text."""
    restored = "bit-identical" if count.restored == 0 else f"off by {count.restored:.1e}"
    return name, str(count.generated), str(count.witnessing), str(count.caught), restored


def line(detector: Detector, extremes: Extremes) -> tuple[str, ...]:
    """One detector as text."""
    limits = f"{detector.threshold:.0e}" if detector.threshold else "0", f"{extremes.healthy:.1e}"
    if not extremes.declared:
        return detector.name, *limits, "-", "", "", "0"
    smallest = f"{extremes.faulty:.1e}"
    return detector.name, *limits, smallest, extremes.variant, str(extremes.quiet), str(extremes.declared)


if __name__ == "__main__":
    sys.exit(main())
