"""What is said of one subject that was checked: the verdict, the defect it looks like, the repair, the witness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from detectors.checking import BROKEN, FRAGILE, SOUND, UNDECIDED, Checked, Finding
from detectors.declaration import Declaration
from detectors.diagnosis import Candidate
from detectors.fixtures import Fixture
from detectors.witnesses import holes, smallest
from faults import relatives
from faults.model import Fault, Text

UNUSABLE = "unusable"
"""Verdict on a subject that could not be built, or could not be called."""

GOOD, BAD, USAGE, NO_SUBJECT = 0, 1, 2, 3


@dataclass(frozen=True)
class Named:
    """A defect with its nearest variant: in words, how to repair it, and whether it is one of the five."""

    fault: str
    variant: str
    distance: float
    wrong: Text
    repair: Text
    own: bool


@dataclass(frozen=True)
class Witness:
    """The smallest fixture on which the leading contract is broken."""

    finding: Finding
    fixture: Fixture


CHECKED, PART, HIDDEN, ABSENT = "checked", "checked in part", "not observable", "does not apply"


@dataclass(frozen=True)
class Coverage:
    """How far one fault was looked for.

    reason: why it, or its `variants`, could not have shown, or why it does not apply. variants: those that could not.
    """

    fault: str
    state: str
    reason: str = ""
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Holes:
    """The tokens, counted from 1, whose outputs are not finite, and how many tokens there were."""

    tokens: tuple[int, ...]
    all: int


@dataclass(frozen=True)
class Answer:
    """One subject's part of the report. checked is None where there was nothing to measure: `cause` says why.

    code: the exit code of that. nearest: the defects named, several where they tie. runner_up: the next one.
    advice: what to declare where the subject is meant to be as it is. questions: what has to be declared to go on.
    covered: how far each of the five was looked for. holes: which outputs are not finite, if any.
    """

    subject: str
    checked: Checked | None = None
    declared: Declaration | None = None
    cause: str = ""
    code: int = GOOD
    notes: tuple[str, ...] = ()
    nearest: tuple[Named, ...] = ()
    runner_up: Named | None = None
    witness: Witness | None = None
    advice: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    covered: tuple[Coverage, ...] = ()
    holes: Holes | None = None

    @property
    def unseen(self) -> tuple[Coverage, ...]:
        """The faults of the five that could be in the subject and were not looked for."""
        return tuple(one for one in self.covered if one.state == HIDDEN)

    @property
    def comparable(self) -> bool:
        """Whether it claims to see what the reference block sees: all that is earlier, and nothing later."""
        return self.checked is not None and {"causal", "unwindowed"} <= self.checked.subject.declares

    @property
    def verdict(self) -> str:
        """sound, fragile, broken, undecided or unusable; sound only where none of the five is unseen."""
        if self.checked is None:
            return UNUSABLE
        return UNDECIDED if self.checked.verdict == SOUND and self.unseen else self.checked.verdict

    def exit_code(self, strict: bool) -> int:
        """0 unless something is broken (1), or was fragile or undecided under `strict` (1), or worse."""
        if self.checked is None:
            return self.code
        bad = (BROKEN, FRAGILE, UNDECIDED) if strict else (BROKEN,)
        return BAD if self.verdict in bad else GOOD


def answer(name: str, checked: Checked, declared: Declaration, faults: Iterable[Fault]) -> Answer:
    """The answer for a subject that could be measured, without how far each of the five was looked for."""
    known = {fault.name: fault for fault in faults}
    candidates = _nearest(checked)
    nearest = tuple(_named(found, known) for found in candidates)
    others = [
        found for found in checked.candidates if found.fault not in checked.named and found.distance < 1
    ]
    return Answer(
        subject=name,
        checked=checked,
        declared=declared,
        nearest=nearest,
        runner_up=_named(others[0], known) if others and nearest else None,
        witness=_witness(checked, _signs(candidates, known)),
        advice=_advice(checked, declared),
        holes=_holes(checked),
    )


def with_parts(whole: Answer, parts: Sequence[Answer]) -> Answer:
    """The answer for a model, whose faults that cannot be seen in itself were looked for in its blocks."""
    if not parts or any(part.checked is None for part in parts):
        return whole
    inside = [{one.fault: one for one in part.covered} for part in parts]
    covered = (_nearer(one, [part[one.fault] for part in inside]) for one in whole.covered)
    return replace(whole, covered=tuple(covered))


def _nearer(own: Coverage, inside: Sequence[Coverage]) -> Coverage:
    """The least that is known of the fault in any of the blocks, where that is more than is known of the whole."""
    return min(own, max(inside, key=_unknown), key=_unknown)


def _unknown(one: Coverage) -> int:
    return ORDER.index(one.state)


ORDER = (CHECKED, ABSENT, PART, HIDDEN)
"""From what is known best to what is not known."""


COLON: Text = {"en": ": ", "zh": "："}


def _nearest(checked: Checked) -> list[Candidate]:
    return [found for found in checked.candidates if found.fault in checked.named]


def _named(found: Candidate, known: dict[str, Fault]) -> Named:
    relative = relatives.find(found.fault)
    if relative is not None:
        return Named(found.fault, found.variant, found.distance, relative.wrong, relative.repair, own=False)
    fault = known[found.fault]
    summary = next(variant.summary for variant in fault.variants if variant.name == found.variant)
    wrong = {language: f"{fault.title[language]}{COLON[language]}{summary[language]}" for language in summary}
    return Named(found.fault, found.variant, found.distance, wrong, fault.repair, own=True)


def _witness(checked: Checked, signs: frozenset[str]) -> Witness | None:
    """Of the contract that says most about which fault it is, one of the `signs` of the fault named if there is any."""
    if checked.verdict == SOUND or not checked.broken:
        return None
    telling = [finding for finding in checked.broken if finding.detector.name in signs] or checked.broken
    leading = max(telling, key=lambda finding: finding.detector.weight)
    fixture = smallest(checked.subject, leading)
    return Witness(leading, fixture) if fixture is not None else None


def _signs(nearest: Sequence[Candidate], known: dict[str, Fault]) -> frozenset[str]:
    """What the nearest defect breaks."""
    if not nearest:
        return frozenset()
    name, variant = nearest[0].fault, nearest[0].variant
    relative = relatives.find(name)
    if relative is not None:
        return next(look.fires for look in relative.looks if look.variant == variant)
    return next(one.signature.fires for one in known[name].variants if one.name == variant)


def _holes(checked: Checked) -> Holes | None:
    """The tokens without a finite output, on the smallest of the fixtures that has such."""
    finite = next((one for one in checked.broken if one.detector.name == "finite"), None)
    if finite is None or finite.fixture is None:
        return None
    tokens = holes(checked.subject, finite.fixture)
    return Holes(tokens, finite.fixture.extents.tokens) if tokens else None


FLAGS = (
    (("future", "future_weight", "first_token", "prefix"), "causal", "--no-causal"),
    (("reach",), "window", "--window N"),
    (("short_queries",), "cached", "--no-cached"),
    (("skip", "gradient_flow"), "norm", "--norm post, --design scaled"),
    (("attention_branch", "feed_forward_branch"), "norm", "--norm post"),
    (("order",), "design", "--design parallel"),
)
"""Contracts, the declared key they depend on, and the flags that say the subject is meant to be so."""


def _advice(checked: Checked, declared: Declaration) -> tuple[str, ...]:
    broken = {finding.detector.name for finding in checked.broken}
    unset = Declaration()
    return tuple(
        flags
        for names, key, flags in FLAGS
        if broken & set(names) and getattr(declared, key) == getattr(unset, key)
    )
