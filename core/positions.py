"""Where a token stands: sinusoidal and learned position vectors, and their addition to token vectors.

Attention by itself does not know the order of its keys; only the causal mask does. So a position vector is
added to each token vector. Sinusoidal vectors are a formula, learned ones a table that ends at T_max.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from core import arrays, settings
from core.arrays import FloatArray
from core.errors import CoreError

BASE = 10000.0
"""Wavelengths run from 2 pi to 2 pi BASE^(1 - 2/D), a geometric series (Vaswani et al. 2017, section 3.5)."""


def sinusoidal_positional_encoding(seq_len: int, d_model: int, dtype: DTypeLike = np.float64) -> FloatArray:
    """Return the sinusoidal position vectors `[token, channel]`, of `dtype`.

    PE(p, 2i) = sin(p w_i), PE(p, 2i+1) = cos(p w_i), w_i = 10000^(-2i/D), so that the inner product
    PE(p) . PE(p + delta) = sum_i cos(delta w_i) depends on the distance delta alone.

    Raises CoreError when a length is not a positive integer, the width is odd, or the dtype is not a float.
    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
    """
    length, width = settings.whole(seq_len, "seq_len", least=1), settings.whole(d_model, "d_model", least=1)
    _check_even(width)
    rounded = settings.float_dtype(dtype)
    angles = np.arange(length)[:, np.newaxis] * BASE ** (-np.arange(0, width, 2) / width)
    # Stacked on a new last axis, sine and cosine interleave when the last two axes are joined.
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(length, width).astype(rounded)


def apply_token_and_position(
    token_vectors: ArrayLike, position_table: ArrayLike, offset: int = 0
) -> FloatArray:
    """Return each token vector plus its row of the table `[position, channel]`: `[batch, token, channel]`.

    Token t takes row offset + t; `offset` is the number of earlier tokens, not 0 when they are in a cache.
    The result has the dtype of the token vectors. The table ends at T_max: nothing is extrapolated.
    Raises CoreError for a wrong rank, non-numeric values, different widths, and tokens beyond the table.
    Source: Radford et al. 2018, equation 2, h_0 = U W_e + W_p.
    """
    tokens = arrays.ranked(token_vectors, "token_vectors", "batch, token, channel")
    table = arrays.ranked(position_table, "position_table", "position, channel")
    start, length = settings.whole(offset, "offset", least=0), tokens.shape[1]
    _check_table(table.shape, tokens.shape, start)
    return tokens + table[start : start + length].astype(tokens.dtype)


def _check_even(width: int) -> None:
    if width % 2:
        raise CoreError(
            f"d_model is {width}; an even width is required, as sine and cosine channels come in pairs; "
            f"use {width + 1}"
        )


def _check_table(table: tuple[int, ...], tokens: tuple[int, ...], start: int) -> None:
    if table[1] != tokens[2]:
        raise CoreError(
            f"position_table has {table[1]} channels, token_vectors {tokens[2]}; one width for both "
            "is required; use a table of the model's width"
        )
    if start + tokens[1] > table[0]:
        raise CoreError(
            f"{tokens[1]} tokens from position {start} need {start + tokens[1]} positions, the table has "
            f"T_max = {table[0]}; shorten the input or use a longer table"
        )
