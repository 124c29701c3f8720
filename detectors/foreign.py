"""A Subject made of somebody's code on the other side of a host: arrays out, arrays back, in any framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import declaration, layout, precision, roles
from detectors.block.skip import LARGE
from detectors.declaration import Declaration
from detectors.fixtures import Extents, Fixture
from detectors.host import HOME, OURS, GuestError, Host, SubjectRaised
from detectors.observation import plain
from detectors.precision import Narrow
from detectors.subject import Subject

Array = NDArray[Any]
Site = Mapping[str, Any]

TOKENS = (5, 9)
"""Extents of the fixtures; as many tokens as heads come besides, where a confusion of the two cannot raise."""

VOCABULARY = 1000
"""Token ids and logits that are looked at, at most: more of them only cost time."""

BOUNDED = 0.1
"""Growth of the output per growth of the input: 1 with a plain skip, and 1e-3 where a norm or nothing follows it."""

ROUNDOFF = {"bfloat16": 2.0**-7, "float16": 2.0**-10}
"""Spacing of the numbers around 1."""

NORM = "pre-norm without its skip, or post-norm? say --norm pre or post"
HEADS_ASKED = 3
"""Heads of query, key and value for attention that does not say how many: unlike any other extent."""

HEADS = "how many heads are there? say --heads N"


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
        # The child may work in another folder than the one in which the path was written.
        return cls(str(Path(module).absolute()) if module.endswith(".py") else module, attribute, init)


class Foreign:
    """One subject, or the part of that name inside it: what was declared, and the calls.

    notes: what was done to it or seen of it besides. problem: why a call could not be answered at all, which makes
    the subject unusable. questions: claim -> what to ask where the claim cannot be told. limits: contract
    -> why it cannot be observed. roundoff: of its output.
    narrow: what one call gave in the 16 bits that the parameters came in; they are examined in 32.
    """

    def __init__(
        self, host: Host, described: Mapping[str, Any], given: Mapping[str, Any], part: str = ""
    ) -> None:
        self.host, self.part, self.described = host, part, described
        self.declared = declaration.complete(given, described)
        self.notes: list[str] = list(described.get("notes", ()))
        self.questions: dict[str, str] = {}
        self.limits = declaration.limits(self.declared)
        self.problem, self.roundoff = "", 0.0
        self.narrow = Narrow()
        self._options = {"framework": self.declared.framework, "output": self.declared.output}
        self._places: dict[str, list[object]] = {}
        self._claims = declaration.claims(self.declared)
        self._try()

    def subject(self, name: str) -> Subject:
        """The subject at every access level it gives."""
        kind, framework = str(self.declared.kind), self.declared.framework
        return Subject(
            name=name,
            call=None if kind == "attention" else self._model if kind == "model" else self._block,
            weights=self._weights(),
            attention=self._attention if kind == "attention" or self.described["attention"] else None,
            kind=kind,
            sites=self._sites if kind != "attention" and framework in ("torch", "jax") else None,
            declares=self._claims,
        )

    def fixtures(self, seed: int = 0) -> list[Fixture]:
        """The smallest first."""
        most = self.declared.max_length or max(TOKENS)
        heads = self.declared.heads or max(TOKENS)
        wanted = (*TOKENS, heads) if 2 <= heads <= 2 * max(TOKENS) else TOKENS
        return [self.fixture(count, seed=seed) for count in sorted({min(count, most) for count in wanted})]

    def fixture(self, tokens: int, batch: int = 2, seed: int = 0) -> Fixture:
        """Tokens of the subject's own width or vocabulary; `heads` is 1 where it is not known."""
        return fixture(self.declared, tokens, batch, seed)

    def _least(self) -> Fixture:
        """As few tokens as a first look takes."""
        return self.fixture(min(*TOKENS, self.declared.max_length or max(TOKENS)))

    def blocks(self) -> list[str]:
        """Names of the blocks inside a model that it calls with x alone; none for anything but a torch model."""
        names = self.described["blocks"]
        if self.declared.kind != "model" or not names:
            return []
        try:
            found: list[str] = self._ask("blocks", [self._least().x], names=names)[0]["blocks"]
        except (SubjectRaised, GuestError):
            return []
        if not found:
            self.notes.append("its blocks are handed more than x; they were not examined by themselves")
        return found

    # --- first looks ---------------------------------------------------------------------------------------------

    def _try(self) -> None:
        """One call, so that what cannot be used is known first: what a shape caused is a finding. Then the roles."""
        fixture = self._least()
        try:
            if self.declared.kind == "attention":
                self._attention(*plain(fixture))
                return
            (self._model if self.declared.kind == "model" else self._block)(fixture.x, {})
            self._try_narrow(fixture)
            self._find_roles(fixture)
            self._ask_what_is_open(fixture)
        except SubjectRaised as error:
            self.problem = f"it cannot be called: {error}" if error.no_shape else ""
        except GuestError as error:
            self.problem = str(error)

    def _try_narrow(self, fixture: Fixture) -> None:
        options = {"own precision": True}
        self.narrow, note = precision.narrowed(
            self.notes, lambda: self._ask("call", [fixture.x], options=options)[1][0]
        )
        self.notes += [note] if note else []

    def _find_roles(self, fixture: Fixture) -> None:
        if self.declared.kind != "block":
            return
        if self.described["weights"]:
            self._places = {role: [role, False, 0, 0] for role in self.described["weights"]}
            return
        declared = self.declared
        parameters = [(name, tuple(shape), holder) for name, shape, holder in self.described["parameters"]]
        grouped = declared.kv_heads / declared.heads if declared.kv_heads and declared.heads else 1.0
        self._places = {role: place.as_list() for role, place in roles.infer(parameters, grouped).items()}
        weights = self._read_or_forget()
        kept = roles.confirmed(self._places, weights, lambda replaced: self._block(fixture.x, replaced))
        self._places = {role: place for role, place in self._places.items() if role in kept}

    def _ask_what_is_open(self, fixture: Fixture) -> None:
        declared = self.declared
        if declared.heads is None:
            self.questions["heads"] = HEADS
        if declared.norm is None and "pre_norm" in self._claims and self._bounded(fixture):
            self.questions |= dict.fromkeys(("pre_norm", "sequential"), NORM)
            self._claims -= {"pre_norm", "sequential"}

    def _bounded(self, fixture: Fixture) -> bool:
        far = fixture.x * fixture.dtype.type(LARGE)
        growth = np.abs(self._block(2 * far, {}) - self._block(far, {})).max()
        return bool(growth < BOUNDED * np.abs(far).max())

    # --- calls ---------------------------------------------------------------------------------------------------

    def _ask(
        self, operation: str, arrays: Sequence[Array], **more: Any
    ) -> tuple[dict[str, Any], list[Array]]:
        options = {**self._options, **more.pop("options", {})}
        return self.host.request(
            {"operation": operation, "part": self.part, "options": options, **more}, arrays
        )

    def _call(self, arrays: Sequence[Array], **more: Any) -> Array:
        """The output of one call; a refusal is kept as the problem of the whole subject."""
        try:
            answer, (output,) = self._ask("call", arrays, **more)
        except GuestError as error:
            self.problem = self.problem or str(error)
            raise
        self._note(answer)
        return output

    def _note(self, answer: Mapping[str, Any]) -> None:
        notes = []
        if answer["wrote"]:
            notes.append("the call writes into its input; it was given copies")
        if answer["half"]:
            self.roundoff = max(self.roundoff, ROUNDOFF.get(answer["half"], 0.25))
            notes.append(f"the output is {answer['half']}; thresholds were widened to what it can hold")
        self.notes += [note for note in notes if note not in self.notes]

    def _block(self, x: Array, replaced: Mapping[str, Array]) -> Array:
        places = {role: self._places[role] for role in replaced}
        try:
            return self._call([x, *replaced.values()], roles=places)
        except SubjectRaised as error:
            if len(x) <= layout.FEW:
                raise
            return self._in_parts(x, replaced, error)

    def _in_parts(self, x: Array, replaced: Mapping[str, Array], error: SubjectRaised) -> Array:
        """The same, few sequences at a time. Raises the error of the whole where that does not help."""
        try:
            outputs = [self._block(part, replaced) for part in layout.few(x)]
        except SubjectRaised:
            raise error from None
        if not any(known.startswith("it failed on") for known in self.notes):
            self.notes.append(f"it failed on {len(x)} sequences at once and was given few at a time: {error}")
        return np.concatenate(outputs)

    def _model(self, tokens: Array, replaced: Mapping[str, Array]) -> Array:
        """Logits [batch, token, id]; a model that answers for the last token alone is asked prefix by prefix."""
        logits = self._block(tokens, replaced)
        if logits.ndim != 3 or logits.shape[1] != tokens.shape[1]:
            ends = [self._block(tokens[:, : at + 1], replaced) for at in range(tokens.shape[1])]
            if any(end.size != ends[0].size or not end.size or end.size % len(tokens) for end in ends):
                return logits
            self.limits |= dict.fromkeys(("future", "prefix"), declaration.LAST)
            logits = np.stack([end.reshape(len(tokens), end.size // len(tokens)) for end in ends], axis=1)
        return layout.as_wide_as(logits, ids(self.declared))

    def _attention(self, query: Array, key: Array, value: Array) -> Array:
        """Values wider than d_k go through in parts: much code takes only as many channels as keys have."""
        parts = [self._grouped(query, key, part) for part in layout.parts(value, query.shape[-1])]
        return np.concatenate(parts, axis=-1)[..., : value.shape[-1]]

    def _grouped(self, query: Array, key: Array, value: Array) -> Array:
        """With fewer key/value heads each call serves one query head of every group, with the keys meant for it."""
        group = (self.declared.heads or 1) // (self.declared.kv_heads or self.declared.heads or 1)
        if group == 1:
            return self._attend(query, key, value)
        outputs = [self._attend(query, key[:, at::group], value[:, at::group]) for at in range(group)]
        own = np.arange(query.shape[1])
        return np.stack([outputs[head % group][:, head] for head in own], axis=1)

    def _attend(self, query: Array, key: Array, value: Array) -> Array:
        declared = self.declared
        by_letter = {"q": query, "k": key, "v": value}
        arrays = [layout.laid(by_letter[letter], declared.layout) for letter in declared.order]
        arrays += layout.masks(declared, query, key)
        answer = self._call(arrays, options={"attention": self.described["attention"]})
        return layout.laid(answer, declared.layout) if answer.ndim == 4 else answer

    def _weights(self) -> Mapping[str, Array] | None:
        wanted = list(self._places.values())
        if not wanted:
            return None
        arrays = self._ask("read", [], wanted=wanted)[1]
        return {role: arrays[at] for at, role in enumerate(self._places)}

    def _read_or_forget(self) -> Mapping[str, Array]:
        """The weights; where they are no plain numbers, as after quantization, no role is known."""
        try:
            return self._weights() or {}
        except (SubjectRaised, GuestError):
            self._places = {}
            return {}

    def _sites(self, x: Array) -> Sequence[Site]:
        found: list[Site] = self._ask("sites", [x])[0]["sites"]
        return found


def fixture(declared: Declaration, tokens: int, batch: int = 2, seed: int = 0) -> Fixture:
    """Tokens of the declared width or vocabulary; `heads` is 1 where it is not known."""
    heads = declared.heads or (HEADS_ASKED if declared.kind == "attention" and not declared.width else 1)
    extents = Extents(
        batch=batch,
        tokens=tokens,
        heads=heads,
        kv_heads=declared.kv_heads or heads,
        head_width=(declared.width or 4 * heads) // heads,
        dtype=declared.dtype,
        norm_kind=declared.norm_kind,
        vocab=ids(declared) if declared.kind == "model" else 0,
    )
    return Fixture(extents, seed)


def ids(declared: Declaration) -> int:
    """How many token ids, and as many logits, are looked at."""
    return min(declared.vocab or VOCABULARY, VOCABULARY)


def load(host: Host, target: Target) -> dict[str, Any]:
    """What the host says of the subject after building it. Raises GuestError where it cannot be built."""
    header = {
        "operation": "load",
        "module": target.module,
        "attribute": target.attribute,
        "init": target.init,
        "home": HOME,
        "blocked": list(OURS),
        "wanted": declaration.WANTED,
    }
    try:
        return host.request(header)[0]
    except SubjectRaised as error:
        raise GuestError(f"it cannot be built: {error}") from None


def describe(host: Host, part: str) -> dict[str, Any]:
    """The same of a part of the subject that was loaded before."""
    return host.request({"operation": "describe", "part": part, "wanted": declaration.WANTED})[0]
