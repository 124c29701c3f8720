"""What a block declares about itself, the parameters that fit it, and random ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core import settings
from core.arrays import FloatArray, Floating
from core.errors import CoreError
from core.feed_forward import ACTIVATIONS
from core.parameters import Parameters

NORMS = ("pre", "post")
NORM_KINDS = ("layer", "rms")


@dataclass(frozen=True)
class BlockConfig:
    """The shape of a block. `kv_heads`: fewer key/value heads than query heads (None: as many).

    Raises CoreError for heads that do not group evenly or a name not offered.
    """

    heads: int
    kv_heads: int | None = None
    norm: str = "pre"
    norm_kind: str = "layer"
    activation: str = "relu"
    causal: bool = True
    eps: float = 1e-5

    def __post_init__(self) -> None:
        if settings.whole(self.heads, "heads", 1) % settings.whole(self.key_heads, "kv_heads", 1):
            raise CoreError(
                f"heads is {self.heads}, kv_heads {self.kv_heads}; a multiple of kv_heads is required"
            )
        _one_of("norm", self.norm, NORMS)
        _one_of("norm_kind", self.norm_kind, NORM_KINDS)
        _one_of("activation", self.activation, ACTIVATIONS)
        settings.real(self.eps, "eps", 0.0)

    @property
    def key_heads(self) -> int:
        """Return the number of key/value heads."""
        return self.heads if self.kv_heads is None else self.kv_heads


def init_block(
    width: int,
    config: BlockConfig,
    hidden: int | None = None,
    seed: int = 0,
    dtype: Floating = np.float64,
    scale: float | None = None,
    jitter: float = 0.1,
) -> Parameters:
    """Return seeded random parameters of a block.

    Weights are normal with standard deviation `scale`, by default 1/sqrt(inputs); gains are 1 and biases and
    shifts 0, plus `jitter` times a normal number each, so that none is invisible to a test (0: exactly 1
    and 0). `hidden` is the feed-forward width, 4 * width by default. The same seed gives the same numbers in
    every dtype, rounded to it. Raises CoreError when the heads do not divide the width.
    """
    kept = settings.float_dtype(dtype)
    width = settings.whole(width, "width", 1)
    hidden = 4 * width if hidden is None else settings.whole(hidden, "hidden", 1)
    shapes, random = block_shapes(width, hidden, config), np.random.default_rng(seed)
    return Parameters(
        {role: _initial(role, shape, random, scale, jitter).astype(kept) for role, shape in shapes.items()}
    )


def block_shapes(width: int, hidden: int, config: BlockConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every role of a block. Raises CoreError when the heads do not divide the width."""
    if width % config.heads:
        raise CoreError(
            f"width is {width}, heads {config.heads}; a width divisible by the heads is required; change one"
        )
    kv_width = width // config.heads * config.key_heads
    columns = 2 * hidden if config.activation == "swiglu" else hidden
    shapes: dict[str, tuple[int, ...]] = {"Wq": (width, width), "bq": (width,)}
    shapes |= {"Wk": (width, kv_width), "bk": (kv_width,), "Wv": (width, kv_width), "bv": (kv_width,)}
    shapes |= {"Wo": (width, width), "bo": (width,), "W1": (width, columns), "b1": (columns,)}
    shapes |= {"W2": (hidden, width), "b2": (width,), "gain1": (width,), "shift1": (width,)}
    shapes |= {"gain2": (width,), "shift2": (width,)}
    if config.norm_kind == "rms":
        del shapes["shift1"], shapes["shift2"]
    return shapes


def check_parameters(parameters: Parameters, width: int, config: BlockConfig) -> None:
    """Raise CoreError, with a listing, unless the parameters fit this block; biases may be absent."""
    found = parameters.shapes
    if len(found.get("W2", ())) != 2:
        raise CoreError(f"W2 is missing or no matrix; W2 [hidden, {width}] is required; {_listing(found)}")
    required = block_shapes(width, found["W2"][0], config)
    if found == required:
        return
    for role, shape in required.items():
        if role not in found and not role.startswith(("b", "s")):
            raise CoreError(f"{role} is missing; {role} {shape} is required; {_listing(required)}")
    for role, shape in found.items():
        if role not in required:
            raise CoreError(f"{role} {shape} is no role of this block; {_listing(required)}")
        if shape != required[role]:
            raise CoreError(f"{role} has shape {shape}; {required[role]} is required; {_listing(required)}")


def _initial(
    role: str, shape: tuple[int, ...], random: np.random.Generator, scale: float | None, jitter: float
) -> FloatArray:
    numbers = random.standard_normal(shape)
    if role.startswith("W"):
        return numbers * (1.0 / math.sqrt(shape[0]) if scale is None else scale)
    return float(role.startswith("gain")) + jitter * numbers


def _listing(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return "the roles are " + ", ".join(f"{role} {shape}" for role, shape in shapes.items())


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise CoreError(f"{name} is {value!r}; one of {', '.join(choices)} is required")
