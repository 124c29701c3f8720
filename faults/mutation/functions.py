"""Functions of a Python file by name, as lines of text, and what lies between two versions of one."""

from __future__ import annotations

import ast
import difflib
import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from faults.mutation.model import Change, Place

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Function:
    """A function or method: its lines without the indentation of the `def`, decorators left out."""

    name: str
    """`name` or `Class.name`."""
    line: int
    indent: int
    lines: tuple[str, ...]
    decorated: bool


def functions(source: str) -> dict[str, Function]:
    """The functions of a module and the methods of its classes, the last of one name. Raises SyntaxError."""
    lines = source.splitlines()
    return {name: _function(name, node, lines) for name, node in definitions(ast.parse(source))}


def definitions(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Name and definition of every function at a module's own level and every method of its classes."""
    for node in tree.body:
        if isinstance(node, Definition):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, Definition):
                    yield f"{node.name}.{method.name}", method


def _function(name: str, node: Definition, lines: Sequence[str]) -> Function:
    indent = " " * node.col_offset
    own = lines[node.lineno - 1 : node.end_lineno]
    bare = tuple(line.removeprefix(indent) for line in own)
    return Function(name, node.lineno, node.col_offset, bare, bool(node.decorator_list))


def renamed(function: Function, name: str) -> Function:
    """The same function under another name."""
    old, new = function.name.rpartition(".")[2], name.rpartition(".")[2]
    first = function.lines[0].replace(f"def {old}", f"def {new}")
    return Function(name, function.line, function.indent, (first, *function.lines[1:]), function.decorated)


def change(path: str, function: Function, mutated: Sequence[str], mutator: str = "") -> Change:
    """What `mutated` changes in the function of a file."""
    start, end, length = _apart(function.lines, mutated)
    before, after = function.lines[start:end], mutated[start : start + length]
    return Change(
        path,
        function.name,
        stripped(before),
        stripped(after),
        diff(path, function.lines, mutated),
        *cut("\n".join(before), "\n".join(after), function.line + start, function.indent),
        mutator,
    )


def rewritten(source: str, function: Function, lines: Sequence[str]) -> str:
    """The source of a file with other lines in place of the function's own."""
    own, indent = source.splitlines(), " " * function.indent
    start = function.line - 1
    body = [indent + line if line else line for line in lines]
    return "\n".join([*own[:start], *body, *own[start + len(function.lines) :]]) + "\n"


def diff(path: str, before: Sequence[str], after: Sequence[str]) -> str:
    """A unified diff with two lines of context and without line numbers, which are those of the function."""
    lines = difflib.unified_diff(before, after, path, path, n=2, lineterm="")
    return "\n".join("@@" if line.startswith("@@") else line for line in lines)


def stripped(lines: Sequence[str]) -> str:
    """Lines without their indentation."""
    return "\n".join(line.strip() for line in lines)


def _apart(before: Sequence[str], after: Sequence[str]) -> tuple[int, int, int]:
    """First line that differs, end of those lines in `before`, and how many stand there in `after`."""
    start = _shared(before, after)
    same = _shared(before[start:][::-1], after[start:][::-1])
    return start, len(before) - same, len(after) - start - same


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """How many elements two sequences begin with in common."""
    apart = enumerate(map(operator.ne, first, second))
    return next((at for at, differ in apart if differ), min(len(first), len(second)))


def cut(before: str, after: str, line: int, indent: int) -> tuple[Place, str]:
    """Where in a file `before` differs from `after`, widened to whole words and operators, and what is there then."""
    start = _shared(before, after)
    same = _shared(before[start:][::-1], after[start:][::-1])
    start, end = _whole(before, start, len(before) - same)
    where = Place(*_at(before, start, line, indent), *_at(before, end, line, indent))
    return where, after[start : len(after) - len(before) + end]


_TOKEN = re.compile(r"[\w.]+|[^\w\s.]+")


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """The tokens that a stretch overlaps, or that an empty one touches; itself where there are none."""
    near = int(start == end)
    tokens = _TOKEN.finditer(text)
    touched = [found for found in tokens if found.start() < end + near and start < found.end() + near]
    starts = [start, *(found.start() for found in touched)]
    return min(starts), max([end, *(found.end() for found in touched)])


def _at(text: str, offset: int, line: int, indent: int) -> tuple[int, int]:
    """Line and column, from one, of an offset into lines that had an indentation."""
    head = text[:offset].split("\n")
    return line + len(head) - 1, len(head[-1]) + indent + 1
