from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import plain_block
from detectors.fixtures import Extents, Fixture
from tests.detectors import toy

Array = NDArray[Any]


def test_the_reference_is_computed_in_64_bits_whatever_the_fixture_has() -> None:
    narrow = Fixture(replace(toy.EXTENTS, dtype="float32"), 0)
    wide = Fixture(toy.EXTENTS, 0)
    wide.weights = {role: array.astype(np.float64) for role, array in narrow.weights.items()}
    found = plain_block.output(narrow)
    assert found.dtype == np.float64
    assert np.array_equal(found, plain_block.output(wide, narrow.x.astype(np.float64)))
    assert np.array_equal(found, plain_block.output(narrow, narrow.x))


def test_logits_beyond_what_an_exponential_holds_are_no_trouble() -> None:
    assert np.isfinite(plain_block.output(Fixture(replace(toy.EXTENTS, gain=100.0), 0))).all()


def by_hand(norm_kind: str = "layer") -> Fixture:
    """One head of two channels, two tokens, and weights small enough for mental arithmetic."""
    extents = Extents(batch=1, tokens=2, heads=1, kv_heads=1, head_width=2, hidden=2, norm_kind=norm_kind)
    fixture = Fixture(extents, 0)
    one, none, unit = np.eye(2), np.zeros(2), np.ones(2)
    fixture.weights = {"Wq": one, "Wk": one, "Wv": np.diag([1.0, 0.0]), "Wo": one, "W1": one}
    fixture.weights |= {"W2": np.array([[1.0, 2.0], [5.0, 7.0]]), "b2": np.array([0.5, 0.0])}
    fixture.weights |= {"bq": none, "bk": none, "bv": none, "bo": none, "b1": none}
    fixture.weights |= {"gain1": unit, "gain2": unit}
    if norm_kind == "layer":
        fixture.weights |= {"shift1": none, "shift2": none}
    fixture.x = np.array([[[3.0, 1.0], [0.0, 4.0]]])
    return fixture


def test_two_tokens_with_layer_norm_come_out_as_by_hand() -> None:
    # Norm: (3, 1) -> (1, -1) and (0, 4) -> (-1, 1), up to the epsilon.
    # Token 0 sees itself: value (1, 0), so h = (4, 1), its norm is (1, -1), ReLU (1, 0), FFN (1.5, 2).
    # Token 1: q.k = -2 and 2, over sqrt(2); weight of itself p = 1 / (1 + e^(-4 / sqrt(2))) = 0.944193;
    # value ((1 - p) - p, 0), so h = (1 - 2p, 4), its norm is (-1, 1), ReLU (0, 1), FFN (5.5, 7).
    p = 1 / (1 + math.exp(-4 / math.sqrt(2)))
    assert p == pytest.approx(0.944193, abs=1e-6)
    expected = [[[4 + 1.5, 1 + 2], [1 - 2 * p + 5.5, 4 + 7]]]
    np.testing.assert_allclose(plain_block.output(by_hand()), expected, atol=1e-4)


def test_two_tokens_with_rms_norm_come_out_as_by_hand() -> None:
    # Token 0 = (1, 7): rms 5, norm (0.2, 1.4), value (0.2, 0), h = (1.2, 7), rms^2 = 25.22.
    fixture = by_hand("rms")
    fixture.x = np.array([[[1.0, 7.0], [0.0, 4.0]]])
    rms = math.sqrt(25.22)
    hidden = 1.2 / rms, 7 / rms
    expected = [1.2 + hidden[0] + 5 * hidden[1] + 0.5, 7 + 2 * hidden[0] + 7 * hidden[1]]
    np.testing.assert_allclose(plain_block.output(fixture)[0, 0], expected, atol=1e-4)


def test_biases_gains_and_shifts_enter_where_they_belong() -> None:
    fixture = by_hand()
    fixture.weights = {
        **fixture.weights,
        "gain1": np.array([2.0, 2.0]),
        "shift1": np.array([0.0, 5.0]),
        "bv": np.array([10.0, 0.0]),
        "bo": np.array([0.0, 100.0]),
        "b1": np.array([0.0, 1.25]),
        "gain2": np.array([0.5, 0.5]),
        "shift2": np.array([3.0, 0.0]),
    }
    # Token 0: norm (2, 3), value (12, 0), h = (15, 101), norm (-1, 1) -> (2.5, 0.5), ReLU of (2.5, 1.75).
    expected = [15 + 2.5 + 5 * 1.75 + 0.5, 101 + 2 * 2.5 + 7 * 1.75]
    np.testing.assert_allclose(plain_block.output(fixture)[0, 0], expected, atol=1e-4)


def test_query_and_key_biases_enter_the_logits() -> None:
    fixture = by_hand()
    fixture.weights = {**fixture.weights, "bq": np.array([1.0, 0.0]), "bk": np.array([0.0, 0.5])}
    # Token 1: q = (0, 1), k = (1, -0.5) and (-1, 1.5): q.k = -0.5 and 1.5, so p = 1 / (1 + e^(-2 / sqrt(2))).
    p = 1 / (1 + math.exp(-2 / math.sqrt(2)))
    np.testing.assert_allclose(plain_block.output(fixture)[0, 1, 0], 1 - 2 * p + 5.5, atol=1e-4)


@pytest.mark.parametrize("extents", toy.SOUND, ids=str)
def test_it_equals_another_way_of_writing_the_block(extents: Extents) -> None:
    fixture = Fixture(replace(extents, dtype="float64"), 3)
    expected = toy.Toy().block(fixture, fixture.x, fixture.weights)
    np.testing.assert_allclose(plain_block.output(fixture), expected, rtol=1e-9, atol=1e-9)


def test_it_is_float64_whatever_the_dtype_of_the_fixture() -> None:
    fixture = Fixture(replace(toy.EXTENTS, dtype="float32"), 3)
    found = plain_block.output(fixture)
    assert found.dtype == np.float64
    in_single = toy.Toy().block(fixture, fixture.x, fixture.weights)
    assert 0 < np.abs(found - in_single).max() < 1e-4


def repeated(array: Array, groups: int, head_width: int) -> Array:
    """The columns of each key/value head `groups` times in a row."""
    heads = np.split(array, array.shape[-1] // head_width, axis=-1)
    return np.concatenate([head for head in heads for _ in range(groups)], axis=-1)


def test_grouped_query_heads_equal_heads_with_repeated_keys_and_values(sample: Fixture) -> None:
    whole = Fixture(replace(toy.EXTENTS, kv_heads=4), 1)
    shared = {role: repeated(sample.weights[role], 2, 3) for role in ("Wk", "bk", "Wv", "bv")}
    whole.weights, whole.x = {**sample.weights, **shared}, sample.x
    np.testing.assert_allclose(plain_block.output(whole), plain_block.output(sample), rtol=1e-12)


def test_other_tokens_can_be_given(sample: Fixture) -> None:
    whole = plain_block.output(sample)
    np.testing.assert_allclose(plain_block.output(sample, sample.x[1:, :3]), whole[1:, :3], rtol=1e-12)
