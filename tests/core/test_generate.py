"""Generation: the cache against the full pass, the choice of a token by hand, and the errors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core import attention, generate, heads, mask, model, optimizers, residual
from core.arrays import FloatArray
from core.block_config import BlockConfig
from core.errors import CoreError
from core.model_config import ModelConfig
from core.parameters import Parameters

SMALL = ModelConfig(vocabulary=11, width=12, layers=2, max_length=9, block=BlockConfig(heads=6))
GROUPED = BlockConfig(heads=6, kv_heads=2, norm_kind="rms", activation="swiglu")
VARIETIES = [replace(SMALL, positions=positions) for positions in ("learned", "sinusoidal", "none")] + [
    replace(SMALL, block=GROUPED),
    replace(SMALL, block=GROUPED, positions="sinusoidal", tied=True),
    replace(SMALL, block=BlockConfig(heads=6, kv_heads=1, norm="post", activation="gelu")),
]
TOKENS = np.random.default_rng(7).integers(0, 11, (2, 9))


def name_of(config: ModelConfig) -> str:
    inner = config.block
    return f"{config.positions}-{inner.key_heads}of{inner.heads}-{inner.norm}-{inner.activation}"


def in_chunks(lengths: list[int], parameters: Parameters, config: ModelConfig) -> FloatArray:
    cache, parts, start = None, [], 0
    for length in lengths:
        part, cache = generate.next_logits(TOKENS[:, start : start + length], parameters, config, cache)
        assert cache.length == start + length
        parts.append(part)
        start += length
    return np.concatenate(parts, axis=1)


# ---- the cache


@pytest.mark.parametrize("lengths", [[1] * 9, [9], [4, 1, 3, 1], [1, 8], [8, 1]], ids=str)
@pytest.mark.parametrize("config", VARIETIES, ids=name_of)
def test_logits_read_in_pieces_equal_those_of_the_full_pass(config: ModelConfig, lengths: list[int]) -> None:
    parameters = model.init_model(config, seed=3)
    full = model.logits(TOKENS, parameters, config)
    np.testing.assert_allclose(in_chunks(lengths, parameters, config), full, rtol=0, atol=1e-12)


def test_parameters_without_biases_and_shifts_are_read_the_same_way() -> None:
    parameters = model.init_model(SMALL, seed=3)
    optional = [role for role in parameters if role.split(".")[-1][0] in "bs"]
    assert len(optional) == 16  # six biases and two shifts in each of two blocks
    bare = parameters.without("final_shift", *optional)
    full = model.logits(TOKENS, bare, SMALL)
    np.testing.assert_allclose(in_chunks([5, 4], bare, SMALL), full, rtol=0, atol=1e-12)


def test_keys_are_cached_with_their_bias() -> None:
    # The softmax does not see it, as it moves all scores of a query alike; whoever reads the cache does.
    parameters = model.init_model(SMALL, seed=3)
    moved = parameters.with_(**{"blocks.0.bk": np.asarray(parameters["blocks.0.bk"]) + 1.0})
    caches = [generate.next_logits(TOKENS[:, :5], given, SMALL)[1] for given in (parameters, moved)]
    np.testing.assert_allclose(caches[1].layers[0].key - caches[0].layers[0].key, 1.0, rtol=0, atol=1e-12)


def test_a_cache_of_no_layers_has_read_nothing() -> None:
    assert generate.KeyValueCache(()).length == 0


def test_grouped_heads_are_cached_once() -> None:
    config = replace(SMALL, block=GROUPED)
    _, cache = generate.next_logits(TOKENS[:, :5], model.init_model(config), config)
    assert [layer.key.shape for layer in cache.layers] == [(2, 2, 5, 2)] * 2
    assert [layer.value.shape for layer in cache.layers] == [(2, 2, 5, 2)] * 2


def test_one_cache_can_be_continued_in_two_ways() -> None:
    parameters = model.init_model(SMALL, seed=3)
    _, cache = generate.next_logits(TOKENS[:, :5], parameters, SMALL)
    first, _ = generate.next_logits(TOKENS[:, 5:7], parameters, SMALL, cache)
    generate.next_logits(10 - TOKENS[:, 5:8], parameters, SMALL, cache)
    again, _ = generate.next_logits(TOKENS[:, 5:7], parameters, SMALL, cache)
    assert np.array_equal(first, again)
    assert cache.length == 5


def test_float32_stays_float32_in_logits_and_cache() -> None:
    parameters = model.init_model(SMALL, seed=3, dtype=np.float32)
    scores, cache = generate.next_logits(TOKENS[:, :3], parameters, SMALL)
    scores, cache = generate.next_logits(TOKENS[:, 3:4], parameters, SMALL, cache)
    assert scores.dtype == np.float32
    assert {a.dtype for layer in cache.layers for a in (layer.key, layer.value)} == {np.dtype(np.float32)}
    full = model.logits(TOKENS[:, :4], parameters, SMALL)
    np.testing.assert_allclose(scores, full[:, 3:], rtol=0, atol=1e-5)


def test_cached_reading_asks_for_a_causal_mask_with_more_keys_than_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    healthy, asked = mask.causal_mask, []

    def recording(query_length: int, key_length: int, dtype: Any = np.float64) -> FloatArray:
        asked.append((query_length, key_length))
        return healthy(query_length, key_length, dtype)

    monkeypatch.setattr(mask, "causal_mask", recording)
    in_chunks([4, 1, 3], model.init_model(SMALL), SMALL)
    assert asked == [(4, 4), (4, 4), (1, 5), (1, 5), (3, 8), (3, 8)]  # two layers


@pytest.mark.parametrize(
    ("module", "name", "stand_in"),
    [
        (attention, "scale", lambda scores, query: scores),
        (heads, "repeat_heads", lambda x, groups: np.tile(x, (1, groups, 1, 1))),
        (residual, "pre_norm", lambda x, skip, norm, branch: branch(norm(x))),
        (residual, "compose", lambda x, first, second: second(first(x, x), x)),
    ],
)
def test_replaced_seam_changes_cached_reading_and_the_full_pass_alike(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, stand_in: Any
) -> None:
    config = replace(SMALL, block=GROUPED)
    parameters = model.init_model(config, seed=3)
    healthy = model.logits(TOKENS, parameters, config)
    monkeypatch.setattr(module, name, stand_in)
    full = model.logits(TOKENS, parameters, config)
    np.testing.assert_allclose(in_chunks([5, 1, 3], parameters, config), full, rtol=0, atol=1e-12)
    assert np.abs(full - healthy).max() > 1e-2


def test_reading_past_the_end_of_the_positions_is_refused() -> None:
    for config in VARIETIES[:3]:
        parameters = model.init_model(config)
        _, cache = generate.next_logits(TOKENS[:, :8], parameters, config)
        with pytest.raises(CoreError, match=r"^10 tokens in a row; at most max_length = 9 are possible"):
            generate.next_logits(TOKENS[:, :2], parameters, config, cache)


def test_cache_of_another_batch_or_model_is_refused() -> None:
    parameters = model.init_model(SMALL)
    _, cache = generate.next_logits(TOKENS[:, :2], parameters, SMALL)
    other = replace(SMALL, block=replace(SMALL.block, kv_heads=3))
    deeper = replace(SMALL, layers=3)
    uneven = generate.KeyValueCache(
        (cache.layers[0], generate.LayerCache(cache.layers[1].key[:, :, :1], cache.layers[1].value))
    )
    cases: list[tuple[Any, ModelConfig, Any]] = [
        (TOKENS[:1, :1], SMALL, cache),
        (TOKENS[:, :1], other, cache),
        (TOKENS[:, :1], deeper, cache),
        (TOKENS[:, :1], SMALL, uneven),
        (TOKENS[:, :1], SMALL, generate.KeyValueCache(())),
        (TOKENS[:, :1], SMALL, "cache"),
    ]
    for tokens, config, bad in cases:
        with pytest.raises(
            CoreError, match=r"^cache (holds \d+ layers of shape .* are|is a str;) "
        ) as caught:
            generate.next_logits(tokens, model.init_model(config), config, bad)
        assert "\n" not in str(caught.value)


def test_refusals_say_what_was_found_and_what_is_required() -> None:
    parameters = model.init_model(SMALL)
    _, cache = generate.next_logits(TOKENS[:, :2], parameters, SMALL)
    with pytest.raises(CoreError) as caught:
        generate.next_logits(TOKENS[:1, :1], parameters, SMALL, cache)
    assert str(caught.value) == (
        "cache holds 2 layers of shape [(2, 6, 2, 2)]; 2 of (1, 6, 2, 2) [batch, kv_head, token, channel] "
        "are required; use the cache handed back for these sequences"
    )
    with pytest.raises(CoreError, match=r"^top_k is 5; at most the 4 tokens of the vocabulary can be kept$"):
        generate.choose(np.zeros((9, 4)), np.random.default_rng(0), top_k=5)
    with pytest.raises(
        CoreError,
        match=r"^tokens run from 11 to 11; ids from 0 to 10 are required; use the vocabulary the model was made for$",
    ):
        generate.next_logits([[11]], parameters, SMALL)


def test_model_that_is_not_causal_cannot_be_read_with_a_cache() -> None:
    config = replace(SMALL, block=BlockConfig(heads=6, causal=False))
    with pytest.raises(CoreError, match=r"^the model is not causal"):
        generate.next_logits(TOKENS, model.init_model(config), config)


# ---- the choice of a token


def test_greedy_takes_the_largest_and_the_lowest_id_among_equals() -> None:
    logits = np.array([[0.0, 3.0, 1.0], [2.0, -1.0, 2.0], [-math.inf, -math.inf, 0.0]])
    for seed in range(5):
        assert generate.choose(logits, np.random.default_rng(seed)).tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("temperature", "top_k", "expected"),
    [
        (1.0, None, [0.085, 0.232, 0.052, 0.631]),  # softmax of [1, 2, 0.5, 3], the known figures
        # At temperature 1/2 the odds e^1 : e^2 : e^0.5 : e^3 are squared.
        (0.5, None, [0.0158, 0.1166, 0.0058, 0.8618]),
        # The two likeliest alone: e^2 : e^3 = 1 : e.
        (1.0, 2, [0.0, 1 / (1 + math.e), 0.0, math.e / (1 + math.e)]),
        (1.0, 1, [0.0, 0.0, 0.0, 1.0]),
        (1e-310, None, [0.0, 0.0, 0.0, 1.0]),
        (1e300, None, [0.25, 0.25, 0.25, 0.25]),
    ],
)
def test_draws_follow_the_softmax_at_the_temperature_among_the_likeliest(
    temperature: float, top_k: int | None, expected: list[float]
) -> None:
    logits = np.broadcast_to(np.array([1.0, 2.0, 0.5, 3.0], np.float32), (20_000, 4))
    drawn = generate.choose(logits, np.random.default_rng(1), temperature, top_k)
    share = np.bincount(drawn, minlength=4) / drawn.size
    # Four standard deviations of a share from 20,000 draws are at most 4 * sqrt(1/4 / 20000) = 0.0142.
    np.testing.assert_allclose(share, expected, rtol=0, atol=0.0142)
    assert [s == 0 for s in share] == [e == 0 for e in expected]


def test_top_k_keeps_exactly_k_of_equal_logits() -> None:
    logits = np.tile([0.0, 1.0], (100, 150))
    drawn = generate.choose(logits, np.random.default_rng(1), temperature=1.0, top_k=2)
    assert set(drawn.tolist()) == {1, 3}


def test_top_k_may_be_the_whole_vocabulary() -> None:
    drawn = generate.choose(np.zeros((200, 4)), np.random.default_rng(1), temperature=1.0, top_k=4)
    assert set(drawn.tolist()) == {0, 1, 2, 3}


def test_rows_of_a_batch_draw_on_their_own() -> None:
    drawn = generate.choose(np.zeros((200, 10)), np.random.default_rng(1), temperature=1.0)
    assert len(set(drawn.tolist())) == 10


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_logits_without_a_likeliest_token_are_refused(bad: float) -> None:
    for row in ([0.0, bad], [-math.inf, -math.inf]):
        with pytest.raises(CoreError, match=r"^the largest logit is NaN or infinite"):
            generate.choose(np.array([[0.0, 1.0], row]), np.random.default_rng(0))


# ---- generation


def trained() -> tuple[Parameters, ModelConfig]:
    """A model that learned to count 0 1 2 3 4 0 1 ... from windows at every phase."""
    config = ModelConfig(5, 8, 1, 16, BlockConfig(heads=2, activation="gelu"))
    rows = (np.arange(5)[:, np.newaxis] + np.arange(17)) % 5
    parameters, state, losses = model.init_model(config, seed=0), None, []
    for _ in range(120):
        loss, gradients = model.loss_and_gradients(rows[:, :-1], rows[:, 1:], parameters, config)
        parameters, state = optimizers.adam_step(parameters, gradients, state, learning_rate=2e-2)
        losses.append(loss)
    assert losses[0] > 1.0
    assert losses[-1] < 0.01
    return parameters, config


def test_trained_model_continues_the_sequence() -> None:
    parameters, config = trained()
    result = generate.generate([[2, 3, 4], [4, 0, 1]], parameters, config, new_tokens=13)
    assert result.tolist() == [[(2 + t) % 5 for t in range(16)], [(4 + t) % 5 for t in range(16)]]
    cold = generate.generate([[2]], parameters, config, 15, temperature=0.2, seed=0)
    assert cold.tolist() == [[(2 + t) % 5 for t in range(16)]]


def test_greedy_generation_equals_repeated_full_passes() -> None:
    parameters = model.init_model(SMALL, seed=9)
    ids = TOKENS[:, :3]
    for _ in range(6):
        last = model.logits(ids, parameters, SMALL)[:, -1]
        ids = np.concatenate([ids, last.argmax(axis=-1)[:, np.newaxis]], axis=1)
    assert generate.generate(TOKENS[:, :3], parameters, SMALL, 6).tolist() == ids.tolist()


def test_same_seed_draws_the_same_tokens_and_another_seed_others() -> None:
    parameters = model.init_model(SMALL, seed=9)
    first, again, other = (
        generate.generate(TOKENS[:, :2], parameters, SMALL, 7, temperature=1.5, seed=seed).tolist()
        for seed in (4, 4, 5)
    )
    assert first == again
    assert first != other


def test_without_a_seed_every_call_draws_anew() -> None:
    parameters = model.init_model(SMALL, seed=9)
    pair = [generate.generate(TOKENS[:, :2], parameters, SMALL, 7, temperature=9.0) for _ in range(2)]
    # 14 nearly even draws from 11 tokens: equal by chance once in 10^14 runs.
    assert pair[0].tolist() != pair[1].tolist()


def test_only_the_likeliest_is_left_by_top_k_of_one() -> None:
    parameters = model.init_model(SMALL, seed=9)
    greedy = generate.generate(TOKENS[:, :2], parameters, SMALL, 7)
    drawn = generate.generate(TOKENS[:, :2], parameters, SMALL, 7, temperature=5.0, top_k=1, seed=0)
    assert drawn.tolist() == greedy.tolist()


def test_no_new_tokens_hand_back_the_prompt_and_the_prompt_is_left_alone() -> None:
    prompt = TOKENS[:, :2].copy()
    parameters = model.init_model(SMALL)
    assert generate.generate(prompt, parameters, SMALL, 0).tolist() == prompt.tolist()
    assert generate.generate(prompt, parameters, SMALL, 3)[:, :2].tolist() == prompt.tolist()
    assert np.array_equal(prompt, TOKENS[:, :2])


@pytest.mark.parametrize("integer", [np.uint8, np.uint64])
def test_prompt_of_any_integer_type_can_be_followed_by_any_token(integer: type[np.integer[Any]]) -> None:
    config = replace(SMALL, vocabulary=300, positions="none")
    parameters = model.init_model(config, seed=1)
    result = generate.generate(np.array([[1, 2]], integer), parameters, config, 6)
    assert result.dtype == np.int64
    assert result.max() > 255
    assert result.tolist() == generate.generate([[1, 2]], parameters, config, 6).tolist()


def test_result_without_new_tokens_is_a_copy() -> None:
    prompt = TOKENS[:, :2].copy()
    generate.generate(prompt, model.init_model(SMALL), SMALL, 0)[0, 0] = 99
    assert np.array_equal(prompt, TOKENS[:, :2])


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"new_tokens": 8}, "10 tokens in a row; at most max_length = 9"),
        ({"new_tokens": -1}, "new_tokens is -1"),
        ({"new_tokens": 1.0}, "new_tokens is 1.0"),
        ({"temperature": 0.0}, "temperature is 0.0"),
        ({"temperature": -1.0}, "temperature is -1.0"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": math.inf}, "temperature is inf"),
        ({"temperature": "hot"}, "temperature is 'hot'"),
        ({"top_k": 0}, "top_k is 0"),
        ({"top_k": 12}, "top_k is 12; at most the 11"),
        ({"top_k": 2.5}, "top_k is 2.5"),
        ({"seed": -1, "temperature": 1.0}, "seed is -1"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"prompt": [[11]]}, "prompt tokens run from 11 to 11"),
        ({"prompt": [0, 1]}, "prompt tokens have shape (2,)"),
        ({"prompt": [[]]}, "prompt tokens are empty"),
        ({"prompt": [[0.5]]}, "prompt tokens have dtype float64"),
    ],
)
def test_impossible_request_is_refused_in_one_line(arguments: dict[str, Any], found: str) -> None:
    request: dict[str, Any] = {"prompt": [[0, 1]], "new_tokens": 1} | arguments
    with pytest.raises(CoreError) as caught:
        generate.generate(parameters=model.init_model(SMALL), config=SMALL, **request)
    assert str(caught.value).startswith(found)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("new_tokens", [0, 1])
def test_parameters_of_another_model_are_refused(new_tokens: int) -> None:
    with pytest.raises(CoreError, match=r"^parameters hold 1 blocks; 2"):
        generate.generate([[0]], model.init_model(replace(SMALL, layers=1)), SMALL, new_tokens)


def test_choice_needs_a_batch_of_logits() -> None:
    random = np.random.default_rng(0)
    assert generate.choose([[1, 2]], random).tolist() == [1]
    with pytest.raises(CoreError, match=r"^logits has shape \(2,\), rank 1.*\[batch, vocabulary\]"):
        generate.choose([1.0, 2.0], random)
