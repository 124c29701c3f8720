"""What a change of the source or the tests touches: the mutants worth running before a commit."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from faults.model import FaultsError
from faults.mutation.functions import Function, functions
from faults.mutation.model import Mutant
from faults.mutation.own import source_files

TESTS = "tests"


@dataclass(frozen=True)
class Touched:
    """What differs from a revision."""

    functions: frozenset[tuple[str, str]]
    """(path, name) of changed functions; the name "" stands for a module's own level, and for all of it."""
    tests: frozenset[str]
    """Test files that changed, or whose conftest or helper did."""

    def includes(self, mutant: Mutant) -> bool:
        """Whether the mutant lies in changed code, or a changed test reached it."""
        path = mutant.change.path
        if (path, "") in self.functions or (path, mutant.change.function) in self.functions:
            return True
        return any(_covers(mutant.tests, test) for test in self.tests)


def _covers(tests: Iterable[str], changed: str) -> bool:
    """Whether a test file is among tests that are named singly, by file or by folder."""
    return any(changed == test.split("::")[0] or changed.startswith(f"{test}/") for test in tests)


def touched(project: Path, revision: str) -> Touched:
    """What differs between the revision and the files as they are. Raises FaultsError without such a revision."""
    paths = _git(project, "diff", "--name-only", "--relative", revision, "--").splitlines()
    paths += _git(project, "ls-files", "--others", "--exclude-standard").splitlines()
    changed = [path for path in paths if path.endswith(".py")]
    own = set(source_files(project))
    inside = {(path, name) for path in changed if path in own for name in _differing(project, revision, path)}
    return Touched(frozenset(inside), frozenset(_tests(project, changed)))


def _differing(project: Path, revision: str, path: str) -> set[str]:
    now = (project / path).read_bytes().decode()
    before = _git(project, "show", f"{revision}:./{path}", missing="")
    return differing(before, now)


def differing(before: str, now: str) -> set[str]:
    """Names of the functions that are new or changed; "" as well if anything outside of functions is."""
    old, new = functions(before), functions(now)
    names = {name for name in new if name not in old or old[name].lines != new[name].lines}
    if _outside(before, old) != _outside(now, new):
        names.add("")
    return names


def _outside(source: str, inside: dict[str, Function]) -> list[str]:
    lines = source.splitlines()
    kept = set(range(len(lines)))
    for function in inside.values():
        kept -= set(range(function.line - 1, function.line - 1 + len(function.lines)))
    return [lines[at].strip() for at in sorted(kept) if lines[at].strip()]


def _tests(project: Path, changed: Iterable[str]) -> set[str]:
    """Test files among the changed ones, and those that a changed conftest or helper serves."""
    found: set[str] = set()
    for path in changed:
        if not path.startswith(f"{TESTS}/"):
            continue
        name = path.rpartition("/")[2]
        if name.startswith("test_"):
            found.add(path)
        elif name == "conftest.py":
            found |= _below(project, path.rpartition("/")[0], "")
        else:
            found |= _below(project, TESTS, name.removesuffix(".py"))
    return found


def _below(project: Path, folder: str, mentioned: str) -> set[str]:
    """Test files in a folder whose text mentions a word."""
    files = (project / folder).rglob("test_*.py")
    return {file.relative_to(project).as_posix() for file in files if mentioned in file.read_bytes().decode()}


def _git(project: Path, *words: str, missing: str | None = None) -> str:
    try:
        done = subprocess.run(["git", "-C", str(project), *words], capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as error:
        if missing is not None:
            return missing
        said = " ".join(error.stderr.splitlines()[:1])
        raise FaultsError(
            f"--since: git {words[0]} failed ({said}); required is a revision of a Git repository"
        ) from error
    return done.stdout
