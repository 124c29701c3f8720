"""The programs that are tested next to mutmut's: constants, defaults, decorated functions, and the fault variants."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import accumulate
from pathlib import Path, PurePosixPath
from statistics import mean

from faults import registry
from faults.model import Fault, Variant
from faults.mutation import edits, finished, settings
from faults.mutation.functions import functions, renamed, rewritten
from faults.mutation.model import Change, Mutant, Origin, Place, missed
from faults.mutation.settings import Settings

PLUGIN = ("-p", "faults.mutation.injected", "--fault")
BRIEF = 10.0
"""Seconds that the test files of one stage may take on what was not changed."""


@dataclass(frozen=True)
class Program:
    """A mutant that is not yet tested: itself without a verdict, the text of its file, and its tests in stages."""

    mutant: Mutant
    text: str
    stages: tuple[tuple[str, ...], ...]
    arguments: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.mutant.change.path if self.text else ""


class Tests:
    """Which tests to run for a module: those of its own file first, then whatever else reaches it.

    breadth: how many functions a test reaches; the one that reaches little besides finds a mutant the soonest.
    seconds: how long the tests of a file took on what was not changed.
    """

    def __init__(self, project: Path, run: finished.Finished) -> None:
        self.project = project
        self.breadth = Counter(test for tests in run.reached.values() for test in tests)
        self.seconds: dict[str, float] = {}
        for test, took in run.tests.items():
            self.seconds[_file(test)] = self.seconds.get(_file(test), 0.0) + took
        self.users = _users(project, source_files(project))
        self.importers = _users(project, _test_files(project))
        self.reached: dict[str, set[str]] = {}
        for name, tests in run.reached.items():
            self.reached.setdefault(name.rpartition(".")[0], set()).update(tests)

    def stages(self, module: str) -> tuple[tuple[str, ...], ...]:
        """The test file that mirrors the module, or else the narrowest; then every other test that reaches the module
        or one that imports it.

        What a test reads of a module is not always a function: the test files that import one of them come too, those
        that take little time before the tests that reach it, the others last.
        """
        modules = (module, *self.users.get(module, ()))
        reaching = {test for name in modules for test in self.reached.get(name, ())}
        own = self.mirror(module) or self.narrowest(reaching)
        rest = [test for test in reaching if _file(test) not in own]
        ordered = sorted(rest, key=lambda test: (self.breadth[test], test))
        files = {_path(file) for name in modules for file in self.importers.get(name, ())}
        brief, long = self.parted(files - {*own})
        return tuple(stage for stage in (own, brief, tuple(ordered), long) if stage)

    def parted(self, files: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The quickest of the test files that take at most `BRIEF` together, and the others."""
        ordered = sorted(files, key=lambda file: (self.seconds.get(file, 0.0), file))
        after = [*accumulate(self.seconds.get(file, 0.0) for file in ordered)]
        brief = bisect_right(after, BRIEF)
        return tuple(ordered[:brief]), tuple(ordered[brief:])

    def narrowest(self, tests: Iterable[str]) -> tuple[str, ...]:
        """The file of those tests whose own reach the least, on average; none without tests."""
        files: dict[str, list[int]] = {}
        for test in tests:
            files.setdefault(_file(test), []).append(self.breadth[test])
        return tuple(sorted(files, key=lambda file: (mean(files[file]), file))[:1])

    def mirror(self, module: str) -> tuple[str, ...]:
        """tests/core/test_mask.py for core.mask, where there is such a file; see `mirrors`."""
        return tuple(path for path in mirrors(module) if (self.project / path).is_file())[:1]


def mirrors(module: str) -> tuple[str, str]:
    """Where the tests of a module may lie: tests/a/b/test_c.py for a.b.c, or tests/a/b/test_b_c.py."""
    *folders, name = module.split(".")
    folder = "/".join(["tests", *folders])
    return f"{folder}/test_{name}.py", f"{folder}/test_{'_'.join([*folders[-1:], name])}.py"


def source_files(project: Path) -> list[str]:
    """The Python files that mutmut was told to look at, by path in the project."""
    found: list[str] = []
    for name in settings.mutmut(project).get("source_paths", []):
        place = project / name
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        found += [file.relative_to(project).as_posix() for file in files]
    return found


def module_of(path: str) -> str:
    """The name under which a file is imported."""
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _test_files(project: Path) -> list[str]:
    """The test files among what mutmut selects, by path in the project."""
    selected = settings.mutmut(project).get("pytest_add_cli_args_test_selection", [])
    left_out = [word.partition("=")[2] for word in selected if word.startswith(("--ignore", "--deselect"))]
    places = [project / word for word in selected if not word.startswith("-")]
    files = {file for place in places for file in ([place] if place.is_file() else place.rglob("test_*.py"))}
    paths = sorted(file.relative_to(project).as_posix() for file in files)
    return [path for path in paths if not any(fnmatchcase(path, pattern) for pattern in left_out)]


def _file(test: str) -> str:
    return test.partition("::")[0]


def _path(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _users(project: Path, paths: Iterable[str]) -> dict[str, set[str]]:
    """Module -> the modules among these files that import it or something from it."""
    users: dict[str, set[str]] = {}
    for path in paths:
        for node in ast.walk(ast.parse((project / path).read_bytes().decode())):
            for name in _imported(node):
                users.setdefault(name, set()).add(module_of(path))
    return users


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def edited(project: Path, config: Settings, tests: Tests) -> list[Program]:
    """The mutants of constants, defaults and decorated functions that the settings ask for."""
    programs: list[Program] = []
    for path in source_files(project):
        source = (project / path).read_bytes().decode()
        module = module_of(path)
        made: list[edits.Edit] = []
        if _within(module, config.constants):
            made += edits.constants(path, source)
        if _within(module, (*config.constants, *config.decorated)):
            made += edits.decorated(path, source)
        programs += _numbered(module, source, made, tests.stages(module))
    return programs


def _within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def _numbered(
    module: str, source: str, made: Iterable[edits.Edit], stages: tuple[tuple[str, ...], ...]
) -> list[Program]:
    counts: Counter[str] = Counter()
    programs = []
    for edit in made:
        name = ".".join(filter(None, (module, edit.function))) + f":{edit.mutator}"
        counts[name] += 1
        mutant = Mutant(
            f"{name}_{counts[name]}",
            module,
            Origin.OWN,
            edits.change(source, edit),
            None,
            tests=tuple(test for stage in stages for test in stage),
        )
        programs.append(Program(mutant, edits.applied(source, edit), stages))
    return programs


def semantic(project: Path, config: Settings, tests: Tests) -> list[Program]:
    """One program for each fault variant: the contract suite under injection, the seams' own tests first."""
    if not config.semantic:
        return []
    return [
        _injected(project, fault, variant, config.semantic, tests)
        for fault in registry.all_faults()
        for variant in fault.variants
    ]


def _injected(project: Path, fault: Fault, variant: Variant, suite: tuple[str, ...], tests: Tests) -> Program:
    name = f"{fault.name}/{variant.name}"
    modules = dict.fromkeys(seam.module for seam in variant.patches)
    first = tuple(path for module in modules for path in tests.mirror(module))
    change = _injection(project, fault, variant)
    mutant = Mutant(name, next(iter(modules)), Origin.SEMANTIC, change, None, tests=suite)
    return Program(mutant, "", (first, suite) if first else (suite,), (*PLUGIN, name))


def _injection(project: Path, fault: Fault, variant: Variant) -> Change:
    """Where the registry writes the variant down; what it replaces, and what that then is."""
    path = f"faults/{fault.name}/fault.py"
    lines = (project / path).read_bytes().decode().splitlines()
    quoted = f'"{variant.name}"'
    at = next((at for at, line in enumerate(lines) if quoted in line), 0)
    column = lines[at].find(quoted) + 1 or 1
    seams = ", ".join(map(str, variant.patches))
    return Change(
        path,
        variant.name,
        seams,
        variant.summary["en"],
        "",
        Place(at + 1, column, at + 1, column + len(quoted)),
        variant.summary["en"],
        fault.name,
    )


def imported(project: Path, config: Settings, run: finished.Finished, tests: Tests) -> list[Program]:
    """Mutants of what runs at import that no test killed: the live session had imported the original before.

    Those of a module that is declared to run in a child process are among its programs.
    """
    return [
        Program(mutant, mutated_text(project, mutant), tests.stages(mutant.module))
        for mutant in run.mutants
        if missed(mutant)
        and finished.mangled(mutant.key) in run.imported
        and not declared(config, mutant.module)
    ]


def child_process(project: Path, config: Settings, mutants: Sequence[Mutant]) -> list[Program]:
    """Mutants in modules declared to run in a child process only that no test killed in its own process, with the
    tests that start the child."""
    return [
        Program(mutant, mutated_text(project, mutant), in_turn(tests))
        for mutant in mutants
        if missed(mutant) and (tests := declared(config, mutant.module))
    ]


def declared(config: Settings, module: str) -> tuple[str, ...]:
    """The tests for a module that only runs in a child process; none for any other."""
    found = (tests for pattern, tests in config.child_process.items() if fnmatchcase(module, pattern))
    return next(found, ())


def in_turn(tests: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """A stage for each: as they are declared, the quick ones first."""
    return tuple((test,) for test in tests)


def mutated_text(project: Path, mutant: Mutant) -> str:
    """The source of a mutmut mutant's file with the mutant in it, as plain Python."""
    path = mutant.change.path
    source = (project / path).read_bytes().decode()
    copies = functions((project / finished.FOLDER / path).read_bytes().decode())
    mutated = next(copies[name] for name in copies if finished.bare(name) == finished.bare(mutant.key))
    function = functions(source)[mutant.change.function]
    return rewritten(source, function, renamed(mutated, function.name).lines)


def seconds_of(tests: Iterable[str], known: Mapping[str, float]) -> float:
    """The limit for tests, files or folders: fifteen times what they took unchanged, and a minute to start."""
    names = set(tests)
    took = sum(seconds for test, seconds in known.items() if names & {test, *_above(test)})
    return 60.0 + 15.0 * took


def _above(test: str) -> list[str]:
    """The file of a test and the folders it lies in."""
    file = _file(test)
    return [file, *(str(folder) for folder in PurePosixPath(file).parents)]
