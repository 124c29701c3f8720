"""Small parts of a guest that are about PyTorch: what mixes tokens, what is made of the input, weights by value."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from detectors.guest import blocks, calling, conversion, norms
from detectors.guest.origins import Origins, memory

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
TORCH = {"framework": "torch"}


def looks_ahead(x: Any) -> Any:
    """Each token and the one after it."""
    return x + torch.cat([x[:, 1:], torch.zeros_like(x[:, :1])], dim=1)


def looks_back(x: Any) -> Any:
    """Each token and the one before it."""
    return x + torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], dim=1)


@pytest.mark.parametrize(
    ("block", "mixes"),
    [
        (looks_ahead, True),
        (looks_back, True),
        (lambda x: 2 * x, False),
        (lambda x: (x.cumsum(1), None), True),
    ],
)
def test_whether_a_token_matters_to_any_other(block: Any, mixes: bool) -> None:
    x = torch.arange(24.0).reshape(1, 4, 6)
    assert blocks._mixes(block, x) is mixes
    assert x[0, 0, 0] == 0  # the block is asked with copies


def test_rounding_is_relative_to_what_the_block_gives() -> None:
    x = torch.arange(24.0).reshape(1, 4, 6)
    assert not blocks._mixes(lambda x: 0 * x, x)
    assert not blocks._mixes(lambda x: 100 + looks_back(x * 2e-5), x)
    assert blocks._mixes(lambda x: 0.01 + looks_back(x * 2e-5), x)


@pytest.mark.parametrize(
    ("value", "says"), [(None, False), (False, False), (True, True), (0, True), (0.5, True)]
)
def test_a_switch_that_is_off_says_nothing(value: object, says: bool) -> None:
    assert blocks._says_something(value) is says


def test_what_is_made_of_the_input_is_told_from_what_is_not() -> None:
    x, other = torch.ones(2, 3), torch.ones(2, 3)
    origins = Origins(torch, [x])
    y, z = x + 1, other + 1
    origins.note([x, 1.0], y)
    origins.note([[other]], z)
    assert [origins.inside(one) for one in (x, x[:1], y, y.T, other, z)] == [True] * 4 + [False] * 2
    both = (y, z)
    origins.note([(1, [y])], both)
    assert origins.inside(z)
    assert Origins(torch, []).inside(other)


def test_a_view_shares_the_memory_of_what_it_is_a_view_of() -> None:
    x = torch.ones(2, 3)
    assert memory(x[1:]) == memory(x) != memory(x.clone())
    meta = SimpleNamespace(untyped_storage=lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        memory(meta)

    def nothing() -> Any:
        raise NotImplementedError

    bare = SimpleNamespace(untyped_storage=nothing)
    assert memory(bare) == id(bare)


def test_weights_that_are_passed_by_value_come_in_the_framework_of_the_subject() -> None:
    own = {"Wq": torch.eye(2), "Wk": torch.eye(2)}
    found = calling.by_value({"weights": own}, {"Wq": (None, np.full((2, 2), 3.0))}, TORCH)
    assert found["Wq"].tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert isinstance(found["Wq"], torch.Tensor)
    assert found["Wk"] is own["Wk"]
    assert own["Wq"].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_steps_are_given_numbers_of_the_type_of_their_module() -> None:
    model, kinds = torch.nn.Linear(2, 2).double(), []

    def step(x: Any, cache: Any) -> Any:
        kinds.append(x.dtype)
        return x, 1

    calling.continued({"call": model, "step": step}, [np.ones((1, 1, 2), "f4")], TORCH)
    assert kinds == [torch.float64]


@pytest.mark.parametrize(
    ("array", "writable"),
    [(np.ones(2), True), (np.broadcast_to(1.0, 2), False), (torch.ones(2), True), ([1.0], False)],
)
def test_what_can_be_written_in_place(array: Any, writable: bool) -> None:
    assert calling.writable({"call": len, "weights": {"Wq": array}}) == (["Wq"] if writable else [])


def test_numbers_are_given_in_the_type_of_the_first_parameter_and_ids_stay_whole() -> None:
    model = torch.nn.Linear(2, 2).double()
    number, ids = conversion.given([np.ones(2, "f4"), np.array([1, 2])], model, "torch")
    assert (number.dtype, ids.dtype) == (torch.float64, torch.int64)
    array = np.ones(2, "f4")
    (plain,) = conversion.given([array], len, "torch")
    plain += 1
    assert (plain.dtype, array.tolist()) == (torch.float32, [1.0, 1.0])


def test_tensors_of_any_kind_are_read() -> None:
    grad = torch.ones(2, requires_grad=True) * 2
    sparse = torch.eye(2).to_sparse()
    for tensor, numbers, kind in (
        (grad, [2.0, 2.0], "f4"),
        (sparse, [[1.0, 0.0], [0.0, 1.0]], "f4"),
        (torch.ones(2, dtype=torch.bfloat16), [1.0, 1.0], "f4"),
        (torch.ones(2, dtype=torch.float64), [1.0, 1.0], "f8"),
        (torch.complex(torch.ones(2), torch.ones(2)).conj().imag, [-1.0, -1.0], "f4"),
        (torch.tensor([True, False]), [1.0, 0.0], "f4"),
    ):
        array = conversion.as_array(tensor)
        assert (array.tolist(), array.dtype.str[1:]) == (numbers, kind)
    assert conversion.half(torch.ones(1, dtype=torch.bfloat16)) == "bfloat16"
    assert conversion.half(torch.ones(1, dtype=torch.float16)) == "float16"
    assert conversion.half(torch.ones(1)) == ""


def test_a_norm_that_is_handed_more_than_x_is_not_examined() -> None:
    class Scaled(torch.nn.LayerNorm):  # type: ignore[misc]
        def forward(self, x: Any, times: Any = 1.0) -> Any:
            return super().forward(x) * times

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.a_norm, self.b_norm = torch.nn.LayerNorm(6), Scaled(6)

        def forward(self, x: Any) -> Any:
            return self.a_norm(x) + self.b_norm(x, 2.0)

    x = np.ones((2, 3, 6), "f4")
    found, gains = norms.examined(Model(), ["a_norm", "b_norm"], [x], TORCH)
    assert found == {"a_norm": {"channels": 6, "gains": 2}}
    assert [gain.tolist() for gain in gains] == [[1.0] * 6, [0.0] * 6]


def test_calls_of_torch_code_alone_are_without_gradients() -> None:
    with calling.undisturbed(TORCH):
        assert not torch.is_grad_enabled()
    with calling.undisturbed({"framework": "numpy"}):
        assert torch.is_grad_enabled()
