"""What the page shows of somebody's own subject, as a tree for its script: what `faults check` says, and the looks.

Every sentence comes in both languages. What a subject is called or says is written so that nothing in it is
invisible or turns what stands around it, and no longer than anybody would read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from detectors.checking import BROKEN, HOLDS, INAPPLICABLE, SOUND, UNDECIDED, UNSEEN, Finding
from faults.answers import Answer, Named
from faults.language import printable
from faults.page_model import Look, Text
from reports import check
from reports.check_json import contract
from reports.check_reasons import translated
from reports.check_words import BROKEN_CONTRACT, VERDICTS, WORDS
from reports.json_report import plain

LANGUAGES = ("en", "zh")

MOST_PARTS = 9
"""Parts that are shown of one subject, a model and eight blocks: of a deeper one nobody looks at all."""

MOST_LETTERS = 400
"""Of one text: an exception can carry a whole file."""

CUT = " … "

ELSEWHERE = ("evidence", "verdict", "runner-up")
"""Facts of a terminal's report that are the page's table and its headline."""

URGENT = ("question", "advice")
"""Remarks that ask the reader for something."""


def tree(answers: Sequence[Answer], looks: Mapping[str, Sequence[Look]]) -> dict[str, Any]:
    """The subject first, then its blocks; of too many, those that are not sound before the others."""
    shown, book = kept(answers), Book()
    found = {
        "parts": [_part(answer, looks.get(answer.subject, ()), book) for answer in shown],
        "left_out": len(answers) - len(shown),
        "contracts": {
            HOLDS: VERDICTS[HOLDS],
            BROKEN: BROKEN_CONTRACT,
            UNSEEN: VERDICTS[UNSEEN],
            INAPPLICABLE: VERDICTS[INAPPLICABLE],
        },
        "texts": book.texts,
    }
    written: dict[str, Any] = visible(plain(found))
    return written


class Book:
    """The sentences of the tree: blocks of one model say much the same."""

    def __init__(self) -> None:
        self.texts: list[dict[str, str]] = []

    def place(self, text: Callable[[str], str]) -> int:
        """Where the sentence stands that `text` gives in each language."""
        written = {language: text(language) for language in LANGUAGES}
        if written not in self.texts:
            self.texts.append(written)
        return self.texts.index(written)


def kept(answers: Sequence[Answer]) -> list[Answer]:
    """The answers that are shown, in the order given."""
    others = sorted(range(1, len(answers)), key=lambda at: answers[at].verdict == SOUND)
    return [answers[at] for at in sorted([0, *others[: MOST_PARTS - 1]])]


def visible(branch: Any) -> Any:
    """The tree with every text cut in the middle where it is long, and escapes for letters that cannot be seen."""
    if isinstance(branch, dict):
        return {name: visible(inner) for name, inner in branch.items()}
    if isinstance(branch, list):
        return [visible(inner) for inner in branch]
    return _readable(branch) if isinstance(branch, str) else branch


def _readable(text: str) -> str:
    shown = printable(text)
    if len(shown) <= MOST_LETTERS:
        return shown
    return shown[: MOST_LETTERS // 2] + CUT + shown[-MOST_LETTERS // 2 :]


def _part(answer: Answer, looks: Sequence[Look], book: Book) -> dict[str, Any]:
    checked = answer.checked
    facts, remarks = _facts(answer)
    return {
        "name": answer.subject,
        "verdict": answer.verdict,
        "title": book.place(lambda language: VERDICTS[answer.verdict][language].capitalize()),
        "meaning": book.place(
            lambda language: translated(answer.cause, language) or check.meaning(answer, language)
        ),
        "nearest": [_named(named, book) for named in answer.nearest],
        "runner_up": _named(answer.runner_up, book) if answer.runner_up else None,
        "facts": [[book.place(pair[0].__getitem__), book.place(pair[1].__getitem__)] for pair in facts],
        "remarks": [[book.place(pair[0].__getitem__), book.place(pair[1].__getitem__)] for pair in remarks],
        "counts": book.place(lambda language: check.counts(checked, language)) if checked else None,
        "contracts": [_contract(finding, book) for finding in (checked.findings if checked else ())],
        "looks": [_look(look, book) for look in looks],
        "compared": answer.comparable,
    }


def _named(named: Named, book: Book) -> dict[str, Any]:
    return {
        "fault": named.fault,
        "variant": named.variant,
        "distance": named.distance,
        "own": named.own,
        "wrong": book.place(named.wrong.__getitem__),
    }


Pair = tuple[Text, Text]
"""A label and what is said under it."""


def _facts(answer: Answer) -> tuple[list[Pair], list[Pair]]:
    """What stands below the table on a terminal, but for what the page shows elsewhere: what to do, and the rest."""
    if answer.checked is None:
        return [], []
    elsewhere = [WORDS[label] for label in ELSEWHERE]
    elsewhere += [WORDS[label] for label in ("fault", "relative") if answer.nearest]
    found, remarks = _pairs(check.diagnosis, answer), _pairs(check.remarks, answer)
    urgent = [pair for pair in remarks if pair[0] in [WORDS[label] for label in URGENT]]
    # What was looked for matters first where nothing was found; beside a defect it is a remark.
    covered = [] if answer.verdict in (SOUND, UNDECIDED) else _pairs(check.covered, answer)
    first = [pair for pair in [*found, *urgent] if pair[0] not in elsewhere and pair not in covered]
    return first, [*covered, *(pair for pair in remarks if pair not in urgent)]


def _pairs(say: Callable[[Answer, str], Sequence[tuple[str, str]]], answer: Answer) -> list[Pair]:
    """The same pairs in each language, side by side."""
    spoken = [say(answer, language) for language in LANGUAGES]
    return [
        (dict(zip(LANGUAGES, labels, strict=True)), dict(zip(LANGUAGES, texts, strict=True)))
        for labels, texts in (zip(*pairs, strict=True) for pairs in zip(*spoken, strict=True))
    ]


def _contract(finding: Finding, book: Book) -> dict[str, Any]:
    """As in the JSON of `faults check`, but for the reason."""
    return {**contract(finding), "reason": book.place(lambda language: check.why(finding, language))}


def _look(look: Look, book: Book) -> dict[str, Any]:
    reason = book.place(lambda language: translated(look.reason, language))
    return {"probe": look.probe, "pattern": look.pattern, "matrix": look.matrix, "reason": reason}
