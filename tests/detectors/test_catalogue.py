"""What holds for every detector: it is quiet on sound code, it says its law, and its name is its file's."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

import detectors.attention
import detectors.block
import detectors.second
from detectors import norm_formula
from detectors.catalogue import BY_NAME, CONTRACTS, DETECTORS, SECOND
from detectors.detector import Detector
from detectors.examination import measure
from detectors.fixtures import Fixture
from tests.detectors import toy

Array = NDArray[Any]

SOUND = tuple(Fixture(extents, seed) for seed, extents in enumerate(toy.SOUND))

by_name = pytest.mark.parametrize("detector", CONTRACTS, ids=lambda detector: detector.name)


@by_name
@pytest.mark.parametrize("fixture", SOUND, ids=lambda fixture: str(fixture.seed))
def test_a_detector_is_quiet_on_a_sound_block(detector: Detector, fixture: Fixture) -> None:
    signal = measure(toy.Toy().subject(fixture), fixture, detector)
    assert not signal.fired
    assert signal.value is None or signal.value >= 0


NOT_EVERYWHERE = {
    "batch", "reach", "prefix", "isolation", "short_queries", "slope",
    "padding", "padded_rows", "padded_reach", "cache",
}  # fmt: skip
"""These need a second sequence, a second token (behind padding: a third) or a second key/value head."""


@by_name
def test_a_detector_measures_wherever_it_can(detector: Detector) -> None:
    missing = {fixture.seed for fixture in SOUND if _value(detector, fixture) is None}
    one_sequence, one_token, one_kv_head = {1}, {5}, {4}
    needed = {"batch": one_sequence, "isolation": one_kv_head, "padded_reach": {4} | one_token}
    assert missing == needed.get(detector.name, one_token if detector.name in NOT_EVERYWHERE else set())


def _value(detector: Detector, fixture: Fixture) -> float | None:
    return measure(toy.Toy().subject(fixture), fixture, detector).value


def test_every_file_of_a_detector_is_in_the_catalogue() -> None:
    files = [
        path.stem
        for package in (detectors.attention, detectors.block, detectors.second)
        for path in Path(package.__path__[0]).glob("*.py")
        if path.stem != "__init__"
    ]
    assert sorted(detector.name for detector in CONTRACTS) == sorted([*files, "norm_formula"])
    assert {detector.name: detector for detector in CONTRACTS} == BY_NAME


def test_the_contracts_on_second_calls_come_before_the_last() -> None:
    assert (*DETECTORS[:-1], *SECOND, norm_formula.DETECTOR, DETECTORS[-1]) == CONTRACTS
    assert {detector.needs for detector in DETECTORS} == {"call", "weights", "attention"}
    assert {detector.needs for detector in SECOND} == {"padding", "step"}


def test_shape_is_measured_last_since_it_counts_the_failures_of_all() -> None:
    assert CONTRACTS[-1].name == "shape"


@by_name
def test_a_detector_says_its_law_in_one_sentence_per_language(detector: Detector) -> None:
    assert set(detector.law) == {"en", "zh"}
    assert all(law and "\n" not in law for law in detector.law.values())
    assert re.search("[\u4e00-\u9fff]", detector.law["zh"])
    assert not re.search("[\u4e00-\u9fff]", detector.law["en"])
    assert detector.unit


@by_name
def test_a_threshold_is_a_number_that_a_signal_can_exceed(detector: Detector) -> None:
    assert 0 <= detector.threshold < 0.1
    assert detector.weight > 0


THRESHOLDS = {
    # counts, shares, and weights that nothing but a fault makes
    0.0: {
        "shape", "finite", "repeatability", "reach", "axis", "future_weight", "self_weight", "huge_logits",
        "padded_reach", "padded_rows",
    },
    # far above the rounding of float32
    1e-6: {"future", "padding"},
    1e-3: {
        "batch", "prefix", "heads", "isolation", "order", "gradient_flow", "rows", "short_queries", "duplication",
        "first_token", "zero_query", "cache", "norm_formula",
    },
    1e-2: {"skip", "attention_branch", "feed_forward_branch"},
    0.05: {"slope"},
}  # fmt: skip

WEIGHTS = {
    2.0: {"shape", "skip", "gradient_flow", "feed_forward_branch", "order", "isolation", "slope"},
    0.5: {"prefix", "first_token", "zero_query"},
    0.25: {"heads"},
    0.1: {"norm_formula"},
}


@by_name
def test_what_breaks_a_contract_and_how_much_it_says_is_declared(detector: Detector) -> None:
    (threshold,) = (number for number, names in THRESHOLDS.items() if detector.name in names)
    assert detector.threshold == threshold
    weights = [number for number, names in WEIGHTS.items() if detector.name in names]
    assert detector.weight == (weights[0] if weights else 1.0)


@by_name
def test_a_detector_measures_with_the_access_it_says_it_needs_and_not_with_less(detector: Detector) -> None:
    fixture = Fixture(toy.EXTENTS, 0)
    whole = toy.Toy().subject(fixture)
    plain = replace(whole, weights=None, attention=None, padded=None, continued=None, norms={})
    levels = {
        "call": plain,
        "weights": replace(plain, weights=whole.weights),
        "attention": replace(plain, attention=whole.attention),
        "padding": replace(plain, padded=whole.padded),
        "step": replace(plain, continued=whole.continued),
        "norms": replace(plain, norms=whole.norms),
    }
    measured = {
        name for name, subject in levels.items() if measure(subject, fixture, detector).value is not None
    }
    assert measured == (set(levels) if detector.needs == "call" else {detector.needs})


@pytest.mark.parametrize("fill", [toy.added(-1e9), toy.replaced(-1e9)], ids=["added", "replaced"])
@pytest.mark.parametrize("fixture", SOUND, ids=lambda fixture: str(fixture.seed))
def test_a_finite_fill_that_is_low_enough_is_sound(
    fill: Callable[[Array, Array], Array], fixture: Fixture
) -> None:
    subject = toy.Toy(fill=fill).subject(fixture)
    assert not [detector.name for detector in CONTRACTS if measure(subject, fixture, detector).fired]
