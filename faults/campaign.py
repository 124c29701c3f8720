"""The campaign: baseline, controls, then every variant injected, examined, named and undone.

The rules of a run: every detector is quiet on every fixture before anything is injected; a no-op must survive
bit-identically and a must-die fault must die; a mutant whose patch was never called is NO_COVERAGE; and after
each variant the same functions are back and the baseline is measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from detectors.examination import Examination
from detectors.fixtures import Fixture
from faults import controls, injection, mutants, registry, results, strategies, symptoms
from faults.model import Control, Fault, FaultResult, Report
from faults.mutants import Mutant
from faults.witness import Search

Progress = Callable[[str], None]

CONTROL_FIXTURES = 3


def silent(line: str) -> None:
    """Says nothing."""


def run(faults: Sequence[Fault], examples: int, seed: int = 0, progress: Progress | None = None) -> Report:
    """The report of one campaign; partial, with `interrupted`, after a KeyboardInterrupt.

    `examples` fixtures are drawn; each fault gets all of them, its variants in turn. Nothing is injected when a
    detector fires on a healthy fixture: the report then shows the false alarm and no fault.
    """
    campaign = Campaign(tuple(faults), examples, seed, progress or silent)
    try:
        campaign.run()
        return campaign.report()
    except KeyboardInterrupt:
        injection.restore_all()
        campaign.interrupted = True
        return campaign.report()


class Campaign:
    """The state of a run, whole enough at any moment for a partial report."""

    def __init__(self, faults: tuple[Fault, ...], examples: int, seed: int, say: Progress) -> None:
        self.faults, self.examples, self.seed, self.say = faults, examples, seed, say
        self.healthy: list[Examination] = []
        self.controls: tuple[Control, ...] = ()
        self.mutants: list[Mutant] = []
        self.interrupted = False

    def run(self) -> None:
        """Every step in order; stops after the baseline when a detector fires on sound code."""
        self.say("baseline")
        fixtures = strategies.drawn(self.examples, self.seed)
        for fixture in fixtures:
            self.healthy.append(mutants.examined(fixture))
        if any(examination.fired for examination in self.healthy):
            return
        self.controls = controls.run(fixtures[:CONTROL_FIXTURES], self.healthy[:CONTROL_FIXTURES])
        for fault in self.faults:
            self._inject_all(fault, fixtures)

    def _inject_all(self, fault: Fault, fixtures: Sequence[Fixture]) -> None:
        """Fixture i goes to variant i modulo the number of variants; with fewer fixtures some serve again."""
        count = len(fault.variants)
        for at, variant in enumerate(fault.variants):
            self.say(results.label(fault, variant))
            mine = (
                slice(at, None, count)
                if at < len(fixtures)
                else slice(at % len(fixtures), at % len(fixtures) + 1)
            )
            self.mutants.append(mutants.observe(fault, variant, fixtures[mine], self.healthy[mine]))

    def _sound(self) -> bool:
        """Whether the run is whole and its baseline quiet: only then is anything more injected."""
        return not self.interrupted and not any(examination.fired for examination in self.healthy)

    def report(self) -> Report:
        """What is known so far."""
        naming = results.Naming(results.expected(registry.all_faults()))
        return Report(
            seed=self.seed,
            examples=self.examples,
            detectors=results.detector_infos(self.healthy),
            controls=self.controls,
            faults=self._fault_results(naming),
            alone=results.alone(self.mutants),
            symptoms=symptoms.saturation(self.seed) if self._sound() else (),
            interrupted=self.interrupted,
        )

    def _fault_results(self, naming: results.Naming) -> tuple[FaultResult, ...]:
        search = Search()
        found = []
        for fault in self.faults:
            own = [mutant for mutant in self.mutants if mutant.fault is fault]
            rows = tuple(
                results.variant_result(
                    mutant,
                    naming,
                    # A patch that could not be made for the fixtures cannot be made for a search either.
                    search.smallest(mutant.variant) if self._sound() and not mutant.error else None,
                )
                for mutant in own
            )
            if rows:
                found.append(results.fault_result(fault, own, rows, naming))
        return tuple(found)
