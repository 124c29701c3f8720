"""Reads what a finished run of mutmut left in its folder `mutants`, of this project or another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faults.model import FaultsError, Text
from faults.mutation import exit_codes
from faults.mutation.functions import Function, change, functions, renamed
from faults.mutation.model import Mutant, Origin

FOLDER = "mutants"
STATS = "mutmut-stats.json"
IMPORTED = "faults-imported.json"
"""Where the live session lists what ran while modules were imported."""
ORIGINAL, NUMBERED = "__mutmut_orig", "__mutmut_"
SEPARATOR = "ǁ"
"""Between class and method in the names that mutmut generates."""


DAMAGED = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    SyntaxError,
    OverflowError,
    RecursionError,
    MemoryError,
)
"""What reading a file that is none of mutmut's may raise."""


@dataclass(frozen=True)
class Finished:
    """The mutants of mutmut, the files they are in, and why the run cannot be trusted, if it cannot."""

    mutants: tuple[Mutant, ...]
    sources: dict[str, str]
    broken: tuple[Text, ...]
    tests: Mapping[str, float]
    """Seconds of every test that ran."""
    reached: Mapping[str, tuple[str, ...]]
    """Tests by `module.mangled function name`, the fastest first."""
    imported: frozenset[str] = frozenset()
    """Functions, named in the same way, that run while modules are imported."""


def exists(project: Path) -> bool:
    """Whether there are verdicts of mutmut."""
    return any((project / FOLDER).rglob("*.py.meta"))


def read(project: Path) -> Finished:
    """The finished run of a project. Raises FaultsError where there is none."""
    folder = project / FOLDER
    metas = sorted(folder.rglob("*.py.meta"))
    if not metas:
        raise FaultsError(
            f"{folder}: found no finished run of mutmut, required is one; start `faults score` without --no-run"
        )
    reached, tests, broken = _statistics(folder)
    imported, damaged = _imported(folder)
    reader = _Reader(project, reached)
    mutants = tuple(mutant for meta in metas for mutant in reader.file(meta.relative_to(folder)))
    return Finished(mutants, reader.sources, (*broken, *damaged, *reader.broken), tests, reached, imported)


def _statistics(folder: Path) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, float], tuple[Text, ...]]:
    """Which tests reach what, how long each takes, and what is wrong with the file that says so."""
    try:
        found = _json(folder / STATS)
        seconds = {_word(test): float(took) for test, took in found["duration_by_test"].items()}
        reached = {
            _word(name): tuple(sorted(map(_word, tests), key=lambda test: (seconds.get(test, 0.0), test)))
            for name, tests in found["tests_by_mangled_function_name"].items()
        }
    except DAMAGED as error:
        return {}, {}, (unreadable(STATS, error),)
    return reached, seconds, ()


def _imported(folder: Path) -> tuple[frozenset[str], tuple[Text, ...]]:
    """What ran at import, where the live session wrote it down, and what is wrong with the file."""
    try:
        return frozenset(map(_word, _json(folder / IMPORTED))), ()
    except FileNotFoundError:
        return frozenset(), ()
    except DAMAGED as error:
        return frozenset(), (unreadable(IMPORTED, error),)


def unreadable(name: str, error: Exception) -> Text:
    """One line about a file of the run that says nothing."""
    what = f"{type(error).__name__}: {error}"
    return {
        "en": f"{name}: cannot be read as a file of mutmut ({what}); run it again from a clean state",
        "zh": f"{name}：不是可读的 mutmut 文件（{what}）；请清空后重新运行",
    }


class _Reader:
    """Collects, file by file, the mutants and what is wrong."""

    def __init__(self, project: Path, reached: Mapping[str, tuple[str, ...]]) -> None:
        self.project, self.reached = project, reached
        self.sources: dict[str, str] = {}
        self.broken: list[Text] = []

    def file(self, meta: Path) -> list[Mutant]:
        """The mutants of one file; none, and a line in `broken`, where the files say nothing or disagree."""
        path = meta.with_suffix("").as_posix()
        try:
            found = _json(self.project / FOLDER / meta)
            codes = {_word(key): _code(code) for key, code in found["exit_code_by_key"].items()}
            seconds = {key: _seconds(took) for key, took in found.get("durations_by_key", {}).items()}
            source = _text(self.project / path)
            mutated = functions(_text(self.project / FOLDER / path))
            real = functions(source)
        except DAMAGED as error:
            self.broken.append(unreadable(path, error))
            return []
        if codes:
            self.sources[path] = source
        self._compare(path, codes, mutated, real)
        return list(self._mutants(path, codes, seconds, mutated, real))

    def _compare(
        self,
        path: str,
        codes: Mapping[str, Any],
        mutated: Mapping[str, Function],
        real: Mapping[str, Function],
    ) -> None:
        """Every mutant in the text has an entry and the other way round, and the text is that of the source."""
        written = {bare(name) for name in mutated if is_mutant(name)}
        listed = {bare(key) for key in codes}
        if written != listed:
            name = min(written ^ listed)
            self.broken.append(_differs(path, name))
        for name, function in mutated.items():
            if name.endswith(ORIGINAL) and not _same(function, real.get(original_name(name))):
                self.broken.append(outdated(path, original_name(name)))
        self.broken.extend(outdated(path, name) for name in real if name not in mutated)

    def _mutants(
        self,
        path: str,
        codes: Mapping[str, int | None],
        seconds: Mapping[str, float | None],
        mutated: Mapping[str, Function],
        real: Mapping[str, Function],
    ) -> Iterator[Mutant]:
        by_bare = {bare(name): function for name, function in mutated.items()}
        for key, code in codes.items():
            function = real.get(original_name(bare(key)))
            if function is None or bare(key) not in by_bare:
                continue  # said already, in `broken`
            status, reason = exit_codes.verdict(code)
            yield Mutant(
                key,
                key.rpartition(".")[0],
                Origin.MUTMUT,
                change(path, function, renamed(by_bare[bare(key)], function.name).lines),
                status,
                reason,
                self.reached.get(mangled(key), ()),
                seconds=seconds.get(key),
            )


def bare(key: str) -> str:
    """The generated name without its module."""
    return key.rpartition(".")[2]


def original_name(generated: str) -> str:
    """`name` or `Class.name` of a generated name; the name itself where it is not a generated one."""
    head, mark, _ = bare(generated).rpartition(NUMBERED)
    if not mark:
        return generated
    if head.startswith(f"x{SEPARATOR}"):
        return head.removeprefix(f"x{SEPARATOR}").replace(SEPARATOR, ".")
    return head.removeprefix("x_")


def mangled(key: str) -> str:
    """The function that a mutant was made of, as the statistics name it."""
    return key.split(NUMBERED)[0]


def is_mutant(name: str) -> bool:
    """Whether a generated function is a mutant, not the copy of the original."""
    return NUMBERED in name and not name.endswith(ORIGINAL)


def _same(copy: Function, real: Function | None) -> bool:
    return real is not None and renamed(copy, real.name).lines == real.lines


def _differs(path: str, name: str) -> Text:
    return {
        "en": f"{path}: {name} is in the mutated file or in its verdicts, not in both; run mutmut again",
        "zh": f"{path}：{name} 只在变异文件或判定记录之一中出现；请重新运行 mutmut",
    }


def outdated(path: str, name: str) -> Text:
    """One line about a function that is not the one that was mutated."""
    return {
        "en": f"{path}: {name} has changed since mutmut ran; run it again",
        "zh": f"{path}：{name} 在 mutmut 运行之后有改动；请重新运行",
    }


def _word(text: Any) -> str:
    """The text itself. Raises ValueError for what is none, or cannot be printed."""
    if not isinstance(text, str):
        raise ValueError(f"found {text!r}, required is a name")
    text.encode()
    return text


def _code(code: Any) -> int | None:
    if code is None or (isinstance(code, int) and not isinstance(code, bool)):
        return code
    raise ValueError(f"found {code!r}, required is an exit code")


def _seconds(took: Any) -> float | None:
    return None if took is None else float(took)


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def _text(path: Path) -> str:
    return path.read_bytes().decode()
