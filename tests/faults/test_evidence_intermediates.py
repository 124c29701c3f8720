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


def chinese(**changes: object) -> list[str]:
    arrays = attention() | {name: np.array(value, dtype=float) for name, value in changes.items()}
    with np.errstate(all="ignore"):
        return [flaw["zh"] for flaw in flaws(arrays)]


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
    assert list(flaws(arrays)) == [{"en": "without masked, output", "zh": "缺少 masked, output"}]


def test_maps_of_different_shapes_are_named() -> None:
    wider = {"scores": np.ones((2, 3)), "masked": np.ones((3, 2))}
    assert found(**wider) == ["scores (2, 3), masked (3, 2) has not the shape of weights (2, 2)"]
    assert chinese(**wider) == ["scores (2, 3), masked (3, 2) 与 weights (2, 2) 形状不同"]


@pytest.mark.parametrize("shape", [(4,), (1, 1), (0, 2), (3, 2), (0, 2, 2)])
def test_weights_without_a_query_and_a_key_axis_are_refused(shape: tuple[int, ...]) -> None:
    ones = dict.fromkeys(("scores", "scaled", "masked", "weights"), np.ones(shape))
    assert found(**ones) == [f"weights {shape}: required [..., query, key], 2 <= queries <= keys"]


@pytest.mark.parametrize("shape", [(2,), (3, 2), (2, 0), (1, 1, 2, 2), (2, 2, 2)])
def test_an_output_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    assert found(output=np.ones(shape))[0].startswith(f"output {shape} does not fit weights (2, 2)")


def maps(*extents: int) -> dict[str, Array]:
    """The four maps of the example, repeated over these leading axes."""
    return {
        name: np.broadcast_to(attention()[name], (*extents, 2, 2)) for name in attention() if name != "output"
    }


@pytest.mark.parametrize("shape", [(1, 2, 2, 5), (1, 2, 10)])
def test_an_output_may_come_by_head_or_with_heads_merged(shape: tuple[int, ...]) -> None:
    assert found(**maps(1, 2), output=np.ones(shape)) == []


def test_an_output_of_heads_alone_has_the_axes_of_its_weights() -> None:
    assert found(**maps(3), output=np.ones((3, 2, 5))) == []


@pytest.mark.parametrize("shape", [(1, 2, 2, 0), (1, 2, 0)])
def test_an_output_without_channels_is_refused(shape: tuple[int, ...]) -> None:
    assert found(**maps(1, 2), output=np.ones(shape)) == [
        f"output {shape} does not fit weights (1, 2, 2, 2): required [..., query, channel]"
    ]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["scores", "scaled", "weights", "output"])
def test_values_that_are_not_finite_are_refused(name: str, value: float) -> None:
    changed = attention()[name].copy()
    changed[1, 0] = value
    assert found(**{name: changed}) == [f"{name} is not finite everywhere"]


def test_rows_that_miss_one_are_refused() -> None:
    assert found(weights=[[1, 0], [0.5, 0.50001]])[0].startswith("rows of weights miss 1 by 1.0e-05")
    assert found(weights=[[1, 0], [0.5, 0.5 + 5e-7]]) == []


def test_the_sums_are_those_of_the_rows_in_every_head() -> None:
    weights = np.broadcast_to([[1, 0], [0.5, 0.25]], (3, 2, 2))
    assert found(**maps(3) | {"weights": weights}, output=np.ones((3, 2, 5)))[0] == (
        "rows of weights miss 1 by 2.5e-01: required at most 1e-6, no weight below 0"
    )


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


def test_scaled_may_be_as_far_off_as_single_precision_of_the_largest_score() -> None:
    # 1e-5 of 100000 is 1. The two scores of 4 give 3 and 1 where 2 is half: least squares still finds one half.
    assert (
        found(
            scores=[[2e5, 4], [4, 4]],
            scaled=[[1e5, 3], [1, 2]],
            masked=[[1e5, HIDDEN], [1, 1]],
        )
        == []
    )
    further = found(scores=[[2e5, 4], [4, 4]], scaled=[[1e5, 3.1], [0.9, 2]], masked=[[1e5, HIDDEN], [1, 1]])
    assert further == ["scaled is not scores / sqrt(d_k), d_k = 2, 3, ..."]


def test_scores_and_scaled_that_are_too_far_apart_for_any_width_are_refused() -> None:
    # 1e-170 squared is below the smallest double: the width would be infinite.
    tiny = np.array([[1e-20, 4e-20], [3e-20, 3e-20]])
    masked = np.where(np.tri(2, dtype=bool), tiny, HIDDEN)
    assert found(scores=attention()["scores"] * 1e150, scaled=tiny, masked=masked) == [
        "scaled is not scores / sqrt(d_k), d_k = 2, 3, ..."
    ]


def test_scores_that_are_all_zero_have_no_scale() -> None:
    masked = [[0, HIDDEN], [0, 0]]
    assert found(scores=np.zeros((2, 2)), scaled=np.zeros((2, 2)), masked=masked) == [
        "scaled is not scores / sqrt(d_k), d_k = 2, 3, ..."
    ]


def test_what_does_not_hang_together_is_also_said_in_chinese() -> None:
    assert chinese(scaled=[[2, 8], [6, 6]])[0] == "scaled 不等于 scores / √d_k（d_k = 2, 3, …）"
    assert chinese(masked=[[1, HIDDEN], [4, 4]]) == ["masked 在未遮罩处与 scaled 不同"]
    assert chinese(weights=[[1, 0], [0.4, 0.6]]) == ["weights 不等于 softmax(masked)"]


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
