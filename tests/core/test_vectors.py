from __future__ import annotations

import math

import numpy as np
import pytest

from core import vectors
from core.errors import CoreError


def test_dot_product_multiplies_and_adds() -> None:
    assert vectors.dot_product([1, 2, 3], [4, 5, 6]) == 32.0


@pytest.mark.parametrize("b", [[1.0, 2.0], [[1.0, 2.0, 3.0]], ["x", "y", "z"], []])
def test_dot_product_refuses_what_is_not_a_vector_of_the_same_length(b: list[float]) -> None:
    with pytest.raises(CoreError, match=r"required"):
        vectors.dot_product([1.0, 2.0, 3.0], b)


def test_dot_products_spread_with_the_root_of_the_channels_and_do_not_drift() -> None:
    random = np.random.default_rng(7)
    products = [
        vectors.dot_product(random.standard_normal(64), random.standard_normal(64)) for _ in range(4000)
    ]
    # Standard error of the mean: 8 / sqrt(4000) = 0.13; of the deviation: about 8 / sqrt(8000) = 0.09.
    assert abs(np.mean(products)) < 4 * 0.13
    assert abs(np.std(products) - 8.0) < 4 * 0.1


def test_the_vector_that_is_none_is_named() -> None:
    message = r"^{} has shape \(1, 1\), rank 2; rank 1 \[channel\] is required; add or merge axes"
    with pytest.raises(CoreError, match=message.format("a")):
        vectors.dot_product([[1.0]], [1.0])
    with pytest.raises(CoreError, match=message.format("b")):
        vectors.dot_product([1.0], [[1.0]])
    with pytest.raises(CoreError, match=r"^a is empty"):
        vectors.dot_product([], [1.0])


@pytest.mark.parametrize(("p", "bits"), [(1.0, 0.0), (0.5, 1.0), (0.125, 3.0)])
def test_self_information_counts_halvings(p: float, bits: float) -> None:
    assert vectors.self_information(p) == bits
    assert math.copysign(1.0, vectors.self_information(p)) == 1.0


def test_self_information_names_the_impossible_event() -> None:
    with pytest.raises(
        CoreError, match=r"^p is 0: an impossible event has no finite self-information; give 0 < p <= 1$"
    ):
        vectors.self_information(0.0)


@pytest.mark.parametrize("p", [-0.1, 1.5, math.nan, math.inf])
def test_self_information_refuses_what_is_no_probability(p: float) -> None:
    with pytest.raises(CoreError, match="0 < p <= 1 is required"):
        vectors.self_information(p)
