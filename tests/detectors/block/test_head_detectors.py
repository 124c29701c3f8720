"""The contracts on heads: heads (against the plain-loop reference) and isolation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import plain_block
from detectors.block import heads, isolation
from detectors.fixtures import Fixture
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]

WHOLE = replace(toy.EXTENTS, kv_heads=4)
"""As many key/value heads as heads."""


def writable(call: Callable[[Array, Mapping[str, Array]], Array], fixture: Fixture) -> Subject:
    return Subject("writable", call, fixture.weights)


def test_heads_is_the_difference_from_the_reference_over_its_largest_value(sample: Fixture) -> None:
    expected = plain_block.output(sample)

    def call(x: Array, weights: Mapping[str, Array]) -> Array:
        return 1.5 * expected if x.shape == expected.shape else x

    assert toy.fired(writable(call, sample), sample, heads.DETECTOR) == pytest.approx(0.5)


def unmoved(x: Array, heads: int) -> Array:
    """[batch, token, D] read as [batch, head, token, channel] without a transpose."""
    return x.reshape(x.shape[0], heads, x.shape[1], -1)


def unmerged(x: Array) -> Array:
    return x.reshape(x.shape[0], x.shape[2], -1)


def tiled(x: Array, groups: int) -> Array:
    """Query head h reads key/value head h modulo their number."""
    return np.concatenate([x] * groups, axis=1)


DEFECTS = {
    "split": toy.Toy(split=unmoved),
    "merge": toy.Toy(merge=unmerged),
    "both": toy.Toy(split=unmoved, merge=unmerged),
    "tiled": toy.Toy(spread=tiled),
    "reversed": toy.Toy(merge=lambda x: toy.merge(x[:, ::-1])),
}


@pytest.mark.parametrize("module", [heads, isolation])
@pytest.mark.parametrize("defect", DEFECTS)
def test_both_fire_where_heads_are_confused(defect: str, module: Any, sample: Fixture) -> None:
    toy.fired(DEFECTS[defect].subject(sample), sample, module.DETECTOR)


def test_both_see_confused_heads_when_there_are_as_many_tokens() -> None:
    square = Fixture(replace(toy.EXTENTS, tokens=4), 0)
    for module in (heads, isolation):
        toy.fired(DEFECTS["both"].subject(square), square, module.DETECTOR)


def mixing(share: float, fixture: Fixture) -> Subject:
    """The merged heads x @ Wv, with a share of each head written into the channels of the next."""

    def call(x: Array, weights: Mapping[str, Array]) -> Array:
        merged = x @ weights.get("Wv", fixture.weights["Wv"])
        mixed: Array = x + merged + share * np.roll(merged, 3, axis=-1)
        return mixed

    return writable(call, fixture)


def test_isolation_is_the_change_outside_over_the_change_anywhere() -> None:
    fixture = Fixture(WHOLE, 0)
    assert toy.fired(mixing(0.25, fixture), fixture, isolation.DETECTOR) == pytest.approx(0.25)
    assert toy.quiet(mixing(0.0, fixture), fixture, isolation.DETECTOR) == 0


def test_isolation_is_one_where_a_head_writes_elsewhere() -> None:
    fixture = Fixture(WHOLE, 0)
    assert toy.fired(DEFECTS["reversed"].subject(fixture), fixture, isolation.DETECTOR) == pytest.approx(1)


def test_isolation_lets_a_key_value_head_write_to_all_its_query_heads(sample: Fixture) -> None:
    assert toy.quiet(toy.Toy().subject(sample), sample, isolation.DETECTOR) == 0


def test_isolation_changes_one_head_of_wv_and_shows_the_merged_heads(sample: Fixture) -> None:
    seen: list[Mapping[str, Array]] = []

    def call(x: Array, weights: Mapping[str, Array]) -> Array:
        seen.append(weights)
        values = weights.get("Wv", sample.weights["Wv"]).reshape(12, 2, 3)
        merged: Array = x @ values.repeat(2, axis=1).reshape(12, 12)
        return x + merged

    toy.quiet(writable(call, sample), sample, isolation.DETECTOR)
    before, after = seen[-2:]
    np.testing.assert_array_equal(before["Wo"], np.eye(12))
    np.testing.assert_array_equal(after["Wo"], np.eye(12))
    assert not any(before[role].any() for role in ("bo", "W2", "b2"))
    moved = after["Wv"] - sample.weights["Wv"]
    np.testing.assert_allclose(moved[:, :3], sample.draw("other head", 12, 3), atol=1e-15)
    assert not moved[:, 3:].any()


def test_one_key_value_head_leaves_no_channel_outside() -> None:
    fixture = Fixture(replace(toy.EXTENTS, kv_heads=1), 0)
    reason = toy.unseen(toy.Toy().subject(fixture), fixture, isolation.DETECTOR)
    assert reason == "one key/value head: no channel lies outside it"


def test_an_output_weight_that_is_not_square_shows_no_heads(sample: Fixture) -> None:
    subject = Subject("it", lambda x, weights: x, {**sample.weights, "Wo": np.ones((6, 12))})
    reason = toy.unseen(subject, sample, isolation.DETECTOR)
    assert reason == "Wo is not square: the merged heads cannot be shown through it"


def test_values_that_do_not_matter_are_not_observable(sample: Fixture) -> None:
    reason = toy.unseen(writable(lambda x, weights: x, sample), sample, isolation.DETECTOR)
    assert reason == "a change of Wv does not show: values are ignored"


@pytest.mark.parametrize("module", [heads, isolation])
def test_nan_fires(module: Any, sample: Fixture) -> None:
    assert np.isnan(toy.fired(writable(lambda x, weights: x * np.nan, sample), sample, module.DETECTOR))


def test_isolation_needs_writable_weights(sample: Fixture) -> None:
    for module in (heads, isolation):
        reason = toy.unseen(toy.calls(lambda x: x), sample, module.DETECTOR)
        assert reason == "the subject's weights cannot be written"
