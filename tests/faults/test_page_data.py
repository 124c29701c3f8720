"""What the page draws beyond the report, checked against what can be said of it by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from faults import page_data
from faults.model import Report
from faults.page_model import PagePart, Sight
from faults.registry import NAMES, all_faults
from reports.json_report import from_json, to_json
from tests.reports.made_report import made_report, variant

TRIANGLE = np.tril(np.ones((8, 8), bool))
HALVES = np.arange(8)[:, None] // 4 == np.arange(8) // 4


def every_variant() -> Report:
    first = made_report().faults[0]
    faults = tuple(
        replace(first, name=f.name, variants=tuple(variant(f.name, v.name, v.lead) for v in f.variants))
        for f in all_faults()
    )
    return replace(made_report(), faults=faults)


@pytest.fixture(scope="module")
def part() -> PagePart:
    return page_data.part(every_variant())


def sight(part: PagePart, fault: str, name: str) -> Sight:
    return next(found for found in part.sights if (found.fault, found.variant) == (fault, name))


def alive(part: PagePart, fault: str, name: str, probe: str = "block") -> np.ndarray:
    look = next(look for look in sight(part, fault, name).looks if look.probe == probe)
    return np.array(look.matrix) > 0


def test_the_sound_block_is_a_lower_triangle_through_every_probe(part: PagePart) -> None:
    for look in part.healthy:
        found = np.array(look.matrix) > 0
        np.testing.assert_array_equal(found, TRIANGLE[-len(found) :], look.probe)
        assert look.pattern == "causal"


def test_a_mask_that_adds_zero_looks_full(part: PagePart) -> None:
    assert alive(part, "mask_adds_zero", "zero").all()


def test_a_flipped_triangle_is_turned_over(part: PagePart) -> None:
    np.testing.assert_array_equal(alive(part, "flipped_triangle", "flipped"), TRIANGLE.T)


def test_one_too_far_has_one_extra_band(part: PagePart) -> None:
    np.testing.assert_array_equal(
        alive(part, "flipped_triangle", "one_too_far"), np.tril(np.ones((8, 8), bool), k=1)
    )


def test_an_axis_swap_is_broken_into_blocks_as_many_as_heads(part: PagePart) -> None:
    np.testing.assert_array_equal(alive(part, "head_seq_swap", "both"), TRIANGLE & HALVES)


def test_a_weak_fill_shows_under_a_huge_logit_alone(part: PagePart) -> None:
    np.testing.assert_array_equal(alive(part, "mask_adds_zero", "weak"), TRIANGLE)
    assert alive(part, "mask_adds_zero", "weak", "huge").all()


def test_a_wrong_corner_shows_with_the_last_queries_alone(part: PagePart) -> None:
    np.testing.assert_array_equal(alive(part, "flipped_triangle", "wrong_corner"), TRIANGLE)
    np.testing.assert_array_equal(alive(part, "flipped_triangle", "wrong_corner", "short"), TRIANGLE[:4])


def test_a_block_that_raises_has_a_reason_instead_of_a_picture(part: PagePart) -> None:
    look = sight(part, "residual_shape", "joined").looks[0]
    assert look.matrix is None
    assert "call failed" in look.reason


def test_every_variant_of_the_report_is_demonstrated_and_looked_at(part: PagePart) -> None:
    wanted = [(fault.name, variant.name) for fault in all_faults() for variant in fault.variants]
    assert [(d.fault, d.variant) for d in part.demonstrations] == wanted
    assert [(s.fault, s.variant) for s in part.sights] == wanted
    assert [e.fault for e in part.explained] == list(NAMES)


def test_every_repair_gives_every_number_back(part: PagePart) -> None:
    for demonstration in part.demonstrations:
        assert all(stage.repaired == stage.before for stage in demonstration.stages)
        assert demonstration.repaired == demonstration.before


def test_only_what_the_report_holds_is_added_to_it() -> None:
    part = page_data.part(made_report())
    assert [(s.fault, s.variant) for s in part.sights] == [
        ("mask_adds_zero", "zero"),
        ("mask_adds_zero", "missing"),
        ("missing_scale", "absent"),
    ]


def test_the_part_comes_back_equal_from_json(part: PagePart) -> None:
    report = replace(every_variant(), page=part)
    assert from_json(to_json(report)) == report


def test_the_slope_is_w_times_one_minus_w_and_falls_without_the_scale(part: PagePart) -> None:
    assert [slope.head_width for slope in part.slopes] == [4, 8, 16, 32, 64, 128, 256, 512]
    for slope in part.slopes:
        # w (1 - w) is at most 1/4; with 16 keys the largest weight is at least 1/16.
        assert 0 < slope.unscaled <= 0.25
        assert 0.1 < slope.scaled <= 0.25
    assert part.slopes[0].unscaled > part.slopes[0].scaled
    assert part.slopes[-1].unscaled < part.slopes[-1].scaled / 3


def test_positions_are_sines_and_cosines_of_falling_frequencies(part: PagePart) -> None:
    table = np.array(part.positions)
    assert table.shape == (64, 32)
    for p, i in ((0, 0), (1, 0), (63, 7), (17, 15)):
        angle = p / 10000 ** (2 * i / 32)
        assert table[p, 2 * i] == pytest.approx(np.sin(angle), abs=1e-12)
        assert table[p, 2 * i + 1] == pytest.approx(np.cos(angle), abs=1e-12)
