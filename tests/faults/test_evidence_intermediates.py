"""Five arrays that hang together as one causal attention, and the ways in which they do not.

The example is worked out by hand: two tokens, d_k = 4, so that scaled is half of scores; the second query
gives both keys the same score, so that its weights are one half each; values [1, 2] and [3, 4].
"""

from __future__ import annotations

import numpy as np
import pytest

from faults.evidence_artifacts import Array
from faults.evidence_intermediates import flaws

HIDDEN = -np.inf


def attention() -> dict[str, Array]:
    return {
        "scores": np.array([[2.0, 8.0], [6.0, 6.0]]),
        "scaled": np.array([[1.0, 4.0], [3.0, 3.0]]),
        "masked": np.array([[1.0, HIDDEN], [3.0, 3.0]]),
        "weights": np.array([[1.0, 0.0], [0.5, 0.5]]),
        "output": np.array([[1.0, 2.0], [2.0, 3.0]]),
    }


def found(**changes: object) -> list[str]:
    arrays = attention() | {name: np.array(value, dtype=float) for name, value in changes.items()}
    with np.errstate(all="ignore"):
        listed = list(flaws(arrays))
    assert all(flaw["zh"] for flaw in listed)
    return [flaw["en"] for flaw in listed]


def test_the_worked_example_has_no_flaw() -> None:
    assert found() == []


def test_a_finite_fill_hides_as_well_as_minus_infinity() -> None:
    assert found(masked=[[1, -1e9], [3, 3]]) == []


def test_a_padding_mask_may_hide_more_than_the_future() -> None:
    assert found(masked=[[1, HIDDEN], [3, HIDDEN]], weights=[[1, 0], [1, 0]]) == []


def test_scores_too_large_for_an_exponential_have_no_flaw() -> None:
    masked = np.array([[1000, HIDDEN], [3000, 3000]])
    assert (
        found(scores=attention()["scores"] * 1000, scaled=attention()["scaled"] * 1000, masked=masked) == []
    )


def test_the_smallest_width_with_a_scale_is_two() -> None:
    scaled, masked = attention()["scores"] / np.sqrt(2), attention()["scores"] / np.sqrt(2)
    masked[0, 1] = HIDDEN
    assert found(scaled=scaled, masked=masked) == []


def test_single_precision_has_no_flaw() -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((2, 3, 5, 5)).astype(np.float32) * 20
    scaled = scores / np.sqrt(np.float32(7))
    masked = np.where(np.tri(5, dtype=bool), scaled, np.float32(-np.inf))
    weights = np.exp(masked - masked.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    arrays = {"scores": scores, "scaled": scaled, "masked": masked, "weights": weights}
    arrays["output"] = np.zeros((2, 3, 5, 7), np.float32)
    assert list(flaws({name: array.astype(np.float64) for name, array in arrays.items()})) == []


def test_absent_arrays_are_named() -> None:
    arrays = attention()
    del arrays["masked"], arrays["output"]
    assert [flaw["en"] for flaw in flaws(arrays)] == ["without masked, output"]


def test_maps_of_different_shapes_are_named() -> None:
    listed = found(scores=np.ones((2, 3)))
    assert listed == ["scores (2, 3) has not the shape of weights (2, 2)"]


@pytest.mark.parametrize("shape", [(4,), (1, 1), (0, 2), (3, 2), (0, 2, 2)])
def test_weights_without_a_query_and_a_key_axis_are_refused(shape: tuple[int, ...]) -> None:
    maps = dict.fromkeys(("scores", "scaled", "masked", "weights"), np.ones(shape))
    assert found(**maps) == [f"weights {shape}: required [..., query, key], 2 <= queries <= keys"]


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 0), (1, 1, 2, 2), (2, 2, 2)])
def test_an_output_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    assert found(output=np.ones(shape))[0].startswith(f"output {shape} does not fit weights (2, 2)")


@pytest.mark.parametrize("shape", [(1, 2, 2, 5), (1, 2, 10)])
def test_an_output_may_come_by_head_or_with_heads_merged(shape: tuple[int, ...]) -> None:
    maps = {
        name: np.broadcast_to(attention()[name], (1, 2, 2, 2)) for name in attention() if name != "output"
    }
    assert found(**maps, output=np.ones(shape)) == []


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["scores", "scaled", "weights", "output"])
def test_values_that_are_not_finite_are_refused(name: str, value: float) -> None:
    changed = attention()[name].copy()
    changed[1, 0] = value
    assert found(**{name: changed}) == [f"{name} is not finite everywhere"]


def test_rows_that_miss_one_are_refused() -> None:
    assert found(weights=[[1, 0], [0.5, 0.50001]])[0].startswith("rows of weights miss 1 by 1.0e-05")
    assert found(weights=[[1, 0], [0.5, 0.5 + 5e-7]]) == []


def test_a_negative_weight_is_refused() -> None:
    assert "no weight below 0" in found(weights=[[1, 0], [1.5, -0.5]])[0]


def test_weight_on_the_future_is_refused_however_small() -> None:
    assert found(weights=[[1 - 1e-9, 1e-9], [0.5, 0.5]])[0] == "weight on the future 1.0e-09: required 0"


def test_fewer_queries_than_keys_are_the_last_ones() -> None:
    scores = np.array([[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]])
    masked = np.array([[1, 1, HIDDEN], [1, 1, 1]])
    weights = np.array([[1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert found(scores=scores, scaled=scores / 2, masked=masked, weights=weights) == []


@pytest.mark.parametrize(
    "scaled",
    [
        [[2, 8], [6, 6]],
        [[1, 4], [3, 3.01]],
        [[1.4, 3.9], [3, 3]],
        [[-1, -4], [-3, -3]],
        [[1.2, 4.8], [3.6, 3.6]],
        [[4, 16], [12, 12]],
        [[0, 0], [0, 0]],
    ],
    ids=["unscaled", "uneven", "even on average", "reversed", "no whole d_k", "enlarged", "zero"],
)
def test_scaled_that_is_not_scores_over_the_root_of_a_width_is_refused(scaled: list[list[float]]) -> None:
    assert "scaled is not scores / sqrt(d_k), d_k = 2, 3, ..." in found(scaled=scaled)


def test_masked_that_moves_a_visible_score_is_refused() -> None:
    # Adding the same to a whole row leaves its softmax as it is: only the comparison with scaled shows it.
    assert found(masked=[[1, HIDDEN], [4, 4]]) == ["masked differs from scaled where nothing is masked"]


def test_weights_of_another_temperature_are_refused() -> None:
    assert "weights are not softmax(masked)" in found(weights=[[1, 0], [0.4, 0.6]])


@pytest.mark.parametrize(
    "masked", [[[1, 4], [3, 3]], [[1, np.nan], [3, 3]], [[HIDDEN, HIDDEN], [3, 3]], [[1, np.inf], [3, 3]]]
)
def test_weights_that_do_not_follow_from_masked_are_refused(masked: list[list[float]]) -> None:
    assert "weights are not softmax(masked)" in found(masked=masked)


def test_figures_that_overflow_are_refused() -> None:
    assert found(scores=[[1e308, -1e308], [1e308, 1e308]], scaled=[[-1e308, 1e308], [1e308, -1e308]])
