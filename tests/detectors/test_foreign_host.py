"""What is asked of a host, and what becomes of its answers: parameters, operations, blocks, 16 bits.

A host that answers from NumPy stands in for the child process in which a PyTorch module would be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors import foreign
from detectors.declaration import WANTED
from detectors.foreign import Foreign, Target
from detectors.host import HOME, Answer, GuestError, SubjectRaised
from detectors.precision import Narrow

Array = NDArray[Any]

DESCRIBED: Mapping[str, Any] = {
    "declared": {"kind": "block", "norm": "pre", "norm_kind": "rms", "width": 4, "heads": 2},
    "weights": [], "attention": False, "step": False, "framework": "torch", "name": "Block", "required": ["x"],
    "numbers": {}, "switches": {}, "parameters": [], "embedding": False, "blocks": [], "norms": [],
}  # fmt: skip

PARAMETERS = {
    "attn.qkv.weight": (12, 4), "attn.proj.weight": (4, 4), "mlp.fc1.weight": (8, 4), "mlp.fc2.weight": (4, 8),
}  # fmt: skip


def softmax(scores: Array) -> Array:
    odds = np.exp(scores - scores.max(axis=-1, keepdims=True))
    found: Array = odds / odds.sum(axis=-1, keepdims=True)
    return found


def block(x: Array, weights: Mapping[str, Array]) -> Array:
    """One head and a feed-forward network, with weights [out, in] as in PyTorch."""
    query, key, value = np.split(x @ weights["attn.qkv.weight"].T, 3, axis=-1)
    y = x + softmax(query @ key.swapaxes(1, 2)) @ value @ weights["attn.proj.weight"].T
    found: Array = y + np.tanh(y @ weights["mlp.fc1.weight"].T) @ weights["mlp.fc2.weight"].T
    return found


class Elsewhere:
    """A host that keeps what it is asked, and answers as the child of a PyTorch module does."""

    def __init__(self, call: Callable[[Array, Mapping[str, Array]], Array] = block, **others: Any) -> None:
        draw = np.random.default_rng(0).standard_normal
        self.weights = {name: draw(shape).astype("f4") for name, shape in PARAMETERS.items()}
        self.call, self.others = call, others
        self.asked: list[dict[str, Any]] = []
        self.tokens: list[Array] = []

    def request(self, header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
        self.asked.append(dict(header))
        operation = header["operation"]
        if operation in self.others:
            answer: Answer = self.others[operation](header, arrays)
            return answer
        if operation == "read":
            return {}, [self._view(self.weights, place).copy() for place in header["wanted"]]
        assert operation == "call"
        self.tokens.append(arrays[0])
        weights = {name: array.copy() for name, array in self.weights.items()}
        for place, array in zip(header["roles"].values(), arrays[1:], strict=True):
            self._view(weights, place)[...] = array
        return {"wrote": False, "half": ""}, [self.call(arrays[0], weights)]

    @staticmethod
    def _view(weights: Mapping[str, Array], place: Sequence[Any]) -> Array:
        name, transposed, first, last = place
        whole = weights[name].T if transposed else weights[name]
        return whole[..., first:last] if last else whole

    def operations(self) -> list[str]:
        return [header["operation"] for header in self.asked]


def held(host: Elsewhere, seen: Mapping[str, Any] | None = None, part: str = "", **given: Any) -> Foreign:
    named = [[name, list(shape), "Linear"] for name, shape in PARAMETERS.items()]
    return Foreign(host, {**DESCRIBED, "parameters": named, **(seen or {})}, given, part)


# --- weights ---------------------------------------------------------------------------------------------------


def test_the_weights_of_a_module_are_found_by_role_and_act_on_the_right() -> None:
    host = Elsewhere()
    weights = held(host).subject("it").weights
    assert weights is not None
    fused = host.weights["attn.qkv.weight"].T
    expected = {
        "Wq": fused[:, :4], "Wk": fused[:, 4:8], "Wv": fused[:, 8:], "Wo": host.weights["attn.proj.weight"].T,
        "W1": host.weights["mlp.fc1.weight"].T, "W2": host.weights["mlp.fc2.weight"].T,
    }  # fmt: skip
    assert {role: array.tolist() for role, array in weights.items()} == {
        role: array.tolist() for role, array in expected.items()
    }


def test_weights_are_replaced_for_one_call_by_role() -> None:
    host = Elsewhere()
    call, x = held(host, part="h.0").subject("it").call, np.ones((1, 2, 4), "f4")
    assert call is not None
    expected = block(x, {**host.weights, "mlp.fc2.weight": np.zeros((4, 8))})
    assert call(x, {"W2": np.zeros((8, 4), "f4")}) == pytest.approx(expected)
    assert host.asked[-1] == {
        "operation": "call",
        "part": "h.0",
        "options": {"framework": "torch", "output": None},
        "roles": {"W2": ["mlp.fc2.weight", True, 0, 0]},
    }


def test_a_fused_weight_is_shared_out_as_the_heads_are() -> None:
    found: dict[str, Any] = {}
    fused = [["attn.qkv.weight", [8, 4], "Linear"]]

    def read(header: Mapping[str, Any], arrays: Sequence[Array]) -> Answer:
        found["wanted"] = header["wanted"]
        raise GuestError("no numbers")

    seen = {"declared": {**DESCRIBED["declared"], "kv_heads": 1}, "parameters": fused}
    held(Elsewhere(lambda x, weights: x, read=read), seen)
    assert [place[2:] for place in found["wanted"]] == [[0, 4], [4, 6], [6, 8]]


@pytest.mark.parametrize("error", [SubjectRaised("RuntimeError: packed"), GuestError("quantized")])
def test_weights_that_are_no_numbers_play_no_role(error: Exception) -> None:
    def read(header: Mapping[str, Any], arrays: Sequence[Array]) -> Answer:
        raise error

    made = held(Elsewhere(read=read))
    assert made.subject("it").weights is None
    assert made.problem == ""


def test_weights_that_do_not_act_as_named_play_no_role() -> None:
    def idle(x: Array, weights: Mapping[str, Array]) -> Array:
        found: Array = x + np.tanh(x @ weights["attn.qkv.weight"][:4].T)
        return found

    # neither output nor value weights hide what the queries do; there is no feed-forward network that could show
    assert set(held(Elsewhere(idle)).subject("it").weights or {}) == {"W1", "W2"}


@pytest.mark.parametrize("kind", ["self_attention", "attention"])
def test_only_the_weights_of_blocks_are_looked_for(kind: str) -> None:
    host = Elsewhere(lambda x, weights: x)
    host.others["call"] = lambda header, arrays: ({"wrote": False, "half": ""}, [np.zeros_like(arrays[0])])
    made = held(host, {"declared": {"kind": kind, "width": 4, "heads": 2}})
    assert made.problem == ""
    assert made.narrow == Narrow()
    assert made.subject("it").weights is None
    assert set(host.operations()) == {"call"}


def test_declared_weights_are_read_as_they_are() -> None:
    asked: list[Any] = []

    def read(header: Mapping[str, Any], arrays: Sequence[Array]) -> Answer:
        asked.append(header["wanted"])
        return {}, [np.eye(4)]

    made = held(Elsewhere(lambda x, weights: x, read=read), {"weights": ["W2"]})
    weights = made.subject("it").weights
    assert weights is not None
    assert weights["W2"].tolist() == np.eye(4).tolist()
    assert asked == [[["W2", False, 0, 0]]]


def test_a_block_is_looked_at_by_one_call() -> None:
    host = Elsewhere(lambda x, weights: x[0])
    held(host, {"parameters": []})
    assert host.operations() == ["call"]


def test_the_first_refusal_is_the_problem() -> None:
    host = Elsewhere(lambda x, weights: x)
    made = held(host, {"parameters": []})
    call = made.subject("it").call
    assert call is not None
    for at in (1, 2):

        def refuse(header: Mapping[str, Any], arrays: Sequence[Array], at: int = at) -> Answer:
            raise GuestError(f"refusal {at}")

        host.others["call"] = refuse
        with pytest.raises(GuestError, match=f"refusal {at}"):
            call(np.ones((1, 2, 4)), {})
        assert made.problem == "refusal 1"


# --- operations and parts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "framework", "followed"),
    [
        ("block", "torch", True),
        ("block", "jax", True),
        ("block", "numpy", False),
        ("self_attention", "torch", True),
        ("attention", "torch", False),
    ],
)
def test_operations_are_followed_in_torch_and_jax(kind: str, framework: str, followed: bool) -> None:
    host = Elsewhere(sites=lambda header, arrays: ({"sites": [{"rows": float(arrays[0].sum())}]}, []))
    host.others["call"] = lambda header, arrays: ({"wrote": False, "half": ""}, [np.zeros_like(arrays[0])])
    declared = {"kind": kind, "width": 4, "heads": 2, "norm": "pre"}
    made = held(host, {"declared": declared, "framework": framework, "parameters": []}, part="p")
    subject = made.subject("its name")
    assert (subject.name, subject.kind) == ("its name", kind)
    assert (subject.call is None) == (kind == "attention")
    assert (subject.attention is not None) == (kind == "attention")
    assert (subject.sites is not None) is followed
    if subject.sites is not None:
        assert subject.sites(np.ones((1, 2, 4))) == [{"rows": 8.0}]
        assert host.asked[-1] == {
            "operation": "sites",
            "part": "p",
            "options": {"framework": framework, "output": None},
        }


def test_a_part_is_described_by_what_is_wanted_of_any() -> None:
    host = Elsewhere(describe=lambda header, arrays: ({"name": "Part"}, []))
    assert foreign.describe(host, "h.0") == {"name": "Part"}
    assert host.asked == [{"operation": "describe", "part": "h.0", "wanted": WANTED}]


def test_a_subject_is_loaded_by_where_it_is_and_how_it_is_built() -> None:
    host = Elsewhere(load=lambda header, arrays: ({"name": "Gpt"}, []))
    assert foreign.load(host, Target("m", "a", "C(1)")) == {"name": "Gpt"}
    assert host.asked == [
        {
            "operation": "load", "module": "m", "attribute": "a", "init": "C(1)", "home": HOME,
            "blocked": ["core", "detectors", "faults", "reports"], "wanted": WANTED,
        }
    ]  # fmt: skip


def test_a_subject_that_raises_while_it_is_built_cannot_be_used() -> None:
    def load(header: Mapping[str, Any], arrays: Sequence[Array]) -> Answer:
        raise SubjectRaised("KeyError: 'width'")

    with pytest.raises(GuestError, match=r"^it cannot be built: KeyError: 'width'$"):
        foreign.load(Elsewhere(load=load), Target("m", "a"))


# --- blocks inside a model -------------------------------------------------------------------------------------


def one_hot(ids: Array, weights: Mapping[str, Array]) -> Array:
    return np.eye(7, dtype="f4")[ids]


MODEL: Mapping[str, Any] = {
    "declared": {"kind": "model", "vocab": 7},
    "parameters": [],
    "blocks": ["h.0", "t.0"],
}


def test_the_blocks_of_a_model_are_those_that_take_x_alone() -> None:
    host = Elsewhere(one_hot, blocks=lambda header, arrays: ({"blocks": header["names"][1:]}, []))
    made = held(host, MODEL)
    assert made.blocks() == ["t.0"]
    assert host.asked[-1] == {
        "operation": "blocks",
        "part": "",
        "options": {"framework": "torch", "output": None},
        "names": ["h.0", "t.0"],
    }
    assert made.notes == []


def test_blocks_that_take_more_than_x_are_noted() -> None:
    host = Elsewhere(one_hot, blocks=lambda header, arrays: ({"blocks": []}, []))
    made = held(host, MODEL)
    assert made.blocks() == []
    assert made.notes == [
        "none of its repeated parts is a block that takes x alone; none was examined by itself"
    ]


@pytest.mark.parametrize("error", [SubjectRaised("ValueError: no"), GuestError("lost")])
def test_blocks_that_cannot_be_looked_for_are_none(error: Exception) -> None:
    def blocks(header: Mapping[str, Any], arrays: Sequence[Array]) -> Answer:
        raise error

    made = held(Elsewhere(one_hot, blocks=blocks), MODEL)
    assert made.blocks() == []
    assert made.notes == []


def test_blocks_are_looked_for_in_models_that_have_some() -> None:
    host = Elsewhere(one_hot)
    assert held(host, {**MODEL, "blocks": []}).blocks() == []
    assert held(Elsewhere(), {"blocks": ["h.0"]}).blocks() == []
    assert set(host.operations()) == {"call"}


def test_a_first_look_takes_five_tokens_or_as_many_as_there_may_be() -> None:
    for longest, tokens in ((None, 5), (3, 3), (7, 5)):
        host = Elsewhere(one_hot, blocks=lambda header, arrays: ({"blocks": [f"{arrays[0].shape}"]}, []))
        made = held(host, MODEL, max_length=longest)
        assert host.tokens[0].shape == (2, tokens)
        assert made.blocks() == [f"(2, {tokens})"]


# --- 16 bits and notes -----------------------------------------------------------------------------------------

HALF = "float16 parameters were examined as float32"


def test_a_call_in_16_bits_of_its_own_is_made_where_parameters_came_in_them() -> None:
    host = Elsewhere(lambda x, weights: x)
    lost = np.array([[[np.inf, 1, 2, 3]]])
    plain, answers = host.request, {True: lost}

    def request(header: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Answer:
        if header.get("options", {}).get("own precision"):
            assert (header["operation"], header["part"]) == ("call", "p")
            host.tokens.append(arrays[0])
            return {"wrote": False, "half": ""}, [answers[True]]
        return plain(header, arrays)

    host.request = request  # type: ignore[method-assign]
    seen = {"notes": [HALF], "parameters": []}
    made = held(host, seen, part="p")
    assert made.narrow == Narrow("float16", lost=0.25)
    assert made.notes == [HALF]
    assert np.array_equal(host.tokens[1], host.tokens[0])
    answers[True] = np.zeros((1, 1, 4))
    fine = held(host, seen, part="p")
    assert fine.narrow == Narrow("float16")
    assert fine.notes == [HALF, "one call in float16 itself gave finite numbers"]


def test_without_a_conversion_nothing_is_called_in_16_bits() -> None:
    host = Elsewhere(lambda x, weights: x)
    made = held(host, {"parameters": []})
    assert (made.narrow, made.notes) == (Narrow(), [])
    assert not any("own precision" in header["options"] for header in host.asked)


@pytest.mark.parametrize(
    ("half", "roundoff"), [("bfloat16", 1 / 128), ("float16", 1 / 1024), ("float8_e5m2", 0.25), ("", 0.0)]
)
def test_a_coarse_output_is_noted_once_with_the_spacing_of_its_numbers(half: str, roundoff: float) -> None:
    host = Elsewhere()
    host.others["call"] = lambda header, arrays: ({"wrote": True, "half": half}, [arrays[0]])
    made = held(host, {"notes": ["before"], "parameters": []})
    wrote = "the call writes into its input; it was given copies"
    coarse = f"the output is {half}; thresholds were widened to what it can hold"
    assert made.notes == ["before", wrote, *([coarse] if half else [])]
    assert made.roundoff == roundoff
