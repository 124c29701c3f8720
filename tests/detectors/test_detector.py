from __future__ import annotations

import math
from dataclasses import replace

import pytest

from detectors.detector import Detector, Signal, inapplicable
from detectors.subject import Subject


def detector(threshold: float) -> Detector:
    return Detector("made", {"en": "a law", "zh": "定律"}, "unit", threshold, "call", lambda observation: 0.0)


@pytest.mark.parametrize(
    ("value", "fired"),
    [(0.0, False), (0.5, False), (math.nextafter(0.5, 1), True), (math.inf, True), (math.nan, True)],
)
def test_a_signal_fires_above_its_threshold_and_on_nan(value: float, fired: bool) -> None:
    assert Signal(detector(0.5), value).fired is fired


def test_a_threshold_of_zero_fires_on_the_smallest_number() -> None:
    assert not Signal(detector(0.0), 0.0).fired
    assert Signal(detector(0.0), math.ulp(0.0)).fired


def test_a_measurement_that_could_not_be_made_does_not_fire() -> None:
    assert not Signal(detector(0.0), None, "no access").fired
    assert Signal(detector(0.0), None).reason == ""


@pytest.mark.parametrize(
    ("kind", "declares", "reason"),
    [
        ("block", {"causal", "cached"}, ""),
        ("block", {"causal", "cached", "heads"}, ""),
        ("block", {"heads"}, "not applicable: it assumes cached and causal"),
        ("model", {"causal", "cached"}, "not for a subject of kind model"),
    ],
)
def test_a_contract_says_nothing_about_what_it_is_not_for(kind: str, declares: set[str], reason: str) -> None:
    made = replace(detector(0.0), assumes=frozenset({"causal", "cached"}))
    subject = Subject("it", lambda x, weights: x, kind=kind, declares=frozenset(declares))
    assert inapplicable(made, subject) == reason
