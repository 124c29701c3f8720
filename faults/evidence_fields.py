"""The fields of an evidence record, checked one by one; every check yields what is wrong, or nothing.

A value that still is a placeholder counts as unfilled and is reported where the file is read, not here again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import TypeAlias

from faults.evidence_model import MODULE, SCHEMA, Problem, said
from faults.evidence_yaml import Tree, filled, shown
from faults.model import Text

Checker: TypeAlias = Callable[[Tree, str], Iterator[Problem]]

NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
LICENSE_FIELDS = ("source", "version", "license", "attribution", "redistribution")
COST_FIELDS = ("gross_usd", "credit_usd")
# A record is published: a path of somebody's machine names its user, and proves nothing to anybody else.
PRIVATE_PATH = re.compile(
    r"(?:^|[\s\"'(=:,;])(?:~/|/(?:home|Users|root|mnt|tmp|var|opt|private)\b|[A-Za-z]:\\)"
)


def number(text: str) -> float | None:
    """The finite number a text is in plain decimal notation; None for anything else (nan, inf, true, 1_0)."""
    value = float(text) if re.fullmatch(NUMBER, text, re.ASCII) else math.nan
    return value if math.isfinite(value) else None


def field_problems(tree: Mapping[str, Tree]) -> Iterator[Problem]:
    """What is wrong with the fields of a record; its metrics are judged elsewhere."""
    yield from fields(tree, FIELDS)


def fields(tree: Mapping[str, Tree], checkers: Mapping[str, Checker], where: str = "") -> Iterator[Problem]:
    """Each named field is there and satisfies its checker; other fields are left alone."""
    for name, checker in checkers.items():
        path = f"{where}.{name}" if where else name
        if name in tree:
            yield from checker(tree[name], path)
        else:
            yield at(path, said("is missing", "缺少该字段"))


def at(path: str, what: Text) -> Problem:
    """A problem at one field, named by its path in the record."""
    return Problem(said(path, path), what)


def kind(value: Tree) -> Text:
    """What a value is, in words."""
    if isinstance(value, str):
        return said("text", "文本")
    return said("a list", "列表") if isinstance(value, list) else said("a mapping", "映射")


def text(value: Tree, path: str) -> Iterator[Problem]:
    """The value is text with something in it."""
    if not isinstance(value, str):
        found = kind(value)
        yield at(path, said(f"found {found['en']}, required text", f"是{found['zh']}，应为文本"))
    elif not value.strip():
        yield at(path, said("is empty", "为空"))


def matching(value: Tree, path: str, test: Callable[[str], bool], required: Text) -> Iterator[Problem]:
    """The value is text that passes the test; `required` names the test in words."""
    problems = list(text(value, path))
    if isinstance(value, str) and not problems and filled(value) and not test(value):
        found = shown(value)
        en, zh = f"found {found}, required {required['en']}", f"是 {found}，应为{required['zh']}"
        problems = [at(path, said(en, zh))]
    yield from problems


def each(value: Tree, path: str, checker: Checker) -> Iterator[Problem]:
    """The value is a list of at least one item, and each satisfies the checker."""
    if not isinstance(value, list):
        found = kind(value)
        yield at(path, said(f"found {found['en']}, required a list", f"是{found['zh']}，应为列表"))
    elif not value:
        yield at(path, said("is an empty list", "是空列表"))
    else:
        for index, item in enumerate(value):
            yield from checker(item, f"{path}[{index}]")


def mapping(value: Tree, path: str, checkers: Mapping[str, Checker]) -> Iterator[Problem]:
    """The value is a mapping whose named fields satisfy their checkers."""
    if isinstance(value, dict):
        yield from fields(value, checkers, path)
    else:
        found = kind(value)
        yield at(path, said(f"found {found['en']}, required a mapping", f"是{found['zh']}，应为映射"))


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_amount(value: str) -> bool:
    found = number(value)
    return found is not None and found >= 0


def _exactly(word: str) -> Checker:
    return partial(matching, test=lambda value: value == word, required=said(word, f" {word}"))


def _pattern(pattern: str, required: Text) -> Checker:
    return partial(
        matching, test=lambda value: bool(re.fullmatch(pattern, value, re.ASCII)), required=required
    )


_private = partial(
    matching,
    test=lambda value: not PRIVATE_PATH.search(value),
    required=said("no path of a machine in it (sanitized)", "不含本机路径的脱敏文本"),
)
_commit = _pattern(
    r"[0-9a-f]{7,64}", said("a commit id, 7 to 64 of 0-9 a-f", " commit id：7 到 64 位 0-9 a-f")
)
_seed = _pattern(r"\d{1,20}", said("a whole number, 0 or more", "不小于 0 的整数"))
_date = partial(matching, test=_is_date, required=said("an ISO date or date-time", " ISO 日期或日期时间"))
_amount = partial(matching, test=_is_amount, required=said("an amount of 0 or more", "不小于 0 的金额"))

FIELDS: Mapping[str, Checker] = {
    "schema": _exactly(SCHEMA),
    "module": _exactly(MODULE),
    "commit": _commit,
    "verified_at": _date,
    "environment": _private,
    "seed": _seed,
    "commands": partial(each, checker=_private),
    "artifacts": partial(each, checker=text),
    "cost": partial(mapping, checkers=dict.fromkeys(COST_FIELDS, _amount)),
    "licenses": partial(each, checker=partial(mapping, checkers=dict.fromkeys(LICENSE_FIELDS, _private))),
    "known_failures": partial(each, checker=_private),
}
