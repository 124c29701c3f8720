from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from faults import reference, registry
from faults.injection import patched
from faults.model import Variant

Array = NDArray[Any]

HEADS, TOKENS, HEAD_WIDTH = 2, 12, 64


def weights(query: Array, key: Array) -> Array:
    found: Array = reference.attention_trace(query, key, key, causal=False).weights
    return found


def entropy_with(variant: Variant | None) -> float:
    """Bits a row, each row of weights first made to sum to 1."""
    generator = np.random.default_rng(3)
    query, key = generator.standard_normal((2, 1, HEADS, TOKENS, HEAD_WIDTH))
    found = weights(query, key) if variant is None else patched(variant, weights, query, key)
    rows = found / found.sum(axis=-1, keepdims=True)
    return float(-(rows * np.log2(rows)).sum(axis=-1).mean())


@pytest.mark.parametrize("name", ["absent", "by_heads", "reciprocal", "after_softmax"])
def test_the_softmax_is_sharper_where_the_scores_are_divided_by_too_little(name: str) -> None:
    variant = registry.variant(registry.load("missing_scale"), name)
    assert entropy_with(variant) < entropy_with(None) / 2


@pytest.mark.parametrize("name", ["by_model_width", "twice"])
def test_the_softmax_is_flatter_where_they_are_divided_by_too_much_and_the_words_say_so(name: str) -> None:
    fault = registry.load("missing_scale")
    assert entropy_with(registry.variant(fault, name)) > entropy_with(None)
    assert "near one-hot, the gradient vanishes" in fault.signal["en"]
    assert "flat" in fault.signal["en"]
    assert "趋近 one-hot，梯度消失" in fault.signal["zh"]
    assert "平坦" in fault.signal["zh"]


def seen_by_the_last_query(name: str, queries: int, keys: int) -> list[bool]:
    query, key = np.zeros((1, 1, queries, 4)), np.zeros((1, 1, keys, 4))
    variant = registry.variant(registry.load("flipped_triangle"), name)
    attend = partial(reference.attention_trace, query, key, key, causal=True)
    return [weight > 0 for weight in patched(variant, attend).weights[0, 0, -1].tolist()]


def test_a_displaced_triangle_can_hide_the_token_itself_and_its_past_and_the_words_say_so() -> None:
    fault = registry.load("flipped_triangle")
    # The last of three queries among three keys, and of two among four: aligned to the first key.
    assert seen_by_the_last_query("diagonal_lost", 3, 3) == [True, True, False]
    assert seen_by_the_last_query("wrong_corner", 2, 4) == [True, True, False, False]
    assert fault.signal["en"].startswith("the current token is ruled by the future")
    assert "cut off from itself or its past" in fault.signal["en"]
    assert fault.signal["zh"].startswith("当前 token 被未来位置主导")
    assert "看不到自己" in fault.signal["zh"]
