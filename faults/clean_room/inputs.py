"""The synthetic inputs of a clean room: extents that all differ, so that every axis can be told by its length."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.fixtures import Extents, Fixture
from faults import reference

Array = NDArray[Any]

EXTENTS = Extents(batch=2, tokens=5, heads=3, kv_heads=3, head_width=4, hidden=7, gain=2.0, vocab=11)
LETTERS = {"B": 2, "T": 5, "H": 3, "d": 4, "D": 12, "F": 7, "V": 11}
LAYERS = 2
NEW_TOKENS = 4
RATE = 0.1
SEED = 5

LANGUAGE_SEED = 9
"""Of the model and its tokens: here the likeliest token is not the same at the first and at the last position, changes
from step to step, and no two are nearly as likely, so that a generation that goes wrong is seen."""


class Inputs:
    """Tokens, weights and the expected results of every part, each computed once and only when asked for."""

    def __init__(self, seed: int = SEED) -> None:
        self.seed = seed
        self.fixture = Fixture(Extents(**{**EXTENTS.as_dict(), "vocab": 0}), seed)
        self.language = reference.Language(EXTENTS, LAYERS, LANGUAGE_SEED)
        self.heads = EXTENTS.heads
        self.x = np.array(self.fixture.x)
        self.weights = {role: np.array(array) for role, array in self.fixture.weights.items()}
        self.matrix = np.array(self.fixture.draw("branch", EXTENTS.width, EXTENTS.width)) / 2
        random = np.random.default_rng((LANGUAGE_SEED, 7))
        self.tokens = random.permuted(np.tile(np.arange(EXTENTS.vocab), (EXTENTS.batch, 1)), axis=1)[
            :, : EXTENTS.tokens
        ]
        self.targets = (self.tokens + 3) % EXTENTS.vocab
        self.model = self.language.nested()

    @cached_property
    def projected(self) -> tuple[Array, Array, Array]:
        """Query, key, value of the reference, [batch, head, token, channel]."""
        return reference.project(self.x, self.weights, self.heads)

    @cached_property
    def attended(self) -> Any:
        """The reference's intermediates for those."""
        return reference.attention_trace(*self.projected)

    @property
    def roles(self) -> tuple[Array, Array]:
        """Gain and shift of the first normalisation."""
        return self.weights["gain1"], self.weights["shift1"]
