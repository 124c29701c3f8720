"""No false alarm on legitimate designs, nor on code that public reports took for a bug."""

from __future__ import annotations

import pytest

from tests.quality.foreign import pairs
from tests.quality.foreign.designs import DESIGNS, NOT_BUGS

EVERY = {**DESIGNS, **NOT_BUGS}


@pytest.mark.parametrize("name", EVERY)
def test_a_legitimate_design_is_left_alone_once_declared(name: str) -> None:
    make, declared = EVERY[name]
    found = pairs.examined(make(), declared)
    assert [(finding.detector.name, finding.value) for finding in found.broken] == []
    assert found.verdict in ("sound", "fragile")
    assert not found.named


UNDECLARED = (
    "sliding window", "ALiBi", "prefix-LM", "bidirectional", "bidirectional block", "parallel block", "sandwich norms",
    "scaled residuals", "attention sink", "QK-norm", "post-norm",
)  # fmt: skip
"""Designs that break a contract unless they are declared: only so does staying quiet mean anything."""

OPEN = {"window": 0, "causal": True, "design": "sequential", "positions": None, "norm": "pre"}


@pytest.mark.parametrize("name", UNDECLARED)
def test_the_same_design_is_noticed_where_it_is_not_declared(name: str) -> None:
    make, declared = DESIGNS[name]
    assert pairs.examined(make(), {**declared, **OPEN}).broken


def test_there_is_a_case_for_each_report_and_each_design() -> None:
    assert len(NOT_BUGS) == 15
    assert len(DESIGNS) >= 13
