from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import influence
from detectors.fixtures import Extents, Fixture
from detectors.observation import Observation
from detectors.patterns import pattern, patterns
from tests.detectors import toy

Array = NDArray[Any]


def drawn(*rows: str) -> Array:
    """A matrix drawn by hand: x is seen, . is not."""
    return np.array([[mark == "x" for mark in row] for row in rows])


CAUSAL = drawn("x...", "xx..", "xxx.", "xxxx")


def test_just_the_past_and_oneself_is_causal() -> None:
    assert pattern(CAUSAL) == "causal"
    assert pattern(drawn("x")) == "causal"


def test_everything_is_full() -> None:
    assert pattern(drawn("xxxx", "xxxx", "xxxx", "xxxx")) == "full"
    assert pattern(drawn("xx", "xx")) == "full"


def test_no_pair_is_nothing() -> None:
    assert pattern(drawn("....", "....", "....", "....")) == "nothing"


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(("xxxx", ".xxx", "..xx", "...x"), id="mirrored"),
        pytest.param((".xxx", "..xx", "...x", "...."), id="mirrored without oneself"),
        pytest.param(("xx..", "xxx.", "xxxx", "xxxx"), id="one too far"),
        pytest.param(("....", "x...", "xx..", "xxx."), id="diagonal lost"),
        pytest.param(("xxxx", "xxxx", ".xxx", "..xx"), id="mirrored and one too far"),
        pytest.param(("....", "....", "....", "x..."), id="the far corner alone"),
        pytest.param(("...x", "....", "....", "...."), id="the near corner alone"),
    ],
)
def test_a_mirrored_or_displaced_triangle_is_a_triangle(rows: tuple[str, ...]) -> None:
    assert pattern(drawn(*rows)) == "triangle"


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(("x...", ".x..", "..x.", "...x"), id="the diagonal alone"),
        pytest.param(("xx..", "xx..", "..xx", "..xx"), id="blocks"),
        pytest.param(("x...", "xx..", "x.x.", "xxxx"), id="a hole in the past"),
        pytest.param(("x..x", "xx..", "xxx.", "xxxx"), id="one pair in the future"),
        pytest.param(("x...", "xx..", ".xx.", "..xx"), id="a window"),
        pytest.param(("xx..", "xx..", "xxxx", "xxxx"), id="some of those one too far"),
        pytest.param(("xxxx", ".xxx", "..xx", "...."), id="mirrored without one of the diagonal"),
    ],
)
def test_what_is_no_triangle_is_scrambled(rows: tuple[str, ...]) -> None:
    assert pattern(drawn(*rows)) == "scrambled"


def test_fewer_queries_than_keys_are_aligned_by_the_offset() -> None:
    assert pattern(drawn("xxx.", "xxxx"), offset=2) == "causal"
    assert pattern(drawn("x...", "xx.."), offset=2) == "triangle"
    assert pattern(drawn("xxxx", "xxxx"), offset=2) == "full"
    assert pattern(drawn("xxxx"), offset=3) == "causal"


def test_only_the_columns_that_were_measured_count() -> None:
    # Columns 0, 2 and 3 of a causal 4 x 4 matrix, of a mirrored one, and of one with a hole.
    assert pattern(drawn("x..", "x..", "xx.", "xxx"), columns=[0, 2, 3]) == "causal"
    assert pattern(drawn("xxx", ".xx", ".xx", "..x"), columns=[0, 2, 3]) == "triangle"
    assert pattern(drawn("x..", "x..", ".x.", "xxx"), columns=[0, 2, 3]) == "scrambled"
    assert pattern(drawn("x..", "x..", "xx.", "xxx")) != "causal"


PROBES = ("block", "attention", "huge", "short")


def seen(fixture: Fixture, made: toy.Toy) -> tuple[str | None, ...]:
    with np.errstate(all="ignore"):
        found = patterns(Observation(made.subject(fixture), fixture))
    return tuple(found.get(probe) for probe in PROBES)


@pytest.mark.parametrize("extents", [e for e in toy.SOUND if e.tokens > 1], ids=str)
def test_sound_code_is_causal_in_every_look(extents: Extents) -> None:
    assert seen(Fixture(extents, 0), toy.Toy()) == ("causal",) * 4


def test_no_mask_is_full_in_every_look(sample: Fixture) -> None:
    assert (
        seen(sample, toy.Toy(hidden=lambda queries, keys: np.zeros((queries, keys), bool))) == ("full",) * 4
    )


def test_a_flipped_mask_is_a_triangle_in_every_look(sample: Fixture) -> None:
    flipped = toy.Toy(
        hidden=lambda queries, keys: np.tril(np.ones((queries, keys), bool), keys - queries - 1)
    )
    assert seen(sample, flipped) == ("triangle",) * 4


def test_a_lost_diagonal_does_not_show_through_the_skip(sample: Fixture) -> None:
    lost = toy.Toy(hidden=lambda queries, keys: ~np.tri(queries, keys, keys - queries - 1, bool))
    assert seen(sample, lost) == ("causal", "triangle", "triangle", "triangle")


@pytest.mark.parametrize("fill", [toy.added(-1e4), toy.replaced(-1e4)], ids=["added", "replaced"])
def test_a_weak_fill_shows_at_huge_logits_alone(
    fill: Callable[[Array, Array], Array], sample: Fixture
) -> None:
    assert seen(sample, toy.Toy(fill=fill)) == ("causal", "causal", "full", "causal")


@pytest.mark.parametrize("fill", [toy.added(-1e9), toy.replaced(-1e9)], ids=["added", "replaced"])
def test_a_strong_fill_is_causal_in_every_look(
    fill: Callable[[Array, Array], Array], sample: Fixture
) -> None:
    assert seen(sample, toy.Toy(fill=fill)) == ("causal",) * 4


def test_a_mask_in_the_wrong_corner_shows_with_fewer_queries_alone(sample: Fixture) -> None:
    wrong = toy.Toy(hidden=lambda queries, keys: np.triu(np.ones((queries, keys), bool), 1))
    assert seen(sample, wrong) == ("causal", "causal", "causal", "triangle")


def test_heads_split_without_a_transpose_are_scrambled(sample: Fixture) -> None:
    wrong = toy.Toy(split=lambda x, heads: x.reshape(len(x), heads, x.shape[1], -1))
    assert seen(sample, wrong) == ("scrambled", "causal", "causal", "causal")


def test_one_token_asks_nothing_of_fewer_queries() -> None:
    fixture = Fixture(Extents(batch=2, tokens=1, heads=2, kv_heads=2, head_width=3, hidden=3), 0)
    asked: list[int] = []

    def attention(query: Array, key: Array, value: Array) -> Array:
        asked.append(query.shape[2])
        return value

    patterns(Observation(toy.attends(attention), fixture))
    assert set(asked) == {1}
    assert seen(fixture, toy.Toy()) == ("causal", "causal", "causal", None)


def test_looks_that_need_attention_are_left_out_without_it(sample: Fixture) -> None:
    assert patterns(Observation(toy.calls(lambda x: x), sample)) == {"block": "scrambled"}


def test_looks_that_need_a_block_are_left_out_without_one(sample: Fixture) -> None:
    by_itself = replace(toy.attends(toy.Toy().attention), call=None, kind="attention")
    causal = {"attention": "causal", "huge": "causal", "short": "causal"}
    assert patterns(Observation(by_itself, sample)) == causal
    uncached = replace(by_itself, declares=frozenset({"causal"}))
    assert patterns(Observation(uncached, sample)) == {"attention": "causal", "huge": "causal"}


def test_a_thousandth_is_dead_and_a_millionth_no_leak(
    sample: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    influences = np.full((5, 5), 1e-6) + np.tril(np.ones((5, 5)))
    monkeypatch.setattr(influence, "reach", lambda observation: influences)
    observation = Observation(toy.calls(running_mean), sample)
    assert patterns(observation) == {"block": "causal"}
    influences[4, 0] = 0.00101
    assert patterns(observation) == {"block": "causal"}
    influences[4, 0] = 1e-3
    assert patterns(observation) == {"block": "scrambled"}
    influences[4, 0], influences[0, 4] = 1, 1.01e-6
    assert patterns(observation) == {"block": "scrambled"}


def test_a_block_that_ignores_its_input_shows_nothing(sample: Fixture) -> None:
    assert patterns(Observation(toy.calls(lambda x: 0 * x), sample)) == {"block": "nothing"}


def running_mean(x: Array) -> Array:
    mean: Array = np.cumsum(x, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return mean


@pytest.mark.parametrize(("share", "word"), [(0.0, "causal"), (1e-8, "causal"), (1e-4, "full")])
def test_a_faint_leak_from_the_future_is_seen_through_the_block(
    share: float, word: str, sample: Fixture
) -> None:
    leaking = toy.calls(lambda x: running_mean(x) + share * x.sum(axis=1, keepdims=True))
    assert patterns(Observation(leaking, sample)) == {"block": word}


@pytest.mark.parametrize(("left", "word"), [(1e-2, "causal"), (1e-4, "scrambled")])
def test_a_faint_past_counts_as_dead_through_the_block(left: float, word: str, sample: Fixture) -> None:
    def last_nearly_forgets_the_first(x: Array) -> Array:
        y = running_mean(x)
        y[:, -1] -= (1 - left) * x[:, 0] / 5
        return y

    assert patterns(Observation(toy.calls(last_nearly_forgets_the_first), sample)) == {"block": word}


def test_a_weight_must_be_positive_in_every_head(sample: Fixture) -> None:
    def one_head_blind(weights: Array) -> Array:
        weights = weights.copy()
        weights[:, 1, -1, 0] = 0
        return weights

    assert seen(sample, toy.Toy(weigh=one_head_blind))[1] == "scrambled"
