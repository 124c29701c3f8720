"""Which of the five could have shown, from findings made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from detectors import looked_for
from detectors.catalogue import BY_NAME, DETECTORS
from detectors.checking import ASSUMED, HOLDS, INAPPLICABLE, UNREACHED, UNSEEN, Checked, Finding
from detectors.declaration import Declaration
from detectors.fixtures import Extents, Fixture
from detectors.subject import CLAIMS, Subject
from detectors.testing import check_subject
from faults import coverage, registry
from faults.answers import ABSENT, CHECKED, HIDDEN, PART, Answer, Coverage, with_parts
from tests.faults.made_blocks import Block, answered, attention, weak

FAULTS = registry.all_faults()
SIZED = Fixture(Extents(batch=2, tokens=5, heads=4, kv_heads=2, head_width=3), seed=0)
DECLARED = Declaration(kind="block", heads=4, width=12)
SIZES = {"kind": "block", "width": 8, "heads": 2, "norm": "pre"}


def examined(
    *measured: str, kind: str = "block", without: tuple[str, ...] = (), **reasons: tuple[str, str]
) -> Checked:
    """An examination in which these contracts were measured, and no other was."""
    subject = Subject("it", None, kind=kind, declares=frozenset(CLAIMS - set(without)))
    findings = [
        Finding(one, 0.0, HOLDS, "", None)
        if one.name in measured
        else Finding(one, None, *reasons.get(one.name, (UNSEEN, "nobody looked")), None)
        for one in DETECTORS
    ]
    return Checked(subject, "sound", tuple(findings), (), (), {}, ())


def covered(
    checked: Checked, declared: Declaration = DECLARED, fixture: Fixture = SIZED
) -> dict[str, Coverage]:
    return {one.fault: one for one in coverage.coverage(checked, declared, FAULTS, [fixture])}


def states(checked: Checked, **changes: object) -> dict[str, str]:
    return {name: one.state for name, one in covered(checked, **changes).items()}  # type: ignore[arg-type]


EVERYTHING = tuple(BY_NAME)


def test_where_every_contract_was_measured_every_fault_was_looked_for() -> None:
    assert set(states(examined(*EVERYTHING)).values()) == {CHECKED}


def test_where_nothing_was_measured_no_fault_was() -> None:
    assert set(states(examined()).values()) == {HIDDEN}


def test_a_fault_is_looked_for_where_the_variant_it_is_named_after_could_have_shown() -> None:
    found = covered(examined("skip", "future", "reach", "shape"))
    assert {name: one.state for name, one in found.items()} == {
        "residual_shape": PART,
        "missing_scale": HIDDEN,
        "mask_adds_zero": PART,
        "flipped_triangle": PART,
        "head_seq_swap": PART,
    }
    assert "ffn_from_input" in found["residual_shape"].variants
    assert "dropped" not in found["residual_shape"].variants
    assert found["mask_adds_zero"].variants == ("weak",)
    assert found["flipped_triangle"].variants[0] == "diagonal_lost"
    assert "tiled" in found["head_seq_swap"].variants


def test_the_reason_is_that_of_a_contract_that_could_have_been_measured() -> None:
    checked = examined(slope=(UNSEEN, UNREACHED), heads=(INAPPLICABLE, ASSUMED["reference"]))
    assert covered(checked)["missing_scale"].reason == UNREACHED


def test_a_failed_call_is_the_reason_before_all_others() -> None:
    checked = examined(heads=(UNSEEN, "the call failed: ValueError: boom"))
    assert covered(checked)["missing_scale"].reason == "the call failed"


@pytest.mark.parametrize(
    ("kind", "absent"),
    [
        ("attention", {"residual_shape", "head_seq_swap"}),
        ("self_attention", {"residual_shape"}),
        ("block", set()),
        ("model", set()),
    ],
)
def test_what_a_kind_of_subject_does_not_have_cannot_be_wrong_in_it(kind: str, absent: set[str]) -> None:
    found = states(examined(*EVERYTHING, kind=kind))
    assert {name for name, state in found.items() if state == ABSENT} == absent


def test_without_a_claim_to_be_causal_there_is_no_mask_to_get_wrong() -> None:
    found = covered(examined(*EVERYTHING, without=("causal",)))
    assert {name for name, one in found.items() if one.state == ABSENT} == {
        "mask_adds_zero",
        "flipped_triangle",
    }
    assert found["mask_adds_zero"].reason == ASSUMED["causal"]


def test_the_corner_of_the_triangle_is_asked_of_those_alone_who_claim_a_cache() -> None:
    seen = tuple(name for name in EVERYTHING if name != "short_queries")
    assert covered(examined(*seen))["flipped_triangle"].variants == ("wrong_corner",)
    assert states(examined(*seen, without=("cached",)))["flipped_triangle"] == CHECKED


def test_sizes_at_which_a_fault_changes_nothing_do_not_leave_it_unseen() -> None:
    alone = Fixture(Extents(batch=2, tokens=5, heads=1, kv_heads=1, head_width=1), seed=0)
    declared = Declaration(kind="block", heads=1, width=2)
    found = covered(examined(), declared, alone)
    assert found["head_seq_swap"] == Coverage("head_seq_swap", ABSENT, coverage.SIZES)
    unknown = replace(declared, heads=None)
    assert covered(examined(), unknown, alone)["head_seq_swap"].state == HIDDEN


def test_a_model_is_known_as_well_as_its_least_known_block() -> None:
    whole = Answer("it", covered=(Coverage("a", HIDDEN, "why"), Coverage("b", PART), Coverage("c", CHECKED)))
    known = Answer(
        "it.0", examined(), covered=(Coverage("a", CHECKED), Coverage("b", CHECKED), Coverage("c", PART))
    )
    less = Answer(
        "it.1", examined(), covered=(Coverage("a", PART), Coverage("b", HIDDEN), Coverage("c", PART))
    )
    assert [one.state for one in with_parts(whole, [known]).covered] == [CHECKED, CHECKED, CHECKED]
    assert [one.state for one in with_parts(whole, [known, less]).covered] == [PART, PART, CHECKED]
    assert with_parts(whole, []) == whole
    assert with_parts(whole, [known, Answer("it.1", cause="lost")]) == whole


def test_what_tells_a_fault_is_what_its_first_variant_breaks() -> None:
    first = {fault.name: fault.variants[0].signature.fires for fault in FAULTS}
    assert first == looked_for.TELLING


SOUND_BLOCK = Block()


@pytest.mark.parametrize(
    ("subject", "declared", "verdict"),
    [
        (weak, {"kind": "attention"}, "fragile"),
        (lambda q, k, v: v + v.mean(2, keepdims=True), {"kind": "attention"}, "broken"),
        (lambda x: 2 * x - x, {"kind": "block", "width": 8, "heads": 1, "causal": False}, "undecided"),
        (lambda x: 2 * x - x, {"kind": "block", "width": 8, "heads": 2, "norm": "pre"}, "broken"),
        (SOUND_BLOCK.attend, {"kind": "self_attention", "width": 8, "heads": 2}, "undecided"),
        (SOUND_BLOCK, {}, "undecided"),
        ({"call": SOUND_BLOCK.call, "attention": attention(SOUND_BLOCK)}, SIZES, "sound"),
    ],
)
def test_an_examination_in_a_test_suite_says_the_same(
    subject: Any, declared: dict[str, Any], verdict: str
) -> None:
    found, told = check_subject(subject, **declared), answered(subject, **declared)
    assert (found.verdict, told.verdict) == (verdict, verdict)
    assert found.unseen == {one.fault: one.reason for one in told.unseen}
