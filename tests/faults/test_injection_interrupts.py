"""Ctrl-C: wherever it arrives, what was patched is put back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from faults import injection
from faults.injection import inject
from faults.model import Function
from tests.faults import samples
from tests.faults.seam_modules import HOME, TENFOLD, module

pytestmark = pytest.mark.usefixtures("seam_modules")
ROOT = Path(__file__).parents[2]


def test_the_same_object_is_back_when_the_faulty_code_itself_is_interrupted() -> None:
    def interrupted(x: object) -> None:
        raise KeyboardInterrupt

    original = module("seam_home").double
    with pytest.raises(KeyboardInterrupt), inject(samples.variant({HOME: lambda original: interrupted})):
        module("seam_home").double(1)
    assert module("seam_home").double is original


class Stepper:
    """A trace function that notes every line run in the injection's own code, and interrupts at one of them."""

    def __init__(self, stop: int = -1) -> None:
        self.stop = stop
        self.lines: list[int] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != injection.__file__:
            return None
        if event == "line":
            self.lines.append(frame.f_lineno)
            if len(self.lines) - 1 == self.stop:
                raise KeyboardInterrupt
        return self

    def enter_and_leave(self) -> bool:
        """Injects and leaves; True where that was interrupted."""
        tracing = sys.gettrace()
        sys.settrace(self)
        try:
            with inject(TENFOLD):
                pass
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(tracing)
        return False


def steps() -> list[int]:
    """The first and the last time that each line of the injection runs while one is entered and left."""
    Stepper().enter_and_leave()  # what is worked out once for all is worked out here
    whole = Stepper()
    assert not whole.enter_and_leave()
    first = {line: at for at, line in reversed(list(enumerate(whole.lines)))}
    last = {line: at for at, line in enumerate(whole.lines)}
    return sorted({*first.values(), *last.values()})


def test_an_interrupt_at_any_step_of_entering_or_leaving_leaves_nothing_that_cannot_be_put_back() -> None:
    home, user = module("seam_home"), module("seam_user")
    original, found = home.double, steps()
    assert len(found) > 40
    for step in found:
        assert Stepper(step).enter_and_leave()
        injection.restore_all()
        assert home.double is user.double is user.twice is original
        with inject(TENFOLD):
            assert home.double(1) == 20


def test_an_interrupt_while_things_are_put_back_is_passed_on_after_all_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, user = module("seam_home"), module("seam_user")
    original, holders = home.double, injection._holders

    def interrupted(function: Function) -> Iterator[tuple[dict[str, Any], str]]:
        monkeypatch.setattr(injection, "_holders", holders)
        raise KeyboardInterrupt

    def arm() -> None:
        user.added = home.double
        monkeypatch.setattr(injection, "_holders", interrupted)

    with pytest.raises(KeyboardInterrupt), inject(TENFOLD):
        arm()
    assert home.double is user.double is user.twice is user.added is original
    assert injection.in_force() is None


CHILD = """
import signal, time
from importlib import import_module
signal.signal(signal.SIGINT, signal.default_int_handler)
from faults import campaign, injection, registry, verdict
from faults.model import Seam
from tests.faults import samples

def waits(original):
    def replacement(*arguments):
        print("inside", flush=True)
        time.sleep(60)
    return replacement

seam = Seam("core.attention", "scale")
first = samples.declared("missing_scale/absent")
chosen = samples.fault(first, samples.variant({seam: waits}), first)
scale = import_module("core.attention").scale
report = campaign.run([chosen], examples=6)
same = import_module("core.attention").scale is scale
with injection.inject(first):
    pass
print(report.interrupted, same, verdict.exit_code(report), [row.status.value for row in report.variants])
"""


def test_a_real_interrupt_signal_during_a_run_leaves_every_seam_restored_and_a_partial_report() -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdout is not None
    with child, child.stdout as lines:
        assert lines.readline() == "inside\n"
        os.kill(child.pid, signal.SIGINT)
        assert lines.read() == "True True 130 ['killed']\n"
    assert child.returncode == 0


def test_an_interrupt_between_two_copies_undoes_those_already_patched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home, user = module("seam_home"), module("seam_user")
    original = home.double

    class Space(dict[str, Any]):
        """The last copy to be patched: whoever presses Ctrl-C does it there."""

        def __setitem__(self, name: str, value: object) -> None:
            if value is not original:
                assert home.double is not original  # the others are patched by now
                raise KeyboardInterrupt
            super().__setitem__(name, value)

    late = Space(double=original)
    holders = injection._holders
    monkeypatch.setattr(
        injection, "_holders", lambda functions: [*holders(functions), *found_in(late, functions)]
    )
    with pytest.raises(KeyboardInterrupt), inject(TENFOLD):
        pytest.fail("entered half")
    assert home.double is user.double is user.twice is late["double"] is original
    assert injection.in_force() is None


def found_in(space: dict[str, Any], functions: Any) -> list[tuple[dict[str, Any], str, Function]]:
    return [(space, name, held) for name, held in space.items() if id(held) in functions]
