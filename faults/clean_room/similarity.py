"""How much of a file also stands in the reference, by its structure: names, numbers and comments do not count.

The text becomes a sequence of syntax nodes in which every name of the author's own is the same word; attributes such
as `reshape` stay. Compared are all runs of LENGTH nodes. The share is the part of the learner's runs that also occur
in the reference. Short formulas leave little freedom, so below FLOOR runs nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from faults.clean_room.model import Likeness
from faults.clean_room.template import TEMPLATE

LENGTH = 12
FLOOR = 150
"""Runs of the learner's own. A file of one function or two can hardly differ from another one that is right."""

SIMILAR = 0.2
"""Seen: at most 0.02 in blocks written independently of each other, 0.9 and more in a copy with other names."""


def likeness(tree: ast.AST, references: Mapping[str, ast.AST]) -> Likeness:
    """The share of the file's runs that also occur in the reference files, and the file most like it."""
    common = runs(ast.parse(TEMPLATE))
    own = runs(tree) - common
    if len(own) < FLOOR:
        return Likeness(None, len(own), FLOOR, False)
    found = {name: runs(reference) & own for name, reference in references.items()}
    shared = frozenset[tuple[str, ...]]().union(*found.values())
    nearest = max(found, key=lambda name: len(found[name]), default="")
    share = len(shared) / len(own)
    return Likeness(share, len(own), FLOOR, share >= SIMILAR, nearest if shared else "")


def reference_trees(home: Path) -> dict[str, ast.AST]:
    """The files of the reference by name."""
    files = sorted((home / "core").glob("*.py"))
    return {f"core/{file.name}": ast.parse(file.read_bytes()) for file in files}


def runs(tree: ast.AST) -> frozenset[tuple[str, ...]]:
    """All runs of LENGTH consecutive nodes."""
    words = list(_words(tree))
    return frozenset(tuple(words[at : at + LENGTH]) for at in range(len(words) - LENGTH + 1))


def _words(node: ast.AST) -> Iterator[str]:
    """The nodes in the order of the text; docstrings, annotations, imports and contexts left out."""
    if isinstance(node, ast.expr_context | ast.Import | ast.ImportFrom | ast.Raise) or _is_text(node):
        return
    yield _word(node)
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _words(child)


def _word(node: ast.AST) -> str:
    kind = type(node).__name__
    return f"{kind} {node.attr}" if isinstance(node, ast.Attribute) else kind


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
