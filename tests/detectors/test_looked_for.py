"""What was looked for, as `check_subject` says it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from detectors import looked_for
from detectors.catalogue import BY_NAME
from detectors.checking import ASSUMED, HOLDS, INAPPLICABLE, UNSEEN, Checked, Finding
from detectors.subject import CLAIMS, Subject
from detectors.testing import check_subject
from tests.detectors import toy

UNREACHED = "its attention can be neither called nor followed"
SIZES: dict[str, Any] = {"kind": "self_attention", "width": 8, "heads": 2}


def mean(x: Any) -> Any:
    """Each token is the mean of those before it and itself."""
    return (np.cumsum(x, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]).astype(x.dtype)


def test_sound_is_undecided_where_one_of_the_five_was_not_looked_for() -> None:
    found = check_subject(mean, **SIZES)
    assert (found.verdict, found.broken, found.unseen) == ("undecided", (), {"missing_scale": UNREACHED})


def test_a_fault_that_could_not_be_in_it_leaves_nothing_undecided() -> None:
    found = check_subject(toy.Toy().attention, kind="attention")
    assert (found.verdict, found.unseen) == ("sound", {})


def test_what_is_broken_stays_broken_whatever_was_not_looked_for() -> None:
    found = check_subject(lambda x: x + x.mean(1, keepdims=True), **SIZES)
    assert (found.verdict, set(found.unseen)) == ("broken", {"missing_scale"})


def examined(measured: str, kind: str = "block", without: str = "", **reasons: tuple[str, str]) -> Checked:
    """An examination in which one contract was measured."""
    findings = tuple(
        Finding(one, None, *reasons.get(one.name, (UNSEEN, "nobody looked")), None)
        for one in BY_NAME.values()
    )
    told = tuple(
        replace(one, value=0.0, verdict=HOLDS) if one.detector.name == measured else one for one in findings
    )
    return Checked(Subject("it", None, kind=kind, declares=CLAIMS - {without}), HOLDS, told, (), (), {}, ())


@pytest.mark.parametrize(
    ("measured", "unseen"),
    [
        (
            "finite",
            {"residual_shape", "missing_scale", "mask_adds_zero", "flipped_triangle", "head_seq_swap"},
        ),
        ("skip", {"missing_scale", "mask_adds_zero", "flipped_triangle", "head_seq_swap"}),
        ("slope", {"residual_shape", "mask_adds_zero", "flipped_triangle", "head_seq_swap"}),
        ("future", {"residual_shape", "missing_scale", "head_seq_swap"}),
        ("reach", {"residual_shape", "missing_scale", "mask_adds_zero"}),
        ("heads", set()),
    ],
)
def test_one_contract_that_a_fault_breaks_is_enough(measured: str, unseen: set[str]) -> None:
    assert set(looked_for.unseen(examined(measured), 2)) == unseen


def test_what_lies_outside_the_kind_or_the_claim_was_not_to_be_looked_for() -> None:
    assert set(looked_for.unseen(examined("slope", kind="attention"), 2)) == {
        "mask_adds_zero",
        "flipped_triangle",
    }
    assert set(looked_for.unseen(examined("isolation", kind="self_attention", without="causal"), 2)) == {
        "missing_scale"
    }
    assert set(looked_for.unseen(examined("isolation", kind="model", without="causal"), 2)) == {
        "residual_shape",
        "missing_scale",
    }


@pytest.mark.parametrize(
    ("fault", "kind", "without", "why"),
    [
        ("residual_shape", "attention", "", "a subject of kind attention has no residual"),
        ("residual_shape", "self_attention", "", "a subject of kind self_attention has no residual"),
        ("residual_shape", "block", "causal", ""),
        ("head_seq_swap", "attention", "", "a subject of kind attention is given its heads"),
        ("head_seq_swap", "self_attention", "", ""),
        ("mask_adds_zero", "attention", "causal", ASSUMED["causal"]),
        ("flipped_triangle", "model", "causal", ASSUMED["causal"]),
        ("flipped_triangle", "model", "", ""),
    ],
)
def test_why_a_fault_lies_outside_is_said(fault: str, kind: str, without: str, why: str) -> None:
    assert looked_for.outside(fault, examined("finite", kind=kind, without=without)) == why


def test_one_head_cannot_be_swapped_with_the_tokens() -> None:
    assert set(looked_for.unseen(examined("finite", kind="model"), 1)) == {
        "residual_shape",
        "missing_scale",
        "mask_adds_zero",
        "flipped_triangle",
    }
    assert "head_seq_swap" in looked_for.unseen(examined("finite"), None)


def test_the_reason_is_that_of_the_contract_that_says_most_among_those_that_could_have_been_measured() -> (
    None
):
    told = examined("finite", slope=(UNSEEN, "far away"), heads=(INAPPLICABLE, "other weights"))
    assert looked_for.unseen(told, 2)["missing_scale"] == "far away"
    failed = examined("finite", slope=(UNSEEN, "far away"), heads=(INAPPLICABLE, "the call failed: boom"))
    assert looked_for.unseen(failed, 2)["missing_scale"] == "the call failed"
