"""Reading evidence files that nobody has vetted, and writing our own: a small, strict part of YAML.

Every scalar stays the text that was written: a commit id of digits only is no number, nor is `true`.
Whoever needs a number converts the text and says so when it is none.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from faults.evidence_model import Problem, said
from faults.model import Text

Tree: TypeAlias = "str | list[Tree] | dict[str, Tree]"

SIZE_LIMIT = 256 * 1024
TOO_LARGE = SIZE_LIMIT + 1
"""Bytes that are read at most."""
DEPTH_LIMIT = 16
# Chapter 7: every <...> is unfilled. A bound such as `<1e-6` is no placeholder, nor is <name@example.org>.
PLACEHOLDER = re.compile(r"<[^\W\d_][\w .-]{0,80}>")
_NULLS = ("~", "null", "Null", "NULL")


@dataclass(frozen=True)
class Document:
    """A file as far as it could be read: its tree, or None; and what is wrong with it as a text."""

    tree: Tree | None
    problems: tuple[Problem, ...]


class UnreadableError(Exception):
    """The file cannot be evidence as it stands; carries the one problem that says why."""

    def __init__(self, what: Text, line: int | None = None) -> None:
        self.problem = Problem(at_line(line) if line else said("file", "文件"), what)


def at_line(line: int) -> Text:
    """Where a problem is, by line number from 1."""
    return said(f"line {line}", f"第 {line} 行")


def shown(value: str, limit: int = 60) -> str:
    """A stranger's text, fit for a terminal: quoted, control characters escaped, cut to `limit`."""
    return repr(value if len(value) <= limit else value[: limit - 1] + "…")


def filled(value: str) -> bool:
    """True when no placeholder is left in a value."""
    return not PLACEHOLDER.search(value)


def read(path: Path) -> Document:
    """The document in `path`; raises OSError where the file cannot be read at all."""
    with path.open("rb") as file:
        raw = file.read(TOO_LARGE)
    try:
        text = _decoded(raw)
    except UnreadableError as unreadable:
        return Document(None, (unreadable.problem,))
    return parse(text)


def parse(text: str) -> Document:
    """The document in `text`: placeholders are found even where the text is not YAML."""
    try:
        node = _composed(text)
        return Document(_tree(node), tuple(_unfilled_nodes(node)))
    except UnreadableError as unreadable:
        return Document(None, (unreadable.problem, *_unfilled_lines(text)))


def _decoded(raw: bytes) -> str:
    if len(raw) == TOO_LARGE:
        size = f"{SIZE_LIMIT // 1024} KiB"
        raise UnreadableError(
            said(f"larger than {size}: no evidence record", f"大于 {size}：不是 evidence 记录")
        )
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        at = error.start
        raise UnreadableError(
            said(f"not UTF-8 text (byte {at})", f"不是 UTF-8 文本（第 {at} 字节）")
        ) from error


class _Loader(yaml.BaseLoader):
    """BaseLoader, which keeps every scalar as text, without aliases, anchors, tags and deep nesting."""

    depth = 0

    def compose_node(self, *place: Any) -> yaml.Node | None:
        """The next node; raises UnreadableError for what an evidence record has no use for."""
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it untyped
        self._refuse(event, event.start_mark.line + 1)
        self.depth += 1
        node = super().compose_node(*place)
        self.depth -= 1
        return node

    def _refuse(self, event: Any, line: int) -> None:
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise UnreadableError(
                said("anchors and aliases are refused: write it out", "不接受锚点和别名：请写出全文"), line
            )
        if event.tag is not None:
            found = shown(event.tag)
            raise UnreadableError(
                said(f"tag {found} is refused: remove it", f"不接受标签 {found}：请删去"), line
            )
        if self.depth >= DEPTH_LIMIT:
            raise UnreadableError(
                said(f"nested deeper than {DEPTH_LIMIT}", f"嵌套超过 {DEPTH_LIMIT} 层"), line
            )


def _composed(text: str) -> yaml.Node:
    try:
        node = _Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        raise _marked(error, text) from error
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise UnreadableError(said(f"not valid YAML: {reason}", f"不是合法的 YAML：{reason}")) from error
    if node is None:
        raise UnreadableError(
            said("empty: there is no evidence record in it", "空文件：其中没有 evidence 记录")
        )
    return node


def _marked(error: yaml.MarkedYAMLError, text: str) -> UnreadableError:
    assert error.problem_mark is not None
    line = error.problem_mark.line + 1
    en, zh = f"not valid YAML: {error.problem}", f"不是合法的 YAML：{error.problem}"
    # At the end of the text there may be no line.
    if any(re.search(r":\s*>\S", source) for source in text.splitlines()[line - 1 : line]):
        en += '; quote every value that begins with ">", e.g. expected: ">1e-5"'
        zh += '；以 ">" 开头的值都要加引号，例如 expected: ">1e-5"'
    return UnreadableError(said(en, zh), line)


def _tree(node: yaml.Node) -> Tree:
    """The node as text, lists and mappings; a plain null is empty text."""
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_tree(child) for child in node.value]
    plain = isinstance(node, yaml.ScalarNode) and node.style is None
    return "" if plain and node.value in _NULLS else str(node.value)


def _mapping(node: yaml.MappingNode) -> dict[str, Tree]:
    tree: dict[str, Tree] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise UnreadableError(said("a key must be text", "键必须是文本"), line)
        if key.value in tree:
            found = shown(key.value)
            raise UnreadableError(
                said(f"key {found} appears twice: keep one", f"键 {found} 重复出现：只保留一个"), line
            )
        tree[key.value] = _tree(value)
    return tree


def _unfilled_nodes(node: yaml.Node, key: str = "") -> Iterator[Problem]:
    """One problem per placeholder left in the values under `node`."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            yield from _unfilled_nodes(value, f"{name.value}: ")
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _unfilled_nodes(child, key)
    else:
        yield from _unfilled(key, node.value, node.start_mark.line + 1)


def _unfilled_lines(text: str) -> Iterator[Problem]:
    """The same where the text is not YAML: line by line, comments left out."""
    for number, line in enumerate(text.splitlines(), start=1):
        entry = re.sub(r"^[\s-]+", "", line)
        key, colon, value = entry.partition(": ")
        if not entry.startswith("#"):
            yield from _unfilled(key + colon if colon else "", value if colon else key, number)


def _unfilled(key: str, value: str, line: int) -> Iterator[Problem]:
    for found in PLACEHOLDER.findall(value):
        field = f"{shown(key)[1:-1]}{found}"
        yield Problem(at_line(line), said(f"{field} is not filled in", f"{field} 尚未填写"))
