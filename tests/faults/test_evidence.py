"""The five metrics on our own fixture."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from faults import evidence, reference, registry
from faults.model import FaultsError, Seam, Variant


class Example:
    """A stand-in whose output is known by heart: `rule` maps [batch, token, channel] to the same shape."""

    def __init__(self, rule: Any) -> None:
        self.x = np.arange(24.0).reshape(1, 4, 6)
        self.rule = rule

    def run(self, x: Any = None) -> Any:
        return self.rule(self.x if x is None else x)


@pytest.fixture(scope="module")
def measured() -> evidence.Measurement:
    return evidence.measure(5)


def actual(measurement: evidence.Measurement) -> dict[str, float]:
    return {one.bound.metric: one.actual for one in measurement.measures if one.actual is not None}


def test_the_correct_block_holds_all_five_metrics(measured: evidence.Measurement) -> None:
    assert list(actual(measured)) == [
        "future_token_invariance",
        "reference_output_max_error",
        "no_mask_future_prefix_influence",
        "scale_ablation_max_weight_delta",
        "residual_ablation_max_output_delta",
    ]
    assert measured.holds
    assert actual(measured)["future_token_invariance"] == 0
    assert actual(measured)["reference_output_max_error"] < 1e-12


def test_the_measurement_says_on_which_extents(measured: evidence.Measurement) -> None:
    x = reference.example(5).x
    batch, token, channel = x.shape
    assert measured.extents == {"batch": batch, "token": token, "channel": channel, "dtype": "float64"}
    assert len({batch, token, channel}) == 3


def test_the_same_seed_gives_the_same_figures_and_another_seed_gives_others(
    measured: evidence.Measurement,
) -> None:
    assert actual(evidence.measure(5)) == actual(measured)
    assert actual(evidence.measure(6)) != actual(measured)


def test_the_scale_ablation_is_the_softmax_of_the_unscaled_scores(measured: evidence.Measurement) -> None:
    scores, weights = measured.intermediates["scores"], measured.intermediates["weights"]
    tokens = scores.shape[-1]
    unscaled = np.zeros_like(weights)
    for query in range(tokens):
        powers = np.exp(scores[..., query, : query + 1])
        unscaled[..., query, : query + 1] = powers / powers.sum(axis=-1, keepdims=True)
    expected = np.abs(unscaled - weights).max()
    assert actual(measured)["scale_ablation_max_weight_delta"] == pytest.approx(expected, rel=1e-9)


def test_the_intermediates_are_those_of_the_healthy_block(measured: evidence.Measurement) -> None:
    again = reference.example(5).trace()
    for name, array in measured.intermediates.items():
        assert np.array_equal(array, getattr(again, name))
    assert list(measured.intermediates) == ["scores", "scaled", "masked", "weights", "output"]


def test_no_influence_is_found_where_outputs_see_only_the_past() -> None:
    assert evidence.future_influence(Example(lambda x: np.cumsum(x, axis=1)), 5) == 0


@pytest.mark.parametrize("position", [1, 2, 3])
def test_influence_is_found_from_whichever_later_token_it_comes(position: int) -> None:
    # Output 0 is 1000 times one later token: the others differ from it by far more than 1e-3.
    def rule(x: Any) -> Any:
        return np.concatenate([1000 * x[:, position : position + 1], x[:, 1:]], axis=1)

    assert evidence.future_influence(Example(rule), 5) > 1


def test_influence_on_the_last_position_but_one_is_found() -> None:
    def rule(x: Any) -> Any:
        return np.concatenate([x[:, :2], 1000 * x[:, 3:], x[:, 3:]], axis=1)

    assert evidence.future_influence(Example(rule), 5) > 1


def test_an_output_that_is_not_a_number_never_counts_as_no_influence() -> None:
    example = Example(lambda x: x)
    example.rule = lambda x: x if x is example.x else np.full_like(x, np.nan)
    assert np.isnan(evidence.future_influence(example, 5))


def test_a_reference_that_differs_breaks_its_metric_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = reference.Example.expected
    monkeypatch.setattr(reference.Example, "expected", lambda self: expected(self) + 2e-6)
    found = evidence.measure(5)
    assert [one.bound.metric for one in found.measures if not one.holds] == ["reference_output_max_error"]
    assert actual(found)["reference_output_max_error"] == pytest.approx(2e-6, rel=1e-3)


def test_an_ablation_that_changes_nothing_breaks_its_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = registry.variant

    def idle(fault: Any, name: str) -> Variant:
        found = honest(fault, name)
        return Variant(
            **{**vars(found), "patches": {seam: lambda original: original for seam in found.patches}}
        )

    monkeypatch.setattr(registry, "variant", idle)
    found = evidence.measure(5)
    assert [one.bound.metric for one in found.measures if not one.holds] == [
        "no_mask_future_prefix_influence",
        "scale_ablation_max_weight_delta",
        "residual_ablation_max_output_delta",
    ]
    assert actual(found)["scale_ablation_max_weight_delta"] == 0


def test_an_ablation_that_is_never_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = registry.variant
    elsewhere = Seam("core.positions", "sinusoidal_positional_encoding")

    def astray(fault: Any, name: str) -> Variant:
        return Variant(**{**vars(honest(fault, name)), "patches": {elsewhere: lambda original: original}})

    monkeypatch.setattr(registry, "variant", astray)
    with pytest.raises(FaultsError, match="mask_adds_zero/missing: the changed code was never reached"):
        evidence.measure(5)
