"""Which parameter plays which role: by name, then by what it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.roles import Place, confirmed, infer

Array = NDArray[Any]

NAMED = {
    "nanoGPT": ("attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"),
    "encoder layer": ("self_attn.in_proj", "self_attn.out_proj", "linear1", "linear2"),
    "GPT-NeoX": ("attention.query_key_value", "attention.dense", "mlp.dense_h_to_4h", "mlp.dense_4h_to_h"),
    "ViT": ("attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2"),
    "side by side": ("attn_qkv", "attn_proj", "mlp_fc1", "mlp_fc2"),
    "sequential": ("attn.to_qkv", "attn.to_out.0", "ff.net.0", "ff.net.2"),
}


@pytest.mark.parametrize("names", NAMED.values(), ids=NAMED)
def test_roles_are_read_off_the_names_in_use(names: tuple[str, str, str, str]) -> None:
    fused, out, first, second = names
    leaf = "{}_weight" if fused.endswith("in_proj") else "{}.weight"
    shapes = [(leaf.format(fused), (36, 12)), (f"{out}.weight", (12, 12))]
    shapes += [(f"{first}.weight", (48, 12)), (f"{second}.weight", (12, 48))]
    found = infer([(name, shape, "Linear") for name, shape in shapes])
    assert {role: place.name for role, place in found.items()} == {
        **dict.fromkeys(("Wq", "Wk", "Wv"), shapes[0][0]),
        "Wo": shapes[1][0],
        "W1": shapes[2][0],
        "W2": shapes[3][0],
    }
    assert (found["Wk"].first, found["Wk"].last, found["Wk"].transposed) == (12, 24, True)


def test_separate_projections_and_their_biases_are_read() -> None:
    parameters = [
        (f"self_attn.{which}_proj.{leaf}", shape, "Linear")
        for which in "qkvo"
        for leaf, shape in (("weight", (8, 8)), ("bias", (8,)))
    ]
    found = infer(parameters)
    assert sorted(found) == ["Wk", "Wo", "Wq", "Wv", "bk", "bo", "bq", "bv"]
    assert found["bq"].as_list() == ["self_attn.q_proj.bias", False, 0, 0]


APART = {
    "words": ("att.W_query", "att.W_key", "att.W_value", "att.out_proj", "ff.layers.0", "ff.layers.2"),
    "wrapped": (
        "self_attn.query.linear", "self_attn.key.linear", "self_attn.value.linear", "self_attn.output",
        "feed_forward.layer1", "feed_forward.layer2",
    ),
    "gated": ("attn.q_proj", "attn.k_proj", "attn.v_proj", "attn.output_proj", "mlp.w1", "mlp.w2"),
}  # fmt: skip


@pytest.mark.parametrize("names", APART.values(), ids=APART)
def test_six_weights_are_read_off_the_names_in_use(names: tuple[str, ...]) -> None:
    found = infer([(f"{name}.weight", (8, 8), "Linear") for name in names])
    roles = ("Wq", "Wk", "Wv", "Wo", "W1", "W2")
    assert {role: place.name for role, place in found.items()} == {
        role: f"{name}.weight" for role, name in zip(roles, names, strict=True)
    }


def test_the_bias_of_a_fused_parameter_is_read_with_it() -> None:
    found = infer([("self_attn.in_proj_bias", (36,), "MultiheadAttention")])
    assert found == {
        "bq": Place("self_attn.in_proj_bias", False, 0, 12),
        "bk": Place("self_attn.in_proj_bias", False, 12, 24),
        "bv": Place("self_attn.in_proj_bias", False, 24, 36),
    }


@pytest.mark.parametrize(
    ("leaf", "shape"), [("scale", (8,)), ("weight", (8,)), ("weight", (8, 8, 3)), ("bias", (8, 8))]
)
def test_what_is_neither_a_matrix_nor_its_bias_plays_no_role(leaf: str, shape: tuple[int, ...]) -> None:
    assert infer([(f"attn.q_proj.{leaf}", shape, "Linear")]) == {}


def test_a_fused_parameter_that_heads_do_not_share_out_plays_no_role() -> None:
    assert infer([("attn.qkv.weight", (35, 12), "Linear")]) == {}


def test_columns_first_modules_are_not_turned() -> None:
    found = infer([("attn.c_attn.weight", (12, 36), "Conv1D")])
    assert found["Wv"] == Place("attn.c_attn.weight", False, 24, 36)


def test_a_fused_parameter_is_cut_by_the_share_of_key_value_heads() -> None:
    found = infer([("attn.qkv.weight", (16, 8), "Linear")], grouped=0.5)
    assert [(found[role].first, found[role].last) for role in ("Wq", "Wk", "Wv")] == [
        (0, 8),
        (8, 12),
        (12, 16),
    ]


def test_a_role_that_two_parameters_could_play_stays_unknown() -> None:
    experts = [(f"moe.{at}.fc1.weight", (8, 4), "Linear") for at in range(2)]
    assert infer([*experts, ("norm.weight", (4,), "LayerNorm"), ("attn.bias", (1, 1, 4, 4), "Attn")]) == {}


# --- confirmation ----------------------------------------------------------------------------------------------

draw = np.random.default_rng(0).standard_normal
WEIGHTS: dict[str, Array] = {role: draw((4, 4)) for role in ("Wq", "Wk", "Wv", "Wo", "W1", "W2")}
X = draw((3, 4))


def block(weights: Mapping[str, Array], swapped: Mapping[str, str]) -> Array:
    """One head and a feed-forward network; `swapped` says which weight really does what another is named for."""
    real = {role: weights[swapped.get(role, role)] for role in weights}
    scores = np.exp(X @ real["Wq"] @ (X @ real["Wk"]).T / 10)
    mixed = scores / scores.sum(-1, keepdims=True) @ X @ real["Wv"]
    y: Array = X + mixed @ real["Wo"]
    z: Array = y + np.cos(y @ real["W1"]) @ real["W2"]
    return z


def kept(**swapped: str) -> set[str]:
    places: dict[str, list[object]] = {role: [role] for role in WEIGHTS}
    return confirmed(places, WEIGHTS, lambda replaced: block({**WEIGHTS, **replaced}, swapped))


def test_roles_that_behave_as_named_are_kept() -> None:
    assert kept() == set(WEIGHTS)


def test_a_value_weight_that_is_really_a_query_is_found_out() -> None:
    assert kept(Wq="Wv", Wv="Wq") == {"Wo", "W1", "W2"}


def test_an_output_weight_that_is_none_is_found_out() -> None:
    assert "Wo" not in kept(Wo="W2", W2="Wo")


def test_the_feed_forward_weights_in_another_order_are_found_out() -> None:
    assert kept(W1="W2", W2="W1") == {"Wq", "Wk", "Wv", "Wo"}


PAIRS = [("Wo", "Wq"), ("Wo", "Wk"), ("Wo", "Wv"), ("Wv", "Wq"), ("Wv", "Wk"), ("W2", "W1")]


@pytest.mark.parametrize(("silent", "moved"), PAIRS)
def test_each_weight_alone_confirms_the_one_that_hides_it(silent: str, moved: str) -> None:
    pair = {role: WEIGHTS[role] for role in (silent, moved)}
    places: dict[str, list[object]] = {role: [role] for role in pair}
    assert silent in confirmed(places, pair, lambda replaced: block({**WEIGHTS, **replaced}, {}))
    # where another weight does what it is named for, it hides nothing
    other = "Wo" if silent == "W2" else "W2"
    swapped = {silent: other, other: silent}
    found = confirmed(places, pair, lambda replaced: block({**WEIGHTS, **replaced}, swapped))
    assert silent not in found


@pytest.mark.parametrize("silent", ["Wo", "Wv", "W2"])
def test_a_weight_is_confirmed_by_nothing_where_nothing_else_is_known(silent: str) -> None:
    only = {silent: WEIGHTS[silent]}
    assert confirmed({silent: [silent]}, only, lambda replaced: block({**WEIGHTS, **replaced}, {})) == set()


def test_an_output_of_nothing_hides_everything() -> None:
    pair = {role: WEIGHTS[role] for role in ("Wo", "Wq")}
    places: dict[str, list[object]] = {role: [role] for role in pair}
    # without a skip connection nothing is left behind a silent output weight
    assert confirmed(places, pair, lambda replaced: X @ replaced["Wo"]) == {"Wo", "Wq"}


@pytest.mark.parametrize(("change", "hidden"), [(0.009, True), (0.011, False)])
def test_rounding_of_a_large_output_is_no_change(change: float, hidden: bool) -> None:
    pair = {role: WEIGHTS[role] for role in ("Wo", "Wq")}
    places: dict[str, list[object]] = {role: [role] for role in pair}
    # up to 1e-4 of a hundred
    found = confirmed(places, pair, lambda replaced: np.array([-100.0 - change * ("Wq" in replaced), 1.0]))
    assert ("Wo" in found) is hidden


@pytest.mark.parametrize(
    ("size", "first"), [(2.0, 2 + 2 * 0.1257302), (-4.0, -4 + 4 * 0.1257302), (0.0, 0.1257302)]
)
def test_weights_are_moved_by_noise_of_their_own_size_the_same_in_every_run(
    size: float, first: float
) -> None:
    moved: list[Array] = []

    def call(replaced: Mapping[str, Array]) -> Array:
        moved.extend(array for role, array in replaced.items() if role == "Wq")
        return X

    weights = {"Wo": np.ones((4, 4), "f4"), "Wq": np.full((4, 4), size, "f4")}
    confirmed({role: [role] for role in weights}, weights, call)
    (array,) = moved
    assert array.dtype == np.float32
    # 0.1257302 is the first standard normal number of NumPy's generator with seed 0
    assert array[0, 0] == pytest.approx(first, abs=1e-6)


def test_nothing_is_confirmed_by_numbers_that_are_none() -> None:
    places: dict[str, list[object]] = {role: [role] for role in WEIGHTS}
    assert confirmed(places, WEIGHTS, lambda replaced: np.full((3, 4), np.nan)) == set()
