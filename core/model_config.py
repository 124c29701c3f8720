"""What a language model declares about itself, the parameters that fit it, and random ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from core import block_config, settings
from core.arrays import FloatArray
from core.block_config import BlockConfig
from core.errors import CoreError
from core.parameters import Parameters

POSITIONS = ("learned", "sinusoidal", "none")


@dataclass(frozen=True)
class ModelConfig:
    """The shape of a decoder-only language model: `layers` equal blocks between two vocabulary-sized maps.

    `max_length` (T_max) is the largest number of tokens, with every kind of `positions`. `tied`: the
    unembedding is the transposed token embedding (Press and Wolf 2017).
    Raises CoreError for what does not fit together.
    """

    vocabulary: int
    width: int
    layers: int
    max_length: int
    block: BlockConfig
    positions: str = "learned"
    tied: bool = False

    def __post_init__(self) -> None:
        for name in ("vocabulary", "width", "layers", "max_length"):
            settings.whole(getattr(self, name), name, least=1)
        settings.instance(self.block, "block", BlockConfig)
        settings.instance(self.tied, "tied", bool)
        if self.width % self.block.heads:
            raise CoreError(f"width is {self.width}; a multiple of the {self.block.heads} heads is required")
        if self.positions not in POSITIONS:
            raise CoreError(f"positions is {self.positions!r}; one of {', '.join(POSITIONS)} is required")
        if self.positions == "sinusoidal" and self.width % 2:
            raise CoreError(f"width is {self.width}; sinusoidal positions require an even one; change either")


def init_model(
    config: ModelConfig, seed: int = 0, dtype: DTypeLike = np.float64, jitter: float = 0.1
) -> Parameters:
    """Return seeded random parameters of a model, the roles of block i under "blocks.i.".

    Embeddings and unembedding are normal with standard deviation 1/sqrt(width), so that logits are near 1 in
    size; blocks, gains and shifts are as in `init_block`. The same seed gives the same numbers in any dtype.
    """
    settings.instance(config, "config", ModelConfig)
    number_type, spread = settings.float_dtype(dtype), settings.real(jitter, "jitter", least=0.0)
    # One stream of random numbers for each part: more layers leave the first ones as they are.
    seeds = np.random.SeedSequence(settings.whole(seed, "seed", least=0)).generate_state(config.layers + 1)
    first, *others = map(int, seeds)
    random = np.random.default_rng(first)
    values = {role: _initial(role, shape, random, spread) for role, shape in outer_shapes(config).items()}
    for layer, own in enumerate(others):
        block = block_config.init_block(config.width, config.block, seed=own, jitter=spread)
        values |= {block_role(layer, role): array for role, array in block.items()}
    return Parameters({role: array.astype(number_type) for role, array in values.items()})


def outer_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every role outside the blocks."""
    shapes: dict[str, tuple[int, ...]] = {"token_embedding": (config.vocabulary, config.width)}
    if config.positions == "learned":
        shapes["position_embedding"] = (config.max_length, config.width)
    if not config.tied:
        shapes["unembedding"] = (config.width, config.vocabulary)
    shapes["final_gain"] = (config.width,)
    if config.block.norm_kind == "layer":
        shapes["final_shift"] = (config.width,)
    return shapes


def block_role(layer: int, role: str) -> str:
    """Return the model's name for a role of one block, such as "blocks.0.Wq"."""
    return f"blocks.{layer}.{role}"


def block_parameters(parameters: Parameters, layer: int) -> Parameters:
    """Return the parameters of one block under the block's own role names."""
    return parameters.under(block_role(layer, ""))


def check_length(length: int, config: ModelConfig) -> None:
    """Raise CoreError when `length` tokens, cached ones included, are more than `max_length`."""
    if length > config.max_length:
        raise CoreError(
            f"{length} tokens in a row; at most max_length = {config.max_length} are possible; cut the input"
        )


def check_parameters(parameters: Parameters, config: ModelConfig) -> None:
    """Raise CoreError unless roles and shapes are those of this model; biases and shifts may be absent."""
    settings.instance(config, "config", ModelConfig)
    settings.instance(parameters, "parameters", Parameters)
    found = {role: shape for role, shape in parameters.shapes.items() if not role.startswith("blocks.")}
    required = outer_shapes(config)
    for role in required | found:
        _check_role(role, found.get(role), required.get(role))
    layers = {role.split(".")[1] for role in parameters if role.startswith("blocks.")}
    if layers != {str(layer) for layer in range(config.layers)}:
        raise CoreError(
            f"parameters hold {len(layers)} blocks; {config.layers}, numbered from 0, are required; "
            "use the configuration they were made for"
        )
    for layer in range(config.layers):
        _check_block(parameters, layer, config)


def _check_role(role: str, found: tuple[int, ...] | None, required: tuple[int, ...] | None) -> None:
    if required is None:
        raise CoreError(f"{role} {found} is no role of this model; use the configuration it was made for")
    if found != required and not (found is None and role == "final_shift"):
        state = "is missing" if found is None else f"has shape {found}"
        raise CoreError(f"{role} {state}; {required} is required; use the configuration it was made for")


def _check_block(parameters: Parameters, layer: int, config: ModelConfig) -> None:
    try:
        block_config.check_parameters(block_parameters(parameters, layer), config.width, config.block)
    except CoreError as error:
        raise CoreError(f"blocks.{layer}: {error}") from error


def _initial(role: str, shape: tuple[int, ...], random: np.random.Generator, jitter: float) -> FloatArray:
    numbers = random.standard_normal(shape)
    if role.startswith("final_"):
        return float(role == "final_gain") + jitter * numbers
    width = shape[0] if role == "unembedding" else shape[1]
    return numbers / math.sqrt(width)
