"""The rules of injection: what is patched, for how long, and that the very same objects come back."""

from __future__ import annotations

import sys
import threading
from types import ModuleType

import pytest

from faults import injection
from faults.injection import InjectionError, inject
from faults.model import Function, Seam, Variant
from tests.faults import samples
from tests.faults.seam_modules import HOME, OTHER, TENFOLD, module, refusals_elsewhere, tenfold

pytestmark = pytest.mark.usefixtures("seam_modules")


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


def never_made(original: Function) -> Function:
    pytest.fail("a refused injection made its patch")


def test_a_second_injection_inside_the_first_is_refused_and_the_first_stays_in_force() -> None:
    original = module("seam_home").double
    with inject(TENFOLD) as first:
        second = samples.variant({OTHER: never_made}, "second")
        with pytest.raises(InjectionError) as refused, inject(second):
            pytest.fail("two injections at once")
        assert str(refused.value) == (
            "injection of 'second': found 'tenfold' in force, required: none; "
            "leave the first `with inject(...)` block before entering another"
        )
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
