"""Somebody's subject from its name on the command line to its answers: itself, and the blocks inside a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from detectors import foreign
from detectors.checking import check
from detectors.declaration import Question
from detectors.foreign import Foreign, Target
from detectors.host import Guest, GuestError, Host, SubjectRaised
from detectors.precision import CONVERTED, in_its_own_precision
from faults import coverage, registry, relatives, results
from faults.answers import NO_SUBJECT, USAGE, Answer, answer, with_parts


@dataclass(frozen=True)
class Request:
    """One subject and how to look at it. given: declared keys said by flags. folder: where its process works."""

    subject: str
    init: str = ""
    given: Mapping[str, Any] | None = None
    python: str | None = None
    folder: str | None = None
    timeout: float = 60.0
    seed: int = 0


def answers(
    request: Request, afterwards: Callable[[list[Answer]], None] = lambda found: None
) -> list[Answer]:
    """The subject's answer, then those of its blocks; an answer without findings where it cannot be used.

    `afterwards` is handed them while the subjects can still be called.
    """
    try:
        target = Target.parse(request.subject, request.init)
        with Guest(request.python, request.folder, request.timeout) as guest:
            found = _all(guest, target, request)
            afterwards(found)
            return found
    except Question as question:
        return [Answer(request.subject, cause=str(question), code=USAGE)]
    except MemoryError:
        return [Answer(request.subject, cause=MEMORY, code=USAGE)]
    except (GuestError, SubjectRaised) as error:
        return [Answer(request.subject, cause=str(error), code=NO_SUBJECT)]


MEMORY = "there is not enough memory for inputs of the declared sizes; declare smaller ones"

OF_THE_MODEL = ("kind", "output", "vocab", "max_length", "padding", "padding_form")
"""Declared of a model's tokens and logits, and not of the blocks inside."""


def _all(guest: Host, target: Target, request: Request) -> list[Answer]:
    given = dict(request.given or {})
    whole = Foreign(guest, foreign.load(guest, target), given)
    first = examined(whole, request.subject, request.seed)
    if first.checked is None:
        return [first]
    names = whole.blocks()
    first = replace(first, notes=tuple(whole.notes))
    inner = {key: value for key, value in given.items() if key not in OF_THE_MODEL}
    # Channels are the same all the way through a model.
    inner = {"kind": "block", "width": whole.declared.width, **inner}
    notes = [note for note in whole.notes if note.endswith(CONVERTED)]
    parts = [_block(guest, name, inner, request, notes) for name in names]
    return [with_parts(first, parts), *parts]


def _block(
    guest: Host, part: str, given: Mapping[str, Any], request: Request, notes: Sequence[str]
) -> Answer:
    name = f"{request.subject}.{part}"
    try:
        block = Foreign(guest, {**foreign.describe(guest, part), "notes": notes}, given, part)
        return examined(block, name, request.seed)
    except Question as question:
        return Answer(name, cause=str(question), code=USAGE)
    except (GuestError, SubjectRaised) as error:
        return Answer(name, cause=str(error), code=NO_SUBJECT)


def examined(subject: Foreign, name: str, seed: int) -> Answer:
    """Measures the subject; a refusal on the way makes it unusable, whatever was measured before."""
    if not subject.problem:
        faults, fixtures = registry.all_faults(), subject.fixtures(seed)
        checked = check(
            subject.subject(name),
            fixtures,
            (*results.expected(faults), *relatives.OTHERWISE),
            relatives=relatives.expected(),
            questions=subject.questions,
            limits=subject.limits,
            roundoff=subject.roundoff,
        )
        checked = in_its_own_precision(checked, subject.narrow)
        covered = coverage.coverage(checked, subject.declared, faults, fixtures)
        found = replace(answer(name, checked, subject.declared, faults), covered=covered)
    if subject.problem:
        return Answer(name, declared=subject.declared, cause=subject.problem, code=NO_SUBJECT)
    questions = tuple(dict.fromkeys(subject.questions.values()))
    return replace(found, notes=tuple(subject.notes), questions=questions)
