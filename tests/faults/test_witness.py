"""The smallest witness: the order of the rungs, and that no smaller rung catches the variant."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from detectors.catalogue import BY_NAME
from detectors.examination import measure
from detectors.fixtures import Extents, Fixture
from faults import reference
from faults.injection import inject
from faults.model import Fault, Function, Seam, Variant
from faults.witness import HIDDEN, SEED, Search, ladder
from tests.faults import samples

SCALE = Seam("core.attention", "scale")


def rung(batch: int, tokens: int, heads: int, kv_heads: int, head_width: int) -> Extents:
    return Extents(batch, tokens, heads, kv_heads, head_width, HIDDEN)


def size(extents: Extents) -> int:
    return extents.batch * extents.tokens * extents.heads * extents.head_width


def test_the_first_rungs_are_these() -> None:
    assert ladder()[:13] == (
        rung(1, 1, 1, 1, 1),
        # two numbers
        rung(1, 1, 1, 1, 2),
        rung(1, 1, 2, 2, 1),
        rung(1, 1, 2, 1, 1),
        rung(1, 2, 1, 1, 1),
        rung(2, 1, 1, 1, 1),
        # three
        rung(1, 1, 1, 1, 3),
        rung(1, 1, 3, 3, 1),
        rung(1, 1, 3, 1, 1),
        rung(1, 3, 1, 1, 1),
        # four
        rung(1, 1, 2, 2, 2),
        rung(1, 1, 2, 1, 2),
        rung(1, 1, 4, 4, 1),
    )


def test_the_rungs_grow_and_none_comes_twice() -> None:
    rungs = ladder()
    # For 1, 2, 3, 4 heads there are 1, 2, 2, 3 ways to share keys: 2 batches * 3 tokens * 8 * 3 widths.
    assert len(rungs) == len(set(rungs)) == 144
    sizes = [size(extents) for extents in rungs]
    assert sizes == sorted(sizes)
    assert {(e.hidden, e.dtype, e.norm_kind, e.gain) for e in rungs} == {(3, "float64", "layer", 1.0)}


BY_REASONING = {
    # One number is enough where the stream itself breaks, the block raises, or a token cannot see itself.
    "residual_shape/dropped": rung(1, 1, 1, 1, 1),
    "residual_shape/doubled": rung(1, 1, 1, 1, 1),
    "residual_shape/joined": rung(1, 1, 1, 1, 1),
    "flipped_triangle/diagonal_lost": rung(1, 1, 1, 1, 1),
    # Two sequences, or two tokens, must be there to be confused; the tokens come first.
    "residual_shape/sequence_first": rung(1, 2, 1, 1, 1),
    # Two tokens to compare, and a d_k whose root is not 1.
    "missing_scale/absent": rung(1, 2, 1, 1, 2),
    "missing_scale/twice": rung(1, 2, 1, 1, 2),
    # sqrt(H) for sqrt(d_k): one head of two channels comes before two heads of one.
    "missing_scale/by_heads": rung(1, 2, 1, 1, 2),
    # sqrt(D) for sqrt(d_k): two heads.
    "missing_scale/by_model_width": rung(1, 2, 2, 2, 1),
    # Four heads are the fewest that two key/value heads can serve in groups of two.
    "head_seq_swap/tiled": rung(1, 1, 4, 2, 1),
}


@pytest.mark.parametrize("name", BY_REASONING)
def test_the_smallest_witness_is_the_one_found_by_reasoning(name: str) -> None:
    witness = Search().smallest(samples.declared(name))
    assert witness is not None
    assert Extents(**witness.extents) == BY_REASONING[name]


@pytest.mark.parametrize(
    ("heads", "tokens", "differ"), [(2, 2, True), (3, 4, True), (1, 2, False), (2, 1, False), (1, 1, False)]
)
def test_heads_and_tokens_can_be_confused_where_there_are_two_of_each(
    heads: int, tokens: int, differ: bool
) -> None:
    for name in ("split", "merge", "both"):
        chosen = samples.declared(f"head_seq_swap/{name}")
        assert chosen.witnesses(rung(1, tokens, heads, heads, 1)) is differ


def fires(variant: Variant, extents: Extents) -> bool:
    """Whether the variant's lead detector fires on this rung."""
    fixture = Fixture(extents, SEED)
    with inject(variant):
        return measure(reference.subject(fixture), fixture, BY_NAME[variant.lead]).fired


@pytest.mark.parametrize(("fault", "variant"), samples.CASES, ids=samples.CASE_NAMES)
def test_no_smaller_rung_catches_a_variant(fault: Fault, variant: Variant) -> None:
    witness = Search().smallest(variant)
    assert witness is not None
    found = Extents(**witness.extents)
    assert variant.witnesses(found)
    assert fires(variant, found)
    for smaller in ladder()[: ladder().index(found)]:
        assert not (variant.witnesses(smaller) and fires(variant, smaller))


def test_a_search_that_was_used_before_finds_the_same() -> None:
    search = Search()
    chosen = [variant for _, variant in samples.CASES[::4]]
    assert [search.smallest(variant) for variant in chosen] == [Search().smallest(v) for v in chosen]


def wrong_scale(original: Function) -> Function:
    return lambda scores, query: 3 * original(scores, query)


def test_a_witness_has_the_seed_the_detector_and_its_value() -> None:
    witness = Search().smallest(samples.variant({SCALE: wrong_scale}, lead="slope"))
    assert witness is not None
    assert (witness.seed, witness.detector) == (SEED, "slope")
    assert witness.value == pytest.approx(1.0986123)  # ln 3


def test_only_rungs_that_can_witness_the_variant_are_tried() -> None:
    tried: list[Any] = []

    def decide(extents: Extents) -> bool:
        tried.append(extents)
        return extents.tokens == 3 and extents.heads == 2

    witness = Search().smallest(samples.variant({SCALE: wrong_scale}, lead="slope", witnesses=decide))
    assert witness is not None
    assert Extents(**witness.extents) == rung(1, 3, 2, 2, 1)
    assert tuple(tried) == ladder()[: len(tried)]


def test_a_variant_that_shows_nowhere_has_no_witness_and_is_put_back() -> None:
    attention = importlib.import_module("core.attention")
    original = attention.scale
    assert Search().smallest(samples.variant({SCALE: lambda original: original}, lead="slope")) is None
    assert attention.scale is original
