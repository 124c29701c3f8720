"""Does the mutation gate notice a weaker test? `python -m benchmarks.assertions`, after `python -m faults score`.

Takes one assertion at a time out of the contract suite (an `assert`, or a `pytest.raises` that keeps nothing) and
looks among the killed mutants that its test reaches for one that this test kills, and does not kill when it is
weakened, and that no other test kills: that is a gate which fails. What nobody noticed is listed: no mutant needs that
assertion. A seeded hundred, or `--all`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

SUITE = ("tests/core", "tests/detectors")
CHILD = "BENCHMARK_ASSERTIONS"


@dataclass(frozen=True)
class Assertion:
    """One assertion of a test: its file, the test's name, and which of the assertions there."""

    path: str
    function: str
    number: int
    line: int
    text: str


def assertions(path: str, source: str) -> list[Assertion]:
    """Every assertion of the test functions of a file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            for number, statement in enumerate(_assertions(node)):
                text = ast.unparse(statement).partition("\n")[0]
                found.append(Assertion(path, node.name, number, statement.lineno, text))
    return found


def _assertions(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    return (node for node in ast.walk(function) if isinstance(node, ast.Assert | ast.With) and _asserts(node))


def _asserts(node: ast.Assert | ast.With) -> bool:
    """Whether a statement is an assertion that nothing after it depends on."""
    if isinstance(node, ast.Assert):
        return True
    return any(item.optional_vars is None and "pytest.raises" in ast.unparse(item) for item in node.items)


def without(source: str, assertion: Assertion) -> ast.Module:
    """The file with that assertion taken out: nothing in place of an assert, any outcome in place of raising."""
    tree = ast.parse(source)
    function = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == assertion.function
    )
    removed = list(_assertions(function))[assertion.number]
    weaker: ast.Module = _Remover(removed).visit(tree)
    return ast.fix_missing_locations(weaker)


class _Remover(ast.NodeTransformer):
    def __init__(self, removed: ast.stmt) -> None:
        self.removed = removed

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if node is not self.removed:
            return super().generic_visit(node)
        if not isinstance(node, ast.With):
            return ast.copy_location(ast.Pass(), node)
        weakened = copy.copy(node)
        calm = ast.parse("__import__('contextlib').suppress(Exception)", mode="eval").body
        weakened.items = [
            ast.withitem(calm) if "pytest.raises" in ast.unparse(item) else item for item in node.items
        ]
        return weakened


def code_of(tree: ast.Module, name: str) -> CodeType:
    """The compiled function of that name in a module."""
    stack = [compile(tree, "<weakened>", "exec", dont_inherit=True)]
    while stack:
        code = stack.pop()
        if code.co_name == name:
            return code
        stack.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))
    raise LookupError(name)


def weaken(items: Sequence[pytest.Item], code: CodeType) -> None:
    """Puts the code into the functions of the tests, in this process only."""
    for item in items:
        function = getattr(item, "function", None)
        if isinstance(function, FunctionType):
            function.__code__ = code


class Judge:
    """A plugin that, in place of running the tests, tries the assertions one by one."""

    def __init__(self, home: Path, chosen: Sequence[Assertion]) -> None:
        self.home, self.chosen = home, chosen
        self.live: Any = _module("live", home / "faults" / "mutation" / "live.py").Live([], 1)
        self.unnoticed: list[Assertion] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.live.items = {item.nodeid: item for item in session.items}
        os.chdir(self.home)
        killed = self.killed()
        for at, assertion in enumerate(self.chosen, 1):
            noticed = self.noticed(assertion, killed)
            if not noticed:
                self.unnoticed.append(assertion)
            mark = "noticed" if noticed else "NOT NOTICED"
            print(f"{at}/{len(self.chosen)} {mark}: {assertion.path}:{assertion.line}", file=sys.__stderr__)
        return True

    def killed(self) -> list[tuple[str, list[str]]]:
        """Killed mutants and the tests that reach them, fastest first; those with the fewest tests first."""
        stats = json.loads((self.home / "mutants/mutmut-stats.json").read_bytes())
        self.live.breadth.update(chain.from_iterable(stats["tests_by_mangled_function_name"].values()))
        seconds, reached = stats["duration_by_test"], stats["tests_by_mangled_function_name"]
        found = []
        for meta in (self.home / "mutants").rglob("*.py.meta"):
            for key, code in json.loads(meta.read_bytes())["exit_code_by_key"].items():
                tests = reached.get(key.split("__mutmut_")[0], [])
                if code == 1 and set(tests) <= set(self.live.items):
                    found.append((key, sorted(tests, key=lambda test: seconds.get(test, 0.0))))
        return sorted(found, key=lambda entry: (len(entry[1]), entry[0]))

    def noticed(self, assertion: Assertion, killed: Sequence[tuple[str, list[str]]]) -> bool:
        """Whether some killed mutant survives without the assertion."""
        prefix = f"{assertion.path}::{assertion.function}"
        own = [item for name, item in self.live.items.items() if name.split("[")[0] == prefix]
        code = code_of(without(Path(assertion.path).read_text("utf-8"), assertion), assertion.function)
        touched = [(key, tests) for key, tests in killed if any(test.startswith(prefix) for test in tests)]
        return any(self.needed(own, code, key, tests) for key, tests in touched)

    def needed(self, own: Sequence[pytest.Item], code: CodeType, key: str, tests: Sequence[str]) -> bool:
        """Whether a mutant is killed by these tests, not when they have this code, and by no other test."""
        mine = [item.nodeid for item in own if item.nodeid in tests]
        others = [test for test in tests if test not in mine]
        return (
            _in_child(partial(self.ends, key, mine, 1))
            and _in_child(partial(self.ends, key, mine, 0, own, code))
            and (not others or _in_child(partial(self.ends, key, others, 0)))
        )

    def ends(
        self,
        key: str,
        tests: Sequence[str],
        wanted: int,
        weaker: Sequence[pytest.Item] = (),
        code: CodeType | None = None,
    ) -> bool:
        """In a child: whether the tests, some of them weakened, end with this exit code on a mutant."""
        from mutmut.mutation.trampoline import set_mutant_under_test

        if code is not None:
            weaken(weaker, code)
        set_mutant_under_test(key)
        return bool(self.live.run_tests(mutant_name=key, tests=tests) == wanted)


def _in_child(answer: Callable[[], bool]) -> bool:
    """A yes or no from a forked child; no where it dies or takes longer than a minute."""
    process = os.fork()
    if process == 0:
        import signal

        signal.alarm(60)
        try:
            os._exit(0 if answer() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


def _module(name: str, path: Path) -> Any:
    """A module from its file: the package it lies in is the one that is mutated, and must come from there."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judge(chosen: Sequence[Assertion]) -> list[Assertion]:
    """The assertions that no mutant needs."""
    from mutmut.configuration import config
    from mutmut.mutation.trampoline import set_mutant_under_test
    from mutmut.utils.file_utils import setup_source_paths

    plugin = Judge(Path.cwd(), chosen)
    setup_source_paths()
    set_mutant_under_test("")
    selected = [*config().pytest_add_cli_args, *config().pytest_add_cli_args_test_selection]
    os.chdir("mutants")
    shown = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    pytest.main(
        [*_module("live", plugin.home / "faults/mutation/live.py").OPTIONS, *selected], plugins=[plugin]
    )
    os.dup2(shown, 1)
    return plugin.unnoticed


def main() -> int:
    """Prints the assertions that were not noticed; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="every assertion, not a hundred")
    parser.add_argument("--seed", type=int, default=0, help="of the hundred (0)")
    parser.add_argument("--count", type=int, default=100, help="how many (100)")
    parser.add_argument(
        "--files", nargs="*", default=SUITE, metavar="PATH", help="the suite, or a part of it"
    )
    options = parser.parse_args()
    if CHILD not in os.environ:
        # A process of its own, in which the packages under test come from the folder of mutants alone.
        command = [sys.executable, "-P", __file__, *sys.argv[1:]]
        return subprocess.run(
            command, env={**os.environ, CHILD: "1", "PYTHONDONTWRITEBYTECODE": "1"}
        ).returncode
    places = [Path(name) for name in options.files]
    files = sorted(
        file for place in places for file in (place.rglob("test_*.py") if place.is_dir() else [place])
    )
    known = [one for file in files for one in assertions(file.as_posix(), file.read_text("utf-8"))]
    chosen = (
        known if options.all else random.Random(options.seed).sample(known, min(options.count, len(known)))
    )
    unnoticed = judge(chosen)
    print(
        f"\n{len(chosen)} of {len(known)} assertions taken out one at a time; not noticed: {len(unnoticed)}"
    )
    for one in unnoticed:
        print(f"{one.path}:{one.line}: {one.text}")
    return int(bool(unnoticed))


if __name__ == "__main__":
    sys.exit(main())
