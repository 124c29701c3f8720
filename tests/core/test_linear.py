from __future__ import annotations

import numpy as np
import pytest

from core import linear
from core.arrays import FloatArray
from core.errors import CoreError

WEIGHT = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 3.0]])


def test_weights_act_on_the_right() -> None:
    x = np.array([[[1.0, 10.0], [2.0, 20.0]]])
    assert linear.linear(x, WEIGHT, None).tolist() == [[[1.0, 10.0, 32.0], [2.0, 20.0, 64.0]]]


def test_the_bias_is_added_to_every_token() -> None:
    x = np.array([[[1.0, 10.0], [2.0, 20.0]]])
    y = linear.linear(x, WEIGHT, np.array([0.5, -1.0, 100.0]))
    assert y.tolist() == [[[1.5, 9.0, 132.0], [2.5, 19.0, 164.0]]]


def test_a_transposed_input_gives_the_same_as_its_copy() -> None:
    x = np.arange(12.0).reshape(3, 2, 2).transpose(1, 0, 2)
    assert linear.linear(x, WEIGHT, None).tolist() == linear.linear(x.copy(), WEIGHT, None).tolist()


def test_the_gradients_of_one_token_by_hand() -> None:
    grad, x = np.array([[[1.0, 2.0, 3.0]]]), np.array([[[10.0, 20.0]]])
    grad_x, grad_weight, grad_bias = linear.linear_backward(grad, x, WEIGHT)
    assert grad_x.tolist() == [[[7.0, 11.0]]]
    assert grad_weight.tolist() == [[10.0, 20.0, 30.0], [20.0, 40.0, 60.0]]
    assert grad_bias.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("weight", [np.ones((3, 2)), np.ones(2), np.ones((2, 2, 2))])
def test_a_weight_that_reads_other_channels_is_refused(weight: FloatArray) -> None:
    with pytest.raises(CoreError, match=r"x has shape \(1, 1, 2\), W .* is required"):
        linear.linear(np.ones((1, 1, 2)), weight, None)
