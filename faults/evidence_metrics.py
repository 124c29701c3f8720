"""The recorded metrics against their bounds: ours decide, what the file itself expects may be stricter."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from faults.evidence_fields import NUMBER, at, each, fields, number, text
from faults.evidence_model import BOUNDS, COMPARE, Bound, Measure, Problem, judged, said
from faults.evidence_yaml import Tree, filled, shown
from faults.model import Text

_ENTRY = {"name": text, "expected": text, "actual": text}
_STATED = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({NUMBER})(?![\w.])", re.ASCII)
_ASCII_SIGN = {"≤": "<=", "≥": ">="}


def measures_of(value: Tree | None) -> tuple[Measure, ...]:
    """The five metrics of the chapter as they are recorded, in the chapter's order."""
    recorded = _named(value)
    return tuple(_measure(bound, recorded.get(bound.metric, [])) for bound in BOUNDS)


def metric_problems(value: Tree | None) -> Iterator[Problem]:
    """What is wrong with the field `metrics`; metrics of other names are left alone."""
    if value is None:
        yield at("metrics", said("is missing", "缺少该字段"))
        return
    yield from each(value, "metrics", _entry)
    recorded = _named(value)
    for bound in BOUNDS:
        yield from _bound_problems(bound, recorded.get(bound.metric, []))


def _named(value: Tree | None) -> dict[str, list[Mapping[str, Tree]]]:
    """Metric name -> the entries with that name."""
    named: dict[str, list[Mapping[str, Tree]]] = {}
    entries = [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    for entry in entries:
        name = entry.get("name")
        if isinstance(name, str):
            named.setdefault(name, []).append(entry)
    return named


def _entry(value: Tree, path: str) -> Iterator[Problem]:
    if isinstance(value, dict):
        yield from fields(value, _ENTRY, path)
    else:
        yield at(path, said("required name, expected and actual", "应含 name、expected、actual"))


def _measure(bound: Bound, entries: list[Mapping[str, Tree]]) -> Measure:
    if len(entries) != 1:
        return Measure(
            bound, None, said("not recorded", "未记录") if not entries else said("ambiguous", "有歧义")
        )
    written = entries[0].get("actual")
    if not isinstance(written, str) or not written.strip() or not filled(written):
        return Measure(bound, None, said("not filled in", "未填写"))
    actual = number(written)
    if actual is None:
        return Measure(bound, None, said("not a number", "不是数值"))
    return judged(bound, actual)


def _bound_problems(bound: Bound, entries: list[Mapping[str, Tree]]) -> Iterator[Problem]:
    path = f"metrics.{bound.metric}"
    if len(entries) != 1:
        found = len(entries)
        yield at(path, said(f"found {found} entries, required 1", f"有 {found} 条记录，应为 1 条"))
        return
    actual, expected = entries[0].get("actual"), entries[0].get("expected")
    if isinstance(actual, str) and actual.strip() and filled(actual):
        yield from _actual_problems(bound, actual, f"{path}.actual")
    if isinstance(expected, str) and expected.strip() and filled(expected):
        yield from _expected_problems(bound, expected, actual, f"{path}.expected")


def _actual_problems(bound: Bound, written: str, path: str) -> Iterator[Problem]:
    actual = number(written)
    if actual is None:
        found = shown(written)
        yield at(path, said(f"found {found}, required a finite number", f"是 {found}，应为有限数值"))
    elif not bound.allows(actual):
        yield at(path, _out_of_bounds(bound, actual))


def _out_of_bounds(bound: Bound, actual: float) -> Text:
    if not bound.possible(actual):
        most, most_zh = "", ""
        if math.isfinite(bound.ceiling):
            most, most_zh = f" and at most {bound.ceiling:g}", f"且不大于 {bound.ceiling:g}"
        return said(
            f"found {actual!r}, but such a difference is at least 0{most}",
            f"是 {actual!r}，但这样的差值不小于 0{most_zh}",
        )
    return said(
        f"found {actual!r}, required {bound} ({bound.source['en']})",
        f"是 {actual!r}，应为 {bound}（{bound.source['zh']}）",
    )


def stated(bound: Bound, expected: str) -> list[tuple[str, float]]:
    """The bounds a file states, as sign and limit, e.g. "< 1e-6 (v1)"; a bare number takes our sign."""
    bare = re.fullmatch(rf"(?:atol\s*=\s*)?({NUMBER})", expected.strip(), re.ASCII)
    if bare:
        return [(bound.sign[0] + "=", float(bare[1]))]
    return [(_ASCII_SIGN.get(sign, sign), float(limit)) for sign, limit in _STATED.findall(expected)]


def _expected_problems(bound: Bound, expected: str, actual: Tree | None, path: str) -> Iterator[Problem]:
    found = shown(expected)
    bounds = stated(bound, expected)
    if not bounds:
        yield at(
            path,
            said(
                f'found {found}, required a bound such as "{bound}"', f"是 {found}，应为界限，例如 “{bound}”"
            ),
        )
    if any(_looser(bound, sign, limit) for sign, limit in bounds):
        source = bound.source
        yield at(
            path,
            said(
                f"found {found}, looser than {bound} ({source['en']}), which decides",
                f"是 {found}，比 {bound}（{source['zh']}）宽松；以后者为准",
            ),
        )
    measured = number(actual) if isinstance(actual, str) else None
    if measured is not None and not all(COMPARE[sign](measured, limit) for sign, limit in bounds):
        yield at(
            path,
            said(f"actual {measured!r} misses its own {found}", f"actual {measured!r} 不满足自定的 {found}"),
        )


def _looser(bound: Bound, sign: str, limit: float) -> bool:
    """True unless a stated bound points the way of ours and asks for at least as much."""
    if sign[0] != bound.sign[0]:
        return True
    return limit > bound.value if sign[0] == "<" else limit < bound.value
