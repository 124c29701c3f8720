"""What the campaign costs beyond the block calls it makes: `python -m benchmarks.campaign`.

One run, side by side, alternating: (A) the campaign over all five faults - injection, detectors, verdicts - and
(B) the very same calls of the block and of its attention, recorded beforehand and made again bare, each under the
variant it was made under. Fixture generation and the search for the smallest witness are timed apart. The bound is
A / B <= 2.0. With `--process`, also the whole `faults run --all` over the imports it cannot do without (<= 15).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

import numpy as np
from tabulate import tabulate

from detectors.fixtures import Fixture
from detectors.subject import Subject
from faults import campaign, injection, reference, registry, strategies, symptoms, witness
from faults.model import Variant

Call = tuple[Callable[..., Any], tuple[Any, ...]]
IMPORTS = "import numpy, hypothesis, tabulate"


class Recorder:
    """Notes every call of a subject together with the variant that was in force."""

    def __init__(self) -> None:
        self.calls: list[tuple[Variant | None, list[Call]]] = []

    def subject(self, fixture: Fixture) -> Subject:
        plain = _plain_subject(fixture)
        assert plain.call is not None
        assert plain.attention is not None
        return replace(plain, call=self._noted(plain.call), attention=self._noted(plain.attention))

    def _noted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            active = injection.in_force()
            if not self.calls or self.calls[-1][0] is not active:
                self.calls.append((active, []))
            self.calls[-1][1].append((function, arguments))
            return function(*arguments)

        return noted


_plain_subject = reference.subject


def judged(fixtures: Sequence[Fixture], examples: int) -> campaign.Campaign:
    """The campaign from given fixtures to its rows, without drawing, shrinking and the symptom table."""
    with (
        mock.patch.object(strategies, "drawn", return_value=fixtures),
        mock.patch.object(witness.Search, "smallest", return_value=None),
        mock.patch.object(symptoms, "saturation", return_value=()),
    ):
        found = campaign.Campaign(registry.all_faults(), examples, 0, lambda line: None)
        found.run()
        report = found.report()
    assert report.variants
    assert not report.alarms
    return found


def replay(calls: Sequence[tuple[Variant | None, list[Call]]]) -> float:
    """Seconds of the recorded calls alone; entering and leaving an injection is not counted."""
    total = 0.0
    for variant, group in calls:
        context: AbstractContextManager[Any] = injection.inject(variant) if variant else nullcontext()
        with context, np.errstate(all="ignore"):
            start = time.perf_counter()
            for function, arguments in group:
                try:
                    function(*arguments)
                except ValueError:  # some variants raise: that is their signal
                    continue
            total += time.perf_counter() - start
    return total


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(examples: int, rounds: int) -> tuple[list[list[object]], float]:
    """Rows of the table, and the median ratio."""
    recorder = Recorder()
    # The campaign must not find inputs another run has already made: each gets fixtures of its own.
    with mock.patch.object(reference, "subject", recorder.subject):
        judged(strategies.drawn(examples, 0), examples)
    pairs = []
    for _ in range(rounds):
        fixtures = strategies.drawn(examples, 0)
        pairs.append((seconds(partial(judged, fixtures, examples)), replay(recorder.calls)))
    ratio = median(whole / bare for whole, bare in pairs)
    search = witness.Search()
    variants = [variant for fault in registry.all_faults() for variant in fault.variants]
    count = sum(len(group) for _, group in recorder.calls)
    return [
        ["campaign: injection, detectors, verdicts", median(whole for whole, _ in pairs)],
        [f"the {count} block and attention calls it makes, bare", median(bare for _, bare in pairs)],
        ["apart: drawing the fixtures", seconds(lambda: strategies.drawn(examples, 0))],
        ["apart: searching the smallest witnesses", seconds(lambda: [search.smallest(v) for v in variants])],
    ], ratio


def process_ratio(rounds: int) -> float:
    """Whole process `faults run --all` over the bare imports, median of alternating pairs."""
    run = [sys.executable, "-m", "faults", "run", "--all"]
    bare = [sys.executable, "-c", IMPORTS]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "check": True}
    return median(
        seconds(lambda: subprocess.run(run, **quiet)) / seconds(lambda: subprocess.run(bare, **quiet))
        for _ in range(rounds)
    )


def main() -> int:
    """Prints the table; exit code 1 when a bound is not held."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=100, help="fixtures per fault (100)")
    parser.add_argument("--rounds", type=int, default=7, help="alternating pairs (7)")
    parser.add_argument("--process", action="store_true", help="also time the whole process")
    options = parser.parse_args()
    rows, ratio = compare(options.examples, options.rounds)
    print(tabulate(rows, headers=["what", "seconds"], floatfmt=".3f"))
    print(f"\ncampaign / bare calls: {ratio:.2f}  (bound 2.0)")
    held = ratio <= 2.0
    if options.process:
        whole = process_ratio(options.rounds)
        print(f"`faults run --all` / `python -c '{IMPORTS}'`: {whole:.1f}  (bound 15)")
        held &= whole <= 15
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
