"""A campaign that is interrupted: the rows that are done, and nothing left in force."""

from __future__ import annotations

from typing import Any

import pytest

from faults import campaign, injection, verdict
from faults.model import Report, Status
from tests.faults import samples
from tests.faults.small_campaigns import (
    SCALE,
    held,
    injected_ever,
    only,
    raising,
    run,
)


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
