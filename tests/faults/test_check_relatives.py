"""What a subject looks like: one of the five where it is, and "not one of the five" where it is something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.catalogue import BY_NAME
from faults import registry, relatives
from tests.faults.made_blocks import Block, Flipped, Leaky, answered

Array = NDArray[Any]

NOISE = np.random.default_rng(0)


class Columns(Block):  # type: ignore[misc]
    def softmax(self, scores: Any) -> Any:
        odds = np.exp(scores - 1)
        return odds / odds.sum(-2, keepdims=True)


class Unscaled(Block):  # type: ignore[misc]
    def scale(self, scores: Any) -> Any:
        return scores


class Reshaped(Block):  # type: ignore[misc]
    def split(self, x: Any) -> Any:
        return x.reshape(x.shape[0], 2, x.shape[1], 4)


class Dropped(Block):  # type: ignore[misc]
    def call(self, x: Any) -> Any:
        x = self.attend(self.norm_of(x))
        return self.feed(self.norm_of(x))


class Noisy(Block):  # type: ignore[misc]
    def call(self, x: Any) -> Any:
        found = super().call(x)
        return found * (NOISE.random(found.shape) > 0.1)


class NoisyInside(Block):  # type: ignore[misc]
    def attend(self, x: Any) -> Any:
        return super().attend(x) * (NOISE.random(x.shape) > 0.2)


class OverTheBatch(Block):  # type: ignore[misc]
    def norm_of(self, x: Any) -> Any:
        return (x - x.mean((0, 1))) / (x.std((0, 1)) + 1e-5)


class Cut(Block):  # type: ignore[misc]
    def attend(self, x: Any) -> Any:
        return 0 * x


class Raw(Block):  # type: ignore[misc]
    def feed(self, x: Any) -> Any:
        return super().feed(x)

    def call(self, x: Any) -> Any:
        x = x + self.attend(self.norm_of(x))
        return x + self.feed(x)


class Hidden(Block):  # type: ignore[misc]
    """The first row hides every key, and is no number."""

    def mask(self, scores: Any) -> Any:
        return np.where(np.tril(np.ones(scores.shape[-2:], bool), -1), scores, -np.inf)


class HiddenAll(Block):  # type: ignore[misc]
    def mask(self, scores: Any) -> Any:
        return np.full_like(scores, -np.inf)


class OverTokens(Block):  # type: ignore[misc]
    def norm_of(self, x: Any) -> Any:
        return x / np.sqrt((x * x).mean((1, 2), keepdims=True) + 1e-5)


CASES: dict[str, tuple[Any, str]] = {
    "no mask": (Leaky, "mask_adds_zero"),
    "triangle flipped": (Flipped, "flipped_triangle"),
    "no scale": (Unscaled, "missing_scale"),
    "heads split by reshape": (Reshaped, "head_seq_swap"),
    "no skip": (Dropped, "residual_shape"),
    "dropout on the output": (Noisy, "not_repeatable"),
    "dropout in attention": (NoisyInside, "not_repeatable"),
    "norm over the batch": (OverTheBatch, "rows_interact"),
    "norm over tokens": (OverTokens, "tokens_mixed"),
    "softmax over queries": (Columns, "softmax_axis"),
    "no attention": (Cut, "attention_disconnected"),
    "feed-forward without norm": (Raw, "branch_without_norm"),
    "the token itself hidden": (Hidden, "flipped_triangle"),
    "every key hidden": (HiddenAll, "not_finite"),
}


def test_the_sound_block_is_sound() -> None:
    found = answered(Block)
    assert (found.verdict, found.nearest, found.exit_code(strict=True)) == ("sound", (), 0)


@pytest.mark.parametrize("name", CASES)
def test_a_defect_is_named(name: str) -> None:
    block, fault = CASES[name]
    found = answered(block)
    assert [named.fault for named in found.nearest] == [fault]
    assert found.nearest[0].own == (fault in registry.NAMES)
    assert (found.verdict, found.exit_code(strict=False)) == ("broken", 1)
    assert found.runner_up is None or found.runner_up.fault != fault
    assert found.witness is not None
    assert found.witness.finding in (found.checked.broken if found.checked else ())


def test_relatives_are_not_of_the_five_and_their_signs_exist() -> None:
    names = [relative.name for relative in relatives.RELATIVES]
    assert not set(names) & set(registry.NAMES)
    assert len(set(names)) == len(names)
    for row in relatives.expected():
        assert row.fires <= set(BY_NAME), row
    assert all(relatives.find(name) is not None for name in names)
    assert relatives.find("missing_scale") is None


def test_what_the_five_look_like_otherwise_names_variants_that_exist() -> None:
    for row in relatives.OTHERWISE:
        assert registry.variant(registry.load(row.fault), row.variant).name == row.variant
        assert row.fires <= set(BY_NAME)


def test_a_relative_speaks_both_languages() -> None:
    for relative in relatives.RELATIVES:
        for text in (relative.wrong, relative.repair):
            assert set(text) == {"en", "zh"}
            assert not text["en"].endswith(".")


def test_advice_says_which_flag_makes_an_intended_design_sound() -> None:
    assert answered(Leaky).advice == ("--no-causal",)
    assert answered(Raw).advice == ()
    assert answered(Raw, norm=None).advice == ("--norm post, --design scaled", "--norm post")
    assert answered(Block).advice == ()


def outside_the_root(x: Any) -> Any:
    return x / (np.sqrt((x * x).mean(-1, keepdims=True)) + 1e-5)


def test_a_norm_that_differs_in_its_formula_alone_is_fragile() -> None:
    made = Block()
    held = {"kind": "block", "width": 8, "heads": 2, "call": made.call, "norms": {"1": made.norm_of}}
    assert answered(held).verdict == "undecided"
    found = answered({**held, "norms": {"1": outside_the_root}})
    assert (found.verdict, [named.fault for named in found.nearest]) == ("fragile", ["norm_differs"])
    leaky = answered({**held, "call": Leaky().call, "norms": {"1": outside_the_root}})
    assert (leaky.verdict, [named.fault for named in leaky.nearest]) == ("broken", ["mask_adds_zero"])
