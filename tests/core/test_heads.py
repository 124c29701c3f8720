"""The element order of split and merge, on numbers that can be followed by hand.

x[batch, token, channel] = 100 * batch + 10 * token + channel. Two heads of two channels: head 0 owns 0 and 1,
head 1 owns 2 and 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import heads
from core.arrays import FloatArray
from core.errors import CoreError


def numbered() -> FloatArray:
    batch, token, channel = np.ogrid[0:2, 0:3, 0:4]
    return (100.0 * batch + 10.0 * token + channel).astype(np.float32)


SPLIT = [
    [[[0, 1], [10, 11], [20, 21]], [[2, 3], [12, 13], [22, 23]]],
    [[[100, 101], [110, 111], [120, 121]], [[102, 103], [112, 113], [122, 123]]],
]


def test_each_head_takes_consecutive_channels_of_every_token() -> None:
    split = heads.split_heads(numbered(), 2)
    assert split.tolist() == SPLIT
    assert split.dtype == np.float32


def test_merging_puts_the_channels_of_all_heads_side_by_side() -> None:
    assert heads.merge_heads(np.array(SPLIT)).tolist() == numbered().tolist()


def test_the_gradient_of_split_returns_every_element_to_its_channel() -> None:
    assert heads.split_heads_backward(np.array(SPLIT), 2).tolist() == numbered().tolist()


def test_the_gradient_of_merge_returns_every_element_to_its_head() -> None:
    assert heads.merge_heads_backward(numbered(), 2).tolist() == SPLIT


def test_uneven_heads_are_refused() -> None:
    with pytest.raises(CoreError, match="width is 4, heads 3; a width divisible by the heads is required"):
        heads.split_heads(numbered(), 3)


def test_wrong_ranks_are_refused() -> None:
    with pytest.raises(
        CoreError, match=r"^x has shape \(2, 4\), rank 2; rank 3 \[batch, token, channel\] is required"
    ):
        heads.split_heads(np.ones((2, 4)), 2)
    with pytest.raises(
        CoreError, match=r"^x has shape \(2, 3, 4\), rank 3; rank 4 \[batch, head, token, channel\]"
    ):
        heads.merge_heads(np.ones((2, 3, 4)))


def test_shared_heads_are_repeated_in_a_row_not_in_turn() -> None:
    shared = np.arange(6.0).reshape(1, 2, 3, 1)
    repeated = heads.repeat_heads(shared, 2)
    assert repeated[0, :, :, 0].tolist() == [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]]


def test_the_gradient_of_repeating_adds_up_the_copies_of_each_shared_head() -> None:
    grad = np.array([1.0, 10.0, 100.0, 1000.0]).reshape(1, 4, 1, 1)
    assert heads.repeat_heads_backward(grad, 2).ravel().tolist() == [11.0, 1100.0]


def test_one_group_copies_nothing() -> None:
    shared = np.ones((1, 2, 3, 1))
    assert heads.repeat_heads(shared, 1) is shared
    assert heads.repeat_heads_backward(shared, 1) is shared


@pytest.mark.parametrize("count", [2.0, "2", True, None, 0])
def test_a_number_of_heads_that_is_no_positive_integer_is_refused(count: Any) -> None:
    with pytest.raises(CoreError, match=r"heads is .*an integer of at least 1 is required"):
        heads.split_heads(numbered(), count)
    with pytest.raises(CoreError, match=r"groups is .*an integer of at least 1 is required"):
        heads.repeat_heads(np.array(SPLIT), count)


def test_a_numpy_integer_is_a_number_of_heads() -> None:
    two: Any = np.int64(2)
    assert heads.split_heads(numbered(), two).tolist() == SPLIT
    assert heads.repeat_heads(np.array(SPLIT), two).shape == (2, 4, 3, 2)
