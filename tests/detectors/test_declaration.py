"""What is said of a subject, what is read off it, and what is asked."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import pytest

from detectors.declaration import (
    DESIGNS,
    FRAMEWORKS,
    KINDS,
    LAYOUTS,
    MASKS,
    PADDINGS,
    POSITIONS,
    Declaration,
    Question,
    claims,
    complete,
    limits,
)


def described(**changes: Any) -> dict[str, Any]:
    """What a guest says of a function of which nothing is known."""
    nothing: dict[str, Any] = {
        "declared": {},
        "numbers": {},
        "switches": {},
        "parameters": [],
        "embedding": False,
        "attention": False,
        "framework": "numpy",
        "name": "f",
        "required": ["x"],
    }
    return nothing | changes


NORM = ["ln.weight", [12], "LayerNorm"]
TABLE = ["wte.weight", [50, 12], "Embedding"]


def test_flags_win_over_what_the_subject_declares_and_that_over_its_attributes() -> None:
    seen = described(declared={"heads": 3, "kind": "block"}, numbers={"n_head": [2], "n_embd": [12]})
    assert complete({"heads": 4, "width": None}, seen).heads == 4
    assert complete({}, seen).heads == 3
    assert complete({}, seen).width == 12
    assert complete({"kind": "block"}, described(numbers={"n_head": [2], "dim": [12]})).heads == 2


def test_an_attribute_that_is_there_with_two_values_says_nothing() -> None:
    for values in ([2, 4], [0]):
        seen = described(numbers={"n_head": values})
        assert complete({"kind": "block", "width": 12}, seen).heads is None
    assert complete({"kind": "block", "width": 12}, described(numbers={"n_head": [1]})).heads == 1


def test_heads_are_read_where_no_width_is_known_and_kept_where_none_are_read() -> None:
    seen = described(required=["q", "k", "v"], numbers={"n_head": [2]})
    assert complete({}, seen).heads == 2
    assert complete({"kind": "block", "heads": 3, "width": 9}, described()).heads == 3


def test_the_framework_is_the_one_that_was_seen_unless_another_is_declared() -> None:
    given = {"kind": "block", "width": 12}
    assert complete(given, described(framework="jax")).framework == "jax"
    assert complete({**given, "framework": "torch"}, described(framework="jax")).framework == "torch"


def test_heads_that_do_not_divide_the_width_are_not_read() -> None:
    seen = described(numbers={"n_head": [5], "n_embd": [12]})
    assert complete({"kind": "block"}, seen).heads is None
    with pytest.raises(Question, match="heads: found 5, required: a divisor of width = 12"):
        complete({"kind": "block", "heads": 5, "width": 12}, described())


def test_width_is_read_from_an_embedding_or_from_norms_that_agree() -> None:
    assert complete({"kind": "block"}, described(parameters=[NORM])).width == 12
    assert complete({"kind": "model"}, described(parameters=[TABLE, ["n", [8], "Norm"]])).width == 12
    others = [["fc.weight", [48, 20], "Linear"], ["fc.bias", [48], "Linear"]]
    assert complete({"kind": "block"}, described(parameters=[NORM, *others])).width == 12
    with pytest.raises(Question, match=r"^how many channels does x have\? say --width N$"):
        complete({"kind": "self_attention"}, described())
    with pytest.raises(Question, match=r"^how many channels does x have\? say --width N$"):
        complete({"kind": "block"}, described(parameters=[NORM, ["n", [8], "RMSNorm"]]))


def test_the_vocabulary_is_read_from_the_largest_embedding() -> None:
    positions = ["wpe.weight", [16, 12], "Embedding"]
    assert complete({}, described(embedding=True, parameters=[positions, TABLE])).vocab == 50
    with pytest.raises(Question, match=r"^how many token ids are there\? say --vocab N$"):
        complete({"kind": "model"}, described())


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        ({"embedding": True, "parameters": [TABLE]}, "model"),
        ({"required": ["q", "k", "v"]}, "attention"),
        ({"required": [], "attention": True}, "attention"),
        ({"framework": "torch", "parameters": [NORM], "name": "Block"}, "block"),
        ({"framework": "torch", "parameters": [NORM], "name": "CausalSelfAttention"}, "self_attention"),
    ],
)
def test_the_kind_is_inferred_where_it_can_be(seen: dict[str, Any], kind: str) -> None:
    assert complete({}, described(**seen)).kind == kind


@pytest.mark.parametrize(
    "seen",
    [
        {},
        {"required": ["q", "k", "v"], "parameters": [NORM]},
        {"framework": "torch", "parameters": [NORM], "required": ["x", "mask"]},
        {"required": [], "attention": False},
        {"required": ["x"], "attention": True},
    ],
)
def test_the_kind_is_asked_where_it_would_be_a_guess(seen: dict[str, Any]) -> None:
    with pytest.raises(Question) as raised:
        complete({}, described(**seen))
    assert str(raised.value) == (
        "what is it? say --kind attention (q, k, v), self_attention (x, no skip), block (x) or model (token ids)"
    )


def test_switches_of_a_module_say_where_its_norms_are_and_whether_it_is_causal() -> None:
    given = {"kind": "block", "width": 12}
    assert complete(given, described(switches={"norm_first": [True]})).norm == "pre"
    assert complete(given, described(switches={"norm_first": [False]})).norm == "post"
    assert complete(given, described(switches={"norm_first": [True, False]})).norm is None
    assert complete(given, described(switches={"is_causal": [False]})).causal is False
    assert complete({**given, "causal": True}, described(switches={"is_causal": [False]})).causal is True


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"kind": "bloc"}, "kind: found 'bloc', required: one of attention, self_attention, block, model"),
        ({"norm": "both"}, "norm: found 'both', required: one of pre, post"),
        ({"layout": "tbhc"}, "layout: found 'tbhc', required: one of bhtc, bthc"),
        ({"mask": "round"}, "mask: found 'round', required: one of none, additive, keep, hide"),
        (
            {"positions": "odd"},
            "positions: found 'odd', required: one of none, learned, sinusoidal, rope, alibi",
        ),
        (
            {"design": "parallel,odd"},
            "design: found 'odd', required: one of sequential, parallel, sandwich, scaled, sink, qk_norm",
        ),
        ({"dtype": "float16"}, "dtype: found 'float16', required: one of float32, float64"),
        ({"norm_kind": "batch"}, "norm_kind: found 'batch', required: one of layer, rms"),
        ({"framework": "mxnet"}, "framework: found 'mxnet', required: one of numpy, torch, jax"),
        ({"causal": "yes"}, "causal: found 'yes', required: one of True, False"),
        ({"cached": "yes"}, "cached: found 'yes', required: one of True, False"),
        ({"padding_form": "zeros"}, "padding_form: found 'zeros', required: one of keep, hide, ones"),
        (
            {"padding": "a mask"},
            "padding: found 'a mask', required: the name of an argument, such as attention_mask",
        ),
        ({"padding": True}, "padding: found True, required: the name of an argument, such as attention_mask"),
        ({"padding": ""}, "padding: found '', required: the name of an argument, such as attention_mask"),
        ({"order": "qk"}, "order: found 'qk', required: the letters q, k and v, such as qkv"),
        ({"heads": 0}, "heads: found 0, required: a whole number of at least 1"),
        ({"heads": True}, "heads: found True, required: a whole number of at least 1"),
        ({"heads": 2.0}, "heads: found 2.0, required: a whole number of at least 1"),
        ({"window": -1}, "window: found -1, required: a whole number of at least 0"),
        (
            {"width": 1},
            "width: found 1, required: a whole number of at least 2; one channel shows no norm and no scale",
        ),
        (
            {"vocab": 1},
            "vocab: found 1, required: a whole number of at least 2; one token id cannot be replaced by another",
        ),
        (
            {"max_length": 1},
            "max_length: found 1, required: a whole number of at least 2; "
            "one token shows no mask and no attention",
        ),
        ({"width": 0}, "width: found 0, required: a whole number of at least 2"),
        ({"width": True}, "width: found True, required: a whole number of at least 2"),
        ({"heads": 1025}, "heads: found 1025, required: a whole number of at most 1024"),
        ({"heads": 4, "kv_heads": 3}, "kv_heads: found 3, required: a divisor of heads = 4"),
        ({"kv_heads": 2}, "kv_heads: found 2, required: a divisor of heads = None"),
        ({"width": 12, "heads": 5}, "heads: found 5, required: a divisor of width = 12"),
    ],
)
def test_a_wrong_declaration_is_said_in_one_line(given: dict[str, Any], line: str) -> None:
    with pytest.raises(Question) as raised:
        Declaration(**given)
    assert str(raised.value) == line


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("heads", 1, 1024),
        ("kv_heads", 1, 1024),
        ("width", 2, 65536),
        ("vocab", 2, 1073741824),
        ("max_length", 2, 1073741824),
        ("window", 0, 1073741824),
    ],
)
def test_sizes_have_a_least_and_a_most(name: str, least: int, most: int) -> None:
    besides: dict[str, Any] = {"heads": 1024} if name == "kv_heads" else {}
    for size in (least, most):
        assert getattr(Declaration(**{**besides, name: size}), name) == size
    for size in (least - 1, most + 1):
        with pytest.raises(Question, match=f"^{name}: found {size}, required: a whole number of at "):
            Declaration(**{**besides, name: size})


def test_sizes_of_which_only_one_is_known_are_no_contradiction() -> None:
    assert Declaration(width=3).width == Declaration(heads=3).heads == 3


def test_everything_that_may_be_declared_can_be() -> None:
    for name, words in {
        "kind": KINDS, "norm": ("pre", "post"), "layout": LAYOUTS, "mask": MASKS, "positions": POSITIONS,
        "padding_form": PADDINGS, "padding": ("pad", "attention_mask"),
        "design": DESIGNS, "dtype": ("float32", "float64"), "norm_kind": ("layer", "rms"),
        "framework": FRAMEWORKS, "causal": (True, False), "cached": (True, False),
    }.items():  # fmt: skip
        given: list[dict[str, Any]] = [{name: word} for word in words]
        assert [getattr(Declaration(**one), name) for one in given] == list(words)


def test_nothing_is_declared_that_was_not_said() -> None:
    assert asdict(Declaration()) == {
        **dict.fromkeys(("kind", "causal", "norm", "heads", "kv_heads", "width", "vocab", "max_length")),
        **dict.fromkeys(("positions", "cached", "output", "framework", "padding")),
        "norm_kind": "rms",
        "layout": "bhtc",
        "order": "qkv",
        "mask": "none",
        "padding_form": "keep",
        "window": 0,
        "design": "sequential",
        "dtype": "float32",
    }


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(Question) as raised:
        complete({}, described(declared={"width": 4, "shape": 3, "colour": "red"}))
    listed = ", ".join(field.name for field in fields(Declaration))
    assert str(raised.value) == f"declared key 'colour' is not known; required: some of {listed}"


def test_claims_follow_from_what_is_declared() -> None:
    block: dict[str, Any] = {"kind": "block", "heads": 2}
    assert claims(Declaration(**block)) == {
        "causal",
        "pre_norm",
        "sequential",
        "unwindowed",
        "heads",
        "any_width",
    }
    assert claims(Declaration(**block, causal=False)) == {
        "pre_norm",
        "sequential",
        "unwindowed",
        "heads",
        "any_width",
    }
    assert claims(Declaration(**block, norm="post")) == {"causal", "unwindowed", "heads", "any_width"}
    assert claims(Declaration(**block, design="parallel")) == {
        "causal",
        "pre_norm",
        "unwindowed",
        "heads",
        "any_width",
    }
    assert claims(Declaration(**block, design="sandwich")) == {
        "causal",
        "pre_norm",
        "sequential",
        "unwindowed",
        "any_width",
    }
    assert claims(Declaration(**block, design="scaled", window=4)) == {"causal", "heads", "any_width"}
    assert claims(Declaration(kind="model")) == {"causal", "unwindowed", "any_width"}
    assert "any_width" not in claims(Declaration(kind="attention", heads=2, width=8))
    assert "cached" in claims(Declaration(cached=True))
    assert "cached" not in claims(Declaration(cached=False))


def test_designs_take_contracts_away_that_they_would_break() -> None:
    rotated = "positions inside attention change q·k"
    normed = "queries and keys are normalised before their product: the scale is another one"
    drained = dict.fromkeys(
        ("rows", "first_token", "zero_query", "self_weight", "future_weight", "axis"),
        "an attention sink takes some of the weight",
    )
    assert limits(Declaration()) == {}
    assert limits(Declaration(kind="attention", positions="learned")) == {}
    assert limits(Declaration(kind="block", positions="rope")) == {}
    rope = {"slope": rotated, "duplication": rotated}
    assert limits(Declaration(kind="attention", positions="rope")) == rope
    alibi = {**rope, "zero_query": rotated}
    assert limits(Declaration(kind="attention", positions="alibi")) == alibi
    assert limits(Declaration(kind="block", positions="alibi")) == {"zero_query": rotated}
    assert limits(Declaration(design="sequential,sink")) == drained
    assert limits(Declaration(design="qk_norm")) == {"slope": normed, "duplication": normed}
    several = Declaration(kind="attention", positions="alibi", design="sink,qk_norm")
    assert limits(several) == {**drained, "slope": normed, "duplication": normed}
    assert limits(Declaration(kind="attention", positions="rope", design="sink")) == {**rope, **drained}
