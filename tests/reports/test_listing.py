"""The registry as a list."""

from __future__ import annotations

from faults.model import Fault, Seam, Signature, Variant
from reports.listing import render

FORWARD = Seam("core.mask", "causal_mask")
BACKWARD = Seam("core.heads", "split_heads_backward")
WORDS = {"en": "words | here", "zh": "文字"}


def variant(name: str, *seams: Seam) -> Variant:
    patches = {seam: (lambda original: original) for seam in seams}
    return Variant(name, WORDS, patches, "future", Signature(frozenset()), lambda extents: True)


FAULT = Fault(
    "mask_adds_zero",
    WORDS,
    WORDS,
    WORDS,
    WORDS,
    "M",
    WORDS,
    WORDS,
    (variant("zero", FORWARD, BACKWARD), variant("one", FORWARD)),
)


def test_each_fault_is_a_row_with_the_number_of_its_variants() -> None:
    row = render([FAULT], "en", "github").splitlines()[4]
    assert [cell.strip() for cell in row.split(" | ")][:3] == [
        "| mask_adds_zero",
        "2",
        "core.mask.causal_mask",
    ]


def test_seams_of_the_gradient_are_left_out() -> None:
    assert "split_heads_backward" not in render([FAULT], "en", "github", 1)


def test_variants_are_listed_only_when_asked_for() -> None:
    assert "mask_adds_zero/one" not in render([FAULT], "en", "github")
    assert "mask_adds_zero/one" in render([FAULT], "en", "github", 1)


def test_the_list_speaks_chinese() -> None:
    text = render([FAULT], "zh", "github")
    assert "故障 1 种，变体 2 个" in text
    assert "文字" in text
