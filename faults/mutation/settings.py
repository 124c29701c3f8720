"""What a project says about its mutation score: `[tool.faults.score]` in its pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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


_KEYS: dict[str, tuple[type, ...]] = {
    "parts": (list,),
    "equivalents": (str,),
    "proofs": (str,),
    "equivalents_at_most": (int, float),
    "constants": (list,),
    "decorated": (list,),
    "semantic": (list,),
    "controls": (str,),
    "child_process": (dict,),
}


def load(project: Path) -> Settings:
    """The settings of a project, all defaults where it has none. Raises FaultsError where they are wrong."""
    table = _table(project, ("tool", "faults", "score"))
    for name, value in table.items():
        if name not in _KEYS or not isinstance(value, _KEYS[name]):
            raise _wrong(name, value)
    values: dict[str, Any] = {name: _read(name, value) for name, value in table.items()}
    return Settings(**values)


def _read(name: str, value: Any) -> Any:
    if name == "parts":
        return tuple(_part(entry) for entry in value)
    if isinstance(value, dict):
        return {module: tuple(tests) for module, tests in value.items()}
    return tuple(value) if isinstance(value, list) else value


def mutmut(project: Path) -> Mapping[str, Any]:
    """The table `[tool.mutmut]` of a project; empty where there is none."""
    return _table(project, ("tool", "mutmut"))


def _table(project: Path, keys: tuple[str, ...]) -> Mapping[str, Any]:
    try:
        found: Any = tomllib.loads((project / FILE).read_bytes().decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FaultsError(f"{project / FILE}: cannot be read ({error}); required is valid TOML") from error
    for key in keys:
        found = found.get(key, {})
    return dict(found)


def _part(entry: Any) -> Part:
    try:
        return Part(str(entry["name"]), tuple(entry["modules"]), float(entry["at_least"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _wrong("parts", entry) from error


def _wrong(name: str, value: object) -> FaultsError:
    return FaultsError(
        f"{FILE}, [tool.faults.score] {name}: found {value!r}, required are the keys {', '.join(_KEYS)}; "
        "parts need name, modules and at_least"
    )
