"""Rounding must not depend on the neighbours in a batch: the contract on the future asks for exactly 0."""

from __future__ import annotations

import numpy as np
import pytest

from core import block
from core.arrays import FloatArray


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tokens", [3, 5, 7, 9])
def test_a_sequence_gets_the_same_bits_wherever_it_stands_in_a_batch(tokens: int, dtype: type) -> None:
    config = block.BlockConfig(heads=4, kv_heads=2)
    parameters = block.init_block(20, config, hidden=7, seed=1, dtype=dtype)
    one: FloatArray = np.random.default_rng(tokens).standard_normal((1, tokens, 20)).astype(dtype)
    outputs = block.block(np.repeat(one, 17, axis=0), parameters, config)
    assert all(np.array_equal(outputs[0], output) for output in outputs)
