"""The norms inside a subject, found and called in the guest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from detectors import foreign
from detectors.foreign import Foreign
from detectors.host import GuestError, SubjectRaised
from detectors.subject import Norm
from detectors.testing import NO_TARGET, Here, check_subject

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
nn = torch.nn

BLOCK: dict[str, Any] = {"kind": "block", "width": 16, "heads": 4, "norm": "pre"}


def found(subject: Any, **declared: Any) -> dict[str, Norm]:
    here = Foreign(host := Here(subject), foreign.load(host, NO_TARGET), {**BLOCK, **declared})
    return dict(here.subject("it").norms)


class GemmaNorm(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width) / 4)

    def forward(self, x: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.weight)


class LayerNormalization(torch.nn.Module):  # type: ignore[misc]
    """Epsilon outside the root, and the unbiased deviation that torch computes by itself."""

    def __init__(self, width: int = 16, eps: float = 1e-6) -> None:
        super().__init__()
        self.alpha, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Any) -> Any:
        return self.alpha * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.eps)


class OverTokensNorm(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-5)


class ChannelsFirstNorm(torch.nn.Module):  # type: ignore[misc]
    """Of [batch, channel, token]."""

    def forward(self, x: Any) -> Any:
        return (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True, unbiased=False) + 1e-5).sqrt()


class Turned(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.inner = norm

    def forward(self, x: Any) -> Any:
        return self.inner(x.transpose(1, 2)).transpose(1, 2)


class PreNorm(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.norm, self.branch = norm, nn.Linear(16, 16)

    def forward(self, x: Any) -> Any:
        return self.branch(self.norm(x))


class Twice(torch.nn.Module):  # type: ignore[misc]
    """A stream of two branches on each token alone."""

    def __init__(self, first: Any, second: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = PreNorm(first), PreNorm(second)

    def forward(self, x: Any) -> Any:
        x = x + self.first(x)
        return x + self.second(x)


def drawn(norm: Any) -> Any:
    for parameter in norm.parameters():
        nn.init.uniform_(parameter, 0.3, 1.7)
    return norm


def verdict(first: Any, **declared: Any) -> tuple[str, float | None]:
    one = check_subject(Twice(first, nn.Identity()), **{**BLOCK, **declared}).finding("norm_formula")
    return one.verdict, one.value


def test_one_norm_of_each_class_is_found_with_what_it_may_multiply_by() -> None:
    norm = drawn(nn.LayerNorm(16))
    norms = found(Twice(norm, nn.LayerNorm(16)))
    assert list(norms) == ["first.norm"]
    assert norms["first.norm"].channels == 16
    assert [gain.tolist() for gain in norms["first.norm"].gains] == [norm.weight.tolist(), norm.bias.tolist()]
    assert list(found(Twice(GemmaNorm(), nn.LayerNorm(16)))) == ["first.norm", "second.norm"]


def test_a_norm_is_called_by_itself() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 16)).astype(np.float32)
    output = found(Twice(nn.LayerNorm(16), nn.Identity()))["first.norm"].call(x)
    assert output == pytest.approx((x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True), abs=1e-3)


class Standard(torch.nn.Module):  # type: ignore[misc]
    """Of any last axis, and used on both."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = StandardNorm()

    def forward(self, x: Any) -> Any:
        return x + self.norm(self.norm(x.transpose(1, 2)).transpose(1, 2))


class StandardNorm(torch.nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        return nn.functional.layer_norm(x, x.shape[-1:])


def test_a_norm_that_one_call_of_several_gives_another_layout_is_not_found() -> None:
    assert found(Standard()) == {}


def test_a_norm_of_another_layout_is_not_found() -> None:
    assert found(Twice(Turned(ChannelsFirstNorm()), Turned(nn.BatchNorm1d(16)))) == {}
    assert found(Twice(nn.Unflatten(-1, (4, 4)), nn.Identity())) == {}


@pytest.mark.parametrize(
    "made",
    [
        lambda: drawn(nn.LayerNorm(16)),
        lambda: nn.LayerNorm(16, eps=1e-2),
        lambda: nn.LayerNorm(16, elementwise_affine=False),
        lambda: drawn(nn.RMSNorm(16)),
        GemmaNorm,
    ],
)
def test_sound_norms_stay_quiet(made: Any) -> None:
    said, value = verdict(made())
    assert said == "holds"
    assert value is not None
    assert value < 1e-4


@pytest.mark.parametrize("eps", [1e-6, 1e-12])
def test_another_formula_is_found(eps: float) -> None:
    said, value = verdict(LayerNormalization(eps=eps))
    assert said == "broken"
    assert value == pytest.approx(1 - (15 / 16) ** 0.5, rel=1e-3) if eps < 1e-9 else value


@pytest.mark.parametrize(
    "made", [lambda: Turned(nn.BatchNorm1d(16)), lambda: nn.Identity(), lambda: Turned(nn.GroupNorm(4, 16))]
)
def test_what_is_no_norm_of_single_tokens_is_not_judged(made: Any) -> None:
    assert verdict(made(), causal=False) == ("not observable", None)


def test_a_norm_over_tokens_is_judged_where_the_future_is_hidden() -> None:
    assert verdict(OverTokensNorm())[0] == "broken"
    assert verdict(OverTokensNorm(), causal=False)[0] == "not observable"


def test_declared_norms_are_called_in_any_framework() -> None:
    def norm(x: Any) -> Any:
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-4)

    held = {**BLOCK, "call": lambda x: 2 * norm(x) + x, "norms": {"ln": norm, "none": None}}
    assert list(found(held)) == ["ln"]
    assert check_subject(held).finding("norm_formula").verdict == "broken"


def test_norms_that_cannot_be_reached_leave_the_rest_as_it_is() -> None:
    class Raises(Here):
        def request(self, header: Any, arrays: Any = ()) -> Any:
            if header["operation"] == "norms":
                raise SubjectRaised("no")
            return super().request(header, arrays)

    host = Raises(Twice(nn.LayerNorm(16), nn.Identity()))
    assert Foreign(host, foreign.load(host, NO_TARGET), BLOCK).subject("it").norms == {}


def test_a_norm_that_raises_by_itself_is_not_judged() -> None:
    def norm(x: Any) -> Any:
        raise ValueError("no room")

    held = {**BLOCK, "call": lambda x: x, "norms": {"ln": norm}}
    one = check_subject(held).finding("norm_formula")
    assert one.verdict == "not observable"
    assert one.reason.startswith("its norm ln cannot be called by itself: ValueError: no room")


def test_a_norm_that_gives_no_array_is_refused_by_its_name() -> None:
    norms = found({**BLOCK, "call": lambda x: x, "norms": {"ln": lambda x: None}})
    with pytest.raises(GuestError) as refused:
        norms["ln"].call(np.ones((2, 3, 16)))
    assert str(refused.value) == "norm ln: the call returned None; required: an array"
