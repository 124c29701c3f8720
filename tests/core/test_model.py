"""The language model: its loss by hand, its gradients by finite differences, its training and its errors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core import attention, block, model, model_config, optimizers
from core.arrays import FloatArray
from core.block_config import BlockConfig
from core.errors import CoreError
from core.model_config import ModelConfig
from core.parameters import Parameters

TINY = ModelConfig(vocabulary=7, width=4, layers=2, max_length=5, block=BlockConfig(heads=2))
TOKENS = np.array([[1, 4, 1, 6], [0, 2, 2, 5]])
TARGETS = np.array([[4, 1, 6, 3], [2, 2, 5, 0]])

POSITIONS = ["learned", "sinusoidal", "none"]
VARIETIES = [
    replace(TINY, positions=positions, tied=tied) for positions in POSITIONS for tied in (False, True)
] + [
    replace(
        TINY, layers=1, block=BlockConfig(heads=2, kv_heads=1, norm_kind="rms", activation="swiglu", eps=0.3)
    ),
    replace(TINY, layers=1, block=BlockConfig(heads=2, norm="post", activation="gelu", eps=0.3), tied=True),
    replace(TINY, layers=1, block=BlockConfig(heads=2, causal=False, activation="gelu")),
]


def name_of(config: ModelConfig) -> str:
    inner = config.block
    return f"{config.positions}-{'tied' if config.tied else 'untied'}-{inner.norm}-{inner.activation}"


def layer_norm_by_hand(row: list[float]) -> list[float]:
    mean = sum(row) / len(row)
    variance = sum((value - mean) ** 2 for value in row) / len(row)
    return [(value - mean) / math.sqrt(variance + 1e-5) for value in row]


def without_branches(parameters: Parameters) -> Parameters:
    """The same model with both branches of every block silenced: each block hands its input through."""
    silent = {
        role: np.zeros(a.shape) for role, a in parameters.items() if role[-2:] in ("Wo", "bo", "W2", "b2")
    }
    return parameters.with_(**silent)


# ---- logits


def test_logits_without_branches_are_the_normalised_sum_of_embeddings_times_the_unembedding() -> None:
    parameters = without_branches(model.init_model(TINY, seed=3, jitter=0.0))
    got = model.logits(TOKENS, parameters, TINY)
    assert got.shape == (2, 4, 7)
    for b, t, v in ((0, 0, 0), (0, 2, 6), (1, 3, 4)):
        token = parameters["token_embedding"][TOKENS[b, t]]
        row = layer_norm_by_hand([float(token[c] + parameters["position_embedding"][t, c]) for c in range(4)])
        expected = sum(row[c] * float(parameters["unembedding"][c, v]) for c in range(4))
        assert got[b, t, v] == pytest.approx(expected, abs=1e-12)


def test_tied_logits_are_products_with_the_token_embedding() -> None:
    config = replace(TINY, tied=True, positions="none")
    parameters = without_branches(model.init_model(config, seed=3, jitter=0.0))
    embedding = parameters["token_embedding"].tolist()
    row = layer_norm_by_hand(embedding[TOKENS[0, 1]])
    expected = [sum(row[c] * embedding[v][c] for c in range(4)) for v in range(7)]
    np.testing.assert_allclose(model.logits(TOKENS, parameters, config)[0, 1], expected, rtol=0, atol=1e-12)


def test_blocks_run_in_the_order_of_their_numbers() -> None:
    config = replace(TINY, positions="none")
    parameters = model.init_model(config, seed=1)
    h = parameters["token_embedding"][TOKENS]
    for prefix in ("blocks.0.", "blocks.1."):
        h = block.block(h, parameters.under(prefix), config.block)
    mean, deviation = h.mean(-1, keepdims=True), np.sqrt(h.var(-1, keepdims=True) + 1e-5)
    normal = (h - mean) / deviation * parameters["final_gain"] + parameters["final_shift"]
    expected = normal @ parameters["unembedding"]
    np.testing.assert_allclose(model.logits(TOKENS, parameters, config), expected, rtol=0, atol=1e-12)


def test_last_logits_of_one_layer_see_earlier_tokens_as_a_set_unless_they_have_positions() -> None:
    tokens, shuffled = np.array([[1, 2, 3, 4, 5]]), np.array([[3, 1, 4, 2, 5]])
    changes = {}
    for positions in POSITIONS:
        config = replace(TINY, layers=1, positions=positions)
        parameters = model.init_model(config, seed=2)
        pair = [model.logits(ids, parameters, config)[0, -1] for ids in (tokens, shuffled)]
        changes[positions] = float(np.abs(pair[0] - pair[1]).max())
    assert changes["none"] < 1e-12
    assert changes["learned"] > 1e-3
    assert changes["sinusoidal"] > 1e-3


# ---- loss


def test_cross_entropy_of_equal_logits_is_the_logarithm_of_the_vocabulary() -> None:
    assert model.cross_entropy(np.zeros((2, 3, 8)), np.zeros((2, 3), int)) == pytest.approx(math.log(8))


def test_cross_entropy_is_the_mean_surprise_of_the_targets() -> None:
    # exp of the logits: 1, 2, 5 of 8 and 3, 1, 4 of 8.
    logits = np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0]])
    expected = (-math.log(5 / 8) - math.log(3 / 8)) / 2
    assert model.cross_entropy(logits, [2, 0]) == pytest.approx(expected, abs=1e-15)


def test_cross_entropy_of_huge_logits_neither_overflows_nor_loses_the_difference() -> None:
    assert model.cross_entropy([[1e4, 0.0]], [1]) == 1e4
    assert model.cross_entropy([[1e308, -1e308]], [0]) == 0.0
    assert model.cross_entropy([[0.0, 0.0], [1e4, 1e4]], [0, 1]) == pytest.approx(math.log(2), abs=1e-15)
    assert model.cross_entropy([[0.0, -math.inf]], [1]) == math.inf
    assert math.isnan(model.cross_entropy([[0.0, math.nan]], [0]))
    assert math.isnan(model.cross_entropy([[-math.inf, -math.inf]], [0]))


def test_gradient_of_cross_entropy_is_softmax_minus_one_hot_over_the_number_of_targets() -> None:
    grad = model.cross_entropy_backward(np.log([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0]]), [2, 0])
    expected = [[1 / 16, 2 / 16, -3 / 16], [-5 / 16, 1 / 16, 4 / 16]]
    np.testing.assert_allclose(grad, expected, rtol=0, atol=1e-15)


# ---- gradients


def numerical_gradient(role: str, parameters: Parameters, config: ModelConfig) -> FloatArray:
    """Central differences of the loss, one element of the role at a time."""
    grad = np.zeros_like(parameters[role])
    for index in np.ndindex(grad.shape):
        losses = []
        for step in (1e-5, -1e-5):
            moved = np.array(parameters[role])
            moved[index] += step
            scores = model.logits(TOKENS, parameters.with_(**{role: moved}), config)
            losses.append(model.cross_entropy(scores, TARGETS))
        grad[index] = (losses[0] - losses[1]) / 2e-5
    return grad


@pytest.mark.parametrize("config", VARIETIES, ids=name_of)
def test_gradient_of_every_role_equals_central_differences(config: ModelConfig) -> None:
    parameters = model.init_model(config, seed=5)
    loss, gradients = model.loss_and_gradients(TOKENS, TARGETS, parameters, config)
    assert loss == model.cross_entropy(model.logits(TOKENS, parameters, config), TARGETS)
    assert list(gradients) == list(parameters)
    for role in parameters:
        expected = numerical_gradient(role, parameters, config)
        error = np.linalg.norm(gradients[role] - expected)
        # 1e-9 is the rounding of the differences themselves; a key bias, for one, has the gradient 0.
        assert error <= 1e-6 * np.linalg.norm(expected) + 1e-9, role


def test_gradients_with_a_replaced_seam_are_those_of_the_replaced_forward_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parameters = model.init_model(TINY, seed=5)
    _, healthy = model.loss_and_gradients(TOKENS, TARGETS, parameters, TINY)
    monkeypatch.setattr(attention, "scale", lambda scores, query: scores)
    _, gradients = model.loss_and_gradients(TOKENS, TARGETS, parameters, TINY)
    for role in ("blocks.0.Wq", "token_embedding"):
        expected = numerical_gradient(role, parameters, TINY)
        norm = np.linalg.norm(expected)
        assert np.linalg.norm(gradients[role] - expected) <= 1e-6 * norm
        assert np.linalg.norm(healthy[role] - expected) >= 1e-2 * norm


def test_roles_that_are_absent_have_no_gradient_and_the_others_keep_theirs() -> None:
    parameters = model.init_model(TINY, seed=5)
    biases = [role for role in parameters if role.split(".")[-1][0] == "b" and role.startswith("blocks")]
    bare = parameters.without("final_shift", *biases)
    _, gradients = model.loss_and_gradients(TOKENS, TARGETS, bare, TINY)
    assert list(gradients) == list(bare)
    zeros = {role: np.zeros(parameters[role].shape) for role in ("final_shift", *biases)}
    _, expected = model.loss_and_gradients(TOKENS, TARGETS, parameters.with_(**zeros), TINY)
    for role in bare:
        np.testing.assert_allclose(gradients[role], expected[role], rtol=0, atol=1e-14)


def test_embedding_gradient_reaches_the_tokens_and_positions_that_were_read_alone() -> None:
    parameters = model.init_model(TINY, seed=5)
    _, gradients = model.loss_and_gradients(TOKENS, TARGETS, parameters, TINY)
    read = np.abs(gradients["token_embedding"]).max(axis=1) > 0
    assert read.tolist() == [True, True, True, False, True, True, True]  # 3 is a target only
    read = np.abs(gradients["position_embedding"]).max(axis=1) > 0
    assert read.tolist() == [True, True, True, True, False]


# ---- training


PATTERN = [3, 1, 4, 1, 5, 0, 2, 6]
"""The token after 1 is 4 or 5: to look no further back costs ln 2 on two of eight tokens, 0.17 nats."""


def train(config: ModelConfig, steps: int) -> tuple[Parameters, list[float]]:
    rows = np.array([[PATTERN[(start + t) % 8] for t in range(13)] for start in range(8)])
    parameters, state, losses = model.init_model(config, seed=0), None, []
    for _ in range(steps):
        loss, gradients = model.loss_and_gradients(rows[:, :-1], rows[:, 1:], parameters, config)
        parameters, state = optimizers.adam_step(parameters, gradients, state, learning_rate=1e-2)
        losses.append(loss)
    return parameters, losses


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
def test_training_learns_a_repeating_sequence_that_needs_two_tokens_of_context(positions: str) -> None:
    inner = BlockConfig(heads=2, kv_heads=1, activation="gelu")
    config = ModelConfig(7, 16, 1, 12, inner, positions=positions, tied=True)
    parameters, losses = train(config, steps=150)
    assert losses[0] > 1.5
    # A first token 1 leaves the next one open: 2 of 96 targets cost ln 2, that is 0.0144 nats on the mean.
    assert losses[-1] < 0.05
    guess = model.logits(np.array([[3, 1, 4, 1]]), parameters, config)[0].argmax(axis=-1)
    assert guess.tolist() == [1, 4, 1, 5]


def test_one_small_sgd_step_lowers_the_loss_by_the_rate_times_the_squared_gradient() -> None:
    parameters = model.init_model(TINY, seed=4)
    before, gradients = model.loss_and_gradients(TOKENS, TARGETS, parameters, TINY)
    moved = optimizers.sgd_step(parameters, gradients, 1e-5)
    after = model.cross_entropy(model.logits(TOKENS, moved, TINY), TARGETS)
    squared = sum(float((grad**2).sum()) for grad in gradients.values())
    assert before - after == pytest.approx(1e-5 * squared, rel=1e-3)


# ---- number types and initial parameters


@pytest.mark.parametrize("config", VARIETIES, ids=name_of)
def test_float32_stays_float32_and_agrees_with_float64(config: ModelConfig) -> None:
    single, double = (model.init_model(config, seed=6, dtype=dtype) for dtype in (np.float32, np.float64))
    assert {array.dtype for array in single.values()} == {np.dtype(np.float32)}
    scores = model.logits(TOKENS, single, config)
    assert scores.dtype == np.float32
    assert model.logits(TOKENS, double, config).dtype == np.float64
    np.testing.assert_allclose(scores, model.logits(TOKENS, double, config), rtol=0, atol=2e-5)
    _, gradients = model.loss_and_gradients(TOKENS, TARGETS, single, config)
    assert {array.dtype for array in gradients.values()} == {np.dtype(np.float32)}


def test_initial_parameters_are_seeded_and_differ_between_blocks() -> None:
    first = model.init_model(TINY, seed=1)
    assert first == model.init_model(TINY, seed=1)
    assert first != model.init_model(TINY, seed=2)
    assert not np.array_equal(first["blocks.0.Wq"], first["blocks.1.Wq"])
    assert not np.array_equal(first["token_embedding"].ravel()[:16], first["blocks.0.Wq"].ravel())


def test_the_first_seed_is_0() -> None:
    assert all(
        np.array_equal(a, b)
        for a, b in zip(model.init_model(TINY).values(), model.init_model(TINY, seed=0).values(), strict=True)
    )


def test_jitter_is_added_in_the_direction_of_the_drawn_number() -> None:
    without, small, large = (model.init_model(TINY, seed=3, jitter=jitter) for jitter in (0.0, 0.1, 0.5))
    drawn = np.random.default_rng(np.random.SeedSequence(3).generate_state(1)[0])
    for role in ("token_embedding", "position_embedding", "unembedding", "final_gain", "final_shift"):
        numbers = drawn.standard_normal(without[role].shape)
        if role.startswith("final_"):
            np.testing.assert_allclose(small[role] - without[role], 0.1 * numbers, rtol=0, atol=1e-15)
            np.testing.assert_allclose(large[role] - without[role], 0.5 * numbers, rtol=0, atol=1e-15)


def test_without_jitter_gains_are_one_and_shifts_and_biases_zero() -> None:
    for role, array in model.init_model(TINY, jitter=0.0).items():
        kind = role.split(".")[-1].removeprefix("final_").rstrip("12")
        if kind in ("gain", "shift", "b", "bq", "bk", "bv", "bo"):
            assert np.all(array == (1.0 if kind == "gain" else 0.0)), role


def test_initial_embeddings_have_the_declared_spread() -> None:
    config = ModelConfig(400, 64, 1, 200, BlockConfig(heads=4))
    parameters = model.init_model(config)
    for role in ("token_embedding", "position_embedding", "unembedding"):
        assert float(parameters[role].std()) == pytest.approx(1 / 8, rel=0.02)  # 1/sqrt(64)
    assert float(parameters["final_gain"].mean()) == pytest.approx(1.0, abs=0.05)


def test_roles_are_those_the_configuration_declares() -> None:
    outer = [role for role in model.init_model(TINY) if not role.startswith("blocks.")]
    assert outer == ["token_embedding", "position_embedding", "unembedding", "final_gain", "final_shift"]
    rms = BlockConfig(heads=2, norm_kind="rms")
    config = replace(TINY, block=rms, tied=True, positions="sinusoidal")
    outer = [role for role in model.init_model(config) if not role.startswith("blocks.")]
    assert outer == ["token_embedding", "final_gain"]


# ---- hostile input


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ([[0, 7]], "tokens run from 0 to 7; ids from 0 to 6 are required"),
        ([[-1, 2]], "tokens run from -1 to 2"),
        ([[0.0, 1.0]], "tokens have dtype float64"),
        ([[True, False]], "tokens have dtype bool"),
        ([["a", "b"]], "tokens have dtype"),
        ([[0, 2**70]], "tokens have dtype object"),
        ([[0, 1], [2]], "tokens are ragged"),
        ([[]], "tokens are empty"),
        (np.zeros((0, 3), int), "tokens are empty"),
        ([0, 1], "tokens have shape (2,); rank 2"),
        (3, "tokens have shape (); rank 2"),
        ([[[0]]], "tokens have shape (1, 1, 1); rank 2"),
        ([[0, 1, 2, 3, 4, 5]], "6 tokens in a row; at most max_length = 5"),
        (None, "tokens have dtype object"),
    ],
)
def test_tokens_that_are_none_are_refused_in_one_line(tokens: Any, found: str) -> None:
    parameters = model.init_model(TINY)
    for call in (
        lambda: model.logits(tokens, parameters, TINY),
        lambda: model.loss_and_gradients(tokens, TARGETS, parameters, TINY),
    ):
        with pytest.raises(CoreError) as caught:
            call()
        assert str(caught.value).startswith(found)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("targets", "found"),
    [
        (TARGETS[:, :3], "logits have shape (2, 4, 7), targets (2, 3)"),
        (TARGETS[:1], "logits have shape (2, 4, 7), targets (1, 4)"),
        (TARGETS + 7, "targets run from"),
        (TARGETS * 1.0, "targets have dtype float64"),
        (TARGETS.ravel(), "targets have shape (8,)"),
    ],
)
def test_targets_that_do_not_fit_the_tokens_are_refused(targets: Any, found: str) -> None:
    with pytest.raises(CoreError) as caught:
        model.loss_and_gradients(TOKENS, targets, model.init_model(TINY), TINY)
    assert str(caught.value).startswith(found)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("logits", "targets", "found"),
    [
        (
            np.zeros((2, 3)),
            [0],
            "logits have shape (2, 3), targets (1,); one target for each row of logits [..., vocabulary] is required",
        ),
        (np.zeros((2, 3)), [0, 3], "targets run from 0 to 3; ids from 0 to 2"),
        (np.zeros((0, 3)), [], "logits"),
        ([["a"]], [0], "logits"),
        (1.0, 0, None),
    ],
)
def test_cross_entropy_refuses_what_it_cannot_pair(logits: Any, targets: Any, found: str | None) -> None:
    if found is None:
        assert model.cross_entropy(logits, targets) == 0.0  # a vocabulary of one token: certain
        return
    for function in (model.cross_entropy, model.cross_entropy_backward):
        with pytest.raises(CoreError) as caught:
            function(logits, targets)
        assert str(caught.value).startswith(found)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"vocabulary": 0}, "vocabulary is 0"),
        ({"width": 5}, "width is 5; a multiple of the 2 heads"),
        ({"width": 4.0}, "width is 4.0"),
        ({"layers": 0}, "layers is 0"),
        ({"layers": True}, "layers is True"),
        ({"max_length": -1}, "max_length is -1"),
        ({"block": None}, "block is a NoneType; a BlockConfig is required"),
        ({"tied": "no"}, "tied is a str; a bool is required"),
        ({"positions": "rotary"}, "positions is 'rotary'; one of learned, sinusoidal, none"),
        ({"positions": "sinusoidal", "width": 3, "block": BlockConfig(heads=1)}, "width is 3; sinusoidal"),
    ],
)
def test_configuration_that_does_not_fit_together_is_refused(changes: dict[str, Any], found: str) -> None:
    with pytest.raises(CoreError) as caught:
        replace(TINY, **changes)
    assert str(caught.value).startswith(found)
    assert "\n" not in str(caught.value)


def changed(**values: Any) -> Parameters:
    return Parameters({**model.init_model(TINY), **values})


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        (
            model.init_model(replace(TINY, layers=1)),
            "parameters hold 1 blocks; 2, numbered from 0, are required; use the configuration they were made for",
        ),
        (model.init_model(replace(TINY, layers=3)), "parameters hold 3 blocks; 2"),
        (
            model.init_model(replace(TINY, vocabulary=8)),
            "token_embedding has shape (8, 4); (7, 4) is required; use the configuration it was made for",
        ),
        (model.init_model(replace(TINY, max_length=6)), "position_embedding has shape (6, 4); (5, 4)"),
        (model.init_model(replace(TINY, positions="none")), "position_embedding is missing; (5, 4)"),
        (model.init_model(replace(TINY, tied=True)), "unembedding is missing; (4, 7)"),
        (model.init_model(TINY).without("final_gain"), "final_gain is missing"),
        (
            changed(shift=np.ones(4)),
            "shift (4,) is no role of this model; use the configuration it was made for",
        ),
        (changed(**{"blocks.1.Wq": np.ones((4, 5))}), "blocks.1: Wq has shape (4, 5)"),
        (model.init_model(TINY).without("blocks.0.W2"), "blocks.0: "),
        (Parameters({}), "token_embedding is missing"),
        (dict(model.init_model(TINY)), "parameters is a dict; a Parameters is required"),
    ],
)
def test_parameters_of_another_model_are_refused_by_role(parameters: Any, found: str) -> None:
    for call in (
        lambda: model.logits(TOKENS, parameters, TINY),
        lambda: model.loss_and_gradients(TOKENS, TARGETS, parameters, TINY),
    ):
        with pytest.raises(CoreError) as caught:
            call()
        assert str(caught.value).startswith(found)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seed", -1),
        ("seed", "x"),
        ("dtype", int),
        ("dtype", "words"),
        ("jitter", "x"),
        ("jitter", math.nan),
        ("config", None),
    ],
)
def test_initial_parameters_refuse_an_impossible_setting(name: str, value: Any) -> None:
    with pytest.raises(CoreError, match=f"^{name} is "):
        model_config.init_model(**{"config": TINY, name: value})


def test_model_without_a_configuration_is_refused() -> None:
    nothing: Any = None
    with pytest.raises(CoreError, match=r"^config is a NoneType; a ModelConfig is required"):
        model.logits(TOKENS, model.init_model(TINY), nothing)


def test_one_token_is_enough() -> None:
    assert model.logits([[3]], model.init_model(TINY), TINY).shape == (1, 1, 7)
