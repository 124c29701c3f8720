"""Position vectors: the chapter's figures, the closed forms, and the hard end of a learned table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from core import positions
from core.errors import CoreError


def cosine_sum(distance: int, width: int) -> float:
    """The inner product of two position vectors, written from the identity, not from the vectors."""
    return sum(math.cos(distance * 10000.0 ** (-2 * i / width)) for i in range(width // 2))


def test_first_vectors_are_the_formula_worked_by_hand() -> None:
    table = positions.sinusoidal_positional_encoding(3, 4)
    # D = 4: w_0 = 1, w_1 = 10000^(-1/2) = 0.01.
    expected = [
        [0.0, 1.0, 0.0, 1.0],
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)],
        [math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)],
    ]
    np.testing.assert_allclose(table, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("distance", "figure"), [(1, 15.313649), (5, 11.777383)])
def test_inner_product_is_the_published_figure_from_any_start(distance: int, figure: float) -> None:
    table = positions.sinusoidal_positional_encoding(seq_len=16, d_model=32)
    products = [float(table[p] @ table[p + distance]) for p in range(16 - distance)]
    assert products[0] == pytest.approx(figure, abs=5e-7)
    assert max(products) - min(products) < 1e-12


@pytest.mark.parametrize("width", [2, 6, 32])
def test_inner_product_is_a_sum_of_cosines_of_the_distance(width: int) -> None:
    table = positions.sinusoidal_positional_encoding(40, width)
    for distance in (0, 1, 7, 39):
        assert float(table[0] @ table[distance]) == pytest.approx(cosine_sum(distance, width), abs=1e-12)


def test_float32_table_is_the_rounded_float64_table() -> None:
    single = positions.sinusoidal_positional_encoding(2000, 8, dtype=np.float32)
    double = positions.sinusoidal_positional_encoding(2000, 8)
    assert single.dtype == np.float32
    # Angles formed in float32 would be wrong by 1e-4 at position 2000; rounding alone stays under 2^-24.
    assert np.max(np.abs(single - double)) <= 2.0**-24


def test_addition_uses_the_row_of_each_position() -> None:
    tokens = np.zeros((2, 3, 2))
    tokens[1] = 100.0
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    first = positions.apply_token_and_position(tokens, table)
    assert first.tolist() == [
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        [[101.0, 102.0], [103.0, 104.0], [105.0, 106.0]],
    ]


def test_offset_starts_the_rows_after_the_cached_tokens() -> None:
    table = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    last = positions.apply_token_and_position(np.zeros((1, 2, 2)), table, offset=2)
    assert last.tolist() == [[[5.0, 6.0], [7.0, 8.0]]]


@pytest.mark.parametrize("table_dtype", [np.float32, np.float64])
def test_addition_keeps_the_dtype_of_the_token_vectors(table_dtype: type[np.floating[Any]]) -> None:
    table = np.ones((4, 2), table_dtype)
    for dtype in (np.float32, np.float64):
        tokens = np.ones((1, 4, 2), dtype)
        assert positions.apply_token_and_position(tokens, table).dtype == dtype


def test_addition_leaves_its_inputs_alone() -> None:
    tokens, table = np.ones((1, 2, 2)), np.ones((2, 2))
    positions.apply_token_and_position(tokens, table)
    assert np.all(tokens == 1)
    assert np.all(table == 1)


@pytest.mark.parametrize(
    ("seq_len", "d_model", "dtype", "found"),
    [
        (0, 4, np.float64, "seq_len is 0"),
        (-1, 4, np.float64, "seq_len is -1"),
        (2.0, 4, np.float64, "seq_len is 2.0"),
        (True, 4, np.float64, "seq_len is True"),
        (4, 0, np.float64, "d_model is 0"),
        (4, "8", np.float64, "d_model is '8'"),
        (
            4,
            5,
            np.float64,
            "d_model is 5; an even width is required, as sine and cosine channels come in pairs; use 6",
        ),
        (4, 1, np.float64, "d_model is 1; an even width is required"),
        (4, 4, np.int64, "dtype is int64"),
        (4, 4, "words", "dtype is 'words'"),
    ],
)
def test_impossible_table_is_refused_in_one_line(seq_len: Any, d_model: Any, dtype: Any, found: str) -> None:
    with pytest.raises(CoreError) as caught:
        positions.sinusoidal_positional_encoding(seq_len, d_model, dtype)
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "offset", "found"),
    [
        ((1, 5, 2), 0, "5 tokens from position 0 need 5 positions, the table has T_max = 4"),
        ((1, 2, 2), 3, "2 tokens from position 3 need 5 positions, the table has T_max = 4"),
        ((1, 1, 2), -1, "offset is -1"),
        ((1, 1, 2), 0.0, "offset is 0.0"),
        (
            (1, 1, 3),
            0,
            "position_table has 2 channels, token_vectors 3; one width for both is required; "
            "use a table of the model's width",
        ),
        ((4, 2), 0, "token_vectors has shape (4, 2), rank 2; rank 3 [batch, token, channel] is required"),
        ((1, 0, 2), 0, "token_vectors"),
    ],
)
def test_input_that_the_table_cannot_place_is_refused(
    shape: tuple[int, ...], offset: Any, found: str
) -> None:
    with pytest.raises(CoreError) as caught:
        positions.apply_token_and_position(np.zeros(shape), np.zeros((4, 2)), offset)
    assert found in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_table_of_another_rank_is_refused() -> None:
    message = r"^position_table has shape \(4,\), rank 1; rank 2 \[position, channel\] is required; "
    with pytest.raises(CoreError, match=message):
        positions.apply_token_and_position(np.zeros((1, 1, 2)), np.zeros(4))


@pytest.mark.parametrize("tokens", [[["a", "b"]], [[1.0], [2.0, 3.0]], None, [[[1j, 2j]]]])
def test_non_numeric_token_vectors_are_refused(tokens: Any) -> None:
    with pytest.raises(CoreError, match="token_vectors"):
        positions.apply_token_and_position(tokens, np.zeros((4, 2)))


def test_the_wavelengths_run_from_two_pi_up_to_10000_to_the_1_minus_2_over_d_times_that() -> None:
    # The angle of each pair of channels at position 1 is its frequency: wavelength 2 pi / angle.
    sine, cosine = positions.sinusoidal_positional_encoding(2, 8)[1].reshape(4, 2).T
    lengths = 2 * math.pi / np.arctan2(sine, cosine)
    assert lengths[0] == pytest.approx(2 * math.pi)
    assert lengths[-1] / lengths[0] == pytest.approx(1000.0)  # 10000^(3/4)
