"""How a variant ends: every status with its reason, and whether the healthy values came back."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from detectors.examination import examine
from detectors.fixtures import Extents, Fixture
from faults import injection, mutants, results, strategies, verdict
from faults.model import Function, Seam, Signature, Status, Variant
from faults.mutants import Mutant
from tests.faults import samples
from tests.faults.small_campaigns import (
    SCALE,
    UNUSED,
    held,
    observed,
    only,
    raising,
    run,
    unchanged,
)


def test_a_patch_that_is_never_called_is_no_coverage_and_never_survived() -> None:
    report = run(samples.variant({UNUSED: unchanged}))
    row = only(report)
    assert row.status is Status.NO_COVERAGE
    assert row.activations == 0
    assert row.reason == "the patched code was not reached on 4 of 4 fixtures"
    assert verdict.exit_code(report) == 1


def test_copies_that_no_injection_can_reach_are_named_where_a_patch_was_never_called() -> None:
    seam = held(UNUSED)
    kept = {"list": [seam], "dict": {"kept": seam}}
    mutant = observed(samples.variant({UNUSED: unchanged}), Fixture(Extents(), 0))
    assert mutants.reason(mutant) == (
        "the patched code was not reached on 1 of 1 fixtures; "
        "copies of it that cannot be replaced are kept in: dict, list"
    )
    assert kept


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


def test_the_first_call_that_failed_is_the_reason() -> None:
    variant, fixture = samples.variant({}), Fixture(Extents(), 0)
    faulty = [samples.examination({}), replace(samples.examination({}), failures=("first", "second"))]
    mutant = Mutant(samples.fault(variant), variant, 2, [fixture] * 2, [], faulty, [1, 1])
    assert mutants.status(mutant) is Status.ERROR
    assert mutants.reason(mutant) == "a call failed that this variant should let pass: first"


def test_a_variant_that_is_caught_everywhere_has_no_reason_and_leaves_nothing_behind() -> None:
    chosen = samples.variant({SCALE: lambda original: lambda scores, query: 3 * scores})
    mutant = observed(chosen, Fixture(Extents(), 0))
    assert (mutants.status(mutant), mutants.reason(mutant), mutant.restored) == (Status.KILLED, "", 0.0)


def test_every_fixture_comes_with_its_healthy_examination() -> None:
    variant = samples.variant({SCALE: unchanged})
    with pytest.raises(ValueError, match="shorter"):
        mutants.observe(samples.fault(variant), variant, [Fixture(Extents(), 0)], [])


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
        ([1.0, 2.0, 3.0], np.inf),
        (np.array([1.0, 2.0], np.float32), np.inf),
    ],
)
def test_outputs_are_compared_bit_by_bit(now: Any, apart: float) -> None:
    assert mutants._difference(np.asarray(now), np.array([1.0, 2.0])) == apart


def test_a_zero_that_changed_its_sign_or_type_is_another_value_and_the_same_nan_is_none() -> None:
    assert mutants._difference(np.array([-0.0]), np.array([0.0])) == np.inf
    assert mutants._difference(np.array([0]), np.array([0.0])) == np.inf
    assert mutants._difference(np.array([np.nan]), np.array([np.nan])) == 0.0


def test_a_signal_that_cannot_be_measured_any_more_is_not_restored() -> None:
    before = samples.examination({"rows": 0.0})
    after = samples.examination({"rows": None})
    assert mutants._apart(before, after) == [float("inf")]
    assert mutants._apart(before, samples.examination({"rows": 0.25, "slope": 0.5})) == [0.25, 0.5]
    assert mutants._apart(before, before) == []
    assert mutants._apart(samples.examination({"rows": 0.5}), samples.examination({"rows": 0.75})) == [0.25]
