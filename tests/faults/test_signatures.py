"""What the registry says a variant looks like is what it looks like, and where it can be seen is where it is."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from detectors.fixtures import Extents, Fixture
from faults import mutants
from faults.flipped_triangle import fault as flipped_triangle
from faults.flipped_triangle import words as flipped_triangle_words
from faults.head_seq_swap import fault as head_seq_swap
from faults.head_seq_swap import words as head_seq_swap_words
from faults.mask_adds_zero import fault as mask_adds_zero
from faults.mask_adds_zero import words as mask_adds_zero_words
from faults.missing_scale import fault as missing_scale
from faults.missing_scale import words as missing_scale_words
from faults.model import Variant
from faults.residual_shape import fault as residual_shape
from faults.residual_shape import words as residual_shape_words

FAULTS: list[ModuleType] = [
    residual_shape,
    missing_scale,
    mask_adds_zero,
    flipped_triangle,
    head_seq_swap,
]
CASES = [(module, variant) for module in FAULTS for variant in module.FAULT.variants]
every_variant = pytest.mark.parametrize(
    ("module", "variant"), CASES, ids=[f"{module.FAULT.name}/{one.name}" for module, one in CASES]
)

ALL_APART = Extents(batch=2, tokens=20, heads=4, kv_heads=2, head_width=9, hidden=10)
"""Every axis has an extent of its own, and there is more than one block of 16 keys: each variant can be seen."""

ALSO = {
    "missing_scale/by_keys": {"prefix"},
    "mask_adds_zero/one": {"slope"},
    "head_seq_swap/both": {"future"},
    "head_seq_swap/split": {"reach"},
    "head_seq_swap/merge": {"reach"},
    "head_seq_swap/batch": {"order"},
}
"""Contracts that break on this fixture and not on every one, so that the signature leaves them out."""


@every_variant
def test_a_signature_is_what_an_examination_shows(module: ModuleType, variant: Variant) -> None:
    assert variant.witnesses(ALL_APART)
    fixture = Fixture(ALL_APART, 1)
    mutant = mutants.observe(module.FAULT, variant, [fixture], [mutants.examined(fixture)])
    found = mutant.faulty[0]
    also: set[str] = ALSO.get(f"{module.FAULT.name}/{variant.name}", set())
    assert variant.lead in found.fired
    assert set(found.fired) == variant.signature.fires | also
    seen = {probe: pattern for probe, pattern in found.patterns.items() if pattern != "causal"}
    assert seen == dict(variant.signature.patterns)


WORDS = {
    "residual_shape": residual_shape_words,
    "missing_scale": missing_scale_words,
    "mask_adds_zero": mask_adds_zero_words,
    "flipped_triangle": flipped_triangle_words,
    "head_seq_swap": head_seq_swap_words,
}


@every_variant
def test_a_variant_is_described_by_the_words_of_its_name(module: ModuleType, variant: Variant) -> None:
    assert variant.summary == WORDS[module.FAULT.name].VARIANTS[variant.name]


def test_gradients_are_compared_but_for_three_variants() -> None:
    without = [f"{module.FAULT.name}/{variant.name}" for module, variant in CASES if variant.no_gradient]
    assert without == ["residual_shape/joined", "mask_adds_zero/weak", "flipped_triangle/wrong_corner"]


FACTORS = {
    "absent": 1.0,
    "by_model_width": 1 / 6,  # 1 / sqrt(4 * 9)
    "by_heads": 0.5,
    "by_keys": 0.2,
    "twice": 1 / 9,
    "reciprocal": 3.0,
    "after_softmax": 1.0,
    "each_block": None,
}


def test_a_wrong_scale_says_by_how_much_it_multiplies_for_4_heads_of_9_channels_and_25_keys() -> None:
    factors = {variant.name: variant.signature.factor for variant in missing_scale.FAULT.variants}
    found = {name: factor and pytest.approx(factor(4, 9, 25)) for name, factor in factors.items()}
    assert found == FACTORS
    assert not any(v.signature.factor for module, v in CASES if module is not missing_scale)


def seen(variant: str, module: ModuleType = missing_scale, **extents: Any) -> bool:
    (found,) = (one for one in module.FAULT.variants if one.name == variant)
    return bool(found.witnesses(Extents(**extents)))


def test_a_wrong_scale_is_seen_where_it_is_wrong_and_two_tokens_are_compared() -> None:
    assert seen("absent", tokens=2)
    assert not seen("absent", tokens=1)
    assert not seen("absent", head_width=1)
    # 4 heads of 4 channels: one over the root of either is 1/2.
    assert not seen("by_heads", heads=4, head_width=4)
    assert seen("by_heads", heads=4, head_width=8)
    assert not seen("by_keys", tokens=4, head_width=4)


def test_a_factor_that_is_just_far_enough_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_scale, "SEEN_FROM", math.log(3))
    assert seen("absent", head_width=9)
    monkeypatch.setattr(missing_scale, "SEEN_FROM", math.nextafter(math.log(3), 2))
    assert not seen("absent", head_width=9)


def test_a_mask_is_filled_whether_its_sizes_come_by_place_or_by_name() -> None:
    def sound(*lengths: int, dtype: Any = np.float64) -> Any:
        return np.array([[0, -np.inf], [0, 0]], dtype)

    mask = mask_adds_zero.filled(-2.0, visible=1.0)(sound)(2, 2, dtype=np.float32)
    assert mask.tolist() == [[1, -2], [1, 1]]
    assert mask.dtype == np.float32
