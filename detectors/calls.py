"""The calls of somebody's subject on the other side of a host: arrays out, arrays back, laid out as was declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import declaration, layout
from detectors.declaration import Declaration
from detectors.host import GuestError, Host, SubjectRaised

Array = NDArray[Any]
Site = Mapping[str, Any]

VOCABULARY = 1000
"""Token ids and logits that are looked at, at most: more of them only cost time."""

ROUNDOFF = {"bfloat16": 2.0**-7, "float16": 2.0**-10}
"""Spacing of the numbers around 1."""


class Calls:
    """One subject, or the part of that name inside it, as it is called.

    notes: what was done to it or seen of it besides. problem: why a call could not be answered at all, which makes
    the subject unusable. limits: contract -> why it cannot be observed. roundoff: of its output. places: role -> where
    the guest finds the weight.
    """

    def __init__(self, host: Host, part: str, described: Mapping[str, Any], declared: Declaration) -> None:
        self.host, self.part, self.described, self.declared = host, part, described, declared
        self.notes: list[str] = list(described.get("notes", ()))
        self.limits = declaration.limits(declared)
        self.problem, self.roundoff = "", 0.0
        self.places: dict[str, list[object]] = {}
        self._options = {"framework": declared.framework, "output": declared.output}

    def block(self, x: Array, replaced: Mapping[str, Array]) -> Array:
        """The output for x [batch, token, channel], or token ids [batch, token], with some weights replaced."""
        return self._block([x], replaced)

    def model(self, tokens: Array, replaced: Mapping[str, Array]) -> Array:
        """Logits [batch, token, id]; a model that answers for the last token alone is asked prefix by prefix."""
        return self._model([tokens], replaced)

    def padded(self, x: Array, keep: Array) -> Array:
        """The output where `keep` [batch, token] is True for real tokens and False for padding."""
        call = self._model if self.declared.kind == "model" else self._block
        return call([x, keep], {})

    def continued(self, chunks: Sequence[Array]) -> Array:
        """The outputs of the declared step for each chunk, side by side; the cache stays with the subject.

        A step that answers for the last token alone is asked prefix by prefix, each with a cache of its own.
        """
        outputs, chunks = self._stepped(chunks)
        if not all(map(layout.of_each, outputs, chunks)):
            ends = [self._answered("continue", prefix)[1][-1] for prefix in layout.prefixes(chunks)]
            joined = layout.side_by_side(ends, len(chunks[0]))
            if joined is None:
                return outputs[0]
            outputs = [joined]
        whole = np.concatenate(outputs, axis=1)
        return layout.as_wide_as(whole, ids(self.declared)) if self.declared.kind == "model" else whole

    def ask(self, operation: str, arrays: Sequence[Array], **more: Any) -> tuple[dict[str, Any], list[Array]]:
        """(header, arrays) of the host's answer. Raises SubjectRaised or GuestError."""
        options = {**self._options, **more.pop("options", {})}
        return self.host.request(
            {"operation": operation, "part": self.part, "options": options, **more}, arrays
        )

    def laid(self, inputs: Sequence[Array]) -> tuple[list[Array], dict[str, Any]]:
        """(arrays, options) of a call for x, or for x and which tokens are real; all are, where it must be told."""
        x, *masks = inputs
        name = self.declared.padding
        if not masks and name not in self.described["required"]:
            return [x], {}
        keep = masks[0] if masks else np.ones(x.shape[:2], bool)
        return [x, layout.padding(self.declared, keep)], {"keyword": name}

    def misformed(self, x: Array, error: SubjectRaised) -> str:
        """That a padding mask is taken in another form than the declared one; empty where that is not so."""
        declared = self.declared
        if not declared.padding:
            return ""
        form, said = ("keep", "keep or hide") if declared.padding_form == "ones" else ("ones", "ones")
        keep = layout.padding(replace(declared, padding_form=form), np.ones(x.shape[:2], bool))
        try:
            self.ask("call", [x, keep], options={"keyword": declared.padding})
        except (SubjectRaised, GuestError):
            return ""
        return (
            f"it takes no padding mask of the form {declared.padding_form}: {error}; "
            f"required: --padding-form {said}"
        )

    def _call(self, arrays: Sequence[Array], **more: Any) -> Array:
        """The output of one call."""
        answer, (output,) = self._answered("call", arrays, **more)
        self._note(answer)
        return output

    def _answered(
        self, operation: str, arrays: Sequence[Array], **more: Any
    ) -> tuple[dict[str, Any], list[Array]]:
        """(header, arrays); a refusal is kept as the problem of the whole subject."""
        try:
            return self.ask(operation, arrays, **more)
        except GuestError as error:
            self.problem = self.problem or str(error)
            raise

    def _note(self, answer: Mapping[str, Any]) -> None:
        notes = []
        if answer["wrote"]:
            notes.append("the call writes into its input; it was given copies")
        if answer["half"]:
            self.roundoff = max(self.roundoff, ROUNDOFF.get(answer["half"], 0.25))
            notes.append(f"the output is {answer['half']}; thresholds were widened to what it can hold")
        self.notes += [note for note in notes if note not in self.notes]

    def _note_once(self, beginning: str, rest: str) -> None:
        """Whatever the rest is, one note with this beginning is enough."""
        if not any(known.startswith(beginning) for known in self.notes):
            self.notes.append(beginning + rest)

    def _block(self, inputs: Sequence[Array], replaced: Mapping[str, Array]) -> Array:
        places = {role: self.places[role] for role in replaced}
        arrays, options = self.laid(inputs)
        try:
            return self._call([*arrays, *replaced.values()], roles=places, options=options)
        except SubjectRaised as error:
            if len(inputs[0]) <= layout.FEW:
                raise
            return self._in_parts(inputs, replaced, error)

    def _in_parts(
        self, inputs: Sequence[Array], replaced: Mapping[str, Array], error: SubjectRaised
    ) -> Array:
        """The same, few sequences at a time. Raises the error of the whole where that does not help."""
        count = len(inputs[0])
        try:
            outputs = [self._block([one[own] for one in inputs], replaced) for own in layout.few(count)]
        except SubjectRaised:
            raise error from None
        self._note_once("it failed on", f" {count} sequences at once and was given few at a time: {error}")
        return np.concatenate(outputs)

    def _model(self, inputs: Sequence[Array], replaced: Mapping[str, Array]) -> Array:
        logits, (batch, tokens) = self._block(inputs, replaced), inputs[0].shape
        if not layout.of_each(logits, inputs[0]):
            ends = [self._block([one[:, : at + 1] for one in inputs], replaced) for at in range(tokens)]
            joined = layout.side_by_side(ends, batch)
            if joined is None:
                return logits
            self.limits |= dict.fromkeys(("future", "prefix"), declaration.LAST)
            logits = joined
        return layout.as_wide_as(logits, ids(self.declared))

    def _stepped(self, chunks: Sequence[Array]) -> tuple[list[Array], Sequence[Array]]:
        """(outputs, chunks); a step that raises is fed one token at a time, if that helps."""
        try:
            return self._answered("continue", chunks)[1], chunks
        except SubjectRaised as error:
            whole = np.concatenate(chunks, axis=1)
            single = np.split(whole, whole.shape[1], axis=1)
            try:
                outputs = self._answered("continue", single)[1]
            except SubjectRaised:
                raise error from None
            self._note_once(
                "its step failed", f" on several tokens at once and was given one at a time: {error}"
            )
            return outputs, single

    def attention(self, query: Array, key: Array, value: Array) -> Array:
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

    def sites(self, x: Array) -> Sequence[Site]:
        """The attention operations that one call runs through."""
        arrays, options = self.laid([x])
        found: list[Site] = self.ask("sites", arrays, options=options)[0]["sites"]
        return found


def ids(declared: Declaration) -> int:
    """How many token ids, and as many logits, are looked at."""
    return min(declared.vocab or VOCABULARY, VOCABULARY)
