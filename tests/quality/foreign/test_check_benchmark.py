"""The benchmark of `check` prints a line for each pair and the totals, and fails on what is missed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks import check
from tests.quality.foreign import wild


def test_there_is_a_line_for_each_pair_and_all_are_caught(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [one.split()[0] for one in lines[: len(wild.PAIRS)]] == [pair.report for pair in wild.PAIRS]
    assert "reports 125, observable 86" in lines
    assert "false alarms 0" in lines


@pytest.mark.parametrize("change", [{"detected": False}, {"verdict": "broken"}])
def test_a_miss_and_a_false_alarm_are_exit_code_1(
    change: dict[str, object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = wild.rows()
    monkeypatch.setattr(wild, "rows", lambda: [replace(first, **change), *others])  # type: ignore[arg-type] # either
    assert check.main([]) == 1
    out = capsys.readouterr().out
    assert ("caught 85 of 86" in out) == ("detected" in change)
    assert ("false alarms 1" in out) == ("verdict" in change)
