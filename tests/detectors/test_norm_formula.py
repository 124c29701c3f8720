from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import norm_formula
from detectors.errors import NotObservable
from detectors.fixtures import Fixture
from detectors.subject import CLAIMS, Norm, Subject
from tests.detectors import toy

Array = NDArray[Any]
Made = Callable[[Array], Array]

FIXTURE = Fixture(replace(toy.EXTENTS, dtype="float32"), 0)
WIDTH = 7
DRAWN = np.random.default_rng(2).uniform(0.5, 1.5, (2, WIDTH)).astype(np.float32)
GAIN, BIAS = DRAWN[0], DRAWN[1] - 1


def mean(x: Array) -> Array:
    found: Array = x.mean(axis=-1, keepdims=True)
    return found


def layer(divisor: Callable[[Array], Array], gain: Any = GAIN, bias: Any = BIAS) -> Made:
    """gain · (x - mean) / divisor(var) + bias."""
    return lambda x: gain * (x - mean(x)) / divisor(mean(np.square(x - mean(x)))) + bias


def rms(divisor: Callable[[Array], Array], gain: Any = GAIN) -> Made:
    return lambda x: gain * x / divisor(mean(x * x))


def root(eps: float) -> Callable[[Array], Array]:
    return lambda square: np.sqrt(square + np.float32(eps))


def outside(eps: float) -> Callable[[Array], Array]:
    return lambda square: np.sqrt(square) + np.float32(eps)


def floored(eps: float) -> Callable[[Array], Array]:
    return lambda square: np.maximum(np.sqrt(square), np.float32(eps))


def unbiased(eps: float) -> Callable[[Array], Array]:
    return lambda square: np.sqrt(square * np.float32(WIDTH / (WIDTH - 1)) + np.float32(eps))


def off(call: Made, *gains: Array, causal: bool = True, width: int = WIDTH) -> float:
    with np.errstate(all="ignore"):
        return norm_formula.deviation(Norm(call, width, gains), FIXTURE, causal)


SOUND: dict[str, Made] = {
    "layer norm": layer(root(1e-5)),
    "layer norm, large epsilon": layer(root(9e-3)),
    "layer norm, no epsilon": layer(root(0.0)),
    "layer norm, bias far above the gain": layer(root(1e-2), bias=30 * BIAS),
    "RMS norm": rms(root(1e-6)),
    "T5 norm": rms(root(1e-6), DRAWN[1]),
    "Gemma norm": rms(root(1e-6), 1 + BIAS),
    "scaled to a length": rms(floored(1e-5), np.float32(3.3)),
    "layer norm with a least deviation": layer(floored(1e-3)),
    "layer norm with a large least deviation": layer(floored(0.09)),
    "RMS norm, 1e-8 outside the root": rms(outside(1e-8)),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_norm_is_explained_by_some_epsilon(name: str) -> None:
    assert off(SOUND[name], GAIN, BIAS) <= (1e-3 if "1e-8" in name else 1e-4)


@pytest.mark.parametrize("eps", [1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("made", [layer, rms])
def test_an_epsilon_outside_the_root_is_explained_by_none(
    made: Callable[[Callable[[Array], Array]], Made], eps: float
) -> None:
    assert off(made(outside(eps))) > 0.02


def test_an_epsilon_beyond_any_in_use_is_none() -> None:
    # at 0.1 the smallest outputs are short by sqrt(10) of what 0.01 would leave of them
    assert off(layer(root(0.1))) > 0.1
    assert off(layer(root(0.012))) > 0.01
    assert off(layer(floored(0.5))) > 0.1


UNBIASED = 1 - (6 / 7) ** 0.5


def test_an_unbiased_variance_shows_where_the_gain_is_known() -> None:
    made = layer(unbiased(1e-5))
    assert off(made, GAIN, BIAS) == off(made, BIAS, GAIN) == pytest.approx(UNBIASED)
    assert off(made, GAIN - 1) == pytest.approx(UNBIASED)
    assert off(layer(unbiased(1e-5), np.float32(1))) == pytest.approx(UNBIASED)
    assert off(layer(unbiased(1e-5), np.float32(2)), np.full(1, 2.0)) == pytest.approx(UNBIASED)


def test_the_amplitudes_go_down_by_tens_after_one_at_which_no_epsilon_shows() -> None:
    large, *others = norm_formula.AMPLITUDES
    assert large == 100
    assert others == [1 / 10**power for power in range(6)]


def test_a_gain_that_is_not_known_hides_the_variance() -> None:
    assert off(layer(unbiased(1e-5))) < 1e-4
    assert off(layer(unbiased(1e-5)), DRAWN[1]) < 1e-4
    short = np.float32(1 - UNBIASED)
    assert off(layer(root(1e-5), short * GAIN), short * GAIN, GAIN) < 1e-4
    assert off(rms(root(1e-5), short)) < 1e-4
    small = np.float32(1e-9) * GAIN
    assert off(layer(unbiased(1e-5), small, np.float32(0)), small) == pytest.approx(UNBIASED)
    # 12 % of the way are too far to be rounding, 8 % may be
    assert off(layer(root(1e-5), np.float32(1 - 0.88 * UNBIASED))) < 1e-4
    assert off(layer(root(1e-5), np.float32(1 - 0.92 * UNBIASED))) == pytest.approx(UNBIASED)


def test_the_inputs_are_as_exact_as_they_come() -> None:
    assert off(lambda x: layer(np.sqrt)(x.astype("f8"))) < 1e-7


@pytest.mark.parametrize("bias", [0.0, 3.0])
def test_outputs_that_are_small_beside_gain_and_bias_count_for_less(bias: float) -> None:
    def doubled_at_last(x: Array) -> Array:
        made = layer(root(9e-3), np.float32(2), np.float32(0))(x)
        return np.asarray(made * np.array([1, 1, 1, 1, 1, 1, 2])[:, None, None] + bias)

    centred = norm_formula.inputs(FIXTURE, WIDTH)[6]
    size = np.sqrt(np.square(centred - mean(centred)).mean(axis=-1)).max()
    # 1/100 of gain and bias together
    assert off(doubled_at_last) == pytest.approx(size / 9e-3**0.5 / (0.01 * (1 + bias / 2)), rel=0.02)


def test_what_the_last_token_changes_in_the_others_is_their_mixture() -> None:
    asked: list[Array] = []

    def made(change: float) -> Made:
        def call(x: Array) -> Array:
            asked.append(x)
            y = np.zeros(x.shape)
            y[0, -1, 0], y[0, -2, 0] = 1, change * (len(asked) % 2 == 0)
            return y

        return call

    assert off(made(0.5)) == 0.5
    first, second = asked
    assert np.array_equal(second[:, :-1], first[:, :-1])
    assert np.array_equal(second[:, -1], -2 * first[:, 0])
    with pytest.raises(NotObservable):
        off(made(1e-4))
    assert off(made(1.1e-4)) == 1.1e-4


def over_tokens(x: Array) -> Array:
    found: Array = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return found


def over_the_past(x: Array) -> Array:
    seen = np.arange(1, x.shape[1] + 1)[:, None]
    found: Array = x / np.sqrt(np.cumsum(x * x, axis=1) / seen + 1e-5)
    return found


def test_a_norm_over_tokens_is_wrong_where_no_token_may_see_the_future() -> None:
    assert off(over_tokens) > 0.02
    with pytest.raises(NotObservable, match=f"^{norm_formula.UNLIKE}$"):
        off(over_tokens, causal=False)


@pytest.mark.parametrize(
    "call",
    [
        over_the_past,
        lambda x: x,
        lambda x: np.tanh(x) * GAIN,
        lambda x: 2 * x + BIAS,
        lambda x: x / (np.abs(x).mean(axis=-1, keepdims=True) + 1e-5),
        lambda x: x[:, :-1],
        lambda x: x / x.min(axis=-1, keepdims=True) * np.nan,
    ],
)
def test_what_is_no_layer_norm_and_no_rms_norm_is_not_judged(call: Made) -> None:
    with pytest.raises(NotObservable, match=f"^{norm_formula.UNLIKE}$"):
        off(call)


@pytest.mark.parametrize("bias", [0 * BIAS, BIAS, 1e6 * BIAS])
def test_a_norm_that_gives_its_bias_alone_is_not_judged(bias: Array) -> None:
    gain = GAIN if bias[0] > 1e3 else 0 * GAIN
    with pytest.raises(NotObservable, match=f"^{norm_formula.SILENT}$"):
        off(layer(outside(1e-3), gain, bias))


def test_inputs_are_the_same_tokens_at_seven_sizes() -> None:
    x = norm_formula.inputs(FIXTURE, 3)
    drawn = FIXTURE.draw("norm", 24, 3)
    assert x[1, 0] == pytest.approx(0.5 * (drawn[0] - 1))
    assert x[1, 23] == pytest.approx(2 * (drawn[23] + 1))
    assert x.shape == (7, 24, 3)
    assert x.dtype == np.float32
    assert x[1] / x[0] == pytest.approx(np.full((24, 3), 1e-2), rel=1e-5)
    assert x[6] / x[1] == pytest.approx(np.full((24, 3), 1e-5), rel=1e-5)


def subject(claims: frozenset[str] = CLAIMS, **norms: Made) -> Subject:
    held = {name: Norm(call, WIDTH) for name, call in norms.items()}
    return Subject("it", lambda x, weights: x, declares=claims, norms=held)


def test_the_worst_norm_counts_and_one_that_cannot_be_judged_does_not() -> None:
    found = subject(a=layer(root(1e-5)), b=layer(outside(1e-3)), c=lambda x: x)
    assert toy.fired(found, FIXTURE, norm_formula.DETECTOR) == pytest.approx(off(layer(outside(1e-3))))
    assert toy.quiet(subject(c=lambda x: x, a=rms(root(1e-5))), FIXTURE, norm_formula.DETECTOR) < 1e-4


def test_a_large_bias_makes_nothing_a_norm() -> None:
    def nearly(x: Array) -> Array:
        unit = layer(np.sqrt, 1.0, 0.0)(x.astype("f8"))
        return np.asarray(unit + 0.01 * unit**2 + 5000)

    with pytest.raises(NotObservable, match=r"no layer norm and no RMS norm"):
        off(nearly)


def test_without_a_norm_that_can_be_judged_there_is_a_reason() -> None:
    assert toy.unseen(subject(), FIXTURE, norm_formula.DETECTOR) == norm_formula.NONE
    assert toy.unseen(subject(a=lambda x: x), FIXTURE, norm_formula.DETECTOR) == norm_formula.UNLIKE


def test_without_a_causal_claim_tokens_may_be_mixed() -> None:
    assert toy.fired(subject(a=over_tokens), FIXTURE, norm_formula.DETECTOR) > 0.02
    free = subject(CLAIMS - {"causal"}, a=over_tokens)
    assert toy.unseen(free, FIXTURE, norm_formula.DETECTOR) == norm_formula.UNLIKE
