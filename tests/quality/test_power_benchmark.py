"""benchmarks/power.py: it counts what it should, and it fails when it should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import power
from detectors.fixtures import Fixture
from detectors.subject import Subject
from faults import mutants, reference, registry
from faults.model import Function, Variant


def test_a_sound_run_is_good_and_counts_every_fixture_for_every_fault(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert power.main(["--examples", "15", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "15 fixtures for each fault, seed 3"
    for name in registry.NAMES:
        (row,) = [line.split() for line in lines if line.startswith(name)]
        generated, witnessing, caught = map(int, row[1:4])
        assert generated == 15 >= witnessing == caught > 0
        assert row[4:] == ["bit-identical"]
    assert lines[-1] == "0 false alarms; good"


@pytest.mark.parametrize("first", [7, 8, 13])
def test_variants_take_turns_across_chunks(first: int) -> None:
    counted = power.Power()
    fixtures = next(power.chunks(first + 8, 0))
    counted.measure(fixtures[:first])
    counted.measure(fixtures[first:])
    assert counted.fixtures == first + 8
    assert {count.generated for count in counted.faults.values()} == {first + 8}


def test_chunks_add_up_and_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "CHUNK", 4)
    drawn = list(power.chunks(10, 5))
    assert [len(chunk) for chunk in drawn] == [4, 4, 2]
    seeds = [{fixture.seed for fixture in chunk} for chunk in drawn]
    assert seeds[0] != seeds[1] != seeds[2]


def survivor(variant: Variant) -> Variant:
    """The variant with patches that change nothing."""

    def unchanged(original: Function) -> Function:
        return lambda *arguments, **named: original(*arguments, **named)

    return replace(variant, patches=dict.fromkeys(variant.patches, unchanged))


def test_a_survivor_is_listed_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = registry.load("mask_adds_zero")
    broken = replace(whole, variants=(*whole.variants[:-1], survivor(whole.variants[-1])))
    monkeypatch.setattr(registry, "all_faults", lambda: (broken,))
    assert power.main(["--examples", "12"]) == 1
    out = capsys.readouterr().out
    assert f"mask_adds_zero/{whole.variants[-1].name} on Extents(" in out
    assert out.rstrip().endswith("0 false alarms; not good")


def test_a_false_alarm_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    sound = reference.subject

    def off(fixture: Fixture) -> Subject:
        subject = sound(fixture)
        call = subject.call
        assert call is not None
        return replace(subject, call=lambda x, weights: call(x, weights) * np.nan)

    monkeypatch.setattr(reference, "subject", off)
    monkeypatch.setattr(registry, "all_faults", lambda: ())
    assert power.main(["--examples", "2"]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.endswith("false alarms; not good")
    assert int(last.split()[0]) > 2


def test_what_is_not_restored_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    observe = mutants.observe
    monkeypatch.setattr(
        mutants,
        "observe",
        lambda *arguments: replace(observe(*arguments), restored=1e-300),
    )
    assert power.main(["--examples", "8"]) == 1


@pytest.mark.parametrize("argument", ["--examples=0", "--seed=-1"])
def test_numbers_that_make_no_sense_are_refused(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        power.main([argument])
    assert refused.value.code == 2
    assert "required: --examples of at least 1" in capsys.readouterr().err
