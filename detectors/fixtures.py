"""Fixtures: seeded, read-only inputs and weights with declared extents. NumPy only.

H = 1, T = 1, d_k = 1, T == H, unit gains and zero biases all hide faults, so gains are drawn around 1 but never at
it, every bias is drawn, and no token equals another. What a fixture can show is decided from `Extents` alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import NDArray

from detectors.errors import DetectorError

Array = NDArray[Any]
Made = TypeVar("Made")
Given = TypeVarTuple("Given")

DTYPES = ("float32", "float64")
NORMS = ("layer", "rms")


@dataclass(frozen=True)
class Extents:
    """The declared sizes of a fixture.

    batch, tokens, heads, kv_heads (divides heads), head_width (d_k), hidden (width inside the feed-forward
    network), dtype, norm_kind ("layer" or "rms"), gain, the factor on Wq and Wk that makes logits small or
    extreme, and vocab, the number of token ids where tokens are ids and not vectors (0: vectors).
    Raises DetectorError where they contradict each other.
    """

    batch: int = 2
    tokens: int = 5
    heads: int = 2
    kv_heads: int = 2
    head_width: int = 4
    hidden: int = 12
    dtype: str = "float64"
    norm_kind: str = "layer"
    gain: float = 1.0
    vocab: int = 0

    def __post_init__(self) -> None:
        sizes = (self.batch, self.tokens, self.heads, self.kv_heads, self.head_width, self.hidden)
        if min(sizes) < 1:
            raise DetectorError(f"extents of a fixture: found {sizes}, required: each at least 1")
        if self.heads % self.kv_heads:
            raise DetectorError(
                f"kv_heads: found {self.kv_heads}, required: a divisor of heads = {self.heads}"
            )
        if self.dtype not in DTYPES or self.norm_kind not in NORMS:
            found = f"{self.dtype!r} and {self.norm_kind!r}"
            raise DetectorError(f"dtype and norm_kind: found {found}, required: one of {DTYPES} and {NORMS}")

    @property
    def width(self) -> int:
        """D = H * d_k."""
        return self.heads * self.head_width

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Fixture:
    """Inputs and weights drawn from one seed, made once and never changed.

    `x` is [batch, token, channel]; `weights` maps roles (Wq bq Wk bk Wv bv Wo bo W1 b1 W2 b2 gain1 shift1 gain2
    shift2) to arrays that act on the right, y = x @ W + b. `once` keeps what detectors derive from them.
    """

    def __init__(self, extents: Extents, seed: int) -> None:
        self.extents = extents
        self.seed = seed
        self.dtype = np.dtype(extents.dtype)
        self._kept: dict[Hashable, Any] = {}
        self.x = self._tokens()

    @cached_property
    def weights(self) -> Mapping[str, Array]:
        """Role -> array; drawn when asked for, since somebody's own code brings its own."""
        return _weights(self)

    def draw(self, name: str, *shape: int) -> Array:
        """Standard normal numbers for `name`, the same at every call; read-only, in the fixture's dtype."""
        return self.once(Fixture._fresh, name, shape)

    def once(self, make: Callable[[Fixture, *Given], Made], *given: *Given) -> Made:
        """What `make` returned at the first call with this fixture and what is given besides."""
        if (make, given) not in self._kept:
            self._kept[make, given] = make(self, *given)
        kept: Made = self._kept[make, given]
        return kept

    def square(self) -> Fixture:
        """The same weights with as many tokens as heads: there a confusion of the two axes cannot raise.

        The batch keeps away from that number, so that a confusion of batch and tokens still does.
        """
        return self.once(Fixture._square)

    def _square(self) -> Fixture:
        heads, batch = self.extents.heads, self.extents.batch
        return Fixture(replace(self.extents, tokens=heads, batch=batch + (batch == heads)), self.seed)

    def _tokens(self) -> Array:
        extents = self.extents
        if extents.vocab:
            return frozen(self._ids(extents.batch, extents.tokens))
        return self.draw("x", extents.batch, extents.tokens, extents.width)

    def _ids(self, batch: int, tokens: int) -> Array:
        """Token ids [batch, token], no id twice in a sequence where that can be."""
        generator, vocab = np.random.default_rng(self.seed), self.extents.vocab
        if vocab < tokens:
            return generator.integers(vocab, size=(batch, tokens))
        return np.array([generator.permutation(vocab)[:tokens] for _ in range(batch)])

    def _fresh(self, name: str, shape: tuple[int, ...]) -> Array:
        generator = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        return frozen(generator.standard_normal(shape).astype(self.dtype))


def frozen(array: Array) -> Array:
    """The array itself, read-only from now on."""
    array.setflags(write=False)
    return array


def _weights(fixture: Fixture) -> dict[str, Array]:
    extents = fixture.extents
    width, narrow = extents.width, extents.kv_heads * extents.head_width
    shapes = {"q": (width, width), "k": (width, narrow), "v": (width, narrow), "o": (width, width)}
    shapes |= {"1": (width, extents.hidden), "2": (extents.hidden, width)}
    weights: dict[str, Array] = {}
    for role, (rows, columns) in shapes.items():
        size = rows**-0.5 * (extents.gain if role in ("q", "k") else 1.0)
        weights[f"W{role}"] = frozen(fixture.draw(f"W{role}", rows, columns) * fixture.dtype.type(size))
        weights[f"b{role}"] = frozen(fixture.draw(f"b{role}", columns) * fixture.dtype.type(0.1))
    return weights | _norm_weights(fixture)


def _norm_weights(fixture: Fixture) -> dict[str, Array]:
    made: dict[str, Array] = {}
    for which in "12":
        away = np.tanh(fixture.draw(f"gain{which}", fixture.extents.width))
        # 0.5 .. 1.5 and never 1: a unit gain makes LayerNorm idempotent and hides a norm applied twice.
        made[f"gain{which}"] = frozen((1 + np.copysign(0.1, away) + 0.4 * away).astype(fixture.dtype))
        if fixture.extents.norm_kind == "layer":
            shift = fixture.draw(f"shift{which}", fixture.extents.width) * fixture.dtype.type(0.1)
            made[f"shift{which}"] = frozen(shift)
    return made
