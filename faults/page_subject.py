"""Who sees whom in somebody's own subject: what stands in the page beside the looks at the reference block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import foreign, influence, patterns, probes
from detectors.checking import UNREACHED
from detectors.errors import NotObservable
from detectors.observation import Observation
from faults import page_data
from faults.answers import Answer
from faults.page_model import Look
from faults.subjects import Request, answers

Array = NDArray[Any]
Looks = dict[str, tuple[Look, ...]]


def examined(request: Request) -> tuple[list[Answer], Looks]:
    """What `faults check` finds of the subject and its blocks, and the looks at each by its name.

    The looks are taken after all verdicts, so that these are of the same calls as those of `faults check`.
    """
    taken: Looks = {}

    def look(found: list[Answer]) -> None:
        taken.update({one.subject: looks(one, request.seed) for one in found if one.checked is not None})

    return answers(request, look), taken


def looks(answer: Answer, seed: int) -> tuple[Look, ...]:
    """The subject through itself and in its weights, and where they can be seen at huge logits and last queries.

    On as many tokens as the looks at the reference block have; on as many as there are heads where that call fails.
    """
    with np.errstate(all="ignore"):
        observation = _observation(answer, seed)
        words = patterns.patterns(observation)
        found = [
            page_data.look(probe, words.get(probe, ""), take, observation) for probe, take in LOOKS.items()
        ]
    return tuple(_worded(look, answer) for look in found if _worth_showing(look, answer))


def _observation(answer: Answer, seed: int) -> Observation:
    assert answer.checked is not None
    assert answer.declared is not None
    tokens = page_data.LOOKED_AT.tokens
    tokens = min(tokens, answer.declared.max_length or tokens)
    fixture = foreign.fixture(answer.declared, tokens, batch=1, seed=seed)
    observation = Observation(answer.checked.subject, fixture)
    try:
        observation.output()
    except NotObservable:
        if fixture.extents.heads > 1:
            return Observation(answer.checked.subject, fixture.square())
    return observation


def _worded(look: Look, answer: Answer) -> Look:
    """With the name of its pattern, where the subject claims to see just what is earlier."""
    if look.matrix is None:
        # Without the name of the exception that carried here what the subject raised.
        return replace(look, reason=look.reason.replace("SubjectRaised: ", ""))
    if not answer.comparable:
        return replace(look, pattern="")
    return replace(look, pattern=look.pattern or patterns.pattern(np.array(look.matrix) > 0))


def _worth_showing(look: Look, answer: Answer) -> bool:
    assert answer.checked is not None
    declares, kind = answer.checked.subject.declares, answer.checked.subject.kind
    if look.probe in ("huge", "short"):
        claimed = "causal" if look.probe == "huge" else "cached"
        return look.matrix is not None and claimed in declares
    return look.probe == "attention" or kind != "attention"


def _weights(observation: Observation) -> Array:
    """[query, key]: of attention called by itself, or of what its operations show; averaged over the heads."""
    if observation.subject.attention is not None:
        return np.asarray(probes.weights(observation)[0].mean(axis=0))
    if observation.subject.sites is None:
        raise NotObservable(UNREACHED)
    # The heads of a block may be a site each; the sites of a model are its layers, of which the first is shown.
    sites = observation.sites()[: 1 if observation.subject.kind == "model" else None]
    seen = [np.array(site["mean"]) for site in sites if site["mean"] is not None]
    if not seen or any(one.shape != seen[0].shape for one in seen):
        raise NotObservable(UNREACHED)
    return np.asarray(np.mean(seen, axis=0))


LOOKS: dict[str, Callable[[Observation], Array]] = {
    "block": influence.visibility,
    "attention": _weights,
    "huge": probes.peaks,
    "short": page_data.LOOKS["short"],
}
"""Probe -> [query, key]."""
