"""The words of the mutation score as types: mutants, runs, rows and the judgement. Standard library only.

Everything a report shows is in these types, so that reports only render.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase

from faults.model import Control, Status, Text, score


class Origin(StrEnum):
    """Who made the mutant."""

    MUTMUT = "mutmut"
    OWN = "own"
    """A constant, a default or a decorated function, which mutmut leaves alone."""
    SEMANTIC = "semantic"
    """A fault variant of the registry."""


@dataclass(frozen=True)
class Place:
    """A stretch of a file; lines and columns start at one, the end is exclusive, as in Stryker's schema."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Change:
    """What a mutant changes in one file.

    `before` and `after` are the lines that differ, without indentation. `diff` is a unified diff of the function.
    """

    path: str
    function: str
    """`name` or `Class.name`; empty for a module's own level."""
    before: str
    after: str
    diff: str
    place: Place
    replacement: str
    """What stands at the place instead."""
    mutator: str = ""


@dataclass(frozen=True)
class Mutant:
    """One changed program and how the tests took it."""

    key: str
    module: str
    origin: Origin
    change: Change
    status: Status | None
    """None: without a verdict, which fails the gate."""
    reason: str = ""
    tests: tuple[str, ...] = ()
    """The tests that reached the changed function."""
    killed_by: str = ""
    """The test that failed, where it was recorded."""
    seconds: float | None = None
    equivalent: str = ""
    """Why no test could kill it; filled only where that was proved."""

    @property
    def name(self) -> str:
        """Module and function: "core.softmax.softmax", "core.mask" for a module's own level."""
        return ".".join(filter(None, (self.module, self.change.function)))

    @property
    def identity(self) -> str:
        """What stays the same when other mutants come and go, unlike the number in the key."""
        return f"{self.name}: {self.change.before} -> {self.change.after}"


@dataclass(frozen=True)
class Row:
    """The counts of one line of the table."""

    name: str
    killed: int = 0
    timeout: int = 0
    survived: int = 0
    no_tests: int = 0
    unchecked: int = 0
    error: int = 0
    equivalent: int = 0
    skipped: int = 0
    score: float | None = None
    """Stryker's score, 0 to 1; None where nothing could be judged."""
    seconds: float = 0.0
    timed: int = 0
    """Mutants whose seconds are known."""

    @property
    def mutants(self) -> int:
        judged = self.killed + self.timeout + self.survived + self.no_tests
        return judged + self.unchecked + self.error + self.equivalent + self.skipped


_FIELD = {
    Status.KILLED: "killed",
    Status.TIMEOUT: "timeout",
    Status.SURVIVED: "survived",
    Status.NO_COVERAGE: "no_tests",
    Status.ERROR: "error",
    Status.NOT_APPLICABLE: "skipped",
    None: "unchecked",
}


def row(name: str, mutants: Iterable[Mutant]) -> Row:
    """The mutants counted by status. A proved equivalent has a column of its own, outside the score."""
    mutants = list(mutants)
    counts: dict[str, int] = {}
    for mutant in mutants:
        column = "equivalent" if mutant.equivalent else _FIELD[mutant.status]
        counts[column] = counts.get(column, 0) + 1
    judged = [mutant.status for mutant in mutants if mutant.status is not None and not mutant.equivalent]
    seconds = [mutant.seconds for mutant in mutants if mutant.seconds is not None]
    return Row(name, **counts, score=score(judged), seconds=sum(seconds), timed=len(seconds))


@dataclass(frozen=True)
class Part:
    """Modules that share a bar. `modules` are shell patterns; a module belongs to the first part that fits."""

    name: str
    modules: tuple[str, ...]
    at_least: float
    """Percent of the score."""


def part_of(module: str, parts: Iterable[Part]) -> str:
    """The name of the first part with a pattern that fits the module; "" where none does."""
    fitting = (part.name for part in parts if any(fnmatchcase(module, pattern) for pattern in part.modules))
    return next(fitting, "")


@dataclass(frozen=True)
class Likeness:
    """Side by side: a fault variant, and the mutants of mutmut that behave exactly like it."""

    variant: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """Everything one run of the mutation tools left behind."""

    mutants: tuple[Mutant, ...]
    controls: tuple[Control, ...] = ()
    broken: tuple[Text, ...] = ()
    """Why the run cannot be trusted: a failing baseline, unreadable or outdated files."""
    unproved: tuple[Text, ...] = ()
    """What is wrong with the list of equivalents."""
    since: str = ""
    """The revision of a partial run; empty where every mutant was tested."""
    part: str = ""
    """The only part that the run is about; empty where it is about all."""
    compared: int | None = None
    """Mutants of mutmut that were held against the fault variants; None where that was not done."""
    likeness: tuple[Likeness, ...] = ()
    seconds: float | None = None
    """Wall-clock time of the whole run; None for one that was read."""
    sources: dict[str, str] = field(default_factory=dict)
    """Text of every file with a mutant."""


@dataclass(frozen=True)
class Judgement:
    """What a run means: the exit code, and one line for each thing that is wrong, worst first."""

    exit_code: int
    problems: tuple[Text, ...]
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True)
class ScoreReport:
    """A run with its rows and its judgement, ready to be drawn."""

    run: Run
    modules: tuple[Row, ...]
    variants: tuple[Row, ...]
    parts: tuple[tuple[Part, Row], ...]
    total: Row
    judgement: Judgement

    @property
    def survivors(self) -> tuple[Mutant, ...]:
        """What the tests missed, in the order of the files."""
        return tuple(mutant for mutant in self.run.mutants if missed(mutant))


def missed(mutant: Mutant) -> bool:
    """Whether the tests let it through: it survived or was never reached, and no equivalence is proved."""
    return mutant.status in (Status.SURVIVED, Status.NO_COVERAGE) and not mutant.equivalent
