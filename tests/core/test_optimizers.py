"""Update rules, followed by hand for one and two steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core import optimizers
from core.errors import CoreError
from core.parameters import Parameters


def one(value: float, dtype: type[np.floating[Any]] = np.float64) -> Parameters:
    return Parameters({"w": np.array([value], dtype)})


def test_sgd_moves_against_the_gradient_by_the_rate() -> None:
    parameters = Parameters({"Wq": np.array([[1.0, -2.0]]), "bq": np.array([0.5])})
    gradients = Parameters({"Wq": np.array([[10.0, 20.0]]), "bq": np.array([-4.0])})
    moved = optimizers.sgd_step(parameters, gradients, 0.25)
    assert moved["Wq"].tolist() == [[-1.5, -7.0]]
    assert moved["bq"].tolist() == [1.5]


def test_adam_follows_the_algorithm_by_hand_for_two_steps() -> None:
    # b1 = b2 = 1/2, eps = 1/2, rate = 1. Gradient 1: m = v = 1/2, both corrected to 1: step 1 / (1 + 1/2).
    parameters, state = optimizers.adam_step(one(0.0), one(1.0), None, 1.0, 0.5, 0.5, 0.5)
    assert parameters["w"][0] == pytest.approx(-2 / 3, abs=1e-15)
    # Gradient 3: m = 1/4 + 3/2 = 7/4, v = 1/4 + 9/2 = 19/4, corrected by 1 - 1/4 to 7/3 and 19/3.
    parameters, state = optimizers.adam_step(parameters, one(3.0), state, 1.0, 0.5, 0.5, 0.5)
    second = (7 / 3) / (math.sqrt(19 / 3) + 0.5)
    assert parameters["w"][0] == pytest.approx(-2 / 3 - second, abs=1e-15)
    assert state.step == 2
    assert state.first_moment["w"][0] == pytest.approx(7 / 4, abs=1e-15)
    assert state.second_moment["w"][0] == pytest.approx(19 / 4, abs=1e-15)


@pytest.mark.parametrize("gradient", [1e-3, -5.0, 1e4])
def test_first_adam_step_has_the_size_of_the_rate_whatever_the_gradient(gradient: float) -> None:
    # Without the bias corrections it would be 0.1 / sqrt(0.001) = 3.16 rates long.
    moved, _ = optimizers.adam_step(one(0.0), one(gradient), None, learning_rate=0.01)
    assert moved["w"][0] == pytest.approx(-math.copysign(0.01, gradient), rel=1e-4)


def test_adam_moves_by_a_thousandth_unless_told_otherwise() -> None:
    moved, _ = optimizers.adam_step(one(0.0), one(5.0), None)
    assert moved["w"][0] == pytest.approx(-1e-3)


def test_adam_with_no_gradient_yet_stays_where_it_is() -> None:
    moved, _ = optimizers.adam_step(one(3.0), one(0.0), None)
    assert moved["w"][0] == 3.0


def test_adam_state_begins_at_zero_and_none_means_just_that() -> None:
    state = optimizers.adam_init(one(5.0))
    assert (state.step, state.first_moment, state.second_moment) == (0, one(0.0), one(0.0))
    assert optimizers.adam_step(one(5.0), one(2.0), state) == optimizers.adam_step(one(5.0), one(2.0), None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_that_of_the_parameters_even_with_wider_gradients(dtype: type[np.floating[Any]]) -> None:
    parameters, wide = one(1.0, dtype), one(0.5, np.float64)
    assert optimizers.sgd_step(parameters, wide, 0.1)["w"].dtype == dtype
    moved, state = optimizers.adam_step(parameters, wide, None, float(np.float64(0.1)))
    moved, state = optimizers.adam_step(moved, wide, state, np.float64(0.1), np.float64(0.9))
    assert moved["w"].dtype == dtype
    assert state.first_moment["w"].dtype == dtype
    assert state.second_moment["w"].dtype == dtype


def test_steps_leave_parameters_gradients_and_state_alone() -> None:
    parameters, gradients, state = one(1.0), one(2.0), optimizers.adam_init(one(1.0))
    optimizers.sgd_step(parameters, gradients, 0.1)
    optimizers.adam_step(parameters, gradients, state)
    assert (parameters, gradients, state) == (one(1.0), one(2.0), optimizers.adam_init(one(1.0)))


@pytest.mark.parametrize(
    "gradients",
    [
        Parameters({}),
        Parameters({"v": np.ones(1)}),
        Parameters({"w": np.ones(2)}),
        Parameters({"w": np.ones(1), "v": np.ones(1)}),
    ],
)
def test_gradients_of_other_parameters_are_refused(gradients: Parameters) -> None:
    for step in (
        lambda: optimizers.sgd_step(one(1.0), gradients, 0.1),
        lambda: optimizers.adam_step(one(1.0), gradients, None),
        lambda: optimizers.adam_step(one(1.0), one(1.0), optimizers.adam_init(gradients)),
    ):
        with pytest.raises(CoreError) as caught:
            step()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", -0.1),
        ("learning_rate", math.nan),
        ("learning_rate", math.inf),
        ("learning_rate", "fast"),
        ("learning_rate", True),
        pytest.param("learning_rate", 10**400, id="learning_rate-too-large-for-a-float"),
        ("parameters", {"w": np.ones(1)}),
        ("gradients", {"w": np.ones(1)}),
        ("state", "none"),
        ("beta1", 1.0),
        ("beta1", -0.1),
        ("beta2", 1.5),
        ("beta2", math.nan),
        ("eps", 0.0),
        ("eps", -1e-8),
    ],
)
def test_impossible_setting_is_refused_by_name(name: str, value: Any) -> None:
    common: dict[str, Any] = {"parameters": one(1.0), "gradients": one(1.0), "learning_rate": 0.1}
    with pytest.raises(CoreError, match=f"^{name} is ") as caught:
        optimizers.adam_step(**{**common, "state": None, name: value})
    assert "\n" not in str(caught.value)
    if name in common:
        with pytest.raises(CoreError, match=f"^{name} is "):
            optimizers.sgd_step(**{**common, name: value})
