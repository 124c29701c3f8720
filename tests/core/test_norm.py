from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import norm
from core.arrays import FloatArray
from core.errors import CoreError


def test_layer_norm_centres_and_divides_by_the_biased_deviation() -> None:
    # [1, 3, 5, 7]: mean 4, squares 9 1 1 9, biased variance 5; with eps 4 the root is 3.
    y = norm.layer_norm(np.array([1.0, 3.0, 5.0, 7.0]), np.ones(4), np.zeros(4), eps=4.0)
    assert y == pytest.approx(np.array([-1.0, -1 / 3, 1 / 3, 1.0]), rel=1e-15)


def test_layer_norm_applies_gain_and_shift_to_each_channel() -> None:
    # [1, 3]: mean 2, variance 1; with eps 3 the root is 2.
    y = norm.layer_norm(np.array([[1.0, 3.0]]), np.array([2.0, 4.0]), np.array([10.0, 20.0]), eps=3.0)
    assert y.tolist() == [[9.0, 22.0]]


def test_layer_norm_without_a_shift() -> None:
    y = norm.layer_norm(np.array([[1.0, 3.0]]), np.array([2.0, 4.0]), None, eps=3.0)
    assert y.tolist() == [[-1.0, 2.0]]


def test_rms_norm_divides_by_the_root_of_the_mean_square() -> None:
    # [1, 7]: mean square 25; with eps 11 the root is 6.
    x = np.array([[1.0, 7.0]])
    assert norm.rms_norm(x, np.array([1.0, 10.0]), eps=0.0) == pytest.approx(
        np.array([[0.2, 14.0]]), rel=1e-15
    )
    assert norm.rms_norm(x, np.array([6.0, 12.0]), eps=11.0) == pytest.approx(
        np.array([[1.0, 14.0]]), rel=1e-15
    )


def test_each_token_is_normalised_alone() -> None:
    x = np.array([[1.0, 3.0], [100.0, 300.0]])
    y = norm.layer_norm(x, np.ones(2), np.zeros(2), eps=0.0)
    assert y.tolist() == [[-1.0, 1.0], [-1.0, 1.0]]


def test_eps_defaults_to_1e_5() -> None:
    x, gain = np.array([1e-3, -1e-3]), np.ones(2)
    expected = 1e-3 / np.sqrt(1e-6 + 1e-5)
    assert norm.layer_norm(x, gain, None)[0] == pytest.approx(expected, rel=1e-12)
    assert norm.rms_norm(x, gain)[0] == pytest.approx(expected, rel=1e-12)
    for given, default in (
        (norm.layer_norm_backward(gain, x, gain, 1e-5), norm.layer_norm_backward(gain, x, gain)),
        (norm.rms_norm_backward(gain, x, gain, 1e-5), norm.rms_norm_backward(gain, x, gain)),
    ):
        assert [array.tolist() for array in given] == [array.tolist() for array in default]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norms_and_their_gradients_keep_the_dtype_and_the_input(dtype: type[np.floating[Any]]) -> None:
    x, gain = np.array([[1.0, 2.0, 4.0]], dtype), np.ones(3, dtype)
    results = [norm.layer_norm(x, gain, gain), norm.rms_norm(x, gain)]
    results += [*norm.layer_norm_backward(x, x, gain), *norm.rms_norm_backward(x, x, gain)]
    assert {result.dtype for result in results} == {np.dtype(dtype)}
    assert x.tolist() == [[1.0, 2.0, 4.0]]


def test_gain_and_shift_of_another_width_are_refused() -> None:
    x = np.ones((2, 3))
    with pytest.raises(CoreError, match=r"gain \(2,\).*required"):
        norm.rms_norm(x, np.ones(2))
    with pytest.raises(CoreError, match=r"shift \(1,\).*required"):
        norm.layer_norm(x, np.ones(3), np.ones(1))
    with pytest.raises(CoreError, match=r"gain \(4,\), shift \(3,\).*required"):
        norm.layer_norm(x, np.ones(4), np.ones(3))


@pytest.mark.parametrize("normalise", [lambda x: norm.layer_norm(x, x, None), lambda x: norm.rms_norm(x, x)])
def test_input_that_is_refused_is_called_x(normalise: Callable[[FloatArray], FloatArray]) -> None:
    with pytest.raises(CoreError, match=r"^x is empty \(shape \(0,\)\)"):
        normalise(np.ones(0))


def test_lists_of_whole_numbers_are_taken_as_floats() -> None:
    assert norm.layer_norm([[1, 3]], np.ones(2), None, eps=3.0).tolist() == [[-0.5, 0.5]]
    assert norm.rms_norm([[1, 7]], np.ones(2), eps=11.0) == pytest.approx(
        np.array([[1 / 6, 7 / 6]]), rel=1e-15
    )
