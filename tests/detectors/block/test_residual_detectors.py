"""The residual laws: skip, gradient_flow, attention_branch, feed_forward_branch, order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.block import attention_branch, feed_forward_branch, gradient_flow, order, skip
from detectors.fixtures import Fixture
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]
Norm = Callable[[Array], Array]

RMS_EXTENTS = replace(toy.EXTENTS, norm_kind="rms")
MODULES = (skip, gradient_flow, attention_branch, feed_forward_branch, order)


def test_skip_is_the_distance_of_the_slope_from_one(sample: Fixture) -> None:
    assert toy.fired(toy.calls(lambda x: 3 * x), sample, skip.DETECTOR) == pytest.approx(2)
    assert toy.fired(toy.calls(lambda x: 0.5 * x), sample, skip.DETECTOR) == pytest.approx(0.5)
    assert toy.fired(toy.calls(np.zeros_like), sample, skip.DETECTOR) == pytest.approx(1)


def test_skip_does_not_mind_a_branch_that_does_not_grow(sample: Fixture) -> None:
    assert toy.quiet(toy.calls(lambda x: x + 5 + 5 * np.sign(x)), sample, skip.DETECTOR) < 1e-12


def test_skip_looks_at_large_inputs(sample: Fixture) -> None:
    seen: list[Array] = []

    def function(x: Array) -> Array:
        seen.append(x)
        return x

    toy.quiet(toy.calls(function), sample, skip.DETECTOR)
    np.testing.assert_allclose(seen[-1], np.concatenate([2000 * sample.x, 1000 * sample.x]))


def writable(call: Callable[[Array, Mapping[str, Array]], Array], fixture: Fixture) -> Subject:
    return Subject("writable", call, fixture.weights)


@pytest.mark.parametrize(("factor", "expected"), [(3.0, 2.0), (0.0, 1.0), (0.75, 0.25)])
def test_gradient_flow_is_the_distance_of_a_change_from_what_arrives(
    factor: float, expected: float, sample: Fixture
) -> None:
    subject = writable(lambda x, weights: factor * x + 7, sample)
    assert toy.fired(subject, sample, gradient_flow.DETECTOR) == pytest.approx(expected)


def test_gradient_flow_does_not_mind_what_does_not_depend_on_x(sample: Fixture) -> None:
    toy.quiet(writable(lambda x, weights: x + 7, sample), sample, gradient_flow.DETECTOR)


def test_gradient_flow_silences_both_branches(sample: Fixture) -> None:
    silenced: list[set[str]] = []
    inputs: list[Array] = []

    def call(x: Array, weights: Mapping[str, Array]) -> Array:
        silenced.append(set(weights))
        inputs.append(x)
        assert not any(array.any() for array in weights.values())
        return x

    toy.quiet(writable(call, sample), sample, gradient_flow.DETECTOR)
    assert silenced[-1] == {"Wo", "bo", "W2", "b2"}
    moved, still = np.split(inputs[-1], 2)
    np.testing.assert_array_equal(still, sample.x)
    np.testing.assert_array_equal(moved, sample.x + sample.draw("change", 2, 5, 12))


@pytest.mark.parametrize(
    ("module", "silent"), [(attention_branch, {"W2", "b2"}), (feed_forward_branch, {"Wo", "bo"})]
)
def test_a_linear_branch_changes_by_three_quarters(module: Any, silent: set[str]) -> None:
    fixture = Fixture(RMS_EXTENTS, 0)

    def unnormed(x: Array, weights: Mapping[str, Array]) -> Array:
        # the branch under examination reads x itself; the other one keeps its norm
        return x + 0.5 * (x if set(weights) == silent else np.sign(x))

    assert toy.fired(writable(unnormed, fixture), fixture, module.DETECTOR) == pytest.approx(0.75)


@pytest.mark.parametrize("module", [attention_branch, feed_forward_branch])
def test_a_branch_that_is_not_there_counts_as_changed(module: Any) -> None:
    fixture = Fixture(RMS_EXTENTS, 0)
    assert toy.fired(writable(lambda x, weights: x.copy(), fixture), fixture, module.DETECTOR) == 1


def two_sublayers(second: Callable[[Array, Array], Array]) -> Callable[[Array, Mapping[str, Array]], Array]:
    """Attention adds 1 * x; the feed-forward network would add 2 * h. `second(x, h)` puts them together."""

    def call(x: Array, weights: Mapping[str, Array]) -> Array:
        attention, feed_forward = "Wo" not in weights, "W2" not in weights
        h = 2 * x if attention else x
        return second(x, h) if feed_forward else h

    return call


def test_order_is_quiet_on_two_sublayers_in_sequence(sample: Fixture) -> None:
    subject = writable(two_sublayers(lambda x, h: h + 2 * h), sample)
    assert toy.quiet(subject, sample, order.DETECTOR) == 0


def test_order_sees_a_second_skip_from_the_input(sample: Fixture) -> None:
    # x + 2 h = 5 x; one after the other 6 x: a fifth
    subject = writable(two_sublayers(lambda x, h: x + 2 * h), sample)
    assert toy.fired(subject, sample, order.DETECTOR) == pytest.approx(1 / 5)


def test_order_sees_parallel_branches(sample: Fixture) -> None:
    # h + 2 x = 4 x; one after the other 6 x: a half
    subject = writable(two_sublayers(lambda x, h: h + 2 * x), sample)
    assert toy.fired(subject, sample, order.DETECTOR) == pytest.approx(1 / 2)


DEFECTS: dict[str, Callable[[Array, Norm, Norm], Array]] = {
    "dropped": lambda x, norm, branch: branch(norm(x)),
    "doubled": lambda x, norm, branch: 2 * x + branch(norm(x)),
    "after the norm": lambda x, norm, branch: norm(x) + branch(norm(x)),
    "post-norm": lambda x, norm, branch: norm(x + branch(x)),
    "broadcast": lambda x, norm, branch: x[:, :1] + branch(norm(x)),
}


@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(
    "extents", [toy.EXTENTS, replace(RMS_EXTENTS, dtype="float32")], ids=["layer", "rms"]
)
def test_every_residual_law_fires_on_a_broken_stream(defect: str, module: Any, extents: Any) -> None:
    fixture = Fixture(extents, 0)
    toy.fired(toy.Toy(sublayer=DEFECTS[defect]).subject(fixture), fixture, module.DETECTOR)


@pytest.mark.parametrize(
    ("defect", "module", "expected"),
    [
        # twice doubled is 4 x, dropped is nothing at all; branches do not grow with x
        ("dropped", skip, 1.0),
        ("doubled", skip, 3.0),
        ("after the norm", skip, 1.0),
        ("post-norm", skip, 1.0),
        ("dropped", gradient_flow, 1.0),
        ("doubled", gradient_flow, 3.0),
    ],
)
def test_the_value_says_how_the_stream_is_broken(
    defect: str, module: Any, expected: float, sample: Fixture
) -> None:
    subject = toy.Toy(sublayer=DEFECTS[defect]).subject(sample)
    assert toy.fired(subject, sample, module.DETECTOR) == pytest.approx(expected, abs=2e-2)


def test_a_skip_of_the_first_token_for_all_is_off_by_the_difference(sample: Fixture) -> None:
    subject = toy.Toy(sublayer=DEFECTS["broadcast"]).subject(sample)
    expected = np.abs(sample.x[:, :1] - sample.x).max() / np.abs(sample.x).max()
    assert toy.fired(subject, sample, skip.DETECTOR) == pytest.approx(expected, abs=1e-2)


def test_a_branch_without_its_norm_fires(sample: Fixture) -> None:
    subject = toy.Toy(sublayer=lambda x, norm, branch: x + branch(x)).subject(sample)
    for module in (skip, attention_branch, feed_forward_branch):
        toy.fired(subject, sample, module.DETECTOR)
    toy.quiet(subject, sample, gradient_flow.DETECTOR)


@pytest.mark.parametrize("module", MODULES)
def test_nan_fires(module: Any, sample: Fixture) -> None:
    toy.fired(writable(lambda x, weights: x * np.nan, sample), sample, module.DETECTOR)


@pytest.mark.parametrize("module", MODULES[1:])
def test_all_but_skip_need_writable_weights(module: Any, sample: Fixture) -> None:
    assert "weights cannot be written" in toy.unseen(toy.calls(lambda x: x), sample, module.DETECTOR)
    assert module.DETECTOR.needs == "weights"
