"""The learner's file as text: read, parsed, and where its functions stand."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from faults.model import FaultsError, UsageError

LARGEST = 2**20
MOST = 20
"""Files imported with the learner's that are read."""


@dataclass(frozen=True)
class Source:
    """One file, parsed. `name`: as the user wrote it; `lines`: the line of each function at its top level."""

    name: str
    path: Path
    tree: ast.Module
    lines: dict[str, int]


def read(name: str, language: str) -> Source:
    """The file of that name; UsageError where there is none, FaultsError where it is no Python."""
    path = Path(name)
    if not path.is_file():
        text = {
            "en": f"{name!r}: found no such file, required is a Python file; make one with --new",
            "zh": f"{name!r}：没有这个文件；需要一个 Python 文件，可用 --new 生成",
        }
        raise UsageError(text[language])
    return _parsed(name, path, language)


def neighbours(source: Source, files: Sequence[str]) -> dict[str, ast.Module]:
    """Name -> tree of the files that were imported with the learner's, as far as they can be read."""
    found: dict[str, ast.Module] = {}
    for file in files[:MOST]:
        path = Path(file)
        if path.is_file() and path.stat().st_size <= LARGEST:
            with contextlib.suppress(SyntaxError, ValueError, OSError, RecursionError):
                found[path.relative_to(source.path.parent).as_posix()] = ast.parse(path.read_bytes())
    return found


def _parsed(name: str, path: Path, language: str) -> Source:
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError("more than 1 MiB")
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError) as error:
        raise FaultsError(_unreadable(name, error)[language]) from error
    lines = {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Source(name, path.resolve(), tree, lines)


def _unreadable(name: str, error: BaseException) -> dict[str, str]:
    line = getattr(error, "lineno", None)
    reason = getattr(error, "msg", None) or getattr(error, "strerror", None) or str(error)
    return {
        "en": f"{name}{f', line {line}' if line else ''}: cannot be read as Python ({reason}); correct it first",
        "zh": f"{name}{f' 第 {line} 行' if line else ''}：无法作为 Python 读取（{reason}）；请先改正",
    }
