from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from core import block, block_config
from core.block import BlockConfig
from core.errors import CoreError


def test_key_heads_are_the_heads_unless_declared() -> None:
    assert BlockConfig(4).key_heads == 4
    assert BlockConfig(4, kv_heads=2).key_heads == 2


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"heads": 0}, "heads is 0"),
        ({"heads": 2.0}, "heads is 2.0"),
        ({"heads": True}, "heads is True"),
        ({"heads": 4, "kv_heads": 3}, "heads is 4, kv_heads 3"),
        ({"heads": 2, "kv_heads": 4}, "heads is 2, kv_heads 4"),
        ({"heads": 2, "kv_heads": 0}, "kv_heads is 0"),
        ({"heads": 2, "norm": "before"}, "norm is 'before'; one of pre, post is required"),
        ({"heads": 2, "norm_kind": "batch"}, "norm_kind is 'batch'; one of layer, rms is required"),
        ({"heads": 2, "activation": "tanh"}, "activation is 'tanh'; one of relu, gelu, swiglu is required"),
        ({"heads": 2, "eps": -1.0}, "eps is -1.0"),
        ({"heads": 2, "eps": float("nan")}, "eps is nan"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(settings: dict[str, Any], found: str) -> None:
    with pytest.raises(CoreError, match=f"{found}.*") as caught:
        BlockConfig(**settings)
    assert "required" in str(caught.value)


def test_a_configuration_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        BlockConfig(4).__setattr__("heads", 8)


def test_what_is_not_declared_has_its_usual_value() -> None:
    assert BlockConfig(4) == BlockConfig(4, None, "pre", "layer", "relu", True, 1e-5)
    assert block.init_block(4, BlockConfig(4)) == block.init_block(
        4, BlockConfig(4), 16, 0, np.float64, None, 0.1
    )


def test_the_smallest_block_has_one_head_of_one_channel() -> None:
    parameters = block.init_block(1, BlockConfig(1, kv_heads=1), hidden=1)
    assert parameters.shapes["W1"] == (1, 1)


def test_every_role_has_the_shape_its_place_asks_for() -> None:
    shapes = block_config.block_shapes(8, 5, BlockConfig(4, kv_heads=2, activation="swiglu"))
    assert shapes == {
        "Wq": (8, 8), "bq": (8,), "Wk": (8, 4), "bk": (4,),
        "Wv": (8, 4), "bv": (4,), "Wo": (8, 8), "bo": (8,),
        "W1": (8, 10), "b1": (10,), "W2": (5, 8), "b2": (8,),
        "gain1": (8,), "shift1": (8,), "gain2": (8,), "shift2": (8,),
    }  # fmt: skip


def test_rms_norm_has_no_shifts() -> None:
    shapes = block_config.block_shapes(8, 5, BlockConfig(4, norm_kind="rms"))
    assert not {"shift1", "shift2"} & shapes.keys()
    assert shapes["W1"] == (8, 5)


def test_initial_parameters_leave_no_gain_or_bias_invisible() -> None:
    parameters = block.init_block(8, BlockConfig(2))
    assert parameters["W1"].shape == (8, 32)
    for role, array in parameters.items():
        if role[0] in "bs":
            assert (array != 0.0).all()
        if role.startswith("gain"):
            assert (array != 1.0).all()
            assert np.abs(array - 1.0).max() < 0.5


def test_without_jitter_gains_are_one_and_biases_zero() -> None:
    parameters = block.init_block(8, BlockConfig(2), jitter=0.0)
    assert {role for role, array in parameters.items() if (array == 0.0).all()} == {
        "bq", "bk", "bv", "bo", "b1", "b2", "shift1", "shift2",
    }  # fmt: skip
    assert {role for role, array in parameters.items() if (array == 1.0).all()} == {"gain1", "gain2"}


def test_jitter_is_added_in_the_direction_of_the_drawn_number() -> None:
    without, jittered = (block.init_block(8, BlockConfig(2), seed=4, jitter=jitter) for jitter in (0.0, 0.5))
    drawn = np.random.default_rng(4)
    for role, shape in jittered.shapes.items():
        numbers = drawn.standard_normal(shape)
        if role[0] != "W":
            np.testing.assert_allclose(jittered[role] - without[role], 0.5 * numbers, rtol=0, atol=1e-15)


def test_weights_shrink_with_their_inputs_unless_a_scale_is_given() -> None:
    wide = block.init_block(64, BlockConfig(2), hidden=1024)
    assert float(wide["Wq"].std()) == pytest.approx(1 / 8, rel=0.05)
    assert float(wide["W2"].std()) == pytest.approx(1 / 32, rel=0.05)
    assert float(block.init_block(64, BlockConfig(2), scale=3.0)["Wq"].std()) == pytest.approx(3.0, rel=0.05)


def test_the_seed_decides_the_numbers_in_every_dtype() -> None:
    config = BlockConfig(2)
    first, again, other = (block.init_block(4, config, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    narrow = block.init_block(4, config, seed=1, dtype=np.float32)
    assert narrow == first.map(lambda array: array.astype(np.float32))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"width": 6, "config": BlockConfig(4)}, "width is 6, heads 4; a width divisible by the heads"),
        ({"width": 0, "config": BlockConfig(4)}, "width is 0"),
        ({"width": 4, "config": BlockConfig(4), "hidden": 0}, "hidden is 0"),
        ({"width": 4, "config": BlockConfig(4), "dtype": np.int64}, "dtype is int64"),
    ],
)
def test_a_block_that_cannot_be_is_refused(arguments: dict[str, Any], found: str) -> None:
    with pytest.raises(CoreError, match=f"{found}.*required"):
        block.init_block(**arguments)
