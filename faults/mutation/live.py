"""mutmut's run inside one live pytest session. Runs by itself, in a process of its own, in a project's folder.

mutmut starts pytest anew for every mutant, which takes longer than most tests. Here the tests are collected once; each
mutant is a fork of that session and runs the tests that reach it, the fastest first, until one fails. Everything else
is mutmut's: the mutants, which tests reach them, the limits of time, and the files with the verdicts.

Needs mutants that are generated and tests that are known: what `mutmut run` has done before it tests the first mutant.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from mutmut import __main__ as mutmut
from mutmut.configuration import config
from mutmut.mutation import trampoline
from mutmut.runners.harness import ListAllTestsResult, PytestRunner
from mutmut.utils.file_utils import setup_source_paths
from mutmut.workers.isolation import ForkRunner

FOLDER = "mutants"
CRASHED = 3
INTERRUPTED = 2

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


class Live(PytestRunner):
    """The tests of the session that is going on."""

    def __init__(self, names: Sequence[str], children: int) -> None:
        super().__init__()
        self.names, self.children = list(names), children
        self.items: dict[str, pytest.Item] = {}
        self.home = Path.cwd()
        self.temporary = tempfile.mkdtemp(prefix="faults-live-")
        self.code = CRASHED
        self.streams: tuple[object, object] = (None, None)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running the tests: let mutmut run its mutants."""
        self.items = {item.nodeid: item for item in session.items}
        # What is alive now stays alive: no child need look through it, nor copy its pages for that.
        gc.collect()
        gc.freeze()
        os.chdir(self.home)
        if not session.testsfailed:
            self.code = self.mutate()
        return True

    def mutate(self) -> int:
        """mutmut's whole run; its exit code."""
        # mutmut has no setting for it; this is the one place where it asks for its runner.
        vars(mutmut)["get_mutant_runner"] = lambda max_children: Forks(self.children, self)
        try:
            mutmut._run(self.names, self.children)
        except SystemExit as stop:
            return stop.code if isinstance(stop.code, int) else CRASHED
        return 0

    def run_tests(self, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        """In a child: the exit code of the tests on the mutant in force. Whatever stops them otherwise is no kill."""
        # mutmut gives its child a stdout that nobody else holds: replaced by pytest's, it would be closed with a
        # warning, and where warnings are errors every mutant would seem killed.
        self.streams = (sys.stdout, sys.stderr)
        os.environ[TEMPORARY] = tempfile.mkdtemp(dir=self.temporary)
        os.chdir(FOLDER)
        settle(os.environ.get("MUTANT_UNDER_TEST", ""))
        try:
            return self.tested([self.items[test] for test in tests] or list(self.items.values()))
        except KeyboardInterrupt:
            return INTERRUPTED
        except BaseException:  # mutmut would take a child that raises for one whose tests failed
            return CRASHED
        finally:
            shutil.rmtree(os.environ[TEMPORARY], ignore_errors=True)

    def tested(self, items: Sequence[pytest.Item]) -> int:
        """1 when a test failed, else 0."""
        session = items[0].session
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if session.shouldfail or session.shouldstop:
                break
        return int(session.testsfailed > 0)


class Forks(ForkRunner):
    """mutmut's runner with the tests of the live session, each run in a child."""

    def __init__(self, children: int, live: Live) -> None:
        super().__init__(max_workers=children, test_runner=live)
        self.live = live

    def list_all_tests(self) -> ListAllTestsResult:
        return ListAllTestsResult(ids=set(self.live.items))

    def run_clean_tests(self, tests: Iterable[str]) -> int:
        return forked(lambda: self.live.run_tests(mutant_name=None, tests=tests))

    def run_forced_fail(self) -> int:
        return forked(lambda: self.live.run_tests(mutant_name=None, tests=[]))


def settle(mutant: str) -> None:
    """In a child the mutant stays the same: mutmut need not look for it in the environment at every call."""
    vars(trampoline)["get_mutant_under_test"] = lambda: mutant


def forked(run: Callable[[], int]) -> int:
    """The exit code of a function in a child, silent and without a trace in this process."""
    process = os.fork()
    if process == 0:
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the child ends
        os._exit(run())
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def main(children: int, names: Sequence[str]) -> int:
    """The exit code of mutmut's run on the mutants named, or on all; 0 whatever the verdicts are."""
    sys.dont_write_bytecode = True
    live = Live(names, children)
    setup_source_paths()
    trampoline.set_mutant_under_test("")
    os.chdir(FOLDER)
    selected = [*config().pytest_add_cli_args, *config().pytest_add_cli_args_test_selection]
    try:
        code = pytest.main([*OPTIONS, *selected], plugins=[live])
    finally:
        shutil.rmtree(live.temporary, ignore_errors=True)
    return live.code or int(code == pytest.ExitCode.USAGE_ERROR)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), json.load(sys.stdin)))
