"""Ways from the learner's file to the reference: what the text says, and what was seen while it ran."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from faults.clean_room.model import Trace
from faults.clean_room.room import REFERENCES
from faults.evidence_model import said
from faults.model import Text

IMPORTERS = frozenset(
    {"import_module", "__import__", "spec_from_file_location", "run_module", "run_path", "find_spec"}
)
EXECUTORS = frozenset({"exec", "eval", "compile"})
OPENERS = frozenset(
    {"open", "read_text", "read_bytes", "Path", "getsource", "get_source", "get_data", "load_source"}
)

ATTEMPTS: dict[str, Text] = {
    "import": said("tried to import {of} while it ran", "运行时试图导入 {of}"),
    "read": said("tried to read the reference's file {of} while it ran", "运行时试图读取参考实现的文件 {of}"),
    "start": said("tried to start another program ({of}) while it ran", "运行时试图启动别的程序（{of}）"),
}


def in_text(tree: ast.AST, folder: Path, home: Path, file: str = "") -> tuple[Trace, ...]:
    """Every import of a reference, every import of a name that is computed, and every execution of text."""
    theirs = {name for name in REFERENCES if folder != home and _exists(folder / name)}
    forbidden = [name for name in REFERENCES if name not in theirs]
    found = [trace for node in ast.walk(tree) for trace in _traces(node, forbidden)]
    named = [Trace(trace.what, trace.line, file) for trace in found]
    return tuple(sorted(named, key=lambda trace: trace.line or 0))


def at_run_time(attempts: Sequence[Sequence[str]]) -> tuple[Trace, ...]:
    """What the child saw."""
    return tuple(Trace(_filled(ATTEMPTS[what], of), None) for what, of in attempts if what in ATTEMPTS)


def _exists(place: Path) -> bool:
    return place.is_dir() or place.with_suffix(".py").is_file()


def _filled(text: Text, of: str) -> Text:
    return {language: sentence.format(of=of) for language, sentence in text.items()}


def _traces(node: ast.AST, forbidden: Sequence[str]) -> Iterator[Trace]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        for name in _imported(node):
            if name.partition(".")[0] in forbidden:
                yield Trace(said(f"imports the reference {name}", f"导入了参考实现 {name}"), node.lineno)
    elif isinstance(node, ast.Call):
        yield from _called(node, forbidden)


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if node.level == 0 else []


def _called(node: ast.Call, forbidden: Sequence[str]) -> Iterator[Trace]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    texts = [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    if name in EXECUTORS and isinstance(function, ast.Name):
        yield Trace(
            said(f"{name}() runs text that cannot be read beforehand", f"{name}() 执行无法预先阅读的文本"),
            node.lineno,
        )
    elif name in IMPORTERS:
        yield from _dynamic(node, name, texts, forbidden)
    elif name in OPENERS and any(_points_at(text, forbidden) for text in texts):
        yield Trace(
            said(f"{name}() reads a file of the reference", f"{name}() 读取参考实现的文件"), node.lineno
        )


def _dynamic(node: ast.Call, name: str, texts: Sequence[str], forbidden: Sequence[str]) -> Iterator[Trace]:
    literal = bool(node.args) and isinstance(node.args[0], ast.Constant)
    if any(text.partition(".")[0] in forbidden or _points_at(text, forbidden) for text in texts):
        yield Trace(said(f"{name}() imports the reference", f"{name}() 导入了参考实现"), node.lineno)
    elif not literal:
        en = f"{name}() imports a name that is computed: write a plain import"
        yield Trace(said(en, f"{name}() 导入的名字是算出来的：请写普通的 import"), node.lineno)


def _points_at(text: str, forbidden: Sequence[str]) -> bool:
    """Whether a text looks like a path into a reference."""
    parts = text.replace("\\", "/").split("/")
    return len(parts) > 1 and any(part in forbidden for part in parts)
