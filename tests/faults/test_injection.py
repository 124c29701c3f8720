"""The rules of injection: what is patched, for how long, and that the very same objects come back."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from faults import injection
from faults.injection import InjectionError, inject
from faults.model import Function, Seam, Variant
from tests.faults import samples

HOME = Seam("seam_home", "double")
OTHER = Seam("seam_home", "triple")

ROOT = Path(__file__).parents[2]

SOURCES = {
    "seam_home": "def double(x):\n    return 2 * x\n\ndef triple(x):\n    return 3 * x\n",
    "seam_user": "import seam_home\nfrom seam_home import double\nfrom seam_home import double as twice\n",
    "seam_latecomer": "from seam_home import double\n",
}


def tenfold(original: Function) -> Function:
    return lambda x: 10 * original(x)


TENFOLD = samples.variant({HOME: tenfold}, "tenfold")


@pytest.fixture(autouse=True)
def seam_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Real modules on disk, so that they are imported as anybody's are; nothing stays in force after a test."""
    for name, source in SOURCES.items():
        (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    injection.restore_all()
    for name in SOURCES:
        sys.modules.pop(name, None)


def module(name: str) -> Any:
    return importlib.import_module(name)


def held(variant: Variant) -> list[Function]:
    """What the seams of a variant hold right now."""
    return [getattr(module(seam.module), seam.attribute) for seam in variant.patches]


@pytest.mark.parametrize(("fault", "variant"), samples.CASES, ids=samples.CASE_NAMES)
def test_every_variant_is_in_force_inside_and_the_same_objects_are_back_outside(
    fault: object, variant: Variant
) -> None:
    before = held(variant)
    with inject(variant):
        assert all(now is not was for now, was in zip(held(variant), before, strict=True))
    assert all(now is was for now, was in zip(held(variant), before, strict=True))


@pytest.mark.parametrize("error", [ValueError("boom"), KeyboardInterrupt(), SystemExit(3)])
def test_the_same_object_is_back_after_an_exception_inside(error: BaseException) -> None:
    original = module("seam_home").double

    def use_and_raise() -> None:
        assert module("seam_home").double(1) == 20
        raise error

    with pytest.raises(type(error)) as raised, inject(TENFOLD):
        use_and_raise()
    assert raised.value is error
    assert module("seam_home").double is original


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


def never_made(original: Function) -> Function:
    pytest.fail("a refused injection made its patch")


def test_a_second_injection_inside_the_first_is_refused_and_the_first_stays_in_force() -> None:
    original = module("seam_home").double
    with inject(TENFOLD) as first:
        second = samples.variant({OTHER: never_made}, "second")
        with pytest.raises(InjectionError) as refused, inject(second):
            pytest.fail("two injections at once")
        assert "'second'" in str(refused.value)
        assert "'tenfold'" in str(refused.value)
        assert "\n" not in str(refused.value)
        assert module("seam_home").triple(1) == 3
        assert module("seam_home").double(1) == 20
        assert first.activations == 1
        assert injection.in_force() is TENFOLD
    assert module("seam_home").double is original
    assert injection.in_force() is None


def test_the_same_injection_cannot_be_entered_twice() -> None:
    original = module("seam_home").double
    context = inject(TENFOLD)
    with context:
        with pytest.raises(InjectionError), context:
            pytest.fail("entered twice")
        assert module("seam_home").double(1) == 20
    assert module("seam_home").double is original


def refusals_elsewhere() -> list[InjectionError]:
    """What another thread gets when it tries to inject now."""
    refused: list[InjectionError] = []

    def attempt() -> None:
        try:
            with inject(TENFOLD):
                pass
        except InjectionError as error:
            refused.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return refused


def test_a_second_injection_from_another_thread_is_refused_and_the_first_stays_in_force() -> None:
    with inject(TENFOLD):
        assert len(refusals_elsewhere()) == 1
        assert module("seam_home").double(1) == 20
    assert refusals_elsewhere() == []


def test_an_injection_held_by_another_thread_refuses_this_one() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with inject(TENFOLD):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(10)
    with pytest.raises(InjectionError), inject(TENFOLD):
        pytest.fail("two injections at once")
    leave.set()
    thread.join()
    with inject(TENFOLD):
        assert module("seam_home").double(1) == 20


def test_activations_count_every_call_of_every_patched_seam() -> None:
    home = module("seam_home")
    with inject(samples.variant({HOME: tenfold, OTHER: tenfold})) as injected:
        assert injected.activations == 0
        home.double(1), home.double(x=1), home.triple(1)
        assert injected.calls == {HOME: 2, OTHER: 1}
        assert injected.activations == 3
        injected.reset()
        assert injected.calls == {HOME: 0, OTHER: 0}
        home.triple(1)
        assert injected.activations == 1
    home.double(1)
    assert injected.activations == 1


def test_a_call_that_raises_is_an_activation_too() -> None:
    with inject(TENFOLD) as injected:
        with pytest.raises(TypeError):
            module("seam_home").double(None)
        assert injected.activations == 1


def test_names_imported_into_another_module_are_patched_and_restored() -> None:
    user, original = module("seam_user"), module("seam_home").double
    with inject(TENFOLD) as injected:
        assert (user.double(1), user.twice(1), user.seam_home.double(1)) == (20, 20, 20)
        assert injected.activations == 3
    assert user.double is user.twice is original


def test_a_module_first_imported_under_the_fault_is_healed_on_exit() -> None:
    assert "seam_latecomer" not in sys.modules
    with inject(TENFOLD):
        late = module("seam_latecomer")
        assert late.double(1) == 20
    assert late.double is module("seam_home").double
    assert late.double(1) == 2


def test_a_name_bound_under_the_fault_is_healed_on_exit() -> None:
    home, user = module("seam_home"), module("seam_user")
    with inject(TENFOLD):
        user.added = home.double
    assert user.added is home.double
    assert user.added(1) == 2


def test_a_name_rebound_under_the_fault_gets_its_own_function_back() -> None:
    home, user = module("seam_home"), module("seam_user")
    original = home.double
    with inject(TENFOLD):
        user.twice = len
    assert user.twice is original


@pytest.mark.parametrize("seam", [Seam("seam_home", "quadruple"), Seam("seam_nowhere", "double")])
def test_a_seam_that_does_not_exist_is_an_error_in_one_line_and_nothing_stays_patched(seam: Seam) -> None:
    original = module("seam_home").double
    with pytest.raises(InjectionError) as raised, inject(samples.variant({HOME: tenfold, seam: tenfold})):
        pytest.fail("injected into nothing")
    assert str(seam) in str(raised.value)
    assert "required" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert module("seam_home").double is original
    with inject(TENFOLD):
        assert module("seam_home").double(1) == 20


@pytest.mark.parametrize("error", [RuntimeError("no patch"), KeyboardInterrupt()])
def test_a_patch_that_cannot_be_made_leaves_everything_as_it_was(error: BaseException) -> None:
    def broken(original: Function) -> Function:
        assert module("seam_home").double(1) == 2  # nothing is in force before every patch is made
        raise error

    original = module("seam_home").double
    with pytest.raises(type(error)), inject(samples.variant({HOME: tenfold, OTHER: broken})):
        pytest.fail("injected half")
    assert module("seam_home").double is original
    assert refusals_elsewhere() == []


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


def default_argument(function: Function) -> Any:
    def keeps(x: float, using: Function = function) -> Any:
        return using(x)

    return keeps


def closure(function: Function) -> Any:
    return lambda x: function(x)


KEEPERS = {"dict": lambda f: {"kept": f}, "list": lambda f: [f], "tuple": default_argument, "cell": closure}


@pytest.mark.parametrize("kind", KEEPERS)
def test_a_copy_that_injection_cannot_reach_is_named(kind: str) -> None:
    home, user = module("seam_home"), module("seam_user")
    assert injection.unreached_copies(HOME) == []
    user.kept = KEEPERS[kind](home.double)
    assert injection.unreached_copies(HOME) == [kind]
    with inject(TENFOLD) as injected:
        copies = {"dict": lambda k: k["kept"], "list": lambda k: k[0]}
        assert copies.get(kind, lambda k: k)(user.kept)(1) == 2  # it really is out of reach
        assert injected.activations == 0


def test_a_function_in_the_locals_of_a_kept_traceback_is_no_copy() -> None:
    def fail(function: Function) -> None:
        raise ValueError(function.__name__)

    with pytest.raises(ValueError, match="double") as kept:
        fail(module("seam_home").double)
    assert kept.tb.tb_next is not None
    assert injection.unreached_copies(HOME) == []


SEAMS = sorted({seam for _, variant in samples.CASES for seam in variant.patches}, key=str)


@pytest.mark.parametrize("seam", SEAMS, ids=str)
def test_no_copy_of_a_seam_of_the_reference_is_out_of_reach(seam: Seam) -> None:
    assert injection.unreached_copies(seam) == []


def test_restore_all_puts_everything_back_and_frees_the_way() -> None:
    home, original = module("seam_home"), module("seam_home").double
    context = inject(TENFOLD)
    context.__enter__()
    injection.restore_all()
    assert home.double is original
    assert injection.in_force() is None
    with inject(TENFOLD):
        assert home.double(1) == 20
        context.__exit__(None, None, None)  # leaving the first block later must not end the second
        assert home.double(1) == 20
    assert home.double is original


def test_a_seam_that_could_not_be_put_back_is_an_error_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stranger = ModuleType("seam_home")
    vars(stranger)["double"] = len

    def swap() -> None:
        monkeypatch.setitem(sys.modules, "seam_home", stranger)

    with pytest.raises(InjectionError, match=r"^seam seam_home\.double: not put back.*$"), inject(TENFOLD):
        swap()


def test_patched_gives_what_the_call_gives_under_the_fault_and_restores() -> None:
    home = module("seam_home")
    original = home.double
    assert injection.patched(TENFOLD, lambda x, y: home.double(x) + y, 3, 1) == 61
    assert home.double is original


def test_copies_in_a_module_without_a_place_on_disk_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ModuleType("made_by_hand")
    vars(made)["double"] = module("seam_home").double
    monkeypatch.setitem(sys.modules, "made_by_hand", made)
    with inject(TENFOLD):
        assert vars(made)["double"](1) == 20
    assert vars(made)["double"](1) == 2
