"""A campaign from its baseline to its report: every way it can end, and that it always ends the same."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detectors.examination import examine
from detectors.fixtures import Extents, Fixture
from faults import campaign, controls, injection, mutants, registry, results, strategies, symptoms, verdict
from faults.injection import Injection
from faults.model import Fault, Function, Report, Seam, Signature, Status, Variant, VariantResult
from faults.mutants import Mutant
from tests.faults import samples

ROOT = Path(__file__).parents[2]
EXAMPLES = 12

SCALE = Seam("core.attention", "scale")
UNUSED = Seam("core.residual", "post_norm")


@pytest.fixture(scope="module")
def whole() -> Report:
    return campaign.run(registry.all_faults(), EXAMPLES)


def run(*variants: Variant, examples: int = 4, seed: int = 0) -> Report:
    """A campaign of made-up variants."""
    return campaign.run([samples.fault(*variants)], examples, seed)


def only(report: Report) -> VariantResult:
    (row,) = report.variants
    return row


def unchanged(original: Function) -> Function:
    return lambda *arguments: original(*arguments)


def raising(error: BaseException) -> Callable[[Function], Function]:
    def patch(original: Function) -> Function:
        def replacement(*arguments: Any) -> Any:
            raise error

        return replacement

    return patch


def held(seam: Seam) -> Function:
    function: Function = getattr(importlib.import_module(seam.module), seam.attribute)
    return function


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


def injected_ever(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fills with the name of every variant that is injected from now on."""
    names: list[str] = []
    apply = Injection.apply

    def noted(self: Injection) -> None:
        names.append(self.variant.name)
        apply(self)

    monkeypatch.setattr(Injection, "apply", noted)
    return names


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


def test_a_patch_that_is_never_called_is_no_coverage_and_never_survived() -> None:
    report = run(samples.variant({UNUSED: unchanged}))
    row = only(report)
    assert row.status is Status.NO_COVERAGE
    assert row.activations == 0
    assert row.reason == "the patched code was not reached on 4 of 4 fixtures"
    assert verdict.exit_code(report) == 1


def observed(variant: Variant, *fixtures: Fixture) -> Mutant:
    """One variant on fixtures of one's own choice."""
    healthy = [mutants.examined(fixture) for fixture in fixtures]
    return mutants.observe(samples.fault(variant), variant, fixtures, healthy)


def test_code_that_is_reached_on_some_fixtures_only_is_no_coverage_too() -> None:
    root_mean_square = Fixture(Extents(norm_kind="rms"), 0)
    layer = Fixture(Extents(norm_kind="layer"), 0)
    chosen = samples.variant({Seam("core.norm", "rms_norm"): unchanged})
    mutant = observed(chosen, root_mean_square, layer)
    assert mutants.status(mutant) is Status.NO_COVERAGE
    assert mutants.reason(mutant) == "the patched code was not reached on 1 of 2 fixtures"


def test_a_patch_that_changes_nothing_survives_and_the_reason_counts_the_misses() -> None:
    report = run(samples.variant({SCALE: unchanged}))
    row = only(report)
    assert row.status is Status.SURVIVED
    assert (row.caught, row.witness, row.named) == (0, None, 0)
    assert row.reason == "missed on 4 of 4 witnessing fixtures"
    assert report.faults[0].diagnosis == results.NOTHING
    assert verdict.exit_code(report) == 1


def test_a_variant_that_escapes_once_has_survived() -> None:
    # Wrong with more than three heads only: the fixtures with two or three cannot show it.
    def some(original: Function) -> Function:
        return lambda scores, query: original(scores, query) * (2.0 if query.shape[1] > 3 else 1.0)

    row = only(run(samples.variant({SCALE: some}), examples=20))
    assert 0 < row.caught < 20
    assert row.status is Status.SURVIVED
    assert row.reason == f"missed on {20 - row.caught} of 20 witnessing fixtures"


def test_faulty_code_that_raises_is_caught_by_the_shape_contract() -> None:
    expected = Signature(frozenset({"shape"}))
    report = run(
        samples.variant({SCALE: raising(ValueError("shapes do not fit"))}, lead="shape", signature=expected)
    )
    row = only(report)
    assert row.status is Status.KILLED
    assert row.kills["shape"] == row.caught == 4
    assert row.reading.faulty is not None
    assert row.reading.faulty >= 1


def test_a_patch_that_raises_where_its_fault_would_not_is_an_error_and_no_kill() -> None:
    report = run(samples.variant({SCALE: raising(NameError("undefined_name"))}))
    row = only(report)
    assert row.status is Status.ERROR
    assert "NameError: undefined_name" in row.reason
    assert verdict.exit_code(report) == 3


def broken_patch(original: Function) -> Function:
    raise RuntimeError("this patch cannot be made")


@pytest.mark.parametrize(
    ("variant", "reason"),
    [
        (samples.variant({SCALE: broken_patch}), "RuntimeError: this patch cannot be made"),
        (
            samples.variant({Seam("core.attention", "nothing"): unchanged}),
            "InjectionError: seam core.attention.nothing: not found",
        ),
    ],
    ids=["patch raises", "no such seam"],
)
def test_a_patch_that_cannot_be_made_is_an_error_and_the_run_goes_on(variant: Variant, reason: str) -> None:
    original = held(SCALE)
    report = run(variant, samples.variant({SCALE: lambda original: lambda scores, query: scores}, "next"))
    broken, after = report.variants
    assert broken.status is Status.ERROR
    assert broken.reason.startswith(reason)
    assert broken.witness is None
    assert after.status is Status.KILLED
    assert held(SCALE) is original
    assert verdict.exit_code(report) == 3


def test_a_crash_of_a_detector_under_the_fault_is_an_error_and_no_kill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crash(observation: Any) -> float:
        if injection.in_force() is chosen:
            raise ZeroDivisionError("in the detector itself")
        return 0.0

    catalogue = importlib.import_module("detectors.catalogue")
    crashing = tuple(replace(d, measure=crash) if d.name == "rows" else d for d in catalogue.DETECTORS)
    monkeypatch.setattr(mutants, "examine", lambda subject, fixture: examine(subject, fixture, crashing))
    chosen = samples.variant({SCALE: lambda original: lambda scores, query: scores})
    row = only(run(chosen))
    assert row.status is Status.ERROR
    assert row.reason == "ZeroDivisionError: in the detector itself"


def test_a_variant_that_no_fixture_can_witness_is_not_applicable_whatever_its_patch_does() -> None:
    report = run(samples.variant({SCALE: broken_patch}, witnesses=lambda extents: False))
    row = only(report)
    assert row.status is Status.NOT_APPLICABLE
    assert (row.generated, row.witnessing, row.reason) == (4, 0, "none of 4 fixtures can witness it")


def test_the_extents_decide_which_fixtures_are_witnesses() -> None:
    few = samples.variant(
        {SCALE: lambda original: lambda scores, query: scores}, witnesses=lambda extents: extents.tokens < 6
    )
    row = only(run(few, examples=12))
    assert row.witnessing == sum(fixture.extents.tokens < 6 for fixture in strategies.drawn(12, 0))
    assert 0 < row.witnessing < row.generated == 12


def interrupted_run(monkeypatch: pytest.MonkeyPatch) -> Report:
    """A campaign whose second variant is interrupted in the middle of the faulty code."""
    first = samples.declared("missing_scale/absent")
    second = samples.variant({SCALE: raising(KeyboardInterrupt())}, "interrupted")
    return run(first, second, first)


def test_an_interrupt_midway_gives_the_rows_that_are_done_and_restores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = held(SCALE)
    report = interrupted_run(monkeypatch)
    assert held(SCALE) is original
    assert injection.in_force() is None
    assert report.interrupted
    assert [(row.variant, row.status) for row in report.variants] == [("absent", Status.KILLED)]
    assert verdict.exit_code(report) == 130


def test_nothing_more_is_injected_after_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    injected = injected_ever(monkeypatch)
    report = interrupted_run(monkeypatch)
    assert injected == ["no_op", "must_die", "absent", "interrupted"]
    assert report.symptoms == ()
    assert report.variants[0].witness is None


def test_an_interrupt_that_keeps_an_injection_from_leaving_is_made_up_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(self: object, *error: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    def arm(line: str) -> None:
        if line.startswith("made_up"):
            monkeypatch.setattr(injection.inject, "__exit__", interrupted)

    original = held(SCALE)
    chosen = samples.fault(samples.declared("missing_scale/absent"))
    report = campaign.run([chosen], 3, progress=arm)
    assert report.interrupted
    assert held(SCALE) is original
    assert injection.in_force() is None


@pytest.mark.parametrize("moment", ["baseline", "made_up/absent"])
def test_an_interrupt_before_the_first_row_gives_a_report_without_rows(moment: str) -> None:
    def interrupt(line: str) -> None:
        if line == moment:
            raise KeyboardInterrupt

    chosen = samples.fault(samples.declared("missing_scale/absent"))
    report = campaign.run([chosen], 3, progress=interrupt)
    assert report.interrupted
    assert report.examples == 3
    assert report.faults == ()
    assert len(report.controls) == (0 if moment == "baseline" else 2)
    assert verdict.exit_code(report) == 130


@pytest.mark.parametrize("stage", ["faults.witness.Search.smallest", "faults.symptoms.saturation"])
def test_an_interrupt_while_the_report_is_made_still_gives_the_rows(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(stage, interrupt)
    report = run(samples.declared("missing_scale/absent"))
    assert report.interrupted
    assert only(report).status is Status.KILLED
    assert verdict.exit_code(report) == 130


def test_a_no_op_that_changes_something_is_reported_and_breaks_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changing = replace(controls.NO_OP, patches={SCALE: lambda original: lambda scores, query: scores})
    monkeypatch.setattr(controls, "NO_OP", changing)
    report = run(samples.declared("missing_scale/absent"))
    assert [(c.name, c.status, c.holds) for c in report.controls] == [
        ("no_op", Status.KILLED, False),
        ("must_die", Status.KILLED, True),
    ]
    assert verdict.exit_code(report) == 3


def test_a_no_op_must_survive_with_the_very_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    def rounded(original: Function) -> Function:
        return lambda scores, query: original(scores, query) * (1 + 1e-6)

    monkeypatch.setattr(controls, "NO_OP", replace(controls.NO_OP, patches={SCALE: rounded}))
    report = run(samples.declared("missing_scale/absent"))
    no_op = report.controls[0]
    assert (no_op.expected, no_op.holds) == (Status.SURVIVED, False)
    assert no_op.detail == "survived, but not bit-identically"
    assert verdict.exit_code(report) == 3


def test_a_no_op_that_is_never_reached_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controls, "NO_OP", replace(controls.NO_OP, patches={UNUSED: unchanged}))
    report = run(samples.declared("missing_scale/absent"))
    assert report.controls[0].status is Status.NO_COVERAGE
    assert verdict.exit_code(report) == 3


def test_the_no_op_goes_through_every_forward_seam_of_the_registry() -> None:
    seams = {seam for _, variant in samples.CASES for seam in variant.patches}
    forward = {seam for seam in seams if not seam.attribute.endswith("_backward")}
    assert set(controls.NO_OP.patches) == forward


def test_a_must_die_that_lives_is_reported_and_breaks_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controls, "MUST_DIE", replace(controls.MUST_DIE, patches={SCALE: unchanged}))
    report = run(samples.declared("missing_scale/absent"))
    must_die = report.controls[1]
    assert (must_die.expected, must_die.status, must_die.holds) == (Status.KILLED, Status.SURVIVED, False)
    assert verdict.exit_code(report) == 3


def leaving_behind(monkeypatch: pytest.MonkeyPatch, left: Callable[[Function], Function]) -> Variant:
    """A variant whose patch also changes the weighted sum, and never takes that back."""

    def patch(original: Function) -> Function:
        weighted_sum = importlib.import_module("core.attention").weighted_sum
        monkeypatch.setattr("core.attention.weighted_sum", left(weighted_sum))
        return lambda scores, query: scores

    return samples.variant({SCALE: patch})


def test_a_fault_that_leaves_something_behind_is_not_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    report = run(leaving_behind(monkeypatch, lambda original: lambda w, v: 2 * original(w, v)))
    row = only(report)
    assert row.status is Status.KILLED
    assert row.restored > 0.1
    assert verdict.exit_code(report) == 1


def test_a_value_that_is_no_number_afterwards_is_not_restored_on_whichever_fixture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def left(original: Function) -> Function:
        return lambda weights, value: original(weights, value) * (np.nan if value.shape[2] == 4 else 1)

    chosen = leaving_behind(monkeypatch, left)
    mutant = observed(chosen, *[Fixture(Extents(tokens=tokens), 0) for tokens in (3, 4, 5)])
    assert not mutant.restored <= 0


@pytest.mark.parametrize("left", [-1e4, np.nan])
def test_a_fault_that_leaves_a_signal_changed_is_not_restored_though_the_outputs_are(
    left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = importlib.import_module("core.mask").causal_mask

    def shorter(queries: int, keys: int, dtype: Any = np.float64) -> Any:
        """Wrong for fewer queries than keys alone, which never happens inside a block."""
        return sound(queries, keys, dtype) if queries == keys else np.full((queries, keys), left, dtype)

    def patch(original: Function) -> Function:
        monkeypatch.setattr("core.mask.causal_mask", shorter)
        return lambda scores, query: scores

    mutant = observed(samples.variant({SCALE: patch}), Fixture(Extents(), 0))
    assert not mutant.restored <= 0


@pytest.mark.parametrize(
    ("now", "apart"),
    [
        ([1.0, 2.0], 0.0),
        ([1.0, 2.5], 0.5),
        ([1.0, np.nan], np.inf),
        ([[1.0, 2.0]], np.inf),
        (np.array([1.0, 2.0], np.float32), np.inf),
    ],
)
def test_outputs_are_compared_bit_by_bit(now: Any, apart: float) -> None:
    assert mutants._difference(np.asarray(now), np.array([1.0, 2.0])) == apart


def test_a_zero_that_changed_its_sign_is_another_value_and_the_same_not_a_number_is_none() -> None:
    assert mutants._difference(np.array([-0.0]), np.array([0.0])) == np.inf
    assert mutants._difference(np.array([np.nan]), np.array([np.nan])) == 0.0


def test_a_signal_that_cannot_be_measured_any_more_is_not_restored() -> None:
    before = samples.examination({"rows": 0.0})
    after = samples.examination({"rows": None})
    assert mutants._apart(before, after) == [float("inf")]
    assert mutants._apart(before, samples.examination({"rows": 0.25, "slope": 0.5})) == [0.25, 0.5]
    assert mutants._apart(before, before) == []
