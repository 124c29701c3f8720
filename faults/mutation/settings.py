"""What a project says about its mutation score: `[tool.faults.score]` in its pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.model import FaultsError
from faults.mutation.model import Part

FILE = "pyproject.toml"


@dataclass(frozen=True)
class Settings:
    """Everything optional: a project that says nothing is judged by its survivors alone."""

    parts: tuple[Part, ...] = ()
    equivalents: str = ""
    """File that lists the equivalent mutants."""
    proofs: str = ""
    """Python file with the inputs of their proofs."""
    equivalents_at_most: float = 3.0
    """Percent of all mutants."""
    constants: tuple[str, ...] = ()
    """Packages whose numeric constants, defaults and decorated functions are changed as well."""
    decorated: tuple[str, ...] = ()
    """Packages or modules of which only the decorated functions are changed as well."""
    semantic: tuple[str, ...] = ()
    """Tests that run under every fault variant; empty: no semantic mutants."""
    controls: str = ""
    """Module with `must_die` and `must_live`, mutated with the rest."""
    child_process: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Shell patterns of modules that only run in a child process, and the tests that start it."""


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _percent(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100


def _tests(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_texts, value.values()))


def _parts(value: Any) -> bool:
    whole = isinstance(value, list) and all(map(_is_part, value))
    return whole and len({entry["name"] for entry in value}) == len(value)


def _is_part(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"name", "modules", "at_least"}:
        return False
    named = _text(entry["name"]) and entry["name"] and _texts(entry["modules"]) and entry["modules"]
    return bool(named) and _percent(entry["at_least"])


_KEYS: dict[str, Callable[[Any], bool]] = {
    "parts": _parts,
    "equivalents": _text,
    "proofs": _text,
    "equivalents_at_most": _percent,
    "constants": _texts,
    "decorated": _texts,
    "semantic": _texts,
    "controls": _text,
    "child_process": _tests,
}

_MUTMUT = ("source_paths", "also_copy", "pytest_add_cli_args", "pytest_add_cli_args_test_selection")
"""The lists among mutmut's own settings that a run depends on."""


def load(project: Path) -> Settings:
    """The settings of a project, all defaults where it has none. Raises FaultsError where they are wrong."""
    table = _table(project, ("tool", "faults", "score"))
    for name, value in table.items():
        if name not in _KEYS or not _KEYS[name](value):
            raise _wrong(name, value)
    values: dict[str, Any] = {name: _read(name, value) for name, value in table.items()}
    return Settings(**values)


def _read(name: str, value: Any) -> Any:
    if name == "parts":
        return tuple(Part(part["name"], tuple(part["modules"]), float(part["at_least"])) for part in value)
    if isinstance(value, dict):
        return {module: tuple(tests) for module, tests in value.items()}
    return tuple(value) if isinstance(value, list) else value


def mutmut(project: Path) -> Mapping[str, Any]:
    """The table `[tool.mutmut]` of a project; empty where there is none. Raises FaultsError where it is wrong."""
    table = _table(project, ("tool", "mutmut"))
    for name in _MUTMUT:
        if not _texts(table.get(name, [])):
            raise FaultsError(
                f"{FILE}, [tool.mutmut] {name}: found {table[name]!r}, required is a list of strings"
            )
    return table


def _table(project: Path, keys: tuple[str, ...]) -> Mapping[str, Any]:
    try:
        found: Any = tomllib.loads((project / FILE).read_bytes().decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise FaultsError(f"{project / FILE}: cannot be read ({error}); required is valid TOML") from error
    for key in keys:
        found = found.get(key, {})
        if not isinstance(found, dict):
            raise FaultsError(f"{project / FILE}, {key}: found {found!r}, required is a table")
    return dict(found)


def _wrong(name: str, value: object) -> FaultsError:
    return FaultsError(
        f"{FILE}, [tool.faults.score] {name}: found {value!r}, required are the keys {', '.join(_KEYS)}; "
        "parts need a name of their own, modules and at_least, 0 to 100"
    )
