"""What is padding, and what stands in its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import padded
from detectors.fixtures import Fixture
from detectors.observation import Observation
from tests.detectors import toy

Array = NDArray[Any]


@pytest.mark.parametrize(
    ("batch", "tokens", "pads"),
    [(2, 5, [1, 2]), (3, 6, [1, 2, 3]), (4, 5, [1, 2, 1, 2]), (2, 2, [1, 1]), (2, 3, [1, 1])],
)
def test_neighbouring_sequences_begin_with_different_amounts_of_padding(
    batch: int, tokens: int, pads: list[int]
) -> None:
    keep = padded.real(Fixture(replace(toy.EXTENTS, batch=batch, tokens=tokens), 0))
    assert keep.tolist() == [[at >= count for at in range(tokens)] for count in pads]
    assert not keep.flags.writeable


def test_padding_is_replaced_by_random_tokens(sample: Fixture) -> None:
    keep, found = padded.real(sample), padded.replaced(sample)
    assert np.array_equal(found[keep], sample.x[keep])
    assert np.array_equal(found[~keep], sample.draw("padding", 2, 5, 12)[~keep])
    assert found.dtype == sample.dtype
    assert not found.flags.writeable


def test_ids_in_the_padding_are_replaced_by_the_next() -> None:
    fixture = Fixture(replace(toy.EXTENTS, vocab=5), 0)
    keep, found = padded.real(fixture), padded.replaced(fixture)
    assert np.array_equal(found[keep], fixture.x[keep])
    assert found[~keep].tolist() == [(one + 1) % 5 for one in fixture.x[~keep]]
    assert not found.flags.writeable


def test_the_padded_output_is_asked_for_once(sample: Fixture) -> None:
    asked: list[tuple[Array, Array]] = []

    def call(x: Array, keep: Array) -> Array:
        asked.append((x, keep))
        return 2 * x

    observation = Observation(replace(toy.calls(lambda x: x), padded=call), sample)
    assert padded.output(observation) is padded.output(observation)
    ((x, keep),) = asked
    assert x is sample.x
    assert np.array_equal(keep, padded.real(sample))
