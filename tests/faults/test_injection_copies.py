"""Copies of a seam under other names and in other modules: reached, healed, or named as out of reach."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from faults import injection
from faults.injection import inject
from faults.model import Function
from tests.faults import samples
from tests.faults.seam_modules import HOME, TENFOLD, module

pytestmark = pytest.mark.usefixtures("seam_modules")


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


def test_a_function_in_the_locals_of_a_generator_that_waits_is_no_copy() -> None:
    def wait(function: Function) -> Iterator[str]:
        yield function.__name__

    waiting = wait(module("seam_home").double)
    assert next(waiting) == "double"
    assert injection.unreached_copies(HOME) == []


SEAMS = sorted({seam for _, variant in samples.CASES for seam in variant.patches}, key=str)


def test_no_copy_of_a_seam_of_the_reference_is_out_of_reach() -> None:
    """In a process of its own: other tests keep some of these functions in tables."""
    program = (
        "from faults import injection, reference, registry\n"
        "seams = {s for f in registry.all_faults() for v in f.variants for s in v.patches}\n"
        "print(len(seams), [str(seam) for seam in seams if injection.unreached_copies(seam)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split(maxsplit=1) == [str(len(SEAMS)), "[]\n"]


@pytest.mark.parametrize("name", ["json", "json.decoder"])
def test_modules_of_packages_that_hold_no_copies_are_left_as_they_are(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    library: Any = module(name)
    monkeypatch.setattr(library, "double", module("seam_home").double, raising=False)
    with inject(TENFOLD):
        assert library.double(1) == 2


def test_a_module_that_may_not_be_imported_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "forbidden", None)
    with inject(TENFOLD):
        assert module("seam_home").double(1) == 20


def test_copies_in_a_module_without_a_place_on_disk_are_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ModuleType("made_by_hand")
    vars(made)["double"] = module("seam_home").double
    monkeypatch.setitem(sys.modules, "made_by_hand", made)
    with inject(TENFOLD):
        assert vars(made)["double"](1) == 20
    assert vars(made)["double"](1) == 2
