"""Models in PyTorch with a padding mask and a key/value cache: sound ones quiet, faults in either named."""

from __future__ import annotations

import math
from typing import Any

import pytest

from detectors.testing import check_subject
from tests.quality.foreign.pairs import examined

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
nn: Any = torch.nn

WIDTH, HEADS, VOCAB, LONGEST = 12, 3, 11, 16

# A second thread costs far more than it brings with arrays this small.
torch.set_num_threads(1)


class Layer(nn.Module):  # type: ignore[misc] # torch has no types here
    """A pre-norm attention layer with as much of a mask as it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = (
            nn.LayerNorm(WIDTH),
            nn.Linear(WIDTH, 3 * WIDTH),
            nn.Linear(WIDTH, WIDTH),
        )

    def forward(self, x: Any, hidden: Any, past: Any = None) -> Any:
        """(y, [key, value]); `hidden` [.., query, key] is True where nothing may be seen."""
        sides = self.qkv(self.norm(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        query, both = sides[0], sides[1:] if past is None else torch.cat([past, sides[1:]], dim=3)
        scores = query @ both[0].mT / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(hidden, self.fill).softmax(-1)
        return x + self.out((weights @ both[1]).transpose(1, 2).flatten(2)), both

    fill = -1e9


class Model(nn.Module):  # type: ignore[misc]
    """Token ids to logits. Pieces to replace: what a padding mask hides, the fill, positions, what is cached."""

    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.table, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers, self.head = nn.ModuleList([Layer() for _ in range(layers)]), nn.Linear(WIDTH, VOCAB)

    def padding(self, keep: Any) -> Any:
        return ~keep[:, None, None, :]

    def forward(self, ids: Any, attention_mask: Any = None) -> Any:
        hidden = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        if attention_mask is not None:
            hidden = hidden | self.padding(attention_mask.bool())
        x = self.table(ids) + self.places.weight[: ids.shape[1]]
        for layer in self.layers:
            x, _ = layer(x, hidden)
        return self.head(x)

    def offset(self, seen: int, calls: int) -> int:
        return seen

    def kept(self, both: Any, past: Any) -> Any:
        return both

    def step(self, ids: Any, cache: Any) -> Any:
        pasts, seen, calls = cache or ([None] * len(self.layers), 0, 0)
        tokens, keys = ids.shape[1], seen + ids.shape[1]
        hidden = torch.ones(tokens, keys, dtype=torch.bool).triu(1 + seen)
        start = self.offset(seen, calls)
        x, new = self.table(ids) + self.places.weight[start : start + tokens], []
        for layer, past in zip(self.layers, pasts, strict=True):
            known = 0 if past is None else past.shape[3]
            x, both = layer(x, hidden[:, -known - tokens :], past)
            new.append(self.kept(both, past))
        return self.head(x), (new, keys, calls + 1)


def infinite(model: Model) -> Model:
    for layer in model.layers:
        layer.fill = -math.inf
    return model


def made(layers: int = 2, **pieces: Any) -> Model:
    model: Model = type("Model", (Model,), pieces)(layers)
    return model


def padded(model: Model, form: str = "ones") -> Any:
    declared = {"kind": "model", "heads": HEADS, "padding": "attention_mask", "padding_form": form}
    return examined(model, {**declared, "vocab": VOCAB, "max_length": LONGEST})


def cached(model: Model) -> Any:
    subject = {"kind": "model", "call": model, "step": model.step, "heads": HEADS}
    return examined(subject, {"vocab": VOCAB, "max_length": LONGEST, "framework": "torch"})


def broken(found: Any) -> list[str]:
    return [finding.detector.name for finding in found.broken]


@pytest.mark.parametrize("form", ["ones", "keep"])
def test_a_sound_model_is_sound_with_padding(form: str) -> None:
    found = padded(Model(), form)
    assert (found.verdict, broken(found)) == ("sound", [])
    assert [found.finding(name).value for name in ("padding", "padded_reach", "padded_rows")] == [0, 0, 0]


@pytest.mark.parametrize(
    ("model", "named", "variant"),
    [
        (made(padding=lambda self, keep: ~keep[:, None, :, None]), "padding_ignored", "ignored"),
        (made(padding=lambda self, keep: torch.zeros(1, dtype=torch.bool)), "padding_ignored", "ignored"),
        (made(padding=lambda self, keep: keep[:, None, None, :]), "padding_ignored", "inverted"),
        (infinite(made(1)), "padding_nan", "in_rows"),
        (infinite(made(2)), "padding_nan", "everywhere"),
        (
            infinite(made(1, padding=lambda self, keep: ~keep[:, None, :, None])),
            "padding_ignored",
            "on_the_queries",
        ),
        (made(padding=lambda self, keep: ~keep[:, None, None, 1:]), "padding_ignored", "does_not_fit"),
    ],
    ids=[
        "on the queries",
        "ignored",
        "inverted",
        "minus infinity",
        "twice",
        "on the queries, minus infinity",
        "of another size",
    ],
)
def test_a_wrong_padding_mask_is_named(model: Model, named: str, variant: str) -> None:
    found = padded(model)
    assert (found.verdict, found.named, found.candidates[0].variant) == ("broken", (named,), variant)
    assert set(broken(found)) <= {"padding", "padded_reach", "padded_rows", "shape"}


def test_a_sound_model_is_sound_with_a_cache() -> None:
    found = cached(Model())
    assert (found.verdict, broken(found)) == ("sound", [])
    assert 0 < found.finding("cache").value < 1e-5


@pytest.mark.parametrize(
    "pieces",
    [
        {"offset": lambda self, seen, calls: 0},
        {"offset": lambda self, seen, calls: seen + max(calls - 1, 0)},
        {"kept": lambda self, both, past: both if past is None else past},
    ],
    ids=["positions start again", "offset advanced twice", "nothing appended"],
)
def test_a_wrong_cache_is_named(pieces: Any) -> None:
    found = cached(made(**pieces))
    assert (found.verdict, found.named, broken(found)) == ("broken", ("cache_differs",), ["cache"])


def test_a_step_that_fails_is_named() -> None:
    found = cached(made(kept=lambda self, both, past: both[0]))
    assert (found.named, broken(found)) == (("cache_differs",), ["cache", "shape"])
    assert found.candidates[0].variant == "does_not_fit"


def test_a_layer_of_the_library_may_take_a_mask_of_what_is_hidden() -> None:
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 20, batch_first=True, norm_first=True, dropout=0.0)
    declared: dict[str, Any] = {"causal": False, "norm": "pre", "norm_kind": "layer", "padding_form": "hide"}
    found = check_subject(layer, kind="block", padding="src_key_padding_mask", **declared)
    assert broken(found) == []
    assert [found.finding(name).value for name in ("padding", "padded_reach", "padded_rows")] == [0, 0, 0]


def test_nothing_of_it_is_recorded_for_gradients() -> None:
    recorded: list[bool] = []

    class Noted(Model):
        def step(self, ids: Any, cache: Any) -> Any:
            recorded.append(torch.is_grad_enabled())
            return super().step(ids, cache)

    cached(Noted())
    assert set(recorded) == {False}
