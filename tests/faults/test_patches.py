"""What every variant puts in place of the sound function, on arrays small enough to be worked out by hand."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from faults.model import Function, Seam, Variant
from tests.faults import samples

INF = math.inf
MASK = Seam("core.mask", "causal_mask")
ADD = Seam("core.attention", "add_mask")
SCALE = Seam("core.attention", "scale")
ATTEND = Seam("core.attention", "attend")
PRE_NORM = Seam("core.residual", "pre_norm")
COMPOSE = Seam("core.residual", "compose")
SPLIT = Seam("core.heads", "split_heads")
MERGE = Seam("core.heads", "merge_heads")
REPEAT = Seam("core.heads", "repeat_heads")


@dataclass(frozen=True)
class Case:
    """One call of one seam: what the sound function gives, and what the variants give instead."""

    seam: Seam
    call: Callable[[Function], Any]
    sound: Any
    faulty: dict[str, Any]


def vector(*numbers: float) -> Any:
    """[batch 1, token, channel 1]."""
    return np.array(numbers)[None, :, None]


def sublayer(x: Any, skip: Any) -> Callable[[Function], Any]:
    """A sublayer whose norm multiplies by 10 and whose branch adds 1: sound is skip + 10 x + 1."""
    return lambda pre_norm: pre_norm(x, skip, lambda h: 10 * h, lambda h: h + 1)


def stages(compose: Function) -> Any:
    """first(h, skip) = h + skip and second(h, skip) = 10 h + skip, from x = 1."""
    return compose(np.array(1.0), lambda h, skip: h + skip, lambda h, skip: 10 * h + skip)


RESIDUAL = [
    # x = 2 and skip = 5 are told apart: 5 + (10 * 2 + 1).
    Case(
        PRE_NORM,
        sublayer(vector(2.0), vector(5.0)),
        vector(26),
        {
            "residual_shape/dropped": vector(21),  # 10 * 2 + 1
            "residual_shape/doubled": vector(31),  # 5 + 5 + 21
            "residual_shape/after_norm": vector(41),  # 20 + 21
            "residual_shape/post_norm": vector(80),  # 10 * (5 + (2 + 1))
            "residual_shape/broadcast": vector(26),  # the first token is right
            "residual_shape/joined": np.array([[[5, 21]]]),
            "residual_shape/norm_unused": vector(8),  # 5 + (2 + 1)
        },
    ),
    Case(
        PRE_NORM,
        sublayer(vector(2.0, 3.0), vector(5.0, 7.0)),
        vector(26, 38),
        {
            "residual_shape/broadcast": vector(26, 36),  # 5 + 31 at the second token
            # [token, batch, channel] joins [batch, token, channel]: row t is skip + branch(t).
            "residual_shape/sequence_first": np.array([[[26], [28]], [[36], [38]]]),
        },
    ),
    # h = first(1, 1) = 2; sound: 10 * 2 + 2; from the input: 10 * 2 + 1; first(1, 0) = 1 read alone: 10 * 1 + 2.
    Case(
        COMPOSE,
        stages,
        np.array(22),
        {"residual_shape/ffn_from_input": np.array(21), "residual_shape/ffn_from_branch": np.array(12)},
    ),
]

TWO_HEADS_OF_FOUR = np.zeros((1, 2, 1, 4))
"""A query with H = 2, d_k = 4, D = 8: the scale is 1/2."""

SCALES = [
    Case(
        SCALE,
        lambda scale: scale(np.array([[[[4.0]]]]), TWO_HEADS_OF_FOUR),
        np.array([[[[2.0]]]]),
        {
            "missing_scale/absent": np.array([[[[4.0]]]]),
            "missing_scale/by_model_width": np.array([[[[math.sqrt(2)]]]]),  # 4 / sqrt(8)
            "missing_scale/by_heads": np.array([[[[math.sqrt(8)]]]]),  # 4 / sqrt(2)
            "missing_scale/by_keys": np.array([[[[4.0]]]]),  # 4 / sqrt(1)
            "missing_scale/twice": np.array([[[[1.0]]]]),
            "missing_scale/reciprocal": np.array([[[[8.0]]]]),
            "missing_scale/each_block": np.array([[[[2 / math.log(2)]]]]),
        },
    ),
    # Seventeen keys are one block of sixteen and one more; four times 4 is 16, and 4 / sqrt(17) stays below 1.
    Case(
        SCALE,
        lambda scale: scale(np.full((1, 2, 1, 17), 4.0), TWO_HEADS_OF_FOUR)[0, 0, 0, -2:],
        np.array([2.0, 2.0]),
        {
            "missing_scale/by_keys": np.array([4 / math.sqrt(17)] * 2),
            "missing_scale/each_block": np.array([2 / math.log(2), 2 / math.log(2) ** 2]),
        },
    ),
]

# One head, d_k = 4, two tokens. The first query is 0: all visible keys weigh the same. The second has q.k = 2 ln 3
# with the first key and 0 with the second: at the scale 1/2 the weights are 3/4 and 1/4.
QUERY = np.array([[[[0.0] * 4, [2 * math.log(3), 0, 0, 0]]]])
KEY = np.array([[[[1.0, 0, 0, 0], [0.0] * 4]]])
VALUE = np.array([[[[4.0], [8.0]]]])
CAUSAL = np.array([[0, -INF], [0, 0]])

ATTENTION = [
    Case(
        ATTEND,
        lambda attend: attend(QUERY, KEY, VALUE, CAUSAL).weights[0, 0],
        np.array([[1, 0], [0.75, 0.25]]),
        {
            # Unscaled logits 2 ln 3 and 0 weigh 9/10 and 1/10; then every weight is halved.
            "missing_scale/after_softmax": np.array([[0.5, 0], [0.45, 0.05]]),
            # The first query spreads over both keys and loses the second; the second query is right.
            "mask_adds_zero/after_softmax": np.array([[0.5, 0], [0.75, 0.25]]),
        },
    ),
    Case(
        ATTEND,
        lambda attend: attend(QUERY, KEY, VALUE, CAUSAL).output[0, 0, :, 0],
        np.array([4, 5]),  # 0.75 * 4 + 0.25 * 8
        {
            "missing_scale/after_softmax": np.array([2, 2.2]),  # 0.45 * 4 + 0.05 * 8
            "mask_adds_zero/after_softmax": np.array([2, 5]),
        },
    ),
    Case(
        ATTEND,
        lambda attend: attend(QUERY, KEY, VALUE, None).weights[0, 0],
        np.array([[0.5, 0.5], [0.75, 0.25]]),
        {
            "missing_scale/after_softmax": np.array([[0.25, 0.25], [0.45, 0.05]]),
            "mask_adds_zero/after_softmax": np.array([[0.5, 0.5], [0.75, 0.25]]),
        },
    ),
    Case(
        ATTEND,
        lambda attend: attend(QUERY, KEY, VALUE, CAUSAL).scores[0, 0],
        np.array([[0, 0], [2 * math.log(3), 0]]),
        {
            "missing_scale/after_softmax": np.array([[0, 0], [2 * math.log(3), 0]]),
            "mask_adds_zero/after_softmax": np.array([[0, 0], [2 * math.log(3), 0]]),
        },
    ),
]

MASKS = [
    Case(
        MASK,
        lambda causal_mask: causal_mask(3, 3),
        np.array([[0, -INF, -INF], [0, 0, -INF], [0, 0, 0]]),
        {
            "mask_adds_zero/zero": np.zeros((3, 3)),
            "mask_adds_zero/tiny": np.array([[0, 1e-9, 1e-9], [0, 0, 1e-9], [0, 0, 0]]),
            "mask_adds_zero/one": np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
            "mask_adds_zero/weak": np.array([[0, -1e4, -1e4], [0, 0, -1e4], [0, 0, 0]]),
            "flipped_triangle/flipped": np.array([[0, 0, 0], [-INF, 0, 0], [-INF, -INF, 0]]),
            "flipped_triangle/inverted": np.array([[-INF, 0, 0], [-INF, -INF, 0], [-INF] * 3]),
            "flipped_triangle/kept_hidden": np.array([[-1e9, 0, 0], [-1e9, -1e9, 0], [0, 0, 0]]),
            "flipped_triangle/first_row": np.array([[0, -INF, -INF]] * 3),
            "flipped_triangle/late_rows": np.array([[0, -INF, -INF], [0, 0, -INF], [-INF] * 3]),
            "flipped_triangle/one_too_far": np.array([[0, 0, -INF], [0, 0, 0], [0, 0, 0]]),
            "flipped_triangle/diagonal_lost": np.array([[-INF] * 3, [0, -INF, -INF], [0, 0, -INF]]),
            "flipped_triangle/wrong_corner": np.array([[0, -INF, -INF], [0, 0, -INF], [0, 0, 0]]),
        },
    ),
    # Two queries at the end of three keys.
    Case(
        MASK,
        lambda causal_mask: causal_mask(2, 3),
        np.array([[0, 0, -INF], [0, 0, 0]]),
        {
            "mask_adds_zero/zero": np.zeros((2, 3)),
            "mask_adds_zero/tiny": np.array([[0, 0, 1e-9], [0, 0, 0]]),
            "mask_adds_zero/one": np.array([[1, 1, 0], [1, 1, 1]]),
            "mask_adds_zero/weak": np.array([[0, 0, -1e4], [0, 0, 0]]),
            "flipped_triangle/flipped": np.array([[-INF, 0, 0], [-INF, -INF, 0]]),
            "flipped_triangle/inverted": np.array([[-INF, -INF, 0], [-INF, -INF, -INF]]),
            "flipped_triangle/kept_hidden": np.array([[-1e9, -1e9, 0], [0, 0, 0]]),
            "flipped_triangle/first_row": np.array([[0, 0, -INF], [0, 0, -INF]]),
            "flipped_triangle/late_rows": np.array([[0, 0, -INF], [0, 0, 0]]),
            "flipped_triangle/one_too_far": np.zeros((2, 3)),
            "flipped_triangle/diagonal_lost": np.array([[0, -INF, -INF], [0, 0, -INF]]),
            "flipped_triangle/wrong_corner": np.array([[0, -INF, -INF], [0, 0, -INF]]),
        },
    ),
    Case(
        ADD,
        lambda add_mask: add_mask(np.array([[1.0, 2.0], [3.0, 4.0]]), CAUSAL),
        np.array([[1, -INF], [3, 4]]),
        {"mask_adds_zero/missing": np.array([[1, 2], [3, 4]])},
    ),
]

# Three tokens of two heads of two channels, numbered in reading order.
FLAT = np.arange(12).reshape(1, 3, 4)
TWO_OF_TWO_HEADS = np.arange(8).reshape(2, 2, 2, 1)
"""Two sequences of two heads, two tokens and one channel, numbered in reading order."""

SPLIT_BY_HEAD = np.arange(12).reshape(1, 2, 3, 2)
BY_TOKEN = np.arange(12).reshape(1, 3, 2, 2)
TWO_KEY_HEADS = np.array([[[[1.0]], [[2.0]]]])

HEADS = [
    Case(
        SPLIT,
        lambda split_heads: split_heads(FLAT, 2)[0],
        np.array([[[0, 1], [4, 5], [8, 9]], [[2, 3], [6, 7], [10, 11]]]),
        {
            "head_seq_swap/split": np.array([[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]),
            "head_seq_swap/both": np.array([[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]),
            "head_seq_swap/untransposed": np.array([[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]),
        },
    ),
    Case(
        MERGE,
        lambda merge_heads: merge_heads(SPLIT_BY_HEAD)[0],
        np.array([[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]),
        {
            "head_seq_swap/merge": np.array([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]),
            "head_seq_swap/both": np.array([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]),
            # It reads [token, head, channel]: here two tokens of three heads.
            "head_seq_swap/untransposed": np.array([[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]),
        },
    ),
    Case(
        MERGE,
        lambda merge_heads: merge_heads(TWO_OF_TWO_HEADS),
        np.array([[[0, 2], [1, 3]], [[4, 6], [5, 7]]]),
        {
            # The second pair of each four, head 1 of the first sequence, is taken for head 0 of the second.
            "head_seq_swap/batch": np.array([[[0, 4], [1, 5]], [[2, 6], [3, 7]]]),
            # Head 0 of both sequences first (0 1, 4 5), then head 1 (2 3, 6 7), read two by two.
            "head_seq_swap/stacked": np.array([[[0, 1], [4, 5]], [[2, 3], [6, 7]]]),
        },
    ),
    Case(
        REPEAT,
        lambda repeat_heads: repeat_heads(TWO_KEY_HEADS, 2)[0, :, 0, 0],
        np.array([1, 1, 2, 2]),
        {"head_seq_swap/tiled": np.array([1, 2, 1, 2])},
    ),
    # [token, head, channel], two tokens of two heads: the heads are the second axis here.
    Case(
        REPEAT,
        lambda repeat_heads: repeat_heads(np.array([[[[1.0], [2.0]], [[3.0], [4.0]]]]), 2)[0, ..., 0],
        np.array([[1, 2], [1, 2], [3, 4], [3, 4]]),
        {"head_seq_swap/untransposed": np.array([[1, 1, 2, 2], [3, 3, 4, 4]])},
    ),
]

CASES = [*RESIDUAL, *SCALES, *ATTENTION, *MASKS, *HEADS]
FAULTY = [(case, name) for case in CASES for name in case.faulty]


def sound(seam: Seam) -> Function:
    function: Function = getattr(importlib.import_module(seam.module), seam.attribute)
    return function


def replacement(variant: Variant, seam: Seam) -> Function:
    return variant.patches[seam](sound(seam))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.seam))
def test_the_sound_function_gives_the_value_worked_out_by_hand(case: Case) -> None:
    found = case.call(sound(case.seam))
    assert found.shape == case.sound.shape
    np.testing.assert_allclose(found, case.sound, rtol=1e-14)


@pytest.mark.parametrize(("case", "name"), FAULTY, ids=[f"{name} {case.seam}" for case, name in FAULTY])
def test_a_variant_gives_the_wrong_value_worked_out_by_hand(case: Case, name: str) -> None:
    found = case.call(replacement(samples.declared(name), case.seam))
    assert found.shape == case.faulty[name].shape
    np.testing.assert_allclose(found, case.faulty[name], rtol=1e-14)


def test_every_forward_patch_of_every_variant_is_worked_out_here() -> None:
    declared = {
        (f"{fault.name}/{variant.name}", seam)
        for fault, variant in samples.CASES
        for seam in variant.patches
        if not seam.attribute.endswith("_backward")
    }
    assert {(name, case.seam) for case, name in FAULTY} == declared


@pytest.mark.parametrize("name", MASKS[0].faulty)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_wrong_mask_keeps_the_dtype_it_is_asked_for(name: str, dtype: Any) -> None:
    assert replacement(samples.declared(name), MASK)(2, 3, dtype).dtype == dtype


@pytest.mark.parametrize("name", SCALES[0].faulty)
def test_a_wrong_scale_keeps_single_precision(name: str) -> None:
    single = np.ones((1, 2, 1, 1), np.float32)
    assert replacement(samples.declared(name), SCALE)(single, TWO_HEADS_OF_FOUR).dtype == np.float32


def test_attention_after_softmax_reports_the_trace_it_has_used() -> None:
    trace = replacement(samples.declared("missing_scale/after_softmax"), ATTEND)(QUERY, KEY, VALUE, CAUSAL)
    np.testing.assert_allclose(trace.scaled, trace.scores, rtol=1e-14)  # not scaled before the softmax
    np.testing.assert_allclose(trace.masked, trace.scores + CAUSAL, rtol=1e-14)
    np.testing.assert_allclose(trace.output, trace.weights @ VALUE, rtol=1e-14)
