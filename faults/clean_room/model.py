"""What a clean room found, as types. Standard library only, so that a report can be drawn without running anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from faults.model import Text

DONE, WRONG, UNWRITTEN, MISSING, FAILED = "done", "wrong", "not written", "missing", "failed"


@dataclass(frozen=True)
class Finding:
    """One part of the work: how far it is, what is wrong with it and in which line of the learner's file."""

    key: str
    title: Text
    state: str
    what: Text
    line: int | None = None

    @property
    def done(self) -> bool:
        return self.state == DONE


@dataclass(frozen=True)
class Trace:
    """One way to the reference: where it stands in the text, or that it was seen in the running program."""

    what: Text
    line: int | None
    file: str = ""
    """The name of another file that was imported with the learner's; empty for the learner's own."""


@dataclass(frozen=True)
class Likeness:
    """How much of the learner's text also stands in the reference. `share` is None below the size floor."""

    share: float | None
    size: int
    floor: int
    similar: bool
    nearest: str = ""


@dataclass(frozen=True)
class Requirement:
    """One thing that a finished clean room has. `holds` is None where it could not be measured."""

    key: str
    title: Text
    holds: bool | None
    what: Text


@dataclass(frozen=True)
class Contract:
    """One contract of the detectors on the learner's block."""

    name: str
    value: float | None
    threshold: float
    verdict: str
    reason: str


@dataclass(frozen=True)
class Repair:
    """One fault made in the learner's own code: the signal when healthy, with the fault, and repaired."""

    fault: str
    function: str
    line: int | None
    signal: Text
    healthy: float
    broken: float
    repaired: float
    threshold: float
    identical: bool
    """Whether the repaired output is the healthy one, bit by bit."""

    @property
    def shown(self) -> bool:
        return (
            self.healthy <= self.threshold < self.broken
            and self.repaired <= self.threshold
            and self.identical
        )


@dataclass(frozen=True)
class CleanRoom:
    """Everything found about one file."""

    file: str
    kind: str
    """ "contract" for the interface alone, "work" for everything."""
    findings: tuple[Finding, ...]
    traces: tuple[Trace, ...] = ()
    proposal: tuple[tuple[str, str], ...] = ()
    """(theirs, ours): a mapping to be confirmed."""
    likeness: Likeness | None = None
    contracts: tuple[Contract, ...] = ()
    verdict: str = ""
    named: tuple[str, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    repairs: tuple[Repair, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] | None = None

    @property
    def finished(self) -> int:
        return sum(finding.done for finding in self.findings)

    @property
    def done(self) -> bool:
        """Likeness is no part of this: it accuses nobody."""
        parts = all(finding.done for finding in self.findings) and not self.traces
        return parts and all(requirement.holds for requirement in self.requirements)
