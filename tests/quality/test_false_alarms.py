"""Sound code is quiet: the block itself and correct rewrites of it, on a thousand fixtures each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from detectors.catalogue import DETECTORS
from detectors.examination import Examination, examine
from detectors.fixtures import DTYPES, NORMS, Extents, Fixture
from detectors.subject import Subject
from faults import reference
from tests.quality import rewrites
from tests.quality.conftest import MANY

SUBJECTS: dict[str, Callable[[Fixture], Subject]] = {
    "core": reference.subject,
    **{name: partial(rewrites.subject, name=name) for name in rewrites.REWRITES},
}


def alarm(found: Examination) -> str:
    """What an examination of sound code should not say; empty where it says nothing."""
    fired = sorted(found.fired)
    strange = {look: word for look, word in found.patterns.items() if word != "causal"}
    return f"{fired} {strange} {found.failures}" if fired or strange or found.failures else ""


@pytest.mark.parametrize("name", SUBJECTS)
def test_sound_code_is_quiet_on_a_thousand_fixtures(name: str, many: tuple[Fixture, ...]) -> None:
    alarms: list[str] = []
    measured: Counter[str] = Counter()
    for fixture in many:
        found = examine(SUBJECTS[name](fixture), fixture)
        alarms += [f"{fixture.extents} seed {fixture.seed}: {said}" for said in [alarm(found)] if said]
        measured.update(found.observed)
    assert not alarms, f"{len(alarms)} of {len(many)}: {alarms[0]}"
    assert measured == expected_measurements(many)


def expected_measurements(fixtures: tuple[Fixture, ...]) -> Counter[str]:
    """Quiet must not mean unseen: every detector measures every fixture, but for two that need extents above 1."""
    counts = Counter({detector.name: len(fixtures) for detector in DETECTORS})
    counts["batch"] = sum(fixture.extents.batch > 1 for fixture in fixtures)
    counts["isolation"] = sum(fixture.extents.kv_heads > 1 for fixture in fixtures)
    return counts


def test_the_thousand_cover_both_precisions_both_norms_and_every_kind_of_extents(
    many: tuple[Fixture, ...],
) -> None:
    extents = [fixture.extents for fixture in many]
    assert len(many) == MANY
    assert len({(fixture.extents, fixture.seed) for fixture in many}) == MANY
    for dtype in DTYPES:
        for norm in NORMS:
            assert sum((one.dtype, one.norm_kind) == (dtype, norm) for one in extents) > MANY / 8
    assert {one.batch for one in extents} >= {1, 2, 3}
    assert max(one.tokens for one in extents) == 64
    for special in (square, grouped, extreme):
        assert sum(map(special, extents)) > MANY / 20


def square(extents: Extents) -> bool:
    return extents.tokens == extents.heads


def grouped(extents: Extents) -> bool:
    return 1 < extents.kv_heads < extents.heads


def extreme(extents: Extents) -> bool:
    return extents.gain >= 3


@pytest.mark.parametrize("name", rewrites.REWRITES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_rewrite_keeps_the_dtype(name: str, dtype: str) -> None:
    fixture = Fixture(Extents(batch=2, tokens=5, heads=4, kv_heads=2, head_width=3, dtype=dtype), 0)
    value = fixture.draw("value", 1, 4, 5, 3)
    assert rewrites.block(fixture, name, fixture.x, fixture.weights).dtype == np.dtype(dtype)
    assert rewrites.REWRITES[name](value, value, value).dtype == np.dtype(dtype)


def test_there_are_at_least_six_rewrites_and_no_two_are_the_same_computation() -> None:
    fixture = Fixture(Extents(batch=2, tokens=9, heads=6, kv_heads=3, head_width=5), 1)
    outputs = {
        rewrites.block(fixture, name, fixture.x, fixture.weights).tobytes() for name in rewrites.REWRITES
    }
    assert len(rewrites.REWRITES) >= 6
    # Rounding tells them apart, but for two pairs: the ways to write -1e9, and looped heads under a boolean mask.
    assert len(outputs) >= len(rewrites.REWRITES) - 2
