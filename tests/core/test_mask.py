from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core import mask as masks
from core.errors import CoreError

NO = -np.inf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_causal_mask_closes_the_future(dtype: type[np.floating[Any]]) -> None:
    mask = masks.causal_mask(3, 3, dtype)
    assert mask.tolist() == [[0, NO, NO], [0, 0, NO], [0, 0, 0]]
    assert mask.dtype == dtype


def test_the_last_of_fewer_queries_sees_every_key() -> None:
    assert masks.causal_mask(2, 4).tolist() == [[0, 0, 0, NO], [0, 0, 0, 0]]


def test_the_first_of_more_queries_sees_no_key() -> None:
    assert masks.causal_mask(3, 2).tolist() == [[NO, NO], [0, NO], [0, 0]]


def test_the_boolean_form_says_true_where_the_additive_form_adds_nothing() -> None:
    assert masks.causal_allowed(2, 3).tolist() == [[True, True, False], [True, True, True]]


def test_one_query_and_one_key_are_enough() -> None:
    assert masks.causal_mask(1, 1).tolist() == [[0]]


@pytest.mark.parametrize("lengths", [(0, 2), (2, 0), (-1, 2)])
def test_a_mask_without_queries_or_keys_is_refused(lengths: tuple[int, int]) -> None:
    with pytest.raises(CoreError, match="at least 1 of each is required"):
        masks.causal_mask(*lengths)


def test_the_padding_mask_closes_what_is_beyond_each_length() -> None:
    mask = masks.padding_mask([0, 2, 3], 3, np.float32)
    assert mask.shape == (3, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[NO, NO, NO], [0, 0, NO], [0, 0, 0]]
    assert mask.dtype == np.float32


def test_a_single_length_is_enough() -> None:
    mask = masks.padding_mask([1], 2)
    assert mask[0, 0].tolist() == [[0, NO]]
    assert mask.dtype == np.float64


@pytest.mark.parametrize("lengths", [[-1], [4], [1.5], [[1]], [], np.array([], int), [True]])
def test_lengths_that_cannot_be_are_refused(lengths: Any) -> None:
    with pytest.raises(CoreError, match="required"):
        masks.padding_mask(lengths, 3)


def test_a_boolean_mask_becomes_additive() -> None:
    mask = masks.as_additive([[True, False]], (1, 1, 2, 2), np.float32)
    assert mask.tolist() == [[0.0, NO]]
    assert mask.dtype == np.float32


def test_an_additive_mask_keeps_its_numbers() -> None:
    mask = masks.as_additive(np.array([[-1.5, NO]]), (1, 1, 2, 2), np.float32)
    assert mask.tolist() == [[-1.5, NO]]
    assert mask.dtype == np.float32


@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (2, 1, 1, 4), (2, 5, 3, 4), (5, 3, 4), (1, 1), ()])
def test_masks_that_broadcast_are_accepted(shape: tuple[int, ...]) -> None:
    assert masks.as_additive(np.zeros(shape), (2, 5, 3, 4), np.float64).shape == shape


@pytest.mark.parametrize("shape", [(4, 3), (3, 1, 3, 4), (1, 2, 5, 3, 4), (2, 3, 4)])
def test_masks_that_do_not_broadcast_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(
        CoreError,
        match=r"broadcasts to the scores \(2, 5, 3, 4\) \[batch, head, query, key\] is required; "
        r"insert axes of length 1$",
    ):
        masks.as_additive(np.zeros(shape), (2, 5, 3, 4), np.float64)


def test_a_mask_may_not_make_the_scores_larger() -> None:
    with pytest.raises(CoreError, match="broadcasts"):
        masks.as_additive(np.zeros((2, 2)), (1, 1, 1, 2), np.float64)


@pytest.mark.parametrize("mask", [np.array([[1, 0]]), np.array([["a", "b"]])])
def test_a_mask_of_whole_numbers_is_ambiguous_and_refused(mask: Any) -> None:
    with pytest.raises(
        CoreError,
        match=r"booleans \(True = may attend\) or additive floats are required; "
        r"a 0/1 mask becomes boolean with astype\(bool\)$",
    ):
        masks.as_additive(mask, (1, 1, 2, 2), np.float64)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_additive_mask_with_nan_or_plus_infinity_is_refused(bad: float) -> None:
    with pytest.raises(CoreError, match=r"0 where a key may be attended and -inf elsewhere are required$"):
        masks.as_additive(np.array([[0.0, bad]]), (1, 1, 2, 2), np.float64)


def test_combined_masks_allow_what_all_of_them_allow() -> None:
    combined = masks.combine(np.array([0.0, 0.0, NO, NO]), np.array([0.0, NO, 0.0, NO]), np.array([[-2.0]]))
    assert combined.tolist() == [[-2.0, NO, NO, NO]]


def test_combining_no_mask_is_refused() -> None:
    with pytest.raises(CoreError, match=r"^combine was given no mask; at least one is required$"):
        masks.combine()


def test_a_fill_below_the_range_of_the_scores_becomes_minus_infinity_without_a_warning() -> None:
    fill = np.finfo(np.float64).min
    mask = masks.as_additive(np.array([[0.0, fill]]), (1, 1, 2, 2), np.float32)
    assert mask.tolist() == [[0.0, NO]]
    lowest = masks.as_additive(np.array([[0.0, np.finfo(np.float32).min]]), (1, 1, 2, 2), np.float32)
    assert masks.combine(lowest, lowest).tolist() == [[0.0, NO]]


def test_a_number_above_the_range_of_the_scores_is_refused() -> None:
    with pytest.raises(CoreError, match=r"mask holds .*above the range of float32.* are required"):
        masks.as_additive(np.array([[0.0, 1e300]]), (1, 1, 2, 2), np.float32)
