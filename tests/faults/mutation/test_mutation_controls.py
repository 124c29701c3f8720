from __future__ import annotations

from faults.model import Control, Status
from faults.mutation import controls
from tests.faults.mutation.made_run import mutant

KILLED, SURVIVED = Status.KILLED, Status.SURVIVED
MODULE = "faults.mutation.controls"


def test_must_die_has_one_value() -> None:
    # 7 - 6 / 4; no other operator, operand or number gives that.
    assert controls.must_die(7, 6) == 5.5


def test_must_live_gives_back_what_it_was_given() -> None:
    assert controls.must_live(2.5) == 2.5


def test_without_a_module_of_controls_there_are_none() -> None:
    found = [mutant(), mutant(module=MODULE, function="must_die")]
    assert controls.apart(found, "") == (found, ())


def test_controls_do_not_count_and_say_how_they_ended() -> None:
    counted = [mutant(), mutant(module=MODULE, function="apart"), mutant(function="must_die")]
    own = [
        mutant("dead", KILLED, module=MODULE, function="must_die"),
        mutant("alive", SURVIVED, module=MODULE, function="must_live"),
    ]
    left, found = controls.apart([own[0], *counted, own[1]], MODULE)
    assert left == counted
    assert found == (Control("must_die", KILLED, KILLED), Control("must_live", SURVIVED, SURVIVED))


def test_one_control_with_another_end_is_named() -> None:
    own = [
        mutant("dead", KILLED, module=MODULE, function="must_die"),
        mutant("odd", SURVIVED, module=MODULE, function="must_die"),
        mutant("gone", KILLED, module=MODULE, function="must_live"),
    ]
    _, found = controls.apart(own, MODULE)
    assert found == (
        Control("must_die", KILLED, SURVIVED, "(odd)"),
        Control("must_live", SURVIVED, KILLED, "(gone)"),
    )


def test_a_control_without_a_verdict_is_an_error() -> None:
    _, found = controls.apart([mutant("none", None, module=MODULE, function="must_die")], MODULE)
    assert found[0] == Control("must_die", KILLED, Status.ERROR, "(none)")


def test_controls_that_were_not_mutated_do_not_hold() -> None:
    _, found = controls.apart([mutant()], MODULE)
    assert [control.holds for control in found] == [False, False]
    assert found[0] == Control("must_die", KILLED, Status.NOT_APPLICABLE, "(no mutant of it was made)")
