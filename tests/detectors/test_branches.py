from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import branches
from detectors.errors import NotObservable
from detectors.fixtures import Fixture
from detectors.observation import Observation
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]
RMS_EXTENTS = replace(toy.EXTENTS, norm_kind="rms")


def writable(call: Callable[[Array, Mapping[str, Array]], Array], fixture: Fixture) -> Observation:
    return Observation(Subject("writable", call, fixture.weights), fixture)


def test_silence_is_zero_output_weights_and_biases(sample: Fixture) -> None:
    observation = writable(lambda x, weights: x, sample)
    assert set(branches.silent(observation, "o")) == {"Wo", "bo"}
    assert set(branches.silent(observation, "2")) == {"W2", "b2"}
    both = branches.silent(observation, "o2")
    assert {role: array.shape for role, array in both.items()} == {
        "Wo": (12, 12),
        "bo": (12,),
        "W2": (7, 12),
        "b2": (12,),
    }
    assert not any(array.any() for array in both.values())


def test_silence_leaves_out_biases_that_the_subject_does_not_have(sample: Fixture) -> None:
    bare = {role: sample.weights[role] for role in ("Wo", "W2")}
    observation = Observation(Subject("bare", lambda x, weights: x, bare), sample)
    assert set(branches.silent(observation, "o2")) == {"Wo", "W2"}


def test_without_an_output_weight_nothing_can_be_silenced(sample: Fixture) -> None:
    observation = Observation(Subject("half", lambda x, weights: x, {"Wo": sample.weights["Wo"]}), sample)
    with pytest.raises(NotObservable, match="W2 could not be found"):
        branches.silent(observation, "o2")


def inputs(fixture: Fixture) -> list[tuple[Array, set[str]]]:
    """The calls that both branches make: inputs and replaced roles."""
    calls: list[tuple[Array, set[str]]] = []

    def call(x: Array, weights: Mapping[str, Array]) -> Array:
        calls.append((x.reshape(3, -1, *x.shape[1:]), set(weights)))
        return x + 1

    branches.after_feed_forward(writable(call, fixture))
    return calls


def test_each_branch_is_seen_with_the_other_silent(sample: Fixture) -> None:
    assert [roles for _, roles in inputs(sample)] == [{"W2", "b2"}, {"Wo", "bo"}]


def test_inputs_are_x_at_rms_thirty_the_same_grown_and_x_itself() -> None:
    fixture = Fixture(RMS_EXTENTS, 0)
    plain, grown, same = inputs(fixture)[0][0]
    assert np.sqrt(np.mean(plain**2)) == pytest.approx(30)
    np.testing.assert_allclose(plain / plain[0, 0, 0], fixture.x / fixture.x[0, 0, 0])
    np.testing.assert_allclose(grown, 4 * plain)
    np.testing.assert_array_equal(same, fixture.x)


def test_layer_norm_is_shown_a_shift_as_well(sample: Fixture) -> None:
    plain, grown, _ = inputs(sample)[0][0]
    np.testing.assert_allclose(grown, 4 * plain + 30)


def test_the_feed_forward_network_follows_on_the_output_of_attention_in_the_third_run(
    sample: Fixture,
) -> None:
    (first, _), (second, _) = inputs(sample)
    np.testing.assert_array_equal(second[:2], first[:2])
    np.testing.assert_array_equal(second[2], sample.x + 1)


@pytest.mark.parametrize("look", [branches.after_attention, branches.after_feed_forward])
def test_branches_need_writable_weights(look: Callable[[Observation], Array], sample: Fixture) -> None:
    with pytest.raises(NotObservable, match="weights cannot be written"):
        look(Observation(toy.calls(lambda x: x), sample))


def change(call: Callable[[Array], Array], fixture: Fixture) -> float:
    observation = writable(lambda x, weights: call(x), fixture)
    return branches.change(observation, branches.after_attention(observation))


def test_a_branch_that_does_not_grow_with_its_input_does_not_change() -> None:
    assert change(lambda x: x + 1, Fixture(RMS_EXTENTS, 0)) < 1e-12


def test_a_linear_branch_changes_by_three_quarters() -> None:
    # 4 A z - A z over 4 A z
    assert change(lambda x: x + 0.5 * x, Fixture(RMS_EXTENTS, 0)) == pytest.approx(0.75)


def test_a_branch_that_gives_nothing_counts_as_changed() -> None:
    assert change(lambda x: x, Fixture(RMS_EXTENTS, 0)) == 1.0


def test_a_branch_that_gives_nan_is_not_hidden() -> None:
    assert np.isnan(change(lambda x: x * np.nan, Fixture(RMS_EXTENTS, 0)))
