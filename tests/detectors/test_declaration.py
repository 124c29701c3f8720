"""What is said of a subject, what is read off it, and what is asked."""

from __future__ import annotations

from typing import Any

import pytest

from detectors.declaration import Declaration, Question, claims, complete, limits


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
    assert complete({"kind": "block", "width": 12}, described(numbers={"n_head": [2, 4]})).heads is None


def test_heads_that_do_not_divide_the_width_are_not_read() -> None:
    seen = described(numbers={"n_head": [5], "n_embd": [12]})
    assert complete({"kind": "block"}, seen).heads is None
    with pytest.raises(Question, match="heads: found 5, required: a divisor of width = 12"):
        complete({"kind": "block", "heads": 5, "width": 12}, described())


def test_width_is_read_from_an_embedding_or_from_norms_that_agree() -> None:
    assert complete({"kind": "block"}, described(parameters=[NORM])).width == 12
    assert complete({"kind": "model"}, described(parameters=[TABLE, ["n", [8], "Norm"]])).width == 12
    with pytest.raises(Question, match="say --width N"):
        complete({"kind": "block"}, described(parameters=[NORM, ["n", [8], "RMSNorm"]]))


def test_the_vocabulary_is_read_from_the_largest_embedding() -> None:
    positions = ["wpe.weight", [16, 12], "Embedding"]
    assert complete({}, described(embedding=True, parameters=[positions, TABLE])).vocab == 50
    with pytest.raises(Question, match="say --vocab N"):
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
    ],
)
def test_the_kind_is_asked_where_it_would_be_a_guess(seen: dict[str, Any]) -> None:
    with pytest.raises(Question, match="say --kind attention"):
        complete({}, described(**seen))


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
        ({"order": "qk"}, "order: found 'qk', required: the letters q, k and v, such as qkv"),
        ({"heads": 0}, "heads: found 0, required: a whole number of at least 1"),
        ({"window": -1}, "window: found -1, required: a whole number of at least 0"),
        ({"heads": 4, "kv_heads": 3}, "kv_heads: found 3, required: a divisor of heads = 4"),
        ({"design": "parallel,odd"}, "design: found 'odd', required: one of sequential, parallel"),
        ({"causal": "yes"}, "causal: found 'yes', required: one of True, False"),
    ],
)
def test_a_wrong_declaration_is_said_in_one_line(given: dict[str, Any], line: str) -> None:
    with pytest.raises(Question) as raised:
        Declaration(**given)
    assert str(raised.value).startswith(line)


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(Question, match="declared key 'colour' is not known"):
        complete({}, described(declared={"colour": "red"}))


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


def test_designs_take_contracts_away_that_they_would_break() -> None:
    assert limits(Declaration()) == {}
    assert set(limits(Declaration(kind="attention", positions="rope"))) == {"slope", "duplication"}
    assert set(limits(Declaration(kind="attention", positions="alibi"))) == {
        "slope",
        "duplication",
        "zero_query",
    }
    assert limits(Declaration(kind="block", positions="rope")) == {}
    assert {"rows", "first_token"} < set(limits(Declaration(design="sequential,sink")))
    assert set(limits(Declaration(design="qk_norm"))) == {"slope", "duplication"}
