"""A Subject made of somebody's code on the other side of a host: what is declared of it, and a first look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import declaration, precision, roles
from detectors.block.skip import LARGE
from detectors.calls import Calls, ids
from detectors.declaration import Declaration
from detectors.errors import NotObservable
from detectors.fixtures import Extents, Fixture
from detectors.host import HOME, OURS, GuestError, Host, SubjectRaised
from detectors.observation import plain
from detectors.precision import Narrow
from detectors.subject import Norm, Subject

Array = NDArray[Any]

TOKENS = (5, 9)
"""Extents of the fixtures; as many tokens as heads come besides, where a confusion of the two cannot raise."""

BOUNDED = 0.1
"""Growth of the output per growth of the input: 1 with a plain skip, and 1e-3 where a norm or nothing follows it."""

NORM = "pre-norm without its skip, or post-norm? say --norm pre or post"
HEADS_ASKED = 3
"""Heads of query, key and value for attention that does not say how many: unlike any other extent."""

APART = "required: a step that leaves the call as it was, such as one on a copy of the model"
PADDING_ARGUMENT = "the name of an argument for a padding mask [batch, token]"
STEP = "a function (x or ids, cache) -> (output, cache)"

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


class Foreign(Calls):
    """One subject, or the part of that name inside it: what was declared, and what a first look found.

    questions: claim -> what to ask where the claim cannot be told. narrow: what one call gave in the 16 bits that the
    parameters came in; they are examined in 32.
    """

    def __init__(
        self, host: Host, described: Mapping[str, Any], given: Mapping[str, Any], part: str = ""
    ) -> None:
        super().__init__(host, part, described, declaration.complete(given, described))
        self.questions: dict[str, str] = {}
        self.narrow = Narrow()
        self._claims = declaration.claims(self.declared)
        self._try()

    def subject(self, name: str) -> Subject:
        """The subject at every access level it gives."""
        kind, framework = str(self.declared.kind), self.declared.framework
        return Subject(
            name=name,
            call=None if kind == "attention" else self.model if kind == "model" else self.block,
            weights=self._weights(),
            attention=self.attention if kind == "attention" or self.described["attention"] else None,
            kind=kind,
            sites=self.sites if kind != "attention" and framework in ("torch", "jax") else None,
            declares=self._claims,
            padded=self.padded if self.declared.padding else None,
            continued=self.continued if self.described["step"] else None,
            norms=self._norms(),
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
        arrays, options = self.laid([self._least().x])
        try:
            found: list[str] = self.ask("blocks", arrays, names=names, options=options)[0]["blocks"]
        except (SubjectRaised, GuestError):
            return []
        if not found:
            self.notes.append(
                "none of its repeated parts is a block that takes x alone; none was examined by itself"
            )
        return found

    # --- first looks ---------------------------------------------------------------------------------------------

    def _try(self) -> None:
        """One call, so that what cannot be used is known first: what a shape caused is a finding. Then the roles."""
        fixture = self._least()
        try:
            if self.declared.kind == "attention":
                self.attention(*plain(fixture))
                return
            self._plain(fixture)
            self._try_narrow(fixture)
            self._find_roles(fixture)
            self._ask_what_is_open(fixture)
            self._try_again(fixture)
        except SubjectRaised as error:
            self.problem = (
                f"it cannot be called: {error}" if error.no_shape else self.misformed(fixture.x, error)
            )
        except GuestError as error:
            self.problem = str(error)

    def _plain(self, fixture: Fixture) -> None:
        (self.model if self.declared.kind == "model" else self.block)(fixture.x, {})

    def _try_again(self, fixture: Fixture) -> None:
        """A call with a mask that hides no padding, and one with a new cache: what cannot be called is no fault."""
        if self.declared.padding:
            self._try_padded(fixture)
        if self.described["step"]:
            self._try_step(fixture)

    def _try_step(self, fixture: Fixture) -> None:
        """Besides, the plain call that succeeded before: a step may leave the subject in another state."""
        try:
            self.continued([fixture.x])
        except SubjectRaised as error:
            if error.no_shape:
                raise GuestError(f"its step cannot be called: {error}; required: {STEP}") from None
        try:
            self._plain(fixture)
        except SubjectRaised as error:
            self.problem = f"after a step the call fails: {error}; {APART}"

    def _try_padded(self, fixture: Fixture) -> None:
        try:
            self.padded(fixture.x, np.ones(fixture.x.shape[:2], bool))
        except SubjectRaised as error:
            wrong = self.misformed(fixture.x, error)
            if wrong or error.no_shape:
                name = self.declared.padding
                raise GuestError(
                    wrong or f"it cannot be called with {name}: {error}; required: {PADDING_ARGUMENT}"
                ) from None

    def _try_narrow(self, fixture: Fixture) -> None:
        arrays, options = self.laid([fixture.x])
        options = {**options, "own precision": True}
        self.narrow, note = precision.narrowed(
            self.notes, lambda: self.ask("call", arrays, options=options)[1][0]
        )
        self.notes += [note] if note else []

    def _find_roles(self, fixture: Fixture) -> None:
        if self.declared.kind != "block":
            return
        if self.described["weights"]:
            self.places = {role: [role, False, 0, 0] for role in self.described["weights"]}
            return
        declared = self.declared
        parameters = [(name, tuple(shape), holder) for name, shape, holder in self.described["parameters"]]
        grouped = declared.kv_heads / declared.heads if declared.kv_heads and declared.heads else 1.0
        self.places = {role: place.as_list() for role, place in roles.infer(parameters, grouped).items()}
        weights = self._read_or_forget()
        kept = roles.confirmed(self.places, weights, lambda replaced: self.block(fixture.x, replaced))
        self.places = {role: place for role, place in self.places.items() if role in kept}

    def _ask_what_is_open(self, fixture: Fixture) -> None:
        declared = self.declared
        if declared.heads is None:
            self.questions["heads"] = HEADS
        if declared.norm is None and "pre_norm" in self._claims and self._bounded(fixture):
            self.questions |= dict.fromkeys(("pre_norm", "sequential"), NORM)
            self._claims -= {"pre_norm", "sequential"}

    def _bounded(self, fixture: Fixture) -> bool:
        far = fixture.x * fixture.dtype.type(LARGE)
        growth = np.abs(self.block(2 * far, {}) - self.block(far, {})).max()
        return bool(growth < BOUNDED * np.abs(far).max())

    # --- weights -----------------------------------------------------------------------------------------------

    def _weights(self) -> Mapping[str, Array] | None:
        wanted = list(self.places.values())
        if not wanted:
            return None
        arrays = self.ask("read", [], wanted=wanted)[1]
        return {role: arrays[at] for at, role in enumerate(self.places)}

    def _read_or_forget(self) -> Mapping[str, Array]:
        """The weights; where they are no plain numbers, as after quantization, no role is known."""
        try:
            return self._weights() or {}
        except (SubjectRaised, GuestError):
            self.places = {}
            return {}

    def _norms(self) -> dict[str, Norm]:
        """The norms inside that can be called by themselves, one of each class."""
        names = self.described["norms"]
        if not names:
            return {}
        arrays, options = self.laid([self._least().x])
        try:
            answer, gains = self.ask("norms", arrays, names=names, options=options)
        except (SubjectRaised, GuestError):
            return {}
        left = iter(gains)
        return {
            name: Norm(partial(self._norm, name), one["channels"], tuple(islice(left, one["gains"])))
            for name, one in answer["norms"].items()
        }

    def _norm(self, name: str, x: Array) -> Array:
        try:
            return self.ask("norm", [x], name=name)[1][0]
        except SubjectRaised as error:
            raise NotObservable(f"its norm {name} cannot be called by itself: {error}") from None


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
