"""A Subject made of somebody's code in a child process: arrays out, arrays back, whatever framework is in there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import declaration, roles
from detectors.declaration import Declaration
from detectors.fixtures import Extents, Fixture
from detectors.host import HOME, OURS, Guest, GuestError, SubjectRaised
from detectors.subject import Subject

Array = NDArray[Any]
Site = Mapping[str, Any]


@dataclass(frozen=True)
class Target:
    """What the user named: `module:attribute` or `path/file.py:attribute`, and how to build it."""

    module: str
    attribute: str
    init: str = ""

    @classmethod
    def parse(cls, text: str, init: str = "") -> Target:
        """Raises Question unless the text has both parts."""
        module, found, attribute = text.rpartition(":")
        if not found or not module or not attribute:
            raise declaration.Question(
                f"subject {text!r}: required: module:attribute or path/file.py:attribute, such as my_gpt.py:Block"
            )
        return cls(module, attribute, init)


class Foreign:
    """One subject in one child: what was declared, and the calls."""

    def __init__(self, guest: Guest, target: Target, given: Mapping[str, Any]) -> None:
        self.guest = guest
        self.described = _load(guest, target)
        self.declared = declaration.complete(given, self.described)
        self.options = {"framework": self.described["framework"], "output": self.declared.output}
        self.places = self._places()

    def _places(self) -> dict[str, list[object]]:
        if self.described["weights"]:
            return {role: [role, False, 0, 0] for role in self.described["weights"]}
        parameters = [(name, tuple(shape), holder) for name, shape, holder in self.described["parameters"]]
        return {role: place.as_list() for role, place in roles.infer(parameters).items()}

    def subject(self, name: str) -> Subject:
        """The subject at every access level it gives."""
        kind = self.declared.kind or "block"
        framework = self.described["framework"]
        return Subject(
            name=name,
            call=None if kind == "attention" else self._model if kind == "model" else self._block,
            weights=self._weights() if kind == "block" else None,
            attention=self._attention if kind == "attention" or self.described["attention"] else None,
            kind=kind,
            sites=self._sites if kind != "attention" and framework in ("torch", "jax") else None,
            declares=claims(self.declared),
        )

    def fixture(self, tokens: int, batch: int = 2, seed: int = 0) -> Fixture:
        """Tokens of the subject's own width or vocabulary; `heads` is 1 where it is not known."""
        declared = self.declared
        heads = declared.heads or 1
        width = declared.width or 4 * heads
        extents = Extents(
            batch=batch,
            tokens=min(tokens, declared.max_length or tokens),
            heads=heads,
            kv_heads=declared.kv_heads or heads,
            head_width=max(1, width // heads),
            dtype=declared.dtype,
            norm_kind=declared.norm_kind,
            vocab=declared.vocab or 0 if declared.kind == "model" else 0,
        )
        return Fixture(extents, seed)

    # --- calls ---------------------------------------------------------------------------------------------------

    def _block(self, x: Array, replaced: Mapping[str, Array]) -> Array:
        places = {role: self.places[role] for role in replaced}
        header = {"operation": "call", "options": self.options, "roles": places}
        return self.guest.request(header, [x, *replaced.values()])[1][0]

    def _model(self, tokens: Array, replaced: Mapping[str, Array]) -> Array:
        """Logits [batch, token, vocabulary]; a model that answers for the last token alone is asked prefix by prefix."""
        logits = self._block(tokens, replaced)
        if logits.ndim == 3 and logits.shape[1] == tokens.shape[1]:
            return logits
        ends = [self._block(tokens[:, : at + 1], replaced) for at in range(tokens.shape[1])]
        return np.stack([end.reshape(len(tokens), -1) for end in ends], axis=1)

    def _attention(self, query: Array, key: Array, value: Array) -> Array:
        """Values wider than d_k go through in parts: many an implementation takes only as many channels as keys have."""
        width = query.shape[-1]
        parts = [self._attend(query, key, part) for part in _parts(value, width)]
        return np.concatenate(parts, axis=-1)[..., : value.shape[-1]]

    def _attend(self, query: Array, key: Array, value: Array) -> Array:
        declared = self.declared
        by_letter = {"q": query, "k": key, "v": value}
        arrays = [_laid(by_letter[letter], declared.layout) for letter in declared.order]
        arrays += _masks(declared, query.shape[-2], key.shape[-2], query.dtype)
        options = {**self.options, "attention": self.declared.kind != "attention"}
        answer = self.guest.request({"operation": "call", "options": options}, arrays)[1][0]
        return _laid(answer, declared.layout) if answer.ndim == 4 else answer

    def _weights(self) -> Mapping[str, Array] | None:
        if not self.places:
            return None
        wanted = list(self.places.values())
        arrays = self.guest.request({"operation": "read", "wanted": wanted})[1]
        return dict(zip(self.places, arrays, strict=True))

    def _sites(self, x: Array) -> Sequence[Site]:
        found: list[Site] = self.guest.request({"operation": "sites", "options": self.options}, [x])[0][
            "sites"
        ]
        return found


def claims(declared: Declaration) -> frozenset[str]:
    """What the contracts may assume, from what was declared."""
    held = {
        "causal": declared.causal,
        "pre_norm": declared.norm != "post" and declared.kind == "block" and declared.design != "scaled",
        "sequential": declared.design in ("sequential", "sandwich") and declared.norm != "post",
        "unwindowed": declared.window == 0,
        "heads": declared.heads is not None,
    }
    return frozenset(name for name, holds in held.items() if holds)


def _load(guest: Guest, target: Target) -> dict[str, Any]:
    header = {
        "operation": "load",
        "module": target.module,
        "attribute": target.attribute,
        "init": target.init,
        "home": HOME,
        "blocked": list(OURS),
    }
    try:
        return guest.request(header)[0]
    except SubjectRaised as error:
        raise GuestError(f"{target.module}:{target.attribute} cannot be built: {error}") from None


def _parts(value: Array, width: int) -> list[Array]:
    """The value's channels, `width` at a time, the last part filled with zeros."""
    missing = -value.shape[-1] % width
    padded = np.concatenate([value, np.zeros((*value.shape[:-1], missing), value.dtype)], axis=-1)
    return np.split(padded, padded.shape[-1] // width, axis=-1)


def _laid(array: Array, layout: str) -> Array:
    """[batch, head, token, channel] from or to the subject's layout; the swap is its own inverse."""
    return array if layout == "bhtc" else array.swapaxes(1, 2)


def _masks(declared: Declaration, queries: int, keys: int, dtype: Any) -> list[Array]:
    """The causal mask [query, key] in the form the subject takes, as a fourth argument; none for most."""
    if declared.mask == "none":
        return []
    seen = np.arange(keys) <= np.arange(keys - queries, keys)[:, None]
    if not declared.causal:
        seen = np.ones_like(seen)
    if declared.mask == "additive":
        return [np.where(seen, 0.0, -np.inf).astype(dtype)]
    return [seen if declared.mask == "keep" else ~seen]
