"""A campaign from its baseline to its report: what is run on what, and that it always ends the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from detectors.fixtures import Fixture
from faults import campaign, mutants, registry, results, strategies, symptoms, verdict
from faults.model import Fault, Report, Status, Variant
from faults.mutants import Mutant
from tests.faults import samples
from tests.faults.small_campaigns import (
    EXAMPLES,
    SCALE,
    injected_ever,
    run,
    unchanged,
)

ROOT = Path(__file__).parents[2]


def test_every_variant_of_the_registry_is_killed_and_the_verdict_is_good(whole: Report) -> None:
    assert [f"{row.fault}/{row.variant}" for row in whole.variants] == samples.CASE_NAMES
    assert {row.status for row in whole.variants} == {Status.KILLED}
    assert whole.alarms == 0
    assert verdict.problems(whole) == ()
    assert verdict.exit_code(whole) == 0


def test_the_five_are_named_from_their_signals_alone(whole: Report) -> None:
    assert tuple(fault.diagnosis for fault in whole.faults) == registry.NAMES


def test_every_row_is_caught_on_all_its_witnesses_and_restored_to_the_bit(whole: Report) -> None:
    for row in whole.variants:
        assert row.caught == row.witnessing > 0
        assert row.activations >= row.witnessing
        assert row.restored == 0.0
        assert row.reason == ""
        assert row.witness is not None
        assert row.witness.detector == row.reading.detector
        assert row.kills[row.reading.detector] > 0


def test_the_report_says_how_it_was_made(whole: Report) -> None:
    assert (whole.seed, whole.examples, whole.interrupted) == (0, EXAMPLES, False)
    assert [kind.name for kind in whole.alone] == ["shape", "rows", "future"]
    assert [row["head_width"] for row in whole.symptoms] == list(symptoms.HEAD_WIDTHS)
    assert all(detector.fixtures <= EXAMPLES for detector in whole.detectors)
    assert {(control.name, control.expected, control.holds) for control in whole.controls} == {
        ("no_op", Status.SURVIVED, True),
        ("must_die", Status.KILLED, True),
    }


def test_a_second_run_gives_an_equal_report(whole: Report) -> None:
    assert campaign.run(registry.all_faults(), EXAMPLES) == whole


def test_a_report_keeps_its_seed_and_shows_the_symptoms_of_it() -> None:
    report = run(samples.declared("missing_scale/absent"), seed=3)
    assert report.seed == 3
    assert report.symptoms == symptoms.saturation(3)


def test_signals_are_compared_with_all_five_faults_whichever_were_run() -> None:
    open_mask = replace(samples.declared("mask_adds_zero/missing"), name="made")
    report = campaign.run([samples.fault(open_mask, name="missing_scale")], 4)
    assert report.faults[0].diagnosis == "mask_adds_zero"


def test_another_seed_gives_other_fixtures(whole: Report) -> None:
    one = registry.load("missing_scale")
    other = campaign.run([one], EXAMPLES, seed=1)
    (same,) = [fault for fault in whole.faults if fault.name == one.name]
    assert [row.reading.faulty for row in other.variants] != [row.reading.faulty for row in same.variants]


def test_a_fault_has_the_same_rows_alone_as_among_the_others(whole: Report) -> None:
    chosen = registry.load("flipped_triangle")
    (alone,) = campaign.run([chosen], EXAMPLES).faults
    assert alone in whole.faults


def started(hash_seed: str, file: Path) -> subprocess.Popen[bytes]:
    command = ["-m", "faults", "run", "--all", "--examples", "8", "--lang", "en", "-v", "--json"]
    return subprocess.Popen(
        [sys.executable, *command, str(file)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )


def test_the_same_bytes_come_out_whatever_the_hash_seed(tmp_path: Path) -> None:
    files = [tmp_path / f"{hash_seed}.json" for hash_seed in ("0", "1")]
    children = [started(file.stem, file) for file in files]
    outputs = [(child.communicate()[0], child.returncode) for child in children]
    assert outputs[0] == outputs[1]
    assert outputs[0][1] == 0
    assert b"head_seq_swap" in outputs[0][0]
    assert files[0].read_bytes() == files[1].read_bytes() != b""


class Watched:
    """Notes which fixtures every variant was given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.given: dict[str, list[Fixture]] = {}
        self._observe = mutants.observe
        monkeypatch.setattr(mutants, "observe", self.observe)

    def observe(self, fault: Fault, variant: Variant, fixtures: Sequence[Fixture], healthy: Any) -> Mutant:
        self.given[results.label(fault, variant)] = list(fixtures)
        assert len(fixtures) == len(healthy)
        return self._observe(fault, variant, fixtures, healthy)


def test_the_variants_of_a_fault_take_turns_on_the_fixtures_and_the_faults_share_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = Watched(monkeypatch)
    three, two = samples.declared("missing_scale/absent"), samples.declared("missing_scale/twice")
    faults = [
        samples.fault(*[replace(three, name=name) for name in "abc"], name="three"),
        samples.fault(*[replace(two, name=name) for name in "de"], name="two"),
    ]
    report = campaign.run(faults, examples=7)
    drawn = strategies.drawn(7, 0)
    seeds = {
        name: [fixture.seed for fixture in fixtures]
        for name, fixtures in watched.given.items()
        if not name.startswith("control")
    }
    expected = {
        "three/a": [0, 3, 6],
        "three/b": [1, 4],
        "three/c": [2, 5],
        "two/d": [0, 2, 4, 6],
        "two/e": [1, 3, 5],
    }
    assert seeds == {name: [drawn[at].seed for at in turns] for name, turns in expected.items()}
    assert [row.generated for row in report.variants] == [3, 2, 2, 4, 3]


def test_a_fault_of_more_variants_than_fixtures_tries_every_one_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = Watched(monkeypatch)
    absent = samples.declared("missing_scale/absent")
    report = campaign.run([samples.fault(*[replace(absent, name=name) for name in "abcde"])], examples=2)
    given = {name: fixtures for name, fixtures in watched.given.items() if name.startswith("made_up")}
    first, second = strategies.drawn(2, 0)
    turns = [first.seed, second.seed, first.seed, second.seed, first.seed]
    assert [[fixture.seed for fixture in fixtures] for fixtures in given.values()] == [
        [turn] for turn in turns
    ]
    assert [row.status for row in report.variants] == [Status.KILLED] * 5


def test_every_fault_gets_all_the_examples(whole: Report) -> None:
    assert [fault.total("generated") for fault in whole.faults] == [EXAMPLES] * 5


def test_progress_names_the_baseline_and_then_every_variant() -> None:
    lines: list[str] = []
    variants = [samples.variant({SCALE: unchanged}, name) for name in ("one", "two")]
    campaign.run([samples.fault(*variants)], 2, progress=lines.append)
    assert lines == ["baseline", "made_up/one", "made_up/two"]


def test_a_broken_baseline_is_reported_and_nothing_is_injected(monkeypatch: pytest.MonkeyPatch) -> None:
    injected = injected_ever(monkeypatch)
    monkeypatch.setattr("core.attention.scale", lambda scores, query: scores)
    report = campaign.run(registry.all_faults(), 3)
    assert report.faults == ()
    assert report.controls == ()
    assert injected == []
    assert {d.name for d in report.detectors if d.alarms} >= {"slope", "heads"}
    assert verdict.exit_code(report) == 3
    assert any("slope fires on 3 of 3 healthy fixtures" in line["en"] for line in verdict.problems(report))


@pytest.mark.parametrize(
    ("variants", "fixtures", "expected"),
    [
        (2, 5, [[0, 2, 4], [1, 3]]),
        (3, 3, [[0], [1], [2]]),
        (5, 2, [[0], [1], [0], [1], [0]]),
    ],
)
def test_variants_take_turns_at_the_fixtures_and_share_them_where_there_are_fewer(
    variants: int, fixtures: int, expected: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def observe(fault: Fault, variant: Variant, mine: Any, healthy: Any) -> Any:
        assert healthy == [10 * fixture for fixture in mine]
        return fault, variant.name, mine

    monkeypatch.setattr(mutants, "observe", observe)
    declared = samples.declared("missing_scale/absent")
    fault = samples.fault(*(replace(declared, name=f"v{at}") for at in range(variants)))
    said: list[str] = []
    made = campaign.Campaign((fault,), fixtures, 0, said.append)
    made.healthy = [10 * fixture for fixture in range(fixtures)]  # type: ignore[misc]
    made._inject_all(fault, range(fixtures))  # type: ignore[arg-type]
    found: list[Any] = [*made.mutants]
    assert found == [(fault, f"v{at}", mine) for at, mine in enumerate(map(ranged, expected))]
    assert said == [f"{fault.name}/v{at}" for at in range(variants)]


def ranged(numbers: list[int]) -> range:
    """The numbers as `range` would give them when it is sliced."""
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    return range(numbers[0], numbers[-1] + 1, step)


def test_a_report_of_what_has_not_begun_says_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symptoms, "saturation", lambda seed: ({"seed": seed},))
    report = campaign.Campaign((), 3, 7, campaign.silent).report()
    assert (report.seed, report.examples, report.interrupted) == (7, 3, False)
    assert report.symptoms == ({"seed": 7},)
    assert report.alone == results.alone([])
    assert (report.controls, report.faults) == ((), ())
    assert campaign.run([], 1).seed == 0
