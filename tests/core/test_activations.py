from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core import activations
from core.arrays import FloatArray
from core.errors import CoreError


def test_relu_keeps_the_positive() -> None:
    assert activations.relu([-2, 0, 3]).tolist() == [0.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("function", "values", "name"),
    [
        (activations.relu, ([],), "x"),
        (activations.gelu, ([],), "x"),
        (activations.silu, ([],), "x"),
        (activations.swiglu, ([1.0], []), "value"),
    ],
)
def test_what_is_no_numbers_is_named(function: Callable[..., Any], values: Any, name: str) -> None:
    with pytest.raises(CoreError, match=f"^{name} is empty"):
        function(*values)


def test_relu_has_no_slope_at_zero() -> None:
    slopes = activations.relu_backward(np.array([5.0, 5.0, 5.0]), np.array([-1.0, 0.0, 1.0]))
    assert slopes.tolist() == [0.0, 0.0, 5.0]


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.0, 1.0, 2.5])
def test_gelu_is_the_tanh_form_of_gpt_2(x: float) -> None:
    expected = 0.5 * x * (1.0 + math.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
    assert activations.gelu([x])[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_gelu_is_close_to_the_exact_form_but_is_not_it() -> None:
    x = 1.0
    exact = 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))
    assert 1e-5 < abs(activations.gelu([x])[0] - exact) < 5e-4


def test_silu_of_log_3_is_three_quarters_of_it() -> None:
    # sigmoid(ln 3) = 3/4 and sigmoid(-ln 3) = 1/4.
    log_3 = math.log(3.0)
    assert activations.silu([log_3, -log_3]) == pytest.approx([0.75 * log_3, -0.25 * log_3], rel=1e-14)


def test_silu_keeps_its_digits_far_below_zero_and_does_not_overflow() -> None:
    assert activations.silu([-30.0])[0] == pytest.approx(-30.0 * math.exp(-30.0), rel=1e-12)
    assert activations.silu([-1e4, 1e4]).tolist() == [0.0, 1e4]


def test_swiglu_gates_the_value() -> None:
    log_3 = math.log(3.0)
    assert activations.swiglu([log_3], [2.0])[0] == pytest.approx(1.5 * log_3, rel=1e-14)


@pytest.mark.parametrize("function", [activations.relu, activations.gelu, activations.silu])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations_keep_the_dtype(
    function: Callable[[FloatArray], FloatArray], dtype: type[np.floating[Any]]
) -> None:
    x = np.linspace(-2.0, 2.0, 5, dtype=dtype)
    untouched = x.copy()
    assert function(x).dtype == dtype
    assert np.array_equal(x, untouched)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activation_gradients_keep_the_dtype(dtype: type[np.floating[Any]]) -> None:
    x = np.linspace(-2.0, 2.0, 5, dtype=dtype)
    gradients = [f(x, x) for f in (activations.relu_backward, activations.gelu_backward)]
    gradients += [activations.silu_backward(x, x), *activations.swiglu_backward(x, x, x)]
    assert {gradient.dtype for gradient in gradients} == {np.dtype(dtype)}
