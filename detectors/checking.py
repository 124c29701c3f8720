"""One subject against every contract that applies: findings, verdict and diagnosis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from detectors.catalogue import DETECTORS
from detectors.detector import Detector, Signal, inapplicable
from detectors.diagnosis import Candidate, Expected, diagnose
from detectors.examination import Examination, examine
from detectors.fixtures import Fixture
from detectors.subject import Subject

HOLDS, BROKEN, UNSEEN, INAPPLICABLE = "holds", "broken", "not observable", "not applicable"
SOUND, FRAGILE, UNDECIDED = "sound", "fragile", "undecided"

EXTREMES = frozenset({"huge_logits"})
"""Contracts that only declared extremes can break: alone they make a subject fragile, not broken."""

PLUMBING = frozenset({"shape", "finite", "repeatability", "batch"})
"""Contracts that say nothing about attention: alone they cannot call a subject sound."""


@dataclass(frozen=True)
class Finding:
    """One contract on one subject: the worst value over the fixtures, or why there is none."""

    detector: Detector
    value: float | None
    verdict: str
    reason: str
    fixture: Fixture | None
    """The smallest fixture on which the contract is broken."""


@dataclass(frozen=True)
class Checked:
    """Everything found about one subject. `candidates`: the faults it looks like, nearest first."""

    subject: Subject
    verdict: str
    findings: tuple[Finding, ...]
    candidates: tuple[Candidate, ...]
    named: tuple[str, ...]
    patterns: Mapping[str, str]
    failures: tuple[str, ...]

    @property
    def observed(self) -> int:
        return sum(finding.value is not None for finding in self.findings)


def check(subject: Subject, fixtures: Sequence[Fixture], table: Iterable[Expected]) -> Checked:
    """Examines the subject on every fixture, smallest first, and names what its signals look like."""
    examinations = [examine(subject, fixture) for fixture in fixtures]
    findings = tuple(
        _finding(detector, subject, fixtures, [examination.signals[at] for examination in examinations])
        for at, detector in enumerate(DETECTORS)
    )
    merged = _merged(findings, examinations)
    diagnosis = diagnose(merged, table)
    return Checked(
        subject,
        verdict(findings),
        findings,
        diagnosis.candidates,
        diagnosis.named,
        merged.patterns,
        merged.failures,
    )


def verdict(findings: Sequence[Finding]) -> str:
    """broken: a contract is; fragile: only at declared extremes; undecided: nothing about attention was seen."""
    broken = {finding.detector.name for finding in findings if finding.verdict == BROKEN}
    if broken:
        return BROKEN if broken - EXTREMES else FRAGILE
    seen = {finding.detector.name for finding in findings if finding.verdict == HOLDS}
    return SOUND if seen - PLUMBING else UNDECIDED


def _finding(
    detector: Detector, subject: Subject, fixtures: Sequence[Fixture], signals: Sequence[Signal]
) -> Finding:
    fired = [(signal, fixture) for signal, fixture in zip(signals, fixtures, strict=True) if signal.fired]
    if fired:
        return Finding(detector, _worst(signal for signal, _ in fired), BROKEN, "", fired[0][1])
    value = _worst(signals)
    if value is not None:
        return Finding(detector, value, HOLDS, "", None)
    reason = inapplicable(detector, subject)
    return Finding(detector, None, INAPPLICABLE if reason else UNSEEN, reason or signals[0].reason, None)


def _worst(signals: Iterable[Signal]) -> float | None:
    """The largest value; NaN is the worst of all."""
    values = [signal.value for signal in signals if signal.value is not None]
    return next((value for value in values if value != value), max(values, default=None))


def _merged(findings: Sequence[Finding], examinations: Sequence[Examination]) -> Examination:
    signals = tuple(Signal(finding.detector, finding.value, finding.reason) for finding in findings)
    patterns: dict[str, str] = {}
    for examination in reversed(examinations):
        for probe, word in examination.patterns.items():
            if word != "causal" or probe not in patterns:
                patterns[probe] = word
    failures = tuple(line for examination in examinations for line in examination.failures)
    return Examination(signals, patterns, failures)
