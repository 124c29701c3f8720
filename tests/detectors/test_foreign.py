"""Somebody's code as a subject: calls, masks, layouts, outputs, weights, questions. The subjects live right here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import foreign
from detectors.declaration import Declaration, Question, limits
from detectors.fixtures import Extents
from detectors.foreign import Foreign, Target
from detectors.host import SubjectRaised
from detectors.testing import NO_TARGET, Here
from tests.detectors import toy

Array = NDArray[Any]


def held(subject: Any, **declared: Any) -> Foreign:
    host = Here(subject)
    return Foreign(host, foreign.load(host, NO_TARGET), declared)


def qkv(heads: int = 3, tokens: int = 4, width: int = 2) -> list[Array]:
    draw = np.random.default_rng(1).standard_normal
    return [draw((1, heads, tokens, width)).astype("f4") for _ in range(3)]


SOUND = toy.Toy().attention


def attention_of(foreign_: Foreign) -> Callable[[Array, Array, Array], Array]:
    attention = foreign_.subject("it").attention
    assert attention is not None
    return attention


@pytest.mark.parametrize(
    ("declared", "function"),
    [
        ({}, SOUND),
        ({"order": "kqv"}, lambda k, q, v: SOUND(q, k, v)),
        ({"order": "vkq"}, lambda v, k, q: SOUND(q, k, v)),
        (
            {"layout": "bthc"},
            lambda q, k, v: SOUND(*(side.swapaxes(1, 2) for side in (q, k, v))).swapaxes(1, 2),
        ),
        ({"mask": "additive"}, lambda q, k, v, m: weighed(q, k, v, m)),
        ({"mask": "keep"}, lambda q, k, v, m: weighed(q, k, v, np.where(m, 0, -np.inf))),
        ({"mask": "hide"}, lambda q, k, v, m: weighed(q, k, v, np.where(m, -np.inf, 0))),
        ({"output": 1}, lambda q, k, v: (None, SOUND(q, k, v))),
        ({"output": "out"}, lambda q, k, v: {"out": SOUND(q, k, v), "logits": q}),
        ({}, lambda q, k, v: (SOUND(q, k, v), "cache")),
    ],
)
def test_attention_is_called_as_declared(declared: Mapping[str, Any], function: Any) -> None:
    query, key, value = qkv()
    made = held(function, kind="attention", **declared)
    assert made.problem == ""
    found = attention_of(made)(query, key, value)
    assert found == pytest.approx(SOUND(query, key, value), abs=1e-6)


def weighed(query: Array, key: Array, value: Array, mask: Array) -> Array:
    scores = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5 + mask
    odds = np.exp(scores)
    found: Array = odds / odds.sum(-1, keepdims=True) @ value
    return found


def test_a_mask_is_aligned_to_the_last_query_and_open_where_nothing_is_causal() -> None:
    query, key, value = qkv()
    causal = attention_of(held(weighed, kind="attention", mask="additive"))
    assert causal(query[:, :, 2:], key, value) == pytest.approx(SOUND(query, key, value)[:, :, 2:], abs=1e-6)
    open_ = attention_of(held(weighed, kind="attention", mask="additive", causal=False))
    assert open_(query, key, value) == pytest.approx(weighed(query, key, value, np.zeros((4, 4))), abs=1e-6)


def test_values_wider_than_keys_go_through_in_parts() -> None:
    def strict(query: Array, key: Array, value: Array) -> Array:
        assert value.shape[-1] == key.shape[-1]
        return SOUND(query, key, value)

    query, key, _ = qkv()
    value = np.random.default_rng(2).standard_normal((1, 3, 4, 5)).astype("f4")
    found = attention_of(held(strict, kind="attention"))(query, key, value)
    assert found == pytest.approx(SOUND(query, key, value), abs=1e-6)


@pytest.mark.parametrize("spread", [np.repeat, lambda side, group, axis: np.tile(side, (1, group, 1, 1))])
def test_grouped_heads_are_asked_with_the_keys_of_their_group(spread: Any) -> None:
    def grouped(query: Array, key: Array, value: Array) -> Array:
        assert key.shape[1] == 2
        return SOUND(query, spread(key, 2, axis=1), spread(value, 2, axis=1))

    query, key, value = qkv(heads=4)
    found = attention_of(held(grouped, kind="attention", heads=4, kv_heads=2))(query, key, value)
    right = np.allclose(found, SOUND(query, key, value), atol=1e-6)
    assert right == (spread is np.repeat)


# --- models ----------------------------------------------------------------------------------------------------

TABLE = np.random.default_rng(4).standard_normal((7, 7)).astype("f4")


def running_mean(tokens: Array) -> Array:
    """Logits [batch, token, 7] of a causal model without attention."""
    found: Array = np.cumsum(TABLE[tokens], axis=1) / np.arange(1, tokens.shape[1] + 1)[:, None]
    return found


@pytest.mark.parametrize("last", [lambda out: out[:, -1:], lambda out: out[:, -1]])
def test_a_model_that_answers_for_the_last_token_alone_is_asked_prefix_by_prefix(last: Any) -> None:
    asked: list[int] = []

    def model(tokens: Array) -> Array:
        asked.append(tokens.shape[1])
        found: Array = last(running_mean(tokens))
        return found

    call = held(model, kind="model", vocab=7).subject("it").call
    assert call is not None
    asked.clear()
    tokens = np.array([[1, 2, 3], [4, 5, 6]])
    assert call(tokens, {}) == pytest.approx(running_mean(tokens), abs=1e-6)
    assert asked == [3, 1, 2, 3]


def test_the_future_is_not_observable_in_a_model_that_answers_for_the_last_token_alone() -> None:
    model = held(lambda tokens: running_mean(tokens)[:, -1:], kind="model", vocab=7)
    assert sorted(model.limits) == ["future", "prefix"]
    assert held(running_mean, kind="model", vocab=7).limits == {}


def test_more_or_fewer_logits_than_ids_are_no_fault() -> None:
    tokens = np.array([[1, 2, 3]])
    for width in (5, 9):
        call = (
            held(lambda ids, w=width: np.ones((*ids.shape, w), "f4"), kind="model", vocab=7)
            .subject("it")
            .call
        )
        assert call is not None
        found = call(tokens, {})
        assert found.shape == (1, 3, 7)
        assert found.sum(-1).tolist() == [[min(width, 7)] * 3]


@pytest.mark.parametrize(
    "odd",
    [
        # a number for each token, three numbers for two sequences, none at all, and more of them for every prefix
        lambda ids: ids.astype("f4"),
        lambda ids: np.ones(3, "f4"),
        lambda ids: np.ones((2, 0), "f4"),
        lambda ids: np.ones((2, 2 * ids.shape[1]), "f4"),
    ],
)
def test_what_is_no_logits_of_the_last_token_is_handed_on_as_it_is(odd: Any) -> None:
    made = held(odd, kind="model", vocab=7)
    call, ids = made.subject("it").call, np.array([[1, 2, 3], [4, 5, 6]])
    assert call is not None
    assert call(ids, {}).tolist() == odd(ids).tolist()
    assert made.limits == {}


def test_a_model_that_answers_for_the_last_token_alone_shows_no_future() -> None:
    made = held(lambda ids: running_mean(ids)[:, -1], kind="model", vocab=7, design="qk_norm")
    call = made.subject("it").call
    assert call is not None
    assert call(np.array([[3], [4]]), {}) == pytest.approx(TABLE[[3, 4]][:, None])
    last = "it answers for the last token alone: no later token was in the call"
    assert made.limits == {**limits(made.declared), "future": last, "prefix": last}
    assert set(made.limits) == {"future", "prefix", "slope", "duplication"}


def test_of_a_large_vocabulary_a_thousand_ids_are_looked_at() -> None:
    made = held(lambda ids: np.ones((*ids.shape, 5000), "f4"), kind="model", vocab=5000)
    call = made.subject("it").call
    assert call is not None
    assert call(np.array([[1, 2]]), {}).shape == (1, 2, 1000)
    assert made.fixtures()[0].extents.vocab == 1000


def test_token_ids_stay_below_the_vocabulary_and_sequences_below_the_longest() -> None:
    subject = held(running_mean, kind="model", vocab=7, max_length=6)
    assert [fixture.extents.tokens for fixture in subject.fixtures()] == [5, 6]
    assert all(fixture.x.max() < 7 for fixture in subject.fixtures())


@pytest.mark.parametrize(
    ("heads", "longest", "tokens"),
    [
        (None, 32, [5, 9]),
        (1, 32, [5, 9]),
        (2, 32, [2, 5, 9]),
        (18, 32, [5, 9, 18]),
        (19, 32, [5, 9]),
        (18, 12, [5, 9, 12]),
        (18, 3, [3]),
        # where the longest is not known, no more are asked than of anybody
        (2, None, [2, 5, 9]),
        (18, None, [5, 9]),
    ],
)
def test_as_many_tokens_as_heads_come_besides(
    heads: int | None, longest: int | None, tokens: list[int]
) -> None:
    made = held(mapping(width=2 * (heads or 1)), heads=heads, max_length=longest)
    assert [fixture.extents.tokens for fixture in made.fixtures()] == tokens
    assert {(fixture.extents.batch, fixture.seed) for fixture in made.fixtures()} == {(2, 0)}
    assert {fixture.seed for fixture in made.fixtures(seed=3)} == {3}


@pytest.mark.parametrize(
    ("declared", "heads", "head_width"),
    [
        ({"kind": "attention"}, 3, 4),
        ({"kind": "attention", "width": 6}, 1, 6),
        ({"kind": "attention", "heads": 2}, 2, 4),
        ({"kind": "block", "width": 12}, 1, 12),
        ({"kind": "block", "width": 12, "heads": 4}, 4, 3),
        ({"kind": "model", "vocab": 7}, 1, 4),
    ],
)
def test_what_is_not_declared_of_the_sizes_is_unlike_any_other(
    declared: Mapping[str, Any], heads: int, head_width: int
) -> None:
    sizes = {"heads": heads, "kv_heads": heads, "head_width": head_width, "vocab": declared.get("vocab", 0)}
    found = foreign.fixture(Declaration(**declared), tokens=4, batch=1, seed=2)
    assert found.extents == Extents(batch=1, tokens=4, dtype="float32", norm_kind="rms", **sizes)
    assert found.seed == 2


def test_fewer_key_value_heads_are_asked_as_declared() -> None:
    declared = Declaration(kind="attention", heads=4, kv_heads=2, norm_kind="layer", dtype="float64")
    found = foreign.fixture(declared, 4)
    assert found.seed == held(mapping()).fixture(4).seed == 0
    assert found.extents == Extents(batch=2, tokens=4, heads=4, kv_heads=2, head_width=4, norm_kind="layer")


# --- blocks, weights, questions --------------------------------------------------------------------------------


def mapping(**changes: Any) -> dict[str, Any]:
    """x + tanh(norm(x) W), a block of width 4 without attention."""
    weights = {"W2": np.eye(4, dtype="f4")}

    def call(x: Array) -> Array:
        normed = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        found: Array = x + np.tanh(normed) @ weights["W2"]
        return found

    return {"kind": "block", "width": 4, "call": call, "weights": weights} | changes


def test_declared_weights_are_replaced_for_one_call_and_put_back() -> None:
    made = mapping()
    subject = held(made).subject("it")
    assert subject.call is not None
    assert subject.weights is not None
    x = np.random.default_rng(5).standard_normal((2, 3, 4)).astype("f4")
    before = subject.call(x, {})
    assert subject.call(x, {"W2": np.zeros((4, 4), "f4")}) == pytest.approx(x)
    assert subject.call(x, {}) == pytest.approx(before)
    assert made["weights"]["W2"].tolist() == np.eye(4).tolist()


def test_weights_that_the_call_takes_by_value_are_handed_over() -> None:
    frozen = np.eye(4, dtype="f4")
    frozen.flags.writeable = False
    made = mapping(weights={"W2": frozen}, call=lambda x, weights: x + np.tanh(x) @ weights["W2"])
    subject = held(made).subject("it")
    assert subject.call is not None
    assert sorted(subject.weights or {}) == ["W2"]
    x = np.ones((1, 2, 4), "f4")
    assert subject.call(x, {"W2": np.zeros((4, 4), "f4")}) == pytest.approx(x)


def test_weights_that_can_be_neither_written_nor_handed_over_are_no_access() -> None:
    frozen = np.eye(4, dtype="f4")
    frozen.flags.writeable = False
    assert held(mapping(weights={"W2": frozen})).subject("it").weights is None


def test_a_block_whose_output_does_not_grow_is_asked_for_the_place_of_its_norms() -> None:
    def bounded(x: Array) -> Array:
        found: Array = np.tanh(x)
        return found

    assert held(mapping(call=bounded)).questions["pre_norm"] == foreign.NORM
    assert "pre_norm" not in held(mapping(call=bounded)).subject("it").declares
    assert "pre_norm" not in held(mapping()).questions
    assert "pre_norm" in held(mapping(), norm="pre").subject("it").declares
    assert "pre_norm" not in held(mapping(call=bounded, norm="pre")).questions


@pytest.mark.parametrize(
    ("call", "asked"),
    [
        # what grows by less than a tenth of what its input does
        (lambda x: x * np.float32(0.07), True),
        (lambda x: x * np.float32(0.1), False),
        (lambda x: x * np.float32(0.14), False),
        # bounded, but far out only
        (lambda x: 1000 * np.tanh(x), True),
    ],
)
def test_a_tenth_of_a_plain_skips_growth_leaves_its_place_open(call: Any, asked: bool) -> None:
    made = held(mapping(call=call))
    assert made.questions == {
        "heads": foreign.HEADS,
        **(dict.fromkeys(("pre_norm", "sequential"), foreign.NORM) if asked else {}),
    }
    assert made.subject("it").declares.isdisjoint({"pre_norm", "sequential"}) is asked


def test_attention_beside_a_block_is_called_by_itself() -> None:
    query, key, value = qkv(heads=2)
    found = attention_of(held(mapping(attention=SOUND, heads=2)))(query, key, value)
    assert found == pytest.approx(SOUND(query, key, value), abs=1e-6)


def test_what_attention_gives_in_another_shape_is_handed_on_as_it_is() -> None:
    attention = attention_of(held(lambda q, k, v: v[0, 0], kind="attention", layout="bthc"))
    query, key, value = qkv()
    # heads and tokens have changed places: the first token of every head
    assert attention(query, key, value).tolist() == value[0, :, 0].tolist()


def test_an_unknown_number_of_heads_is_asked() -> None:
    assert "heads" not in held(mapping(heads=2, design="sandwich")).questions
    assert held(mapping()).questions["heads"] == foreign.HEADS
    assert "heads" not in held(mapping(heads=2)).questions


def test_what_the_call_does_to_its_input_and_how_coarse_it_is_are_noted() -> None:
    def scribbles(x: Array) -> Array:
        x += 1
        return x.astype("f2")

    subject = held(mapping(call=scribbles))
    assert subject.notes == [
        "the call writes into its input; it was given copies",
        "the output is float16; thresholds were widened to what it can hold",
    ]
    assert subject.roundoff == 2.0**-10


def test_a_refusal_is_kept_as_the_problem_and_an_exception_is_not() -> None:
    def raises(x: Array) -> Array:
        raise ValueError("boom")

    assert held(mapping(call=lambda x: None)).problem == "the call returned None; required: an array"
    assert held(mapping(call=raises)).problem == ""


@pytest.mark.parametrize(
    "error",
    [AttributeError("no debug"), NameError("query"), TypeError("missing 1 required positional argument")],
)
def test_code_that_cannot_run_here_is_a_problem_and_no_fault(error: Exception) -> None:
    def raises(x: Array) -> Array:
        raise error

    assert held(mapping(call=raises)).problem.startswith(f"it cannot be called: {type(error).__name__}")


@pytest.mark.parametrize("error", [TypeError("boom"), ValueError("a bad argument")])
def test_code_that_fails_with_these_numbers_is_no_problem_of_the_call(error: Exception) -> None:
    def raises(x: Array) -> Array:
        raise error

    assert held(mapping(call=raises)).problem == ""


def test_more_sequences_than_the_code_has_room_for_go_through_in_parts() -> None:
    room = np.zeros((3, 9, 8), "f4")

    def cached(x: Array) -> Array:
        room[: len(x), : x.shape[1]] = x
        return 2 * room[: len(x), : x.shape[1]]

    subject = held(mapping(call=cached))
    call, x = subject.subject("it").call, np.arange(5 * 4 * 8, dtype="f4").reshape(5, 4, 8)
    assert call is not None
    assert call(x, {}) == pytest.approx(2 * x)
    assert call(x, {}) == pytest.approx(2 * x)
    (note,) = subject.notes
    assert note.startswith("it failed on 5 sequences at once and was given few at a time: ValueError")


def test_what_few_sequences_fail_on_too_is_raised_as_it_was() -> None:
    def raises(x: Array) -> Array:
        raise ValueError(f"{len(x)} sequences")

    call = held(mapping(call=raises)).subject("it").call
    assert call is not None
    with pytest.raises(SubjectRaised, match="ValueError: 5 sequences"):
        call(np.zeros((5, 4, 8), "f4"), {})


def test_a_subject_is_named_by_module_and_attribute() -> None:
    assert Target.parse("a.b:C.d", "C(1)") == Target("a.b", "C.d", "C(1)")
    assert Target.parse("a:b:c") == Target("a:b", "c") == Target("a:b", "c", "")
    assert Target.parse("x/y.py:f").module == str(Path("x/y.py").absolute())
    for text in ("gpt", ":f", "gpt:"):
        with pytest.raises(Question, match="required: module:attribute"):
            Target.parse(text)
