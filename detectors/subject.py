"""The thing under examination: how to call it, what it declares, what access it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

CLAIMS = frozenset(
    {"causal", "pre_norm", "sequential", "unwindowed", "heads", "reference", "any_width", "cached"}
)
"""What a contract may assume: no token sees the future; norm before each branch and a plain skip; the feed-forward
network after attention; every earlier token visible; the number of heads known; attention of any
d_k, not of one width built in; fewer queries than keys, the last ones; and "reference": weights of every role,
ReLU, epsilon 1e-5 and no positions, so that the block can be computed by other means."""


@dataclass(frozen=True)
class Norm:
    """A norm inside a subject. call: x [batch, token, channel] -> the same shape. gains: arrays [channel], or of one
    number, that it may multiply by."""

    call: Callable[[Array], Array]
    channels: int
    gains: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Subject:
    """A transformer block, or a part or a stack of them, at one of the access levels.

    call: (x, weights) -> y, both [batch, token, channel]; `weights` replaces some roles for this one call and is
    empty at the level `call`. attention: (query, key, value), each [batch, head, token, channel] -> output
    [batch, head, query, channel]; None where attention cannot be reached. weights: the arrays by role; None where
    they cannot be written. kind: "attention" (call is None), "self_attention" (x -> output without a skip), "block"
    or "model" (token ids [batch, token] -> logits). sites: the attention operations that one call runs through, as
    followed in the framework. declares: what contracts may assume. padded: (x, keep) -> y, where `keep` [batch, token]
    is True for real tokens and False for padding. continued: parts of a sequence, fed one after the other with a cache,
    -> their outputs side by side. norms: those inside that can be called by themselves. A level that is missing makes
    the contracts that need it not observable; one that is not claimed makes them not applicable.
    """

    name: str
    call: Callable[[Array, Mapping[str, Array]], Array] | None
    weights: Mapping[str, Array] | None = None
    attention: Callable[[Array, Array, Array], Array] | None = None
    kind: str = "block"
    sites: Callable[[Array], Sequence[Mapping[str, Any]]] | None = None
    declares: frozenset[str] = CLAIMS
    padded: Callable[[Array, Array], Array] | None = None
    continued: Callable[[Sequence[Array]], Array] | None = None
    norms: Mapping[str, Norm] = field(default_factory=dict)
