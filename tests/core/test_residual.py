"""The wiring alone, with scalars one can follow: the stages are plain functions of arrays."""

from __future__ import annotations

import numpy as np

from core import residual
from core.arrays import FloatArray


def halve(h: FloatArray) -> FloatArray:
    return h / 2.0


def add_ten(h: FloatArray) -> FloatArray:
    return h + 10.0


def test_pre_norm_normalises_what_the_branch_reads_and_not_the_skip() -> None:
    # 100 + (6/2 + 10)
    assert residual.pre_norm(np.array(6.0), np.array(100.0), halve, add_ten) == 113.0


def test_post_norm_normalises_the_sum() -> None:
    # (100 + (6 + 10)) / 2
    assert residual.post_norm(np.array(6.0), np.array(100.0), halve, add_ten) == 58.0


def test_the_second_sublayer_reads_and_skips_from_the_first_ones_result() -> None:
    seen: list[tuple[float, float]] = []

    def first(h: FloatArray, skip: FloatArray) -> FloatArray:
        seen.append((float(h), float(skip)))
        return h + 1.0

    def second(h: FloatArray, skip: FloatArray) -> FloatArray:
        seen.append((float(h), float(skip)))
        return h * 5.0 + skip

    assert residual.compose(np.array(3.0), first, second) == 24.0
    assert seen == [(3.0, 3.0), (4.0, 4.0)]


def test_pre_norm_sends_the_gradient_through_the_branch_then_the_norm_and_past_both() -> None:
    # Branch slope 7, norm slope 1/2; their order shows in what each is given.
    given: list[float] = []

    def branch_backward(grad: FloatArray) -> FloatArray:
        given.append(float(grad))
        return grad * 7.0

    grad_x, grad_skip = residual.pre_norm_backward(np.array(2.0), halve, branch_backward)
    assert (float(grad_x), float(grad_skip), given) == (7.0, 2.0, [2.0])


def test_post_norm_sends_the_gradient_through_the_norm_first() -> None:
    given: list[float] = []

    def branch_backward(grad: FloatArray) -> FloatArray:
        given.append(float(grad))
        return grad * 7.0

    grad_x, grad_skip = residual.post_norm_backward(np.array(2.0), halve, branch_backward)
    assert (float(grad_x), float(grad_skip), given) == (7.0, 1.0, [1.0])


def test_compose_adds_both_ways_of_both_sublayers() -> None:
    # second: 3 + 4 = 7 for each unit; first: 1 + 2 = 3 for each of those 7.
    grad = residual.compose_backward(
        np.array(1.0), lambda g: (g * 1.0, g * 2.0), lambda g: (g * 3.0, g * 4.0)
    )
    assert grad == 21.0
