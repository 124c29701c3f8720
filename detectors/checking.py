"""One subject against every contract that applies: findings, verdict and diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from detectors.attention import slope
from detectors.catalogue import CONTRACTS
from detectors.detector import Detector, Signal
from detectors.diagnosis import Candidate, Expected, diagnose
from detectors.errors import DetectorError, NotObservable
from detectors.examination import Examination, examine
from detectors.fixtures import Fixture
from detectors.observation import Observation
from detectors.subject import Subject

HOLDS, BROKEN, UNSEEN, INAPPLICABLE = "holds", "broken", "not observable", "not applicable"
SOUND, FRAGILE, UNDECIDED = "sound", "fragile", "undecided"

EXTREMES = frozenset({"huge_logits", "norm_formula"})
"""Contracts that only declared extremes can break: alone they make a subject fragile, not broken."""

PLUMBING = frozenset({"shape", "finite", "repeatability", "batch", "padded_rows", "norm_formula"})
"""Contracts that say nothing about attention: alone they cannot call a subject sound."""

SECONDARY = frozenset({"padding", "step"})
"""Access of contracts that break as well where a single call is wrong already: then they say nothing about why."""

AMPLIFIED = frozenset({"attention_branch", "feed_forward_branch", "norm_formula"})
"""Contracts that compare small numbers beside large ones: 16 bits cannot hold both."""

ROUNDINGS = 8
"""Threshold of a contract in 16 bits, in units of the spacing of numbers around 1."""

ROUNDED = 1e-3
"""Contracts whose thresholds lie below this expect exactly 0, in any precision."""

ASSUMED: Mapping[str, str] = {
    "causal": "it assumes that no token sees the future",
    "pre_norm": "it assumes a norm before each branch and a plain skip",
    "sequential": "it assumes two sublayers in sequence",
    "unwindowed": "it assumes that every earlier token is visible",
    "cached": "it assumes that fewer queries than keys may be asked",
    "any_width": "it asks for another d_k than the declared width gives",
    "heads": "it assumes a known number of heads that nothing mixes",
    "reference": "it assumes the weights and layers of the reference block",
}
"""Why a contract says nothing about a subject that does not claim this."""

UNREACHED = "its attention can be neither called nor followed"

ACCESS: Mapping[str, str] = {
    "call": "it can be called",
    "weights": "its weights can be written",
    "attention": "its attention can be called by itself",
    "operations": "its operations could be followed",
    "padding": "it takes a padding mask",
    "step": "it takes a cache",
    "norms": "its norms can be called by themselves",
}


@dataclass(frozen=True)
class Finding:
    """One contract on one subject: the worst value over the fixtures, or why there is none.

    reason: why the contract applies, or could not be observed, or says nothing here. fixture: the smallest on
    which the contract is broken.
    """

    detector: Detector
    value: float | None
    verdict: str
    reason: str
    fixture: Fixture | None


@dataclass(frozen=True)
class Checked:
    """Everything found about one subject. `candidates`: what it looks like, nearest first; `named`: the nearest."""

    subject: Subject
    verdict: str
    findings: tuple[Finding, ...]
    candidates: tuple[Candidate, ...]
    named: tuple[str, ...]
    patterns: Mapping[str, str]
    failures: tuple[str, ...]
    scale: slope.Scale | None = None
    """What the scores were multiplied by, where the contract on it is broken and that can be told."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """Faults that were not looked for, each with the reason, where that was asked (`detectors.looked_for`)."""

    @property
    def observed(self) -> int:
        """How many contracts could be measured."""
        return sum(finding.value is not None for finding in self.findings)

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The contracts that are broken, in the order of the catalogue."""
        return tuple(finding for finding in self.findings if finding.verdict == BROKEN)

    def finding(self, name: str) -> Finding:
        """The finding of one contract. Raises DetectorError where there is no such contract."""
        for finding in self.findings:
            if finding.detector.name == name:
                return finding
        raise DetectorError(f"no contract is called {name!r}; required: one of {', '.join(NAMES)}")


NAMES = tuple(detector.name for detector in CONTRACTS)


def check(
    subject: Subject,
    fixtures: Sequence[Fixture],
    table: Iterable[Expected] = (),
    *,
    relatives: Iterable[Expected] = (),
    questions: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    roundoff: float = 0.0,
) -> Checked:
    """Examines the subject on every fixture, smallest first, and names what its signals look like.

    table, relatives: expected signatures; a relative is named only where it lies nearer than all of the table.
    questions: what to ask about claims that could not be told; they leave a subject undecided. limits: contract ->
    why it cannot be observed here. roundoff: spacing of the output's numbers around 1, where coarser than 32 bits.
    """
    detectors = tuple(_widened(detector, roundoff) for detector in CONTRACTS)
    examinations = [examine(subject, fixture, detectors) for fixture in fixtures]
    reasons = _Reasons(subject, questions or {}, limits or {}, roundoff)
    findings = tuple(
        _finding(detector, reasons, fixtures, [examination.signals[at] for examination in examinations])
        for at, detector in enumerate(detectors)
    )
    heads = subject.kind == "attention" or "heads" in subject.declares
    merged = _merged(findings, examinations, heads, "causal" in subject.declares)
    scale = _scale(subject, fixtures[-1]) if "slope" in merged.fired else None
    candidates, named = _named(merged, table, relatives, scale)
    found = verdict(findings, bool(questions and "pre_norm" in questions))
    return Checked(subject, found, findings, candidates, named, merged.patterns, merged.failures, scale)


def verdict(findings: Sequence[Finding], asked: bool = False) -> str:
    """broken: a contract is; fragile: only at declared extremes; undecided: nothing about attention was seen, or
    `asked` a question whose answer decides what holds."""
    broken = {finding.detector.name for finding in findings if finding.verdict == BROKEN}
    if broken:
        return BROKEN if broken - EXTREMES else FRAGILE
    seen = {finding.detector.name for finding in findings if finding.verdict == HOLDS}
    return UNDECIDED if asked or not seen - PLUMBING else SOUND


def _scale(subject: Subject, fixture: Fixture) -> slope.Scale | None:
    """The scale as the most tokens show it; None where it cannot be told."""
    try:
        with np.errstate(all="ignore"):
            return slope.found(Observation(subject, fixture))
    except NotObservable:
        return None


def _widened(detector: Detector, roundoff: float) -> Detector:
    if detector.threshold < ROUNDED:
        return detector
    return replace(detector, threshold=max(detector.threshold, ROUNDINGS * roundoff))


@dataclass(frozen=True)
class _Reasons:
    subject: Subject
    questions: Mapping[str, str]
    limits: Mapping[str, str]
    roundoff: float

    def against(self, detector: Detector) -> tuple[str, str] | None:
        """(verdict, reason) of a contract that is not asked; None where it is."""
        if detector.needs != "attention" and self.subject.kind not in detector.kinds:
            return INAPPLICABLE, f"not for a subject of kind {self.subject.kind}"
        missing = sorted(detector.assumes - self.subject.declares)
        asked = [self.questions[claim] for claim in missing if claim in self.questions]
        if asked:
            return UNSEEN, asked[0]
        if missing:
            return INAPPLICABLE, ASSUMED[missing[0]]
        if self.roundoff and detector.name in AMPLIFIED:
            return UNSEEN, "its output has too few bits for it"
        if detector.needs == "attention" and self.subject.attention is None and self.subject.sites is None:
            return UNSEEN, UNREACHED
        return (UNSEEN, self.limits[detector.name]) if detector.name in self.limits else None

    def given(self, detector: Detector) -> str:
        """Why the contract applies: the access it needs."""
        followed = detector.needs == "attention" and self.subject.attention is None
        return ACCESS["operations" if followed else detector.needs]


def _finding(
    detector: Detector, reasons: _Reasons, fixtures: Sequence[Fixture], signals: Sequence[Signal]
) -> Finding:
    refused = reasons.against(detector)
    if refused:
        return Finding(detector, None, *refused, None)
    fired = [at for at, signal in enumerate(signals) if signal.fired]
    if fired:
        value = _worst(signals[at] for at in fired)
        return Finding(detector, value, BROKEN, reasons.given(detector), fixtures[fired[0]])
    value = _worst(signals)
    if value is not None:
        return Finding(detector, value, HOLDS, reasons.given(detector), None)
    return Finding(detector, None, UNSEEN, _plain(signals[-1].reason), None)


def _plain(text: str) -> str:
    """What the subject raised, without the name of the exception that carried it here."""
    return text.replace("SubjectRaised: ", "")


def _worst(signals: Iterable[Signal]) -> float | None:
    """The largest value; NaN is the worst of all."""
    values = [signal.value for signal in signals if signal.value is not None]
    return next((value for value in values if value != value), max(values, default=None))


def _merged(
    findings: Sequence[Finding], examinations: Sequence[Examination], heads: bool, causal: bool
) -> Examination:
    """All fixtures as one examination: what fired anywhere, and for each probe the last pattern that is not causal.

    More tokens show a pattern better, and as many tokens as heads may show another. Without a known number of heads
    that number of tokens is nothing special.
    """
    signals = tuple(Signal(finding.detector, finding.value) for finding in _telling(findings))
    patterns: dict[str, str] = {}
    for examination in examinations:
        for probe, word in examination.patterns.items():
            if word != "causal" or probe not in patterns:
                patterns[probe] = word
    if "calls" in patterns and not heads:
        patterns["calls"] = "fail"
    if not causal:  # then a full matrix is what should be seen
        patterns = {probe: word for probe, word in patterns.items() if probe == "calls"}
    failures = tuple(_plain(line) for examination in examinations for line in examination.failures)
    return Examination(signals, patterns, failures)


def _telling(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Those that say which defect it is: second calls fail too where a single one is wrong, and `shape` counts that.

    Extremes do not explain a second call.
    """
    single = [finding for finding in findings if finding.detector.needs not in SECONDARY]
    broken = {finding.detector.name for finding in single if finding.verdict == BROKEN}
    if not broken - EXTREMES - {"shape"}:
        return findings
    failed = any(finding.value == np.inf for finding in findings if finding.detector.needs in SECONDARY)
    return [finding for finding in single if not (failed and finding.detector.name == "shape")]


def _named(
    merged: Examination,
    table: Iterable[Expected],
    relatives: Iterable[Expected],
    scale: slope.Scale | None,
) -> tuple[tuple[Candidate, ...], tuple[str, ...]]:
    """Candidates nearest first; equally near, one of the table comes before a relative and is named alone.

    Where the output changes from call to call nothing can be compared: only what expects that is a candidate.
    """
    unsteady = "repeatability" in merged.fired
    own, others = (
        diagnose(merged, [row for row in rows if not unsteady or "repeatability" in row.fires], scale)
        for rows in (table, relatives)
    )
    candidates = sorted([*own.candidates, *others.candidates], key=lambda candidate: candidate.distance)
    nearer = others.named and (not own.named or others.candidates[0].distance < own.candidates[0].distance)
    return tuple(candidates), others.named if nearer else own.named
