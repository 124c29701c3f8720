"""The template, the mapping, the sketch, the child's packing and its watch, each by itself."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faults.clean_room import mapping, sketch
from faults.clean_room.driver import Alien, Watch, pack, parameters, unpack
from faults.clean_room.faulty import no_skip, open_attention, open_mask, scrambled_merge
from faults.clean_room.interface import BY_NAME, FUNCTIONS, PARTS, SKETCH
from faults.clean_room.template import TEMPLATE
from faults.model import UsageError

FINISHED = {function.name: list(function.parameters) for function in FUNCTIONS}


def test_the_template_has_every_function_with_its_parameters_and_solves_none() -> None:
    functions = [node for node in ast.parse(TEMPLATE).body if isinstance(node, ast.FunctionDef)]
    assert {one.name: [a.arg for a in one.args.args] for one in functions} == FINISHED
    assert all(ast.get_docstring(one) and "->" in (ast.get_docstring(one) or "") for one in functions)
    assert {ast.unparse(one.body[1]) for one in functions} == {"raise NotImplementedError"}
    assert all(len(one.body) == 2 for one in functions)


def test_the_template_asks_for_the_sketch_without_drawing_it() -> None:
    space: dict[str, Any] = {}
    exec(compile(TEMPLATE, "template", "exec"), space)
    assert space["SHAPES"] == dict.fromkeys(SKETCH, "")


def test_every_function_belongs_to_one_part() -> None:
    assert [name for _, names, _ in PARTS for name in names] == list(BY_NAME)


def test_a_mapping_goes_from_our_name_to_theirs() -> None:
    assert mapping.parse(["attn=causal_attention", "ffn = feed_forward"], "en") == {
        "causal_attention": "attn",
        "feed_forward": "ffn",
    }


@pytest.mark.parametrize("entry", ["attn", "=block", "attn=", "attn=nothing", "a b=block", "a=block=b"])
def test_a_mapping_of_another_form_is_refused(entry: str) -> None:
    with pytest.raises(UsageError, match="required is theirs=ours"):
        mapping.parse([entry], "en")


def test_a_function_is_mapped_once() -> None:
    with pytest.raises(UsageError, match="mapped twice"):
        mapping.parse(["a=block", "b=block"], "en")


def test_names_that_are_absent_get_the_nearest_free_function_that_takes_as_much() -> None:
    found = {
        "attn": ["q", "k", "v"],
        "ffn": ["x", "w", "b"],
        "mlp": ["x", "w"],
        "block": ["x", "w", "h"],
        "zzz": ["x"],
    }
    assert mapping.propose(found, {}) == (("attn", "causal_attention"), ("mlp", "feed_forward"))


def test_what_is_mapped_already_is_not_proposed_again() -> None:
    found = {**FINISHED, "attn": ["q", "k", "v"]}
    del found["causal_attention"]
    assert mapping.propose(found, {"causal_attention": "attn"}) == ()
    assert mapping.propose(FINISHED, {}) == ()


@pytest.mark.parametrize(
    ("parameters", "count", "fits"),
    [
        (["a", "b"], 2, True),
        (["a", "b"], 1, False),
        (["a"], 2, False),
        (["a", "b="], 1, True),
        (["a", "b="], 2, True),
        (["a", "*rest"], 5, True),
        (["a", "**named"], 2, False),
        ([], 0, True),
    ],
)
def test_a_function_fits_when_it_can_be_called_with_that_many_arguments(
    parameters: list[str], count: int, fits: bool
) -> None:
    assert mapping.takes(parameters, count) is fits


@pytest.mark.parametrize(
    ("text", "extents"),
    [
        ("(B, T, D)", (2, 5, 12)),
        ("[B, H, T, d_head]", (2, 3, 5, 4)),
        ("B,T,H*d", (2, 5, 12)),
        ("（B，T，D）", (2, 5, 12)),
        ("(T, T)", (5, 5)),
        ("(1, V)", (1, 11)),
        ("(B, T, n_embd)", (2, 5, 12)),
        ("square", None),
        ("", None),
        ("(B, ?)", None),
    ],
)
def test_a_sketch_stands_for_extents(text: str, extents: tuple[int, ...] | None) -> None:
    assert sketch.lengths(text) == extents


def test_the_mapping_goes_before_docstrings_and_tuples_are_read() -> None:
    found = sketch.written(
        {"query": ("B", "H", "T", "d"), "mask": ""}, {"f": "mask: (T, T)\nquery: (T)\nother: (X)"}
    )
    assert found["query"] == "B, H, T, d"
    assert found["mask"] == "(T, T)"
    assert found["logits"] == ""
    assert sketch.written(7, {})["query"] == ""


def test_trees_cross_bit_by_bit() -> None:
    tree = {
        "a": np.array([[1.5, np.nan], [-0.0, np.inf]]),
        "b": [1, None, True, "文", (2.5, [])],
        "c": np.arange(3, dtype=np.int8),
        "d": np.float64(2.0),
        "e": np.zeros((0, 2)),
    }
    packed = pack(tree)
    assert packed.dtype == np.float64
    back = unpack(packed)
    assert back["a"].tobytes() == tree["a"].tobytes()  # type: ignore[attr-defined]  # the values have several types
    assert back["b"] == tree["b"]
    assert back["c"].dtype == np.int8
    assert back["c"].tolist() == [0, 1, 2]
    assert back["d"] == 2.0
    assert back["e"].shape == (0, 2)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (object(), "a object"),
        (2**70, "an integer of more than 64 bits"),
        (np.array(["x"]), "an array of dtype <U1"),
        (np.zeros(9 * 2**20), "an array of 72 MB"),
    ],
)
def test_what_cannot_cross_is_named(value: object, kind: str) -> None:
    back = unpack(pack([value]))[0]
    assert isinstance(back, Alien)
    assert back.kind == kind


def test_a_list_that_contains_itself_ends() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert unpack(pack(loop))


def test_the_watch_tells_the_learners_own_module_from_the_reference(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "core").mkdir(parents=True)
    (home / "core" / "heads.py").touch()
    (tmp_path / "work").mkdir()
    watch = Watch(str(home), ["core", "llm_core"], ["core"], str(tmp_path / "work"))
    assert watch.found("import", ("core.heads",)) == ["import", "core"]
    assert watch.found("import", ("corelib",)) is None
    assert watch.found("open", (str(home / "core" / "heads.py"), "r", 0)) == ["read", "heads.py"]
    assert watch.found("open", (str(home / "corelib.py"), "r", 0)) is None
    assert watch.found("open", (3, "r", 0)) is None
    (tmp_path / "work" / "core.py").touch()
    assert watch.found("import", ("core",)) is None


def test_a_link_to_the_reference_is_followed(tmp_path: Path) -> None:
    (tmp_path / "home" / "core").mkdir(parents=True)
    (tmp_path / "home" / "core" / "heads.py").touch()
    (tmp_path / "link").symlink_to(tmp_path / "home" / "core" / "heads.py")
    watch = Watch(str(tmp_path / "home"), ["core"], ["core"], str(tmp_path))
    assert watch.found("open", (str(tmp_path / "link"), "r", 0)) == ["read", "link"]


def test_an_attempt_is_refused_and_noted_once(tmp_path: Path) -> None:
    watch = Watch(str(tmp_path), ["core"], ["core"], str(tmp_path / "work"))
    for _ in range(2):
        with pytest.raises(ImportError, match="clean room: import core is not allowed here"):
            watch("import", ("core", None, None, None, None))
    watch("exec", ("core",))
    assert watch.seen == [["import", "core"]]


def test_parameters_are_marked() -> None:
    def function(a: int, b: int = 1, *c: int, **d: int) -> None: ...

    assert parameters(function) == ["a", "b=", "*c", "**d"]
    assert parameters(object()) == []


def test_the_open_masks_hide_nothing() -> None:
    assert open_mask(lambda t: np.where(np.tri(t) > 0, 0.0, -np.inf))(3).tolist() == [[0.0] * 3] * 3
    assert open_mask(lambda t: np.tri(t, dtype=bool))(2).tolist() == [[True] * 2] * 2


def test_the_open_attention_weighs_by_the_scaled_scores_alone() -> None:
    scaled = np.log(np.array([[[[1.0, 3.0]]]]))
    found = open_attention(lambda q, k, v: {"scaled": scaled, "weights": None})(
        None, None, np.array([[[[4.0], [8.0]]]])
    )
    np.testing.assert_allclose(found["weights"], [[[[0.25, 0.75]]]], rtol=1e-14)
    np.testing.assert_allclose(found["output"], [[[[7.0]]]], rtol=1e-14)


def test_the_scrambled_merge_forgets_the_transpose() -> None:
    attended = np.arange(8).reshape(1, 2, 2, 2)
    assert scrambled_merge(lambda a: a)(attended).tolist() == [[[0, 1, 2, 3], [4, 5, 6, 7]]]


def test_without_the_skip_the_branch_is_left() -> None:
    assert no_skip(lambda x, branch: x + branch(x))(np.array([2.0]), lambda x: 3 * x).tolist() == [6.0]
