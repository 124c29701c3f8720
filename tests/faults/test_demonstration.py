"""The tiny example: its stages worked out again from its tokens and weights, before, under and after a fault."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import plain_block
from detectors.catalogue import BY_NAME
from detectors.fixtures import Extents, Fixture
from faults import injection, registry
from faults.demonstration import GROUPED, SEED, STAGES, TINY, demonstrate
from faults.model import Demonstration, Fault, Stage, Variant
from tests.faults import samples

Array = NDArray[np.float64]

every_variant = pytest.mark.parametrize(("fault", "variant"), samples.CASES, ids=samples.CASE_NAMES)
ROOT_TWO = math.sqrt(2)


def shown(name: str) -> Demonstration:
    fault, variant = samples.CASES[samples.CASE_NAMES.index(name)]
    return demonstrate(fault, variant)


def stage(demonstration: Demonstration, name: str) -> Stage:
    (found,) = [stage for stage in demonstration.stages if stage.name == name]
    return found


def before(demonstration: Demonstration, name: str) -> Array:
    return np.array(stage(demonstration, name).before)


def after(demonstration: Demonstration, name: str) -> Array:
    return np.array(stage(demonstration, name).after)


def softmax(row: Array) -> Array:
    powers: Array = np.exp(row)
    powers /= powers.sum()
    return powers


def projected(fixture: Fixture, role: str) -> Array:
    """x normalised over its four channels, times W, plus b; [token, channel] of the first sequence."""
    x, weights = fixture.x[0], fixture.weights
    centred = x - x.mean(axis=1, keepdims=True)
    normed = (
        centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * weights["gain1"]
        + weights["shift1"]
    )
    found: Array = normed @ weights[f"W{role}"] + weights[f"b{role}"]
    return found


TINY_FIXTURE = Fixture(TINY, SEED)
FIRST_HEAD = slice(0, 2)
SCORES = projected(TINY_FIXTURE, "q")[:, FIRST_HEAD] @ projected(TINY_FIXTURE, "k")[:, FIRST_HEAD].T
FUTURE = np.triu(np.ones((3, 3), bool), 1)


def test_the_example_is_small_enough_to_follow_and_has_no_extent_of_one() -> None:
    assert (TINY.batch, TINY.tokens, TINY.heads, TINY.head_width) == (1, 3, 2, 2)
    assert 1 < GROUPED.kv_heads < GROUPED.heads


SHORT = "flipped_triangle/wrong_corner"
"""Shown with the last two queries alone."""

WHOLE = [case for case, name in zip(samples.CASES, samples.CASE_NAMES, strict=True) if name != SHORT]


@pytest.mark.parametrize(("fault", "variant"), WHOLE, ids=[f"{f.name}/{v.name}" for f, v in WHOLE])
def test_the_healthy_stages_are_those_worked_out_from_tokens_and_weights(
    fault: Fault, variant: Variant
) -> None:
    found = demonstrate(fault, variant)
    fixture = Fixture(Extents(**found.extents), SEED)
    np.testing.assert_array_equal(before(found, "input"), fixture.x[0])
    np.testing.assert_allclose(before(found, "output"), plain_block.output(fixture)[0], rtol=1e-12)
    if fixture.extents == TINY:
        np.testing.assert_allclose(before(found, "scores"), SCORES, rtol=1e-12)
        masked = np.where(FUTURE, -np.inf, SCORES / ROOT_TWO)
        np.testing.assert_allclose(before(found, "masked"), masked, rtol=1e-12)
        np.testing.assert_allclose(before(found, "weights"), [softmax(row) for row in masked], rtol=1e-12)


@every_variant
def test_stages_come_in_their_order_with_their_axes_and_shapes(fault: Fault, variant: Variant) -> None:
    found = demonstrate(fault, variant)
    assert (found.fault, found.variant, found.detector) == (fault.name, variant.name, variant.lead)
    assert [(stage.name, stage.axes) for stage in found.stages] == list(STAGES.items())
    tokens, width = found.extents["tokens"], found.extents["heads"] * found.extents["head_width"]
    columns = {"token": tokens, "channel": width, "key": tokens}
    rows = dict.fromkeys(STAGES, tokens)
    if f"{fault.name}/{variant.name}" == SHORT:
        rows = {**dict.fromkeys(STAGES, 2), "input": tokens}
        columns_of = {"output": found.extents["head_width"]}
    else:
        columns_of = {}
    for one in found.stages:
        shape = (rows[one.name], columns_of.get(one.name, columns[one.axes[1]]))
        assert np.array(one.before).shape == shape


@every_variant
def test_the_repair_brings_every_number_and_the_signal_back(fault: Fault, variant: Variant) -> None:
    found = demonstrate(fault, variant)
    assert all(one.repaired == one.before for one in found.stages)
    assert found.repaired == found.before
    assert injection.in_force() is None


@every_variant
def test_the_lead_signal_is_quiet_before_and_loud_after(fault: Fault, variant: Variant) -> None:
    found = demonstrate(fault, variant)
    threshold = BY_NAME[variant.lead].threshold
    assert found.before <= threshold
    assert found.after > threshold


@every_variant
def test_a_faulty_stage_differs_from_the_healthy_one_or_is_missing(fault: Fault, variant: Variant) -> None:
    found = demonstrate(fault, variant)
    assert any(one.after != one.before for one in found.stages)
    assert stage(found, "input").after == stage(found, "input").before


def test_a_triangle_in_the_wrong_corner_is_shown_with_the_last_two_queries() -> None:
    found = shown("flipped_triangle/wrong_corner")
    np.testing.assert_array_equal(after(found, "weights") > 0, [[True, False, False], [True, True, False]])
    np.testing.assert_allclose(before(found, "scores"), SCORES[1:], rtol=1e-12)
    np.testing.assert_array_equal(before(found, "weights") > 0, [[True, True, False], [True, True, True]])


def test_the_first_variant_is_shown_unless_another_is_asked_for() -> None:
    scale = registry.load("missing_scale")
    assert demonstrate(scale).variant == "absent"
    assert demonstrate(scale, registry.variant(scale, "twice")).variant == "twice"


def test_other_extents_are_used_where_the_fixture_could_not_witness_the_variant_otherwise() -> None:
    assert shown("head_seq_swap/tiled").extents == GROUPED.as_dict()
    assert shown("head_seq_swap/batch").extents == {**TINY.as_dict(), "batch": 2}
    assert shown("head_seq_swap/both").extents == TINY.as_dict()


def test_without_the_scale_the_masked_scores_are_the_scores() -> None:
    found = shown("missing_scale/absent")
    np.testing.assert_allclose(after(found, "scores"), SCORES, rtol=1e-12)
    np.testing.assert_allclose(after(found, "masked")[~FUTURE], SCORES[~FUTURE], rtol=1e-12)
    assert found.after == pytest.approx(max(math.log(2), math.log(5)) / 2)  # d_k = 2, and the second one, 5


def test_a_mask_of_zeros_gives_the_future_its_softmax_share() -> None:
    found = shown("mask_adds_zero/zero")
    np.testing.assert_allclose(after(found, "masked"), SCORES / ROOT_TWO, rtol=1e-12)
    np.testing.assert_allclose(
        after(found, "weights"), [softmax(row / ROOT_TWO) for row in SCORES], rtol=1e-12
    )
    assert (after(found, "weights")[FUTURE] > 0).all()
    assert (before(found, "weights")[FUTURE] == 0).all()


def test_a_weak_mask_adds_minus_ten_thousand() -> None:
    found = shown("mask_adds_zero/weak")
    np.testing.assert_allclose(after(found, "masked")[FUTURE], (SCORES / ROOT_TWO)[FUTURE] - 1e4, rtol=1e-12)


def test_a_flipped_triangle_gives_the_last_token_itself_alone() -> None:
    weights = after(shown("flipped_triangle/flipped"), "weights")
    assert weights[2].tolist() == [0.0, 0.0, 1.0]
    assert (weights[np.tril(np.ones((3, 3), bool), -1)] == 0).all()
    np.testing.assert_allclose(weights[0], softmax(SCORES[0] / ROOT_TWO), rtol=1e-12)


def test_a_lost_diagonal_leaves_the_first_token_nothing() -> None:
    weights = after(shown("flipped_triangle/diagonal_lost"), "weights")
    assert weights[0].tolist() == [0.0, 0.0, 0.0]
    assert weights[1].tolist() == [1.0, 0.0, 0.0]


def test_a_reshape_without_transpose_makes_the_first_head_of_the_first_tokens() -> None:
    query, key = (projected(TINY_FIXTURE, role).reshape(2, 3, 2)[0] for role in "qk")
    np.testing.assert_allclose(after(shown("head_seq_swap/both"), "scores"), query @ key.T, rtol=1e-12)


def test_a_doubled_skip_changes_the_output_alone() -> None:
    found = shown("residual_shape/doubled")
    for name in ("scores", "masked", "weights"):
        assert stage(found, name).after == stage(found, name).before
    assert stage(found, "output").after != stage(found, "output").before


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("residual_shape/joined", r"CoreError: .*\(8,\) channels"),
        ("head_seq_swap/untransposed", r"ValueError: .*broadcast"),
    ],
)
def test_a_variant_that_raises_shows_its_input_and_the_error(name: str, error: str) -> None:
    found = shown(name)
    assert [one.after is None for one in found.stages] == [False, True, True, True, True]
    assert re.match(error, found.error)
    assert "\n" not in found.error


def test_a_variant_that_does_not_raise_has_no_error() -> None:
    assert shown("missing_scale/absent").error == ""
