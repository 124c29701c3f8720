"""The controls: a run that could not pass, or could not fail, is not believed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faults import controls, mutants, strategies, verdict
from faults.model import Control, Function, Seam, Status
from tests.faults import samples
from tests.faults.small_campaigns import (
    SCALE,
    UNUSED,
    run,
    unchanged,
)


def test_the_no_op_survives_and_the_must_die_is_killed_by_the_reference() -> None:
    fixtures = strategies.drawn(2, 0)
    assert controls.run(fixtures, [mutants.examined(fixture) for fixture in fixtures]) == (
        Control("no_op", Status.SURVIVED, Status.SURVIVED),
        Control("must_die", Status.KILLED, Status.KILLED),
    )


def test_the_no_op_passes_on_what_it_is_given_and_the_must_die_gives_zeros() -> None:
    assert controls.unchanged(lambda x, y: (x, y))(1, y=2) == (1, 2)
    assert controls.disconnected(lambda weights, value: weights + value)(3.0, 4.0) == 0


def test_a_control_that_could_not_be_injected_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = {Seam("core.attention", "nothing"): unchanged}
    monkeypatch.setattr(controls, "MUST_DIE", replace(controls.MUST_DIE, patches=nowhere))
    fixtures = strategies.drawn(1, 0)
    must_die = controls.run(fixtures, [mutants.examined(fixtures[0])])[1]
    assert must_die.status is Status.ERROR
    assert must_die.detail.startswith("InjectionError: seam core.attention.nothing: not found")


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
    assert no_op == Control("no_op", Status.SURVIVED, Status.KILLED, "survived, but not bit-identically")
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
