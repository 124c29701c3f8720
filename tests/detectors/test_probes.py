from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import probes
from detectors.errors import NotObservable
from detectors.fixtures import Extents, Fixture
from detectors.observation import Observation
from tests.detectors import toy

Array = NDArray[Any]


def sound(fixture: Fixture) -> Observation:
    return Observation(toy.Toy().subject(fixture), fixture)


def asked(fixture: Fixture, probe: Callable[[Observation], Array]) -> tuple[Array, Array, Array]:
    """The query, key and value that a probe hands to attention."""
    calls: list[tuple[Array, Array, Array]] = []

    def attention(query: Array, key: Array, value: Array) -> Array:
        calls.append((query, key, value))
        return np.zeros((*query.shape[:3], value.shape[-1]))

    probe(Observation(toy.attends(attention), fixture))
    (call,) = calls
    return call


@pytest.mark.parametrize("probe", [probes.weights, probes.wide_weights, probes.short_weights])
def test_with_the_identity_as_value_the_output_is_the_weight_matrix(
    probe: Callable[[Observation], Array], sample: Fixture
) -> None:
    query, key, value = asked(sample, probe)
    np.testing.assert_array_equal(value, np.broadcast_to(np.eye(5), (1, 4, 5, 5)))
    np.testing.assert_allclose(probe(sound(sample)), toy.Toy().weights(query, key), atol=1e-15)


def test_probes_use_the_number_of_heads_and_two_head_widths(sample: Fixture) -> None:
    for probe, width in ((probes.weights, 3), (probes.wide_weights, 7)):
        query, key, _ = asked(sample, probe)
        np.testing.assert_allclose(query, sample.draw("probe query", 1, 4, 5, width) * width**-0.25)
        np.testing.assert_allclose(key, sample.draw("probe key", 1, 4, 5, width) * width**-0.25)


@pytest.mark.parametrize(
    ("heads", "head_width", "second"), [(4, 3, 7), (7, 3, 8), (2, 1, 3), (3, 1, 4), (9, 4, 10)]
)
def test_the_second_width_is_neither_the_first_nor_the_number_of_heads(
    heads: int, head_width: int, second: int
) -> None:
    fixture = Fixture(Extents(heads=heads, kv_heads=1, head_width=head_width), 0)
    assert probes.second_width(fixture) == second


@pytest.mark.parametrize("head_width", [1, 4, 64])
def test_products_of_query_and_key_have_unit_variance_at_any_width(head_width: int) -> None:
    query, key = probes.query_key(Fixture(Extents(tokens=64, heads=8, kv_heads=1), 0), head_width)
    # 32,768 products, from 512 queries and as many keys
    assert np.std(query @ key.swapaxes(-1, -2)) == pytest.approx(1, abs=0.15)


def test_probes_keep_the_dtype_and_are_read_only() -> None:
    for array in asked(Fixture(replace(toy.EXTENTS, dtype="float32"), 0), probes.peaks):
        assert array.dtype == np.float32
        assert not array.flags.writeable


@pytest.mark.parametrize(("tokens", "start"), [(2, 1), (3, 1), (4, 2), (5, 2), (9, 4)])
def test_the_short_probe_asks_the_last_queries_against_all_keys(tokens: int, start: int) -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=tokens), 0)
    query, key, _ = asked(fixture, probes.short_weights)
    whole, keys, _ = asked(fixture, probes.weights)
    assert query.shape[2] == tokens - start
    np.testing.assert_array_equal(query, whole[:, :, start:])
    np.testing.assert_array_equal(key, keys)


def test_one_token_has_no_shorter_query() -> None:
    with pytest.raises(NotObservable, match="one token"):
        probes.short_weights(sound(Fixture(replace(toy.EXTENTS, tokens=1), 0)))


def test_peaks_are_logits_of_a_million_on_one_key_and_minus_a_million_on_the_others(sample: Fixture) -> None:
    query, key, value = asked(sample, probes.peaks)
    assert value.shape == (5, 4, 5, 5)
    logits = np.einsum("bhtc,bhsc->bhts", query, key) / np.sqrt(3)
    for source in range(5):
        expected = np.where(np.arange(5) == source, 1e6, -1e6)
        np.testing.assert_allclose(logits[source], np.broadcast_to(expected, (4, 5, 5)), rtol=1e-12)


def test_peaks_of_sound_code_are_one_on_every_visible_source_and_zero_on_the_future(sample: Fixture) -> None:
    np.testing.assert_array_equal(probes.peaks(sound(sample)), np.tril(np.ones((5, 5))))


def test_peaks_are_query_by_source_for_the_tokens_that_are_moved() -> None:
    found = probes.peaks(sound(Fixture(replace(toy.EXTENTS, tokens=17), 0)))
    assert found.shape == (17, 5)
    assert found.sum(axis=0).tolist() == [17, 13, 9, 5, 1]


def test_peaks_take_the_largest_over_the_heads_and_keep_nan(sample: Fixture) -> None:
    def one_head(mark: float) -> Observation:
        def attention(query: Array, key: Array, value: Array) -> Array:
            weights = np.zeros((*query.shape[:3], value.shape[-1]))
            weights[:, 2, 1, 3] = mark
            return weights

        return Observation(toy.attends(attention), sample)

    expected = np.zeros((5, 5))
    expected[1, 3] = 0.25
    np.testing.assert_array_equal(probes.peaks(one_head(0.25)), expected)
    assert np.isnan(probes.peaks(one_head(np.nan))[1, 3])
