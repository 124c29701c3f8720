from __future__ import annotations

import math

import numpy as np
import pytest

from core import feed_forward
from core.errors import CoreError

X = np.array([[[1.0, -1.0]]])
W1 = np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 1.0]])
W2 = np.array([[1.0, 0.0], [10.0, 0.0], [100.0, 1.0]])


def test_relu_sits_between_the_two_maps() -> None:
    # x W1 = [-2, 2, -1], + b1 = [-1, 2, 1], relu [0, 2, 1], times W2 = [120, 1], + b2.
    parameters = {"W1": W1, "b1": np.array([1.0, 0.0, 2.0]), "W2": W2, "b2": np.array([0.5, 0.25])}
    assert feed_forward.feed_forward(X, parameters, "relu").tolist() == [[[120.5, 1.25]]]


def test_absent_biases_are_none() -> None:
    assert feed_forward.feed_forward(X, {"W1": W1, "W2": W2}, "relu").tolist() == [[[20.0, 0.0]]]


def test_swiglu_reads_the_gate_from_the_first_half_of_the_columns() -> None:
    # Gate ln 3, value 4: silu(ln 3) = 3/4 ln 3.
    parameters = {"W1": np.array([[math.log(3.0), 4.0]]), "W2": np.array([[2.0]])}
    y = feed_forward.feed_forward(np.ones((1, 1, 1)), parameters, "swiglu")
    assert y.item() == pytest.approx(6.0 * math.log(3.0), rel=1e-14)


def test_gelu_is_smooth_where_relu_is_not() -> None:
    parameters = {"W1": np.array([[-1.0]]), "W2": np.array([[1.0]])}
    expected = -0.5 * (1.0 - math.tanh(math.sqrt(2.0 / math.pi) * 1.044715))
    y = feed_forward.feed_forward(np.ones((1, 1, 1)), parameters, "gelu")
    assert y.item() == pytest.approx(expected, rel=1e-12)


def test_the_trace_keeps_what_came_before_the_activation() -> None:
    trace = feed_forward.feed_forward_trace(X, {"W1": W1, "W2": W2}, "relu")
    assert trace.x is X
    assert trace.expanded.tolist() == [[[-2.0, 2.0, -1.0]]]
    assert trace.hidden.tolist() == [[[0.0, 2.0, 0.0]]]
    assert trace.output.tolist() == [[[20.0, 0.0]]]


def test_another_activation_is_refused() -> None:
    with pytest.raises(CoreError, match=r"^activation is 'tanh'; one of relu, gelu, swiglu is required$"):
        feed_forward.feed_forward(X, {"W1": W1, "W2": W2}, "tanh")


def test_an_input_that_is_refused_is_called_x() -> None:
    with pytest.raises(CoreError, match=r"^x is empty"):
        feed_forward.feed_forward([], {"W1": W1, "W2": W2}, "relu")
