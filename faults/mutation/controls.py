"""Two functions whose mutants have a known end. They are mutated and tested with everything else.

If a mutant of `must_die` lives, the tests were not run or their failures were lost; if one of `must_live` dies,
something else than a wrong result counted as a kill. Neither counts in the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from faults.model import Control, Status
from faults.mutation.model import Mutant

EXPECTED = {"must_die": Status.KILLED, "must_live": Status.SURVIVED}


def must_die(first: float, second: float) -> float:
    """first - second / 4: a test pins a value that no change of it gives."""
    return first - second / 4


def must_live(value: float) -> float:
    """The value itself; the number beside it is read by nobody, so that no test can tell if it changes."""
    unread = 1
    del unread
    return value


def apart(mutants: Iterable[Mutant], module: str) -> tuple[list[Mutant], tuple[Control, ...]]:
    """The mutants that count, and the controls of the module of controls; none where it has no name."""
    mutants = list(mutants)
    if not module:
        return mutants, ()
    own = [mutant for mutant in mutants if mutant.module == module and mutant.change.function in EXPECTED]
    controls = tuple(_control(name, expected, own) for name, expected in EXPECTED.items())
    return [mutant for mutant in mutants if mutant not in own], controls


def _control(name: str, expected: Status, mutants: Sequence[Mutant]) -> Control:
    """How the mutants of one function ended: as expected only if there are some and every one did."""
    own = [mutant for mutant in mutants if mutant.change.function == name]
    other = next((mutant for mutant in own if mutant.status is not expected), None)
    if other is not None:
        return Control(name, expected, other.status or Status.ERROR, f"({other.key})")
    if not own:
        return Control(name, expected, Status.NOT_APPLICABLE, "(no mutant of it was made)")
    return Control(name, expected, expected)
