"""mutmut's run inside one live pytest session. Runs by itself, in a process of its own, in a project's folder.

mutmut starts pytest anew for every mutant, which takes longer than most tests. Here the tests are collected once; each
mutant is a fork of that session and runs the tests that reach it, those that reach the least else first, until one
fails. What the tests reach is learnt in the same way, in as many forks at once as there may be. Everything else is
mutmut's: the mutants, the limits of time, and the files with the verdicts.

What a module calls while it is imported ran before any fork, so no mutant of it can show here. The names of those
functions are left in a file beside the verdicts, for whoever runs their mutants anew.

Needs mutants that are generated: what `mutmut run` has done before it runs the first test.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.mutation import trampoline
from mutmut.mutation.data import SourceFileMutationData
from mutmut.runners.harness import ListAllTestsResult, PytestRunner
from mutmut.state import state
from mutmut.utils.file_utils import setup_source_paths
from mutmut.workers.isolation import ForkRunner

FOLDER = "mutants"
IMPORTED = "faults-imported.json"
CRASHED = 3
INTERRUPTED = 2
LEAST = 0.05
"""Seconds below which a test is not worth being put behind one that reaches more."""

TAIL = 300
"""Letters kept of why a test failed."""

OPTIONS = (
    "--rootdir=.",
    "-q",
    "-x",
    "--tb=no",
    "--capture=sys",
    "-p",
    "no:randomly",
    "-p",
    "no:random-order",
)

TEMPORARY = "PYTEST_DEBUG_TEMPROOT"
"""Where pytest puts `tmp_path`: a folder of each child's own, removed at its end."""


@dataclass
class Prepared:
    """What a fixture reached, and the seconds it took."""

    reached: set[str] = field(default_factory=set)
    seconds: float = 0.0


class Told(set[str]):
    """What a fork of a test's process reaches: written down at once, since its end may be sudden."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.place = place

    def add(self, name: str) -> None:
        if name not in self:
            super().add(name)
            file = os.open(self.place, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, f"{name}\n".encode())
            os.close(file)


class Live(PytestRunner):
    """The tests of the session that is going on."""

    def __init__(self, names: Sequence[str], children: int) -> None:
        super().__init__()
        self.names, self.children = list(names), children
        self.items: dict[str, pytest.Item] = {}
        self.home = Path.cwd()
        self.temporary = tempfile.mkdtemp(prefix="faults-live-")
        self.code = CRASHED
        self.reached: dict[str, list[str]] = {}
        self.told = Path(self.temporary, "told")
        self.seconds: dict[str, float] = {}
        self.failures: list[str] = []
        self.breadth: Counter[str] = Counter()
        self.prepared: dict[pytest.FixtureDef[Any], Prepared] = {}
        self.waits: dict[str, float] = {}
        self.price: dict[str, float] = {}
        self.streams: tuple[object, object] = (None, None)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running the tests: let mutmut run its mutants."""
        self.items = {item.nodeid: item for item in session.items}
        self.imported()
        # What is alive now stays alive: no child need look through it, nor copy its pages for that.
        gc.collect()
        gc.freeze()
        os.chdir(self.home)
        if not session.testsfailed:
            self.code = self.mutate()
        return True

    def imported(self) -> None:
        """Writes down the functions that ran while tests were collected; from here on nobody counts."""
        (self.home / FOLDER / IMPORTED).write_text(json.dumps(sorted(state()._stats)))
        state()._stats.clear()
        trampoline.set_mutant_under_test("")

    def mutate(self) -> int:
        """mutmut's whole run; its exit code."""
        # mutmut has no setting for it; this is the one place where it asks for its runner.
        vars(mutmut)["get_mutant_runner"] = lambda max_children: Forks(self.children, self)
        try:
            mutmut._run(self.names, self.children)
        except SystemExit as stop:
            return stop.code if isinstance(stop.code, int) else CRASHED
        return 0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        """In a child: what a fixture reaches and takes counts for every test that uses it, not only for the first."""
        before, started = set(state()._stats), time.monotonic()
        state()._stats.clear()
        try:
            return (yield)
        finally:
            prepared = self.prepared.setdefault(fixturedef, Prepared())
            prepared.reached.update(state()._stats)
            prepared.seconds = max(prepared.seconds, time.monotonic() - started)
            state()._stats.update(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In a child: what a test reached, how long it took and whether it failed."""
        if report.failed:
            self.failures.append(f"FAILED {report.nodeid}: {report.longreprtext[-TAIL:]}")
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.when == "teardown":
            used = self.used(report.nodeid)
            reached = state()._stats.union(self.heard(), *(one.reached for one in used))
            self.reached[report.nodeid] = sorted(reached)
            self.waits[report.nodeid] = sum(one.seconds for one in used)
            state()._stats.clear()

    def heard(self) -> list[str]:
        """What forks of the test's process reached, which they tell in a file; it is empty again."""
        found = self.told.read_text().split() if self.told.exists() else []
        self.told.unlink(missing_ok=True)
        return found

    def used(self, test: str) -> list[Prepared]:
        """What each fixture of a test reached and took."""
        fixtures = vars(self.items[test]).get("_fixtureinfo")
        known = fixtures.name2fixturedefs.values() if fixtures else ()
        return [self.prepared.get(fixture, Prepared()) for overridden in known for fixture in overridden]

    def learn(self, tests: Sequence[str], place: Path) -> int:
        """In a child: the exit code of tests on what was not changed; leaves behind what there is to know."""
        self.told = place.with_suffix(".told")
        os.register_at_fork(after_in_child=lambda: setattr(state(), "_stats", Told(self.told)))
        code = self.run_tests(mutant_name=None, tests=tests)
        content = {
            "reached": self.reached,
            "seconds": self.seconds,
            "waits": self.waits,
            "failures": self.failures,
        }
        place.write_text(json.dumps(content))
        return code

    def run_tests(self, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        """In a child: the exit code of the tests on the mutant in force. Whatever stops them otherwise is no kill."""
        # mutmut gives its child a stdout that nobody else holds: replaced by pytest's, it would be closed with a
        # warning, and where warnings are errors every mutant would seem killed.
        self.streams = (sys.stdout, sys.stderr)
        os.environ[TEMPORARY] = tempfile.mkdtemp(dir=self.temporary)
        os.chdir(FOLDER)
        settle(os.environ.get("MUTANT_UNDER_TEST", ""))
        ordered = sorted(tests, key=self.cost)
        try:
            return self.tested([self.items[test] for test in ordered] or list(self.items.values()))
        except KeyboardInterrupt:
            return INTERRUPTED
        except BaseException:  # mutmut would take a child that raises for one whose tests failed
            return CRASHED
        finally:
            shutil.rmtree(os.environ[TEMPORARY], ignore_errors=True)

    def cost(self, test: str) -> float:
        """How dear it is to ask a test: it takes its time, and the more it reaches the less it says of one mutant."""
        return self.breadth[test] * (LEAST + state().duration_by_test[test] + self.price.get(test, 0.0))

    def tested(self, items: Sequence[pytest.Item]) -> int:
        """1 when a test failed, else 0."""
        session = items[0].session
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail or session.shouldstop:
                break
        return int(session.testsfailed > 0)


SAVE = SourceFileMutationData.save
INTERVAL = 10.0
"""Seconds from one writing of verdicts to the next."""


class Forks(ForkRunner):
    """mutmut's runner with the tests of the live session, each run in a child."""

    def __init__(self, children: int, live: Live) -> None:
        super().__init__(max_workers=children, test_runner=live)
        self.live = live
        self.unsaved: set[SourceFileMutationData] = set()
        self.due = 0.0

    def startup(self) -> None:
        """Before the first mutant: how many functions each test reaches."""
        self.live.breadth.update(chain.from_iterable(state().tests_by_mangled_function_name.values()))
        # Writing all verdicts of a file, and counting those of all files, takes longer than most tests.
        vars(mutmut)["print_stats"] = lambda *_, **__: None
        SourceFileMutationData.save = lambda data: self.keep(data)  # type: ignore[assignment,method-assign]
        super().startup()

    def keep(self, data: SourceFileMutationData) -> None:
        """There are new verdicts in a file."""
        self.unsaved.add(data)
        if time.monotonic() >= self.due:
            self.write()

    def write(self) -> None:
        """Writes the verdicts that are not written yet."""
        while self.unsaved:
            SAVE(self.unsaved.pop())
        self.due = time.monotonic() + INTERVAL

    def shutdown(self) -> None:
        """After the last mutant, or an interrupt: the verdicts are written."""
        super().shutdown()
        self.write()

    def list_all_tests(self) -> ListAllTestsResult:
        return ListAllTestsResult(ids=set(self.live.items))

    def collect_stats(self, tests: Iterable[str] | None = None) -> int:
        """Learns what the tests reach: every fork runs a share of the files. The worst exit code of them."""
        shares = shared(list(tests or self.live.items), self.max_workers)
        places = [Path(self.live.temporary, f"{at}.json") for at in range(len(shares))]
        children = [
            fork(partial(self.live.learn, share, place)) for share, place in zip(shares, places, strict=True)
        ]
        codes = [waited(child) for child in children]
        for place in filter(Path.exists, places):
            self.live.price |= learnt(place)
        return max(codes, default=0)

    def run_clean_tests(self, tests: Iterable[str]) -> int:
        """They have just passed, in forks such as those of the mutants, when it was learnt what they reach."""
        return 0

    def run_forced_fail(self) -> int:
        return waited(fork(lambda: self.live.run_tests(mutant_name=None, tests=[])))


def shared(tests: Sequence[str], count: int) -> list[list[str]]:
    """So many shares of the tests, or fewer; the tests of one file stay together."""
    files: dict[str, list[str]] = {}
    for test in tests:
        files.setdefault(test.partition("::")[0], []).append(test)
    groups = list(files.values())
    return [[*chain.from_iterable(groups[at::count])] for at in range(min(count, len(groups)))]


def learnt(place: Path) -> dict[str, float]:
    """Adds what one child learnt to what mutmut knows, and prints the tests that failed.

    How long the fixtures of each test took, of which mutmut knows nothing.
    """
    content = json.loads(place.read_text())
    print(*content["failures"], sep="\n")
    state().duration_by_test.update(content["seconds"])
    for test, functions in content["reached"].items():
        for function in functions:
            state().tests_by_mangled_function_name[function].add(test)
    waits: dict[str, float] = content["waits"]
    return waits


def settle(mutant: str) -> None:
    """In a child the mutant stays the same: mutmut need not look for it in the environment at every call."""
    vars(trampoline)["get_mutant_under_test"] = lambda: mutant


def fork(run: Callable[[], int]) -> int:
    """A child that ends with the exit code of a function, silent and without a trace in this process."""
    process = os.fork()
    if process == 0:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the child ends
        os._exit(run())
    return process


def waited(process: int) -> int:
    """The exit code of a child."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main(children: int, names: Sequence[str], only: list[str]) -> int:
    """The exit code of mutmut's run on the mutants named, or on all; 0 whatever the verdicts are.

    only: the files that have mutants, where not all do.
    """
    sys.dont_write_bytecode = True
    config().only_mutate = config().only_mutate or only
    live = Live(names, children)
    setup_source_paths()
    trampoline.set_mutant_under_test("stats")
    os.chdir(FOLDER)
    selected = [*config().pytest_add_cli_args, *config().pytest_add_cli_args_test_selection]
    try:
        code = pytest.main([*OPTIONS, *selected], plugins=[live])
    finally:
        shutil.rmtree(live.temporary, ignore_errors=True)
    return live.code or int(code == pytest.ExitCode.USAGE_ERROR)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *json.load(sys.stdin)))
