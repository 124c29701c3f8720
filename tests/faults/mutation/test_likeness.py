"""Mutants stand in here as functions put in the place of a seam, chosen by the variable that mutmut's look at."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import attention, mask
from faults import registry
from faults.mutation import likeness

KEY = "core.mask.x_causal_mask__mutmut_1"


@pytest.fixture
def mutate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, Callable[..., Any]], None]:
    """Gives a function a mutant that is in force while its key is in the variable."""
    # Not mutmut's own variable, which says which mutant of this very project is being tested.
    monkeypatch.setattr(likeness, "VARIABLE", "STAND_IN_UNDER_TEST")
    monkeypatch.setenv(likeness.VARIABLE, "")

    def replace(module: Any, name: str, mutant: Callable[..., Any]) -> None:
        original = getattr(module, name)

        def trampoline(*arguments: Any, **named: Any) -> Any:
            chosen = mutant if os.environ[likeness.VARIABLE] == KEY else original
            return chosen(*arguments, **named)

        monkeypatch.setattr(module, name, trampoline)

    return replace


def zeros(query_length: int, key_length: int, dtype: Any = np.float64) -> Any:
    """The mask that adds 0, written by hand."""
    return np.zeros((query_length, key_length), dtype)


def test_a_mutant_that_is_a_fault_is_found_to_be_like_it(mutate: Any) -> None:
    mutate(mask, "causal_mask", zeros)
    found = likeness.alike([KEY])
    assert found["mask_adds_zero/zero"] == [KEY]
    # Without a mask at all the block computes the same.
    assert {name for name, keys in found.items() if keys} == {"mask_adds_zero/zero", "mask_adds_zero/missing"}
    assert os.environ[likeness.VARIABLE] == ""


def test_keys_come_from_stdin_and_the_answer_goes_to_stdout(
    mutate: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mutate(attention, "scale", lambda scores, query: scores)
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps([KEY])))
    likeness.main()
    assert json.loads(capsys.readouterr().out)["missing_scale/absent"] == [KEY]


def test_every_variant_is_compared(mutate: Any) -> None:
    names = {f"{fault.name}/{variant.name}" for fault in registry.all_faults() for variant in fault.variants}
    assert set(likeness.alike([])) == names


def test_a_mutant_that_changes_nothing_is_like_no_fault(mutate: Any) -> None:
    mutate(mask, "causal_mask", mask.causal_mask)
    assert not any(likeness.alike([KEY]).values())


def test_a_mutant_that_raises_is_like_no_fault(mutate: Any) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise ValueError

    mutate(mask, "causal_mask", fails)
    assert not any(likeness.alike([KEY]).values())


def test_a_weak_fill_differs_from_the_healthy_block_at_huge_logits_alone(mutate: Any) -> None:
    def weak(query_length: int, key_length: int, dtype: Any = np.float64) -> Any:
        closed = np.arange(key_length) > np.arange(key_length - query_length, key_length)[:, None]
        return np.where(closed, -1e4, 0.0).astype(dtype)

    mutate(mask, "causal_mask", weak)
    assert likeness.alike([KEY])["mask_adds_zero/weak"] == [KEY]


def test_a_scale_that_is_gone_is_found(mutate: Any) -> None:
    mutate(attention, "scale", lambda scores, query: scores)
    found = likeness.alike([KEY])
    assert [name for name, keys in found.items() if keys] == ["missing_scale/absent"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (np.zeros(2), np.zeros(2), True),
        (np.array([1.0]), np.array([1.0 + 1e-12]), True),
        (np.array([np.nan]), np.array([np.nan]), True),
        (np.array([1.0]), np.array([1.0 + 1e-6]), False),
        (np.zeros(2), np.zeros((2, 1)), False),
        (None, None, False),
        (None, np.zeros(2), False),
    ],
)
def test_outputs_agree_up_to_rounding(first: Any, second: Any, expected: bool) -> None:
    assert likeness.same((first,), (second,)) is expected
    assert likeness.same((np.zeros(1), first), (np.zeros(1), second)) is expected
