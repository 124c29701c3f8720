"""Generation: one token at a time, with the keys and values of earlier tokens kept in a cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from core import (
    arrays,
    attention,
    block,
    feed_forward,
    heads,
    linear,
    model,
    model_config,
    residual,
    settings,
    softmax,
    vocabulary,
)
from core import mask as masks
from core.arrays import FloatArray
from core.block_config import BlockConfig
from core.errors import CoreError
from core.model_config import ModelConfig
from core.parameters import Parameters
from core.vocabulary import Tokens


@dataclass(frozen=True, eq=False)
class LayerCache:
    """The keys and values of one layer `[batch, kv_head, token, channel]`, not repeated for their groups."""

    key: FloatArray
    value: FloatArray


@dataclass(frozen=True, eq=False)
class KeyValueCache:
    """The keys and values of the tokens read so far.

    Frozen: reading on hands back another cache, so that one prefix can be continued in several ways.
    """

    layers: tuple[LayerCache, ...]

    @property
    def length(self) -> int:
        """Return the number of tokens read so far."""
        return int(self.layers[0].key.shape[2]) if self.layers else 0


def next_logits(
    tokens: ArrayLike, parameters: Parameters, config: ModelConfig, cache: KeyValueCache | None = None
) -> tuple[FloatArray, KeyValueCache]:
    """Return the logits after each new token `[batch, token, vocabulary]`, and the cache that includes them.

    Tokens `[batch, token]` follow those in `cache` (None: there are none). The logits equal those of the
    whole sequence read at once. Raises CoreError as `logits` does, for a cache of another batch or model, and
    for a model that is not causal, where a later token would change what the cache holds.
    """
    model_config.check_parameters(parameters, config)
    ids = vocabulary.token_batch(tokens, "tokens", config.vocabulary)
    past = _empty_cache(ids.shape[0], parameters, config) if cache is None else cache
    _check_cache(past, ids.shape[0], config)
    model_config.check_length(past.length + ids.shape[1], config)
    h = model.embed(ids, parameters, config, past.length)
    layers = []
    for layer, before in enumerate(past.layers):
        h, after = _read_on(h, model_config.block_parameters(parameters, layer), config.block, before)
        layers.append(after)
    return model.unembed(h, parameters, config), KeyValueCache(tuple(layers))


def generate(
    prompt: ArrayLike,
    parameters: Parameters,
    config: ModelConfig,
    new_tokens: int,
    temperature: float | None = None,
    top_k: int | None = None,
    seed: int | None = None,
) -> Tokens:
    """Return the prompt and `new_tokens` tokens after it: `[batch, token]`.

    Temperature None takes the likeliest token each time (greedy; the lowest id among equals). A temperature
    draws from softmax(logits / temperature), with `top_k` from the k likeliest alone; the same seed draws the
    same tokens. Raises CoreError as `next_logits` does, and when the result would exceed `max_length`.
    """
    model_config.check_parameters(parameters, config)
    # int64, whatever the prompt's type: a small one cannot hold every id, and uint64 would turn into floats.
    ids: Tokens = vocabulary.token_batch(prompt, "prompt tokens", config.vocabulary).astype(np.int64)
    count = settings.whole(new_tokens, "new_tokens", least=0)
    model_config.check_length(ids.shape[1] + count, config)
    random = np.random.default_rng(None if seed is None else settings.whole(seed, "seed", least=0))
    cache, fresh = None, ids
    for _ in range(count):
        scores, cache = next_logits(fresh, parameters, config, cache)
        fresh = choose(scores[:, -1], random, temperature, top_k)[:, np.newaxis]
        ids = np.concatenate([ids, fresh], axis=1)
    return ids


def choose(
    logits: ArrayLike,
    random: np.random.Generator,
    temperature: float | None = None,
    top_k: int | None = None,
) -> Tokens:
    """Return one token id for each row of logits `[batch, vocabulary]`: `[batch]`; see `generate`.

    Raises CoreError for a temperature that is not above 0, a `top_k` outside 1 ... vocabulary, and a row
    without a finite largest logit.
    """
    scores = arrays.ranked(logits, "logits", "batch, vocabulary")
    if not np.isfinite(scores.max(axis=1)).all():
        raise CoreError(
            "the largest logit is NaN or infinite; a finite one is required; check the parameters"
        )
    kept = _keep_largest(scores, top_k)
    if temperature is None:
        likeliest: Tokens = kept.argmax(axis=1)
        return likeliest
    weights = softmax.softmax(kept, settings.real(temperature, "temperature", least=0.0))
    return np.array([random.choice(row.size, p=row) for row in weights])


def _keep_largest(logits: FloatArray, top_k: int | None) -> FloatArray:
    if top_k is None:
        return logits
    rows, size = logits.shape
    if settings.whole(top_k, "top_k", least=1) > size:
        raise CoreError(f"top_k is {top_k}; at most the {size} tokens of the vocabulary can be kept")
    # lexsort is stable: exactly k of them are kept, the lowest ids among equals.
    best = np.arange(rows)[:, np.newaxis], np.lexsort([-logits])[:, :top_k]
    kept = np.full_like(logits, -np.inf)
    kept[best] = logits[best]
    return kept


def _read_on(
    x: FloatArray, parameters: Parameters, config: BlockConfig, past: LayerCache
) -> tuple[FloatArray, LayerCache]:
    present: LayerCache

    def attend(h: FloatArray) -> FloatArray:
        nonlocal present
        present = _extended(past, h, parameters, config)
        return _attend_to(present, h, parameters, config)

    def feed(h: FloatArray) -> FloatArray:
        return feed_forward.feed_forward(h, parameters, config.activation)

    first = block.sublayer(config, block.normalisation(parameters, config, "1"), attend)
    second = block.sublayer(config, block.normalisation(parameters, config, "2"), feed)
    return residual.compose(x, first, second), present


def _extended(past: LayerCache, h: FloatArray, parameters: Parameters, config: BlockConfig) -> LayerCache:
    key = heads.split_heads(linear.linear(h, parameters["Wk"], parameters.get("bk")), config.key_heads)
    value = heads.split_heads(linear.linear(h, parameters["Wv"], parameters.get("bv")), config.key_heads)
    return LayerCache(np.concatenate([past.key, key], axis=2), np.concatenate([past.value, value], axis=2))


def _attend_to(present: LayerCache, h: FloatArray, parameters: Parameters, config: BlockConfig) -> FloatArray:
    query = heads.split_heads(linear.linear(h, parameters["Wq"], parameters.get("bq")), config.heads)
    groups = config.heads // config.key_heads
    key, value = heads.repeat_heads(present.key, groups), heads.repeat_heads(present.value, groups)
    # Fewer queries than keys: the mask is aligned to the last of both.
    mask = masks.causal_mask(h.shape[1], key.shape[2], h.dtype)
    merged = heads.merge_heads(attention.attend(query, key, value, mask).output)
    return linear.linear(merged, parameters["Wo"], parameters.get("bo"))


def _empty_cache(batch: int, parameters: Parameters, config: ModelConfig) -> KeyValueCache:
    shape = (batch, config.block.key_heads, 0, config.width // config.block.heads)
    empty = np.zeros(shape, parameters["token_embedding"].dtype)
    return KeyValueCache((LayerCache(empty, empty),) * config.layers)


def _check_cache(cache: KeyValueCache, batch: int, config: ModelConfig) -> None:
    settings.instance(cache, "cache", KeyValueCache)
    if not config.block.causal:
        raise CoreError("the model is not causal; reading with a cache requires it; use logits instead")
    required = (batch, config.block.key_heads, cache.length, config.width // config.block.heads)
    found = {array.shape for layer in cache.layers for array in (layer.key, layer.value)}
    if len(cache.layers) != config.layers or found != {required}:
        raise CoreError(
            f"cache holds {len(cache.layers)} layers of shape {sorted(found)}; {config.layers} of {required} "
            "[batch, kv_head, token, channel] are required; use the cache handed back for these sequences"
        )
