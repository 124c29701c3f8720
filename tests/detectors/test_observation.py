from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.errors import DetectorError, NotObservable, SecondCallFailed
from detectors.fixtures import Fixture
from detectors.observation import Observation, largest, relative
from detectors.subject import Subject
from tests.detectors import toy

Array = NDArray[Any]


def observed(function: Callable[[Array], Any], fixture: Fixture) -> Observation:
    return Observation(toy.calls(function), fixture)


def test_output_is_what_the_subject_gives_for_the_tokens(sample: Fixture) -> None:
    np.testing.assert_array_equal(observed(lambda x: 2 * x, sample).output(), 2 * sample.x)


def test_output_is_asked_for_once(sample: Fixture) -> None:
    seen: list[Array] = []

    def function(x: Array) -> Array:
        seen.append(x)
        return x

    observation = observed(function, sample)
    assert observation.output() is observation.output()
    assert len(seen) == 1


def test_a_plain_call_replaces_no_weights(sample: Fixture) -> None:
    subject = Subject("picky", lambda x, weights: x if weights == {} else x * 0, sample.weights)
    np.testing.assert_array_equal(Observation(subject, sample).block(sample.x), sample.x)


def test_replaced_weights_reach_the_subject(sample: Fixture) -> None:
    subject = Subject("bias", lambda x, weights: x + weights["bo"], sample.weights)
    found = Observation(subject, sample).block(sample.x, {"bo": np.ones(12)})
    np.testing.assert_array_equal(found, sample.x + 1)


def test_weights_that_cannot_be_written_are_not_observable(sample: Fixture) -> None:
    observation = observed(lambda x: x, sample)
    with pytest.raises(NotObservable, match=r"^the subject's weights cannot be written$"):
        observation.block(sample.x, {"bo": np.ones(12)})
    assert observation.failures == []


def test_roles_that_were_not_found_are_named(sample: Fixture) -> None:
    observation = Observation(Subject("some", lambda x, weights: x, {"Wo": np.eye(12)}), sample)
    with pytest.raises(NotObservable, match=r"^the subject's W2, b2 could not be found among its weights$"):
        observation.weights("Wo", "W2", "b2")


def test_attention_by_itself_is_no_block(sample: Fixture) -> None:
    observation = Observation(Subject("attention", None, None, lambda q, k, v: v), sample)
    with pytest.raises(NotObservable, match=r"^the subject is attention by itself$"):
        observation.block(sample.x)


def test_output_of_attention_by_itself_is_that_for_random_query_key_and_value(sample: Fixture) -> None:
    query, key, value = (sample.draw(f"plain {name}", 1, 4, 5, 3) for name in ("query", "key", "value"))
    observation = Observation(Subject("attention", None, None, lambda q, k, v: q + 10 * k + 100 * v), sample)
    np.testing.assert_array_equal(observation.output(), query + 10 * key + 100 * value)


def test_a_model_gives_a_logit_for_each_token_id() -> None:
    fixture = Fixture(replace(toy.EXTENTS, vocab=7), 0)
    assert observed(lambda ids: np.eye(7)[ids], fixture).output().shape == (2, 5, 7)
    with pytest.raises(NotObservable, match=r"output of shape \(2, 5, 6\), required: \(2, 5, 7\)"):
        observed(lambda ids: np.zeros((2, 5, 6)), fixture).output()


# --- second calls ----------------------------------------------------------------------------------------------


def second(call: Callable[..., Any], plain: Callable[[Array], Any] = lambda x: x) -> Subject:
    """A subject whose padded and continued calls are the function given."""
    return replace(toy.calls(plain), padded=call, continued=call)


def ways(subject: Subject, fixture: Fixture) -> list[tuple[Observation, Callable[[], Array]]]:
    """A padded and a continued call, each of an observation of its own."""
    padded, continued = Observation(subject, fixture), Observation(subject, fixture)
    keep = np.ones(fixture.x.shape[:2], bool)
    return [
        (padded, lambda: padded.padded(fixture.x, keep)),
        (continued, lambda: continued.continued([fixture.x[:, :2], fixture.x[:, 2:]])),
    ]


def test_a_second_call_gives_the_shape_of_the_tokens(sample: Fixture) -> None:
    ids = Fixture(replace(toy.EXTENTS, vocab=7), 0)
    for _, call in ways(second(lambda *given: np.ones((2, 5, 12))), sample):
        assert call().shape == (2, 5, 12)
    model = second(lambda *given: np.ones((2, 5, 7)), lambda x: np.eye(7)[x])
    for _, call in ways(model, ids):
        assert call().shape == (2, 5, 7)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda *given: np.ones((2, 4, 12)), "output of shape (2, 4, 12), required: (2, 5, 12)"),
        (lambda *given: np.full((2, 5, 12), "x"), "output of dtype <U1, required: real numbers"),
    ],
)
def test_a_second_call_that_fails_is_told_from_one_that_cannot_be_made(
    call: Callable[..., Any], line: str, sample: Fixture
) -> None:
    for observation, made in ways(second(call), sample):
        with pytest.raises(SecondCallFailed) as raised:
            made()
        assert str(raised.value) == f"the call failed: {line}"
        assert observation.failures == [line]


def test_where_the_plain_call_fails_no_second_one_is_made(sample: Fixture) -> None:
    asked: list[Any] = []
    for observation, made in ways(second(lambda *given: asked.append(given), lambda x: x[0]), sample):
        with pytest.raises(NotObservable) as raised:
            made()
        assert type(raised.value) is NotObservable
        assert observation.failures == ["output of shape (5, 12), required: (2, 5, 12)"]
    assert asked == []


# --- operations that were followed -----------------------------------------------------------------------------


def followed(sites: Callable[[Array], Any] | None, fixture: Fixture) -> Observation:
    return Observation(Subject("block", lambda x, weights: x, sites=sites), fixture)


def test_operations_are_followed_once_on_the_fixtures_tokens(sample: Fixture) -> None:
    asked: list[Array] = []

    def sites(x: Array) -> list[dict[str, float]]:
        asked.append(x)
        return [{"rows": 0.5}]

    observation = followed(sites, sample)
    assert observation.sites() == observation.sites() == [{"rows": 0.5}]
    assert len(asked) == 1
    assert asked[0] is sample.x


def out_of_reach(x: Array) -> Any:
    raise ValueError("a compiled kernel")


@pytest.mark.parametrize(
    ("sites", "reason"),
    [
        (None, "the subject's attention cannot be called by itself, nor its operations be followed"),
        (out_of_reach, "its operations could not be followed: a compiled kernel"),
        (
            lambda x: [],
            "no softmax over the product of two projections was found among its operations",
        ),
    ],
)
def test_why_there_are_no_operations_is_said(sites: Any, reason: str, sample: Fixture) -> None:
    with pytest.raises(NotObservable) as raised:
        followed(sites, sample).sites()
    assert str(raised.value) == reason


def test_attention_that_cannot_be_called_is_not_observable(sample: Fixture) -> None:
    observation = observed(lambda x: x, sample)
    value = np.ones((1, 4, 5, 3))
    with pytest.raises(NotObservable, match=r"^the subject's attention cannot be called by itself$"):
        observation.attend(value, value, value)
    assert observation.failures == []


def test_attention_may_have_fewer_queries_and_other_value_channels(sample: Fixture) -> None:
    query, key, value = np.ones((1, 4, 2, 3)), np.ones((1, 4, 5, 3)), np.ones((1, 4, 5, 6))
    observation = Observation(toy.attends(lambda q, k, v: q @ k.swapaxes(2, 3) @ v), sample)
    # three channels, five keys
    assert observation.attend(query, key, value).tolist() == np.full((1, 4, 2, 6), 15.0).tolist()
    wrong = Observation(toy.attends(lambda q, k, v: np.zeros((1, 4, 5, 6))), sample)
    with pytest.raises(NotObservable, match=r"\(1, 4, 5, 6\), required: \(1, 4, 2, 6\)"):
        wrong.attend(query, key, value)


def raising(error: BaseException) -> Callable[[Array], Array]:
    def function(x: Array) -> Array:
        raise error

    return function


def test_an_exception_of_the_subject_is_kept_and_not_observable(sample: Fixture) -> None:
    observation = observed(raising(KeyError("W9")), sample)
    with pytest.raises(NotObservable, match="the call failed: KeyError: 'W9'"):
        observation.block(sample.x)
    assert observation.failures == ["KeyError: 'W9'"]


def test_a_message_of_many_lines_is_kept_as_one(sample: Fixture) -> None:
    observation = observed(raising(ValueError("first\n  second\r\nthird")), sample)
    with pytest.raises(NotObservable):
        observation.output()
    assert observation.failures == ["ValueError: first second third"]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interruption_passes_through(sample: Fixture, interruption: type[BaseException]) -> None:
    observation = observed(raising(interruption()), sample)
    with pytest.raises(interruption):
        observation.output()
    assert observation.failures == []


def test_another_shape_is_a_failure_that_names_both(sample: Fixture) -> None:
    observation = observed(lambda x: x[:, :1], sample)
    with pytest.raises(NotObservable, match=r"output of shape \(2, 1, 12\), required: \(2, 5, 12\)"):
        observation.output()
    assert observation.failures == ["output of shape (2, 1, 12), required: (2, 5, 12)"]


@pytest.mark.parametrize("made", [lambda x: None, lambda x: [[1], [1, 2]], lambda x: x.astype(str)])
def test_what_is_no_array_of_numbers_is_a_failure(made: Callable[[Array], Any], sample: Fixture) -> None:
    observation = observed(made, sample)
    with pytest.raises(NotObservable):
        observation.output()
    assert len(observation.failures) == 1


@pytest.mark.parametrize("dtype", [complex, object, bool])
def test_numbers_that_are_not_real_are_a_failure(dtype: type, sample: Fixture) -> None:
    observation = observed(lambda x: x.astype(dtype), sample)
    with pytest.raises(NotObservable, match=f"output of dtype {np.dtype(dtype)}, required: real numbers"):
        observation.output()


@pytest.mark.parametrize("dtype", ["f4", "i8", "u1"])
def test_whole_numbers_are_real_numbers_too(dtype: str, sample: Fixture) -> None:
    found = observed(lambda x: np.ones_like(x, dtype), sample).output()
    assert found.tolist() == np.ones((2, 5, 12)).tolist()


def test_nested_lists_are_taken_as_an_array(sample: Fixture) -> None:
    np.testing.assert_array_equal(observed(lambda x: x.tolist(), sample).output(), sample.x)


def test_a_buffer_that_the_subject_uses_again_does_not_change_what_was_seen(sample: Fixture) -> None:
    buffer = np.zeros_like(sample.x)

    def function(x: Array) -> Array:
        buffer[:] = x
        return buffer

    observation = observed(function, sample)
    first = observation.output()
    observation.block(sample.x + 1)
    np.testing.assert_array_equal(first, sample.x)


def test_a_failure_is_remembered_and_not_tried_again(sample: Fixture) -> None:
    observation = observed(raising(ValueError("no")), sample)
    for _ in range(2):
        with pytest.raises(NotObservable, match="ValueError: no"):
            observation.output()
    assert len(observation.failures) == 1


def test_once_keeps_values_and_reasons(sample: Fixture) -> None:
    observation = observed(lambda x: x, sample)
    tried: list[str] = []

    def refuses(seen: Observation) -> int:
        assert seen is observation
        tried.append("refuses")
        raise NotObservable("because")

    def adds(seen: Observation, more: int) -> int:
        assert seen is observation
        tried.append(f"adds {more}")
        return 10 + more

    for _ in range(2):
        with pytest.raises(NotObservable, match="because"):
            observation.once(refuses)
        assert (observation.once(adds, 1), observation.once(adds, 2)) == (11, 12)
    assert tried == ["refuses", "adds 1", "adds 2"]


def test_once_does_not_keep_other_errors(sample: Fixture) -> None:
    observation = observed(lambda x: x, sample)
    tried: list[int] = []

    def fails_first(_: Observation) -> int:
        tried.append(1)
        return 3 // (len(tried) - 1)

    with pytest.raises(ZeroDivisionError):
        observation.once(fails_first)
    assert observation.once(fails_first) == 3


def test_not_observable_is_an_error_of_this_package() -> None:
    assert issubclass(NotObservable, DetectorError)


def test_two_observations_share_nothing(sample: Fixture) -> None:
    one, other = observed(lambda x: x, sample), observed(lambda x: 3 * x, sample)
    one.output()
    np.testing.assert_array_equal(other.output(), 3 * sample.x)


def test_largest_is_the_largest_absolute_value() -> None:
    assert largest(np.array([1.0, -3.0, 2.0])) == 3.0
    assert largest(np.zeros((0, 2))) == 0.0
    assert np.isnan(largest(np.array([1.0, np.nan])))
    assert largest(np.array([1.0, -np.inf])) == np.inf


@pytest.mark.parametrize(
    ("difference", "whole", "expected"),
    [([1.0, -2.0], [4.0, -8.0], 0.25), ([0.0], [0.0], 0.0), ([0.5], [0.0], 1.0), ([0.0], [5.0], 0.0)],
)
def test_relative_is_a_ratio_of_largest_values(
    difference: list[float], whole: list[float], expected: float
) -> None:
    assert relative(np.array(difference), np.array(whole)) == expected


@pytest.mark.parametrize(("difference", "whole"), [(np.nan, 1.0), (np.nan, 0.0), (1.0, np.nan)])
def test_relative_does_not_hide_nan(difference: float, whole: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(relative(np.array([difference]), np.array([whole])))
