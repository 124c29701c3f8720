"""Generated fixtures: what they cover, that most of them can witness every fault, and that a seed decides them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import find, given, settings

from detectors.fixtures import Extents, Fixture
from faults import registry, strategies
from faults.model import Fault

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def many() -> tuple[Fixture, ...]:
    return strategies.drawn(1000, 0)


@cache
def hundred(start: int) -> tuple[Fixture, ...]:
    return strategies.drawn(100, start)


def described(fixtures: tuple[Fixture, ...]) -> list[tuple[Extents, int]]:
    return [(fixture.extents, fixture.seed) for fixture in fixtures]


@pytest.mark.parametrize("count", [1, 2, 100])
def test_as_many_are_drawn_as_were_asked_for_and_none_twice(count: int) -> None:
    found = described(strategies.drawn(count, 0))
    assert len(found) == len(set(found)) == count


def test_a_thousand_are_distinct_and_so_are_the_numbers_in_them(many: tuple[Fixture, ...]) -> None:
    assert len(set(described(many))) == len(many) == 1000
    assert len({fixture.seed for fixture in many}) == 1000


def test_two_draws_share_no_fixture() -> None:
    seeds = [fixture.seed for start in range(5) for fixture in strategies.drawn(20, start)]
    assert len(set(seeds)) == 100


def test_the_same_seed_gives_the_same_fixtures_and_another_gives_others() -> None:
    first = strategies.drawn(20, 5)
    assert described(strategies.drawn(20, 5)) == described(first)
    assert [f.extents for f in strategies.drawn(20, 6)] != [f.extents for f in first]


def test_a_seed_repeats_its_numbers_too() -> None:
    one, again = strategies.drawn(3, 5), strategies.drawn(3, 5)
    assert all((a.x == b.x).all() for a, b in zip(one, again, strict=True))


@pytest.mark.parametrize("start", range(5))
def test_a_hundred_cover_what_hides_and_what_shows_faults(start: int) -> None:
    drawn = [fixture.extents for fixture in hundred(start)]
    assert {e.dtype for e in drawn} == {"float32", "float64"}
    assert {e.norm_kind for e in drawn} == {"layer", "rms"}
    assert {e.batch for e in drawn} == {1, 2, 3}
    assert {e.head_width for e in drawn} == {2, 3, 4, 5}
    assert any(e.tokens == e.heads for e in drawn)
    assert any(e.tokens > 9 for e in drawn)
    assert any(1 < e.kv_heads < e.heads for e in drawn)
    assert any(e.kv_heads == e.heads for e in drawn)
    assert {min(strategies.GAINS), max(strategies.GAINS)} <= {e.gain for e in drawn}
    # Extents that all differ: nothing fits where it should not.
    assert any(len({e.batch, e.tokens, e.heads, e.kv_heads, e.head_width, e.hidden}) == 6 for e in drawn)


def test_a_thousand_reach_64_tokens_and_are_mostly_short(many: tuple[Fixture, ...]) -> None:
    tokens = Counter(fixture.extents.tokens for fixture in many)
    assert {16, 33, 64} <= set(tokens)
    assert max(tokens) == 64
    assert min(tokens) == 3
    assert sum(count for length, count in tokens.items() if length <= 9) > 700


def test_no_extent_is_one_that_hides_a_fault(many: tuple[Fixture, ...]) -> None:
    for fixture in many:
        extents = fixture.extents
        assert extents.heads > 1
        assert extents.head_width > 1
        assert extents.tokens > 2


@pytest.mark.parametrize("start", range(5))
@pytest.mark.parametrize("fault", registry.all_faults(), ids=registry.NAMES)
def test_at_least_nine_in_ten_fixtures_can_witness_a_fault(fault: Fault, start: int) -> None:
    count = len(fault.variants)
    turns = [(fault.variants[at % count], f) for at, f in enumerate(hundred(start))]
    witnessing = sum(variant.witnesses(fixture.extents) for variant, fixture in turns)
    assert witnessing >= 90


@settings(max_examples=50, database=None, deadline=None)
@given(strategies.extents())
def test_the_strategy_gives_extents_that_make_a_fixture(extents: Extents) -> None:
    fixture = Fixture(extents, 0)
    assert fixture.x.shape == (extents.batch, extents.tokens, extents.width)
    assert fixture.x.dtype == extents.dtype
    assert extents.heads % extents.kv_heads == 0


def test_the_simplest_extents_are_the_first_of_every_choice() -> None:
    assert find(strategies.extents(), lambda extents: True) == Extents(
        2, 5, 4, 2, 2, 7, "float32", "layer", 0.1
    )


@pytest.mark.parametrize(
    ("bits", "numbers"),
    [
        # The first bit counts one, the second two, the third four: 5, 3 and 6.
        ([True, False, True], [(3, 2), (3, 1)]),  # 5 = 2 + 3 * 1
        ([True, True], [(2, 1), (2, 1)]),
        ([False, True, True], [(4, 2), (4, 1)]),
        ([], [(7, 0)]),
    ],
)
def test_choices_are_taken_from_the_bits_one_after_another(
    bits: list[bool], numbers: list[tuple[int, int]]
) -> None:
    source = strategies.Bits(bits)
    assert [source.below(count) for count, _ in numbers] == [expected for _, expected in numbers]


DRAW = """
from faults import strategies
print([(fixture.extents, fixture.seed) for fixture in strategies.drawn(60, 0)])
"""


def drawn_in(folder: Path, code: str) -> str:
    """What a child process in that folder draws."""
    path = os.pathsep.join((str(folder), str(ROOT)))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_drawing_leaves_nothing_on_disk(tmp_path: Path) -> None:
    assert drawn_in(tmp_path, DRAW)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "__pycache__"] == []


def test_fixtures_do_not_depend_on_what_else_was_imported_or_drawn_before(tmp_path: Path) -> None:
    (tmp_path / "constants.py").write_text(f"NUMBERS = {[*range(2, 40), *range(10**6, 10**6 + 40)]}\n")
    plain = drawn_in(tmp_path, DRAW)
    assert drawn_in(tmp_path, f"import constants{DRAW}") == plain
    assert drawn_in(tmp_path, f"from faults import strategies; strategies.drawn(7, 3){DRAW}") == plain
