from __future__ import annotations

from faults.model import Status
from faults.mutation.model import Part, missed, part_of, row
from tests.faults.mutation.made_run import mutant


def test_a_row_counts_by_status() -> None:
    statuses = [Status.KILLED] * 5 + [Status.TIMEOUT] * 3 + [Status.SURVIVED] * 2
    statuses += [Status.NO_COVERAGE] * 4 + [Status.ERROR] * 7 + [Status.NOT_APPLICABLE] * 6
    found = [mutant(status=status) for status in [*statuses, None]]
    counted = row("core", found)
    assert (counted.name, counted.killed, counted.timeout, counted.survived) == ("core", 5, 3, 2)
    assert (counted.no_tests, counted.error, counted.skipped, counted.unchecked) == (4, 7, 6, 1)
    assert counted.mutants == 28
    # (5 + 3) / (5 + 3 + 2 + 4)
    assert counted.score == 8 / 14


def test_a_proved_equivalent_has_a_column_outside_the_score() -> None:
    found = [mutant(status=Status.SURVIVED, equivalent="same"), mutant(status=Status.KILLED)]
    counted = row("core", found)
    assert (counted.equivalent, counted.survived, counted.killed) == (1, 0, 1)
    assert (counted.mutants, counted.score) == (2, 1.0)


def test_nothing_has_no_score() -> None:
    assert row("core", []).score is None
    assert row("core", [mutant(status=None)]).score is None


def test_seconds_add_up_where_they_are_known() -> None:
    counted = row("core", [mutant(seconds=0.5), mutant(seconds=0.25), mutant(seconds=0.0), mutant()])
    assert (counted.seconds, counted.timed) == (0.75, 3)


def test_a_mutant_is_known_by_what_it_changes_and_not_by_its_number() -> None:
    first = mutant("a.x_f__mutmut_1", module="a", function="f", before="x", after="y")
    second = mutant("a.x_f__mutmut_2", module="a", function="f", before="x", after="y")
    assert first.identity == second.identity == "a.f: x -> y"


def test_a_change_outside_of_functions_has_the_name_of_the_module() -> None:
    assert mutant(module="core.mask", function="").name == "core.mask"
    assert mutant(module="core.mask", function="Box.size").name == "core.mask.Box.size"


def test_a_module_belongs_to_the_first_part_with_a_pattern_that_fits() -> None:
    parts = (Part("one", ("core.*", "core"), 1), Part("two", ("core.mask",), 1), Part("three", ("*.x",), 1))
    names = ["core.mask", "core", "faults.x", "Core.mask", "faults"]
    assert [part_of(name, parts) for name in names] == ["one", "one", "three", "", ""]


def test_what_the_tests_missed() -> None:
    assert [missed(mutant(status=status)) for status in (Status.SURVIVED, Status.NO_COVERAGE)] == [True, True]
    others = (Status.KILLED, Status.TIMEOUT, Status.ERROR, Status.NOT_APPLICABLE, None)
    assert not any(missed(mutant(status=status)) for status in others)
    assert not missed(mutant(status=Status.SURVIVED, equivalent="same"))
