from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import influence
from detectors.fixtures import Fixture
from detectors.observation import Observation
from tests.detectors import toy

Array = NDArray[Any]


def observed(function: Callable[[Array], Array], fixture: Fixture) -> Observation:
    return Observation(toy.calls(function), fixture)


def recorded(fixture: Fixture, look: Callable[[Observation], Array]) -> list[Array]:
    """The inputs of the calls that a measurement makes."""
    inputs: list[Array] = []

    def function(x: Array) -> Array:
        inputs.append(x)
        return np.eye(fixture.extents.vocab)[x] if fixture.extents.vocab else x

    look(observed(function, fixture))
    return inputs


def running_mean(x: Array) -> Array:
    """Every token sees itself and all before it, with equal weight."""
    mean: Array = np.cumsum(x, axis=1) / np.arange(1, x.shape[1] + 1)[:, None]
    return mean


def test_all_tokens_are_moved_when_there_are_up_to_sixteen() -> None:
    assert influence.sources(1) == [0]
    assert influence.sources(16) == list(range(16))


def test_five_tokens_from_first_to_last_are_moved_when_there_are_more() -> None:
    assert influence.sources(17) == [0, 4, 8, 12, 16]
    assert influence.sources(64) == [0, 16, 32, 47, 63]


def test_visibility_moves_one_token_in_each_copy_and_none_in_the_first(sample: Fixture) -> None:
    (copies,) = recorded(sample, influence.visibility)
    moved = copies - sample.x[0]
    assert copies.shape == (6, 5, 12)
    assert not moved[0].any()
    for source in range(5):
        assert [bool(moved[source + 1, token].any()) for token in range(5)] == [t == source for t in range(5)]


def test_visibility_moves_each_token_in_a_direction_of_its_own_that_is_no_constant(sample: Fixture) -> None:
    (copies,) = recorded(sample, influence.visibility)
    directions = (copies - sample.x[0])[np.arange(1, 6), np.arange(5)]
    np.testing.assert_allclose(directions, sample.draw("directions", 5, 12), atol=1e-15)
    assert np.all(directions.std(axis=1) > 0.3)
    assert len({float(direction[0]) for direction in directions}) == 5


def test_visibility_of_a_running_sum_is_the_size_of_each_move_below_the_diagonal(sample: Fixture) -> None:
    (copies,) = recorded(sample, influence.visibility)
    sizes = np.abs(copies[1:] - copies[0]).max(axis=(1, 2))
    found = influence.visibility(observed(lambda x: np.cumsum(x, axis=1), sample))
    np.testing.assert_allclose(found, np.tril(np.ones((5, 5))) * sizes / sizes.max(), atol=1e-15)


def test_visibility_is_query_by_source_and_never_the_other_way_round() -> None:
    fixture = Fixture(replace(toy.EXTENTS, tokens=17), 0)
    found = influence.visibility(observed(lambda x: np.roll(x, 1, axis=1), fixture))
    assert found.shape == (17, 5)
    # y[t + 1] = x[t]: source number 1 is token 4, so it is seen at token 5 alone
    assert np.flatnonzero(found[:, 1]).tolist() == [5]


def test_visibility_is_over_the_largest_change_however_small_that_is(sample: Fixture) -> None:
    assert influence.visibility(observed(lambda x: 1e-6 * x, sample)).max() == 1


def test_visibility_of_a_constant_is_zero(sample: Fixture) -> None:
    assert not influence.visibility(observed(np.zeros_like, sample)).any()


def test_reach_moves_one_of_identical_tokens_both_ways_in_two_directions(sample: Fixture) -> None:
    (copies,) = recorded(sample, influence.reach)
    forth, back = copies.reshape(2, 2, 5, 5, 12)
    middle = forth[0, 0, 4]
    assert np.all(middle == sample.draw("alike", 12))
    for direction in range(2):
        for source in range(5):
            others = [token for token in range(5) if token != source]
            assert np.all(forth[direction, source, others] == middle)
            np.testing.assert_allclose(
                forth[direction, source, source] - middle,
                middle - back[direction, source, source],
                rtol=1e-9,
            )
    moves = forth[:, 0, 0] - middle
    np.testing.assert_allclose(moves, 1e-4 * sample.draw("nudges", 2, 1, 12)[:, 0], atol=1e-15)
    assert not np.allclose(moves[0], moves[1])


@pytest.mark.parametrize(("dtype", "step"), [("float32", 1e-2), ("float64", 1e-4)])
def test_reach_steps_are_as_small_as_the_dtype_allows(dtype: str, step: float) -> None:
    (copies,) = recorded(Fixture(replace(toy.EXTENTS, dtype=dtype), 0), influence.reach)
    forth, back = copies.astype(float).reshape(2, 2, 5, 5, 12)
    # 24 standard normal numbers times the step
    assert 1.2 * step < np.abs(forth - back).max() / 2 < 5 * step


def test_reach_is_one_wherever_all_visible_tokens_weigh_alike(sample: Fixture) -> None:
    np.testing.assert_allclose(
        influence.reach(observed(running_mean, sample)), np.tril(np.ones((5, 5))), atol=1e-9
    )


@pytest.mark.parametrize("direction", [0, 1])
def test_reach_takes_the_larger_of_two_directions(direction: int, sample: Fixture) -> None:
    answered = np.zeros((2, 2, 5))  # sign, direction, source: the subject is deaf to one of the directions
    answered[:, direction] = 1
    found = influence.reach(observed(lambda x: running_mean(x) * answered.reshape(-1, 1, 1), sample))
    np.testing.assert_allclose(found, np.tril(np.ones((5, 5))), atol=1e-9)


def test_reach_weighs_each_row_by_the_number_of_its_visible_tokens(sample: Fixture) -> None:
    # Everybody sees everybody with weight 1: times t + 1, over the median of the pairs of different tokens (3).
    found = influence.reach(
        observed(lambda x: np.broadcast_to(x.sum(axis=1, keepdims=True), x.shape), sample)
    )
    np.testing.assert_allclose(found, np.arange(1, 6)[:, None] / 3 * np.ones((5, 5)), atol=1e-9)


def test_reach_takes_its_median_from_the_living_pairs(sample: Fixture) -> None:
    def last_sees_all(x: Array) -> Array:
        y = np.zeros_like(x)
        y[:, -1] = x.sum(axis=1)
        return y

    found = influence.reach(observed(last_sees_all, sample))
    np.testing.assert_allclose(found[-1], np.ones(5), atol=1e-9)
    assert not found[:-1].any()


def test_reach_of_a_constant_and_of_one_token_is_zero() -> None:
    constant = observed(np.zeros_like, Fixture(toy.EXTENTS, 0))
    assert influence.reach(constant).tolist() == np.zeros((5, 5)).tolist()
    lonely = observed(running_mean, Fixture(replace(toy.EXTENTS, tokens=1), 0))
    assert influence.reach(lonely).tolist() == [[0]]


@pytest.mark.parametrize(
    ("vocab", "steps"), [(2, [1, 1, 1, 1, 1]), (3, [1, 2, 1, 2, 1]), (9, [1, 2, 3, 4, 5])]
)
def test_visibility_of_token_ids_replaces_one_in_each_copy_by_another(vocab: int, steps: list[int]) -> None:
    fixture = Fixture(replace(toy.EXTENTS, vocab=vocab), 0)
    (copies,) = recorded(fixture, influence.visibility)
    assert not copies.flags.writeable
    # rows: the untouched sequence, then one for each source; the steps go round from the last id to id 0
    assert ((copies - fixture.x[0]) % vocab).tolist() == [[0] * 5, *np.diag(steps).tolist()]
    assert 0 <= copies.min() <= copies.max() < vocab


@pytest.mark.parametrize("vocab", [3, 9])
def test_reach_of_token_ids_replaces_one_of_identical_ids_by_two_others_and_by_none(vocab: int) -> None:
    fixture = Fixture(replace(toy.EXTENTS, vocab=vocab), 0)
    (copies,) = recorded(fixture, influence.reach)
    assert not copies.flags.writeable
    replaced, none = ((copies - fixture.x[0, 0]) % vocab).reshape(2, 2, 5, 5).tolist()
    assert replaced == [np.eye(5).tolist(), (2 * np.eye(5)).tolist()]
    assert none == np.zeros((2, 5, 5)).tolist()
    assert 0 <= copies.min() <= copies.max() < vocab


def test_reach_of_token_ids_is_one_wherever_all_visible_ids_weigh_alike() -> None:
    table = np.array([[0.0, 1.0, 4.0], [2.0, 5.0, 4.0], [7.0, 1.0, 4.0]])
    found = influence.reach(
        observed(lambda ids: running_mean(table[ids]), Fixture(replace(toy.EXTENTS, vocab=3), 0))
    )
    np.testing.assert_allclose(found, np.tril(np.ones((5, 5))), atol=1e-9)


def test_each_is_measured_by_one_call_however_often_it_is_asked_for(sample: Fixture) -> None:
    calls: list[Array] = []

    def function(x: Array) -> Array:
        calls.append(x)
        return running_mean(x)

    observation = observed(function, sample)
    for _ in range(2):
        influence.visibility(observation)
        influence.reach(observation)
    assert len(calls) == 2
