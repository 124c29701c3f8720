"""A Report as JSON and back.

The keys are the fields of `faults.model.Report`, sorted. JSON has no words for them, so the floats inf,
-inf and nan are the strings "inf", "-inf" and "nan"; every other number is a number. `schema_version`
changes when a reader of the older form would misread the newer one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from faults.model import SCHEMA_VERSION, FaultsError, Report

NOT_FINITE = ("inf", "-inf", "nan")


def to_json(report: Report) -> str:
    """The report as strict JSON with sorted keys, two blanks of indent and a line end."""
    tree = plain(asdict(report))
    return json.dumps(tree, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str) -> Report:
    """The report that `to_json` wrote; FaultsError where the text is not one."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FaultsError(
            f"report: found text that is not JSON ({error}), required is a saved report"
        ) from None
    version = tree.get("schema_version") if isinstance(tree, dict) else None
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise FaultsError(
            f"report: found schema_version {version!r}, required is {SCHEMA_VERSION}; "
            "write the report again with `faults run --json`"
        )
    report: Report = _build(Report, tree, "report")
    return report


def plain(tree: Any) -> Any:
    """The tree as JSON can hold it: infinities and NaN are words, tuples are lists."""
    if isinstance(tree, Mapping):
        return {str(name): plain(branch) for name, branch in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(branch) for branch in tree]
    if isinstance(tree, float) and not math.isfinite(tree):
        return f"{tree:.0f}"
    return tree


def _build(kind: Any, tree: Any, place: str) -> Any:
    """A value of one type from its JSON form; `place` says in errors where it stands."""
    if kind is Any:
        return tree
    if get_origin(kind) is UnionType:
        return None if tree is None else _build(_without_none(kind), tree, place)
    if is_dataclass(kind):
        return _object(kind, tree, place)
    if get_origin(kind) in (tuple, list, Mapping):
        return _collection(kind, tree, place)
    return _scalar(kind, tree, place)


def _without_none(kind: Any) -> Any:
    return next(option for option in get_args(kind) if option is not NoneType)


def _object(kind: Any, tree: Any, place: str) -> Any:
    _require(isinstance(tree, dict), tree, "an object", place)
    hints = get_type_hints(kind)
    for name in tree.keys() - hints.keys():
        raise FaultsError(f"{place}: found the unknown field {name!r}, required are {', '.join(hints)}")
    for field in fields(kind):
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if field.name not in tree and not optional:
            raise FaultsError(f"{place}: found no field {field.name!r}, required are {', '.join(hints)}")
    return kind(**{name: _build(hints[name], branch, f"{place}.{name}") for name, branch in tree.items()})


def _collection(kind: Any, tree: Any, place: str) -> Any:
    made = get_origin(kind)
    if made in (tuple, list):
        _require(isinstance(tree, list), tree, "a list", place)
        return made(_build(get_args(kind)[0], item, f"{place}[{at}]") for at, item in enumerate(tree))
    _require(isinstance(tree, dict), tree, "an object", place)
    return {name: _build(get_args(kind)[1], item, f"{place}.{name}") for name, item in tree.items()}


def _scalar(kind: Any, tree: Any, place: str) -> Any:
    if kind is float:
        number = isinstance(tree, int | float) and not isinstance(tree, bool)
        _require(number or tree in NOT_FINITE, tree, "a number", place)
        return float(tree)
    if issubclass(kind, Enum):
        _require(tree in [str(member) for member in kind], tree, f"a {kind.__name__.lower()}", place)
        return kind(tree)
    _require(type(tree) is kind, tree, f"a value of type {kind.__name__}", place)
    return tree


def _require(holds: bool, tree: Any, required: str, place: str) -> None:
    if not holds:
        raise FaultsError(f"{place}: found {str(tree)[:40]!r}, required is {required}")
