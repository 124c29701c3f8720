"""Update rules: from parameters and their gradients to new parameters. Nothing is changed in place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core import settings
from core.arrays import FloatArray
from core.errors import CoreError
from core.parameters import Parameters


def sgd_step(parameters: Parameters, gradients: Parameters, learning_rate: float) -> Parameters:
    """Return parameters - learning_rate * gradients, each in its own dtype.

    Raises CoreError when the roles or shapes differ, or the learning rate is not finite and at least 0.
    Source: Robbins and Monro 1951.
    """
    rate = _checked_rate(parameters, gradients, learning_rate)
    return parameters.combine(lambda value, grad: _like(value - rate * grad, value), gradients)


@dataclass(frozen=True)
class AdamState:
    """What Adam remembers between steps: how many were made, and the two running moments by role."""

    step: int
    first_moment: Parameters
    second_moment: Parameters


def adam_init(parameters: Parameters) -> AdamState:
    """Return the state before the first step: both moments zero, in the parameters' shapes and dtypes."""
    zeros = parameters.map(np.zeros_like)
    return AdamState(0, zeros, zeros)


def adam_step(
    parameters: Parameters,
    gradients: Parameters,
    state: AdamState | None,
    learning_rate: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> tuple[Parameters, AdamState]:
    """Return the parameters after one step of Adam, and the state for the next; `state` None begins anew.

    m = b1 m + (1 - b1) g and v = b2 v + (1 - b2) g^2; with m' = m / (1 - b1^t) and v' = v / (1 - b2^t),
    p = p - learning_rate * m' / (sqrt(v') + eps).

    Raises CoreError when roles or shapes differ, a decay rate is outside [0, 1), eps is not above 0, or the
    learning rate is not finite and at least 0. Source: Kingma and Ba 2015, algorithm 1.
    """
    rate = _checked_rate(parameters, gradients, learning_rate)
    _check_decays(beta1, beta2, eps)
    before = adam_init(parameters) if state is None else state
    settings.instance(before, "state", AdamState)
    first = before.first_moment.combine(lambda m, g: _average(m, g, beta1), gradients)
    second = before.second_moment.combine(lambda v, g: _average(v, g * g, beta2), gradients)
    step = before.step + 1
    # Both moments start at 0 and are too small at first: the corrections undo exactly that.
    correction1, correction2 = 1.0 - beta1**step, 1.0 - beta2**step

    def moved(value: FloatArray, m: FloatArray, v: FloatArray) -> FloatArray:
        change = rate * (m / correction1) / (np.sqrt(v / correction2) + eps)
        return _like(value - change, value)

    return parameters.combine(moved, first, second), AdamState(step, first, second)


def _average(moment: FloatArray, sample: FloatArray, decay: float) -> FloatArray:
    return _like(decay * moment + (1.0 - decay) * sample, moment)


def _like(result: FloatArray, model: FloatArray) -> FloatArray:
    # Gradients of a wider type must not widen the parameters.
    return result.astype(model.dtype)


def _checked_rate(parameters: Parameters, gradients: Parameters, learning_rate: float) -> float:
    settings.instance(parameters, "parameters", Parameters)
    settings.instance(gradients, "gradients", Parameters)
    return settings.real(learning_rate, "learning_rate", least=0.0)


def _check_decays(beta1: float, beta2: float, eps: float) -> None:
    for name, decay in (("beta1", beta1), ("beta2", beta2)):
        if not settings.real(decay, name, least=0.0) < 1.0:
            raise CoreError(f"{name} is {decay}; a decay rate in [0, 1) is required; 0.9 and 0.999 are usual")
    if not settings.real(eps, "eps", least=0.0) > 0.0:
        raise CoreError(f"eps is {eps}; a number above 0 is required; 1e-8 is usual")
