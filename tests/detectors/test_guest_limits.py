"""How much of somebody's code and of its answers a guest looks at, and what it needs to run at all."""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from detectors.declaration import WANTED
from detectors.guest import blocks, calling, describing, loading, places, program, subjects, wire
from detectors.guest.refusal import Refused, worded
from detectors.guest.torch_sites import Known


def announced(kind: str, count: int) -> io.BytesIO:
    """A pipe on which a frame with one array is announced, and nothing of it comes."""
    return io.BytesIO(json.dumps({"arrays": [[kind, [count]]]}).encode() + b"\n")


def test_an_array_has_256_megabytes_at_most() -> None:
    with pytest.raises(EOFError, match=r"^an array ends early$"):
        wire.read_frame(announced("<f4", 64 * 2**20))
    with pytest.raises(ValueError, match=r"^an array of 268435460 bytes and dtype <f4 was announced$"):
        wire.read_frame(announced("<f4", 64 * 2**20 + 1))


def test_a_header_has_16_megabytes_at_most() -> None:
    asked: list[int] = []

    class Pipe(io.BytesIO):
        def readline(self, most: int | None = -1, /) -> bytes:
            asked.append(most or 0)
            return b"{" * 7

    with pytest.raises(EOFError, match=r"^the header ends early$"):
        wire.read_frame(Pipe())
    assert asked == [16777216]


def test_of_a_message_300_characters_are_said() -> None:
    assert worded(ValueError("x" * 300)) == "ValueError: " + "x" * 300
    assert worded(ValueError("x" * 301)) == "ValueError: " + "x" * 300 + "..."


@pytest.mark.parametrize(("shape", "drawn"), [((16, 16), True), ((17, 5), False), ((5, 17), False)])
def test_weights_of_sixteen_tokens_are_handed_back_themselves(shape: tuple[int, int], drawn: bool) -> None:
    weights = np.broadcast_to(np.eye(*shape), (3, *shape))
    assert places.looked_at(weights)["mean"] == (np.eye(*shape).tolist() if drawn else None)


class Module:
    """What a guest takes for a module of PyTorch."""

    def __init__(self, *parts: tuple[str, Module], **attributes: Any) -> None:
        self.parts = parts
        self.__dict__.update(attributes)

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        yield "", self
        yield from self.parts

    def modules(self) -> list[Module]:
        return [part for _, part in self.named_modules()]

    def named_parameters(self) -> list[Any]:
        return []

    def forward(self, x: Any) -> Any:
        return x

    __call__ = forward


class Parts(Module):
    """A list of modules."""

    def __init__(self, *items: Module) -> None:
        super().__init__()
        self.items = items

    def __iter__(self) -> Iterator[Module]:
        return iter(self.items)


class Embedding(Module):
    """A table that no model here has."""


@pytest.fixture
def _torch(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = SimpleNamespace(Module=Module, Embedding=Embedding, ModuleList=Parts, Sequential=Parts)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(nn=layers))


@pytest.mark.usefixtures("_torch")
def test_the_attributes_of_400_parts_are_read() -> None:
    # the model is the first of them
    parts = [(f"h.{at}", Module(**{f"n_{at}": at})) for at in range(2, 402)]
    wanted = {**WANTED, "numbers": ["n_400", "n_401"]}
    assert describing.describe(Module(*parts), wanted)["numbers"] == {"n_400": [400]}


@pytest.mark.usefixtures("_torch")
def test_blocks_are_looked_for_down_to_the_sixth_dot() -> None:
    near, far = "a.b.c.d.e.f.g", "b.b.c.d.e.f.g.h"
    model = Module((near, Parts(Module(), Module())), (far, Parts(Module(), Module())))
    assert describing.describe(model, dict(WANTED))["blocks"] == [f"{near}.0"]


@pytest.mark.parametrize(("version", "runs"), [((3, 8, 18), False), ((3, 9, 0), True)])
def test_a_guest_needs_python_39(
    version: tuple[int, int, int], runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "sys", SimpleNamespace(version_info=version, executable="/old/python"))
    state, header = {"subject": lambda x: x}, {"wanted": WANTED}
    if runs:
        assert program.loaded(state, header)[0]["framework"] == "numpy"
        return
    with pytest.raises(Refused) as raised:
        program.loaded(state, header)
    assert str(raised.value) == "/old/python is Python 3.8; required: 3.9 or later, named with --python"


def test_nothing_is_known_of_a_tensor_but_what_it_is() -> None:
    assert Known("score") == Known("score", gain=1.0, head_width=0, normalised=False, context=False)


def test_our_names_are_never_found_by_what_guards_them() -> None:
    assert loading.Blocker("/nowhere", ["core"]).find_spec("numpy", None) is None  # type: ignore[func-returns-value]


class Numbers(np.ndarray[Any, Any]):
    """As much of a tensor as can be looked at."""

    def clone(self) -> Numbers:
        return self.copy()

    def flip(self, axis: int) -> Numbers:
        return np.flip(self, axis)

    def abs(self) -> Numbers:
        return np.abs(self).view(Numbers)


@pytest.mark.parametrize(("share", "mixes"), [(5e-6, False), (5e-5, True)])
def test_a_token_matters_to_another_if_it_changes_it_by_more_than_a_hundred_thousandth(
    share: float, mixes: bool
) -> None:
    def block(x: Any) -> Any:
        return 1 + share * x[:, :1, :1] + 0 * x

    x = np.zeros((1, 3, 2)).view(Numbers)
    x[:, 0] = [0, 1]
    assert blocks._mixes(block, x) is mixes


class Tensor:
    """As much of a tensor as is written to, with the numbers of an array and their type by name."""

    def __init__(self, numbers: Any, kind: str = "float32") -> None:
        self.numbers, self.kind = np.array(numbers), kind
        self.data = self

    def clone(self) -> Tensor:
        return Tensor(self.numbers)

    def copy_(self, other: Tensor) -> None:
        self.numbers = np.array(other.numbers)

    def to(self, kind: str) -> Tensor:
        return Tensor(self.numbers, kind)

    def float(self) -> Tensor:
        return Tensor(self.numbers, "float32")


@pytest.mark.parametrize("kind", [np.array, Tensor])
def test_roles_have_other_numbers_for_the_time_of_a_call_and_then_their_own(kind: Any) -> None:
    def numbers(array: Any) -> Any:
        return getattr(array, "numbers", array).tolist()

    weights = {"Wq": kind([1.0, 2.0]), "Wk": kind([3.0, 4.0])}
    subject = {"call": lambda x: x, "weights": weights}
    replaced = {
        # one role twice: it is put back in the other order
        "Wq": [["Wq", False, 0, 0], kind([5.0, 6.0])],
        "again": [["Wq", False, 0, 0], kind([7.0, 8.0])],
        "Wk": [["Wk", False, 0, 0], kind([9.0, 9.0])],
    }
    with calling.overridden(subject, replaced):
        assert [numbers(array) for array in weights.values()] == [[7, 8], [9, 9]]
    assert [numbers(array) for array in weights.values()] == [[1, 2], [3, 4]]


def test_weights_that_are_passed_by_value_are_not_written_to() -> None:
    weights = {"Wq": np.array([1.0, 2.0])}
    subject = {"call": lambda x, parameters: x, "weights": weights}
    with calling.overridden(subject, {"Wq": [["Wq", False, 0, 0], np.array([5.0, 6.0])]}):
        assert weights["Wq"].tolist() == [1, 2]


def test_what_somebody_elses_code_warns_of_is_not_heard() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with calling.quiet():
            warnings.warn("mine", stacklevel=1)


def test_numbers_are_in_their_own_16_bits_for_the_time_of_a_call() -> None:
    store = {"w": SimpleNamespace(data=Tensor([1.0]))}
    with subjects.narrowed([(store, "w", "bfloat16")]):
        assert store["w"].data.kind == "bfloat16"
    assert store["w"].data.kind == "float32"
