"""Saturation and the growth of dot products, against figures that do not come from this program."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from faults import injection, reference, symptoms

SEEDS = range(12)


@pytest.fixture(scope="module")
def tables() -> list[dict[int, Mapping[str, float]]]:
    """One table over d_k for each seed."""
    return [{int(row["head_width"]): row for row in symptoms.saturation(seed)} for seed in SEEDS]


def mean(tables: list[dict[int, Mapping[str, float]]], head_width: int, name: str) -> float:
    return float(np.mean([table[head_width][name] for table in tables]))


Tables = list[dict[int, Mapping[str, float]]]


@pytest.mark.parametrize("head_width", symptoms.HEAD_WIDTHS)
def test_dot_products_spread_as_the_root_of_their_length(tables: Tables, head_width: int) -> None:
    assert mean(tables, head_width, "product_spread") == pytest.approx(math.sqrt(head_width), rel=0.04)


def test_at_64_channels_every_table_shows_a_spread_of_about_8(tables: Tables) -> None:
    for table in tables:
        assert table[64]["product_spread"] == pytest.approx(8.0, rel=0.1)


@pytest.mark.parametrize("head_width", symptoms.HEAD_WIDTHS)
def test_only_the_product_of_a_vector_with_itself_grows_linearly(tables: Tables, head_width: int) -> None:
    # The mean of 12 * 64 chi-squared numbers of d_k degrees: standard error sqrt(2 d_k / 768).
    error = math.sqrt(2 * head_width / 768)
    assert abs(mean(tables, head_width, "own_product") - head_width) < 4 * error


def test_the_mean_absolute_product_of_64_channels_is_6_38() -> None:
    random = np.random.default_rng(0)
    products = np.array([reference.dot_product(*pair) for pair in random.standard_normal((20_000, 2, 64))])
    assert float(products.mean()) == pytest.approx(0.0, abs=0.2)
    assert float(products.std()) == pytest.approx(8.0, rel=0.02)
    assert float(np.abs(products).mean()) == pytest.approx(6.38, rel=0.02)


def expected_gradient(head_width: int, factor: float) -> float:
    """The same mean from the distribution alone: given its query, 16 products are |q| times normal numbers.

    Squared Frobenius norm of diag(w) - w w^T: sum w^2 - 2 sum w^3 + (sum w^2)^2.
    """
    random = np.random.default_rng(1)
    lengths = np.sqrt(random.chisquare(head_width, (20_000, 1)))
    logits = factor * lengths * random.standard_normal((20_000, symptoms.KEYS))
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    second, third = (weights**2).sum(axis=1), (weights**3).sum(axis=1)
    return float(np.sqrt(np.maximum(second - 2 * third + second**2, 0)).mean())


@pytest.mark.parametrize("head_width", symptoms.HEAD_WIDTHS)
def test_the_gradients_are_those_of_their_distribution(tables: Tables, head_width: int) -> None:
    scaled, unscaled = expected_gradient(head_width, head_width**-0.5), expected_gradient(head_width, 1.0)
    assert mean(tables, head_width, "scaled_gradient") == pytest.approx(scaled, abs=0.01)
    # All queries of a table share their keys, which makes the unscaled mean vary from seed to seed.
    assert mean(tables, head_width, "unscaled_gradient") == pytest.approx(unscaled, abs=0.03)


def test_without_the_scale_the_gradient_is_larger_at_4_channels_and_a_fraction_at_512(tables: Tables) -> None:
    assert mean(tables, 4, "unscaled_gradient") > mean(tables, 4, "scaled_gradient") + 0.01
    assert mean(tables, 512, "unscaled_gradient") < mean(tables, 512, "scaled_gradient") / 3


def test_without_the_scale_the_weights_grow_sharper_and_with_it_they_do_not(tables: Tables) -> None:
    entropies = [mean(tables, head_width, "unscaled_entropy") for head_width in symptoms.HEAD_WIDTHS]
    assert entropies == sorted(entropies, reverse=True)
    assert mean(tables, 512, "unscaled_largest") > 0.9
    for head_width in symptoms.HEAD_WIDTHS:
        assert 3.2 < mean(tables, head_width, "scaled_entropy") < 4.0  # log2(16) = 4 bits
        assert 0.2 < mean(tables, head_width, "scaled_largest") < 0.3


@pytest.mark.parametrize(
    ("weights", "entropy", "largest", "gradient"),
    [
        ([[0.5, 0.5]], 1.0, 0.5, 0.5),  # Jacobian [[1/4, -1/4], [-1/4, 1/4]]
        ([[1.0, 0.0]], 0.0, 1.0, 0.0),
        ([[0.25, 0.25, 0.25, 0.25]], 2.0, 0.25, math.sqrt(3) / 4),  # 4 * (3/16)^2 + 12 * (1/16)^2 = 3/16
        ([[0.5, 0.5], [0.0, 1.0]], 0.5, 0.75, 0.25),  # means over two queries
    ],
)
def test_entropy_largest_weight_and_gradient_by_hand(
    weights: list[list[float]], entropy: float, largest: float, gradient: float
) -> None:
    found = symptoms._row("some", np.array(weights))
    assert found == {
        "some_entropy": pytest.approx(entropy, abs=1e-12),
        "some_largest": pytest.approx(largest),
        "some_gradient": pytest.approx(gradient, abs=1e-12),
    }


def test_the_table_is_the_same_each_time_and_leaves_nothing_injected() -> None:
    assert symptoms.saturation(3) == symptoms.saturation(3)
    assert symptoms.saturation(3) != symptoms.saturation(4)
    assert injection.in_force() is None
