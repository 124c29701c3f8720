"""The gate: what a run means. It fails closed, so that only a whole and trustworthy run can pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from faults.model import Control, Status, Text
from faults.mutation.model import (
    Judgement,
    Mutant,
    Origin,
    Part,
    Row,
    Run,
    ScoreReport,
    missed,
    part_of,
    row,
)

GOOD, FAILED, BROKEN, NOTHING = 0, 1, 3, 5


@dataclass(frozen=True)
class Bars:
    """What is asked of a run.

    Without `fail_under` and without parts nothing may survive; `known`, the identities in a baseline and how
    many mutants each has, may survive in any case.
    """

    fail_under: float | None = None
    parts: tuple[Part, ...] = ()
    known: Mapping[str, int] | None = None
    equivalents_at_most: float = 3.0


def report(run: Run, bars: Bars) -> ScoreReport:
    """The rows of a run and its judgement."""
    programs = [mutant for mutant in run.mutants if mutant.origin is not Origin.SEMANTIC]
    variants = [mutant for mutant in run.mutants if mutant.origin is Origin.SEMANTIC]
    parts = _parts(run, bars.parts)
    total = row("all", run.mutants)
    judgement = judge(run, bars, parts, total)
    return ScoreReport(run, _by(programs, "module"), _by(variants, "key"), parts, total, judgement)


def _by(mutants: Iterable[Mutant], attribute: str) -> tuple[Row, ...]:
    groups: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault(getattr(mutant, attribute), []).append(mutant)
    return tuple(row(name, groups[name]) for name in sorted(groups))


def _parts(run: Run, parts: tuple[Part, ...]) -> tuple[tuple[Part, Row], ...]:
    """Each part that the run is about, with the counts of its mutants."""
    members: dict[str, list[Mutant]] = {part.name: [] for part in parts}
    for mutant in run.mutants:
        members.get(part_of(mutant.module, parts), []).append(mutant)
    return tuple((part, row(part.name, members[part.name])) for part in parts if run.part in ("", part.name))


def judge(run: Run, bars: Bars, parts: tuple[tuple[Part, Row], ...], total: Row) -> Judgement:
    """3 for a run that cannot be trusted, 5 for an empty one, 1 for survivors or a bar not reached, else 0."""
    broken, failed = _broken(run) + _empty(run, parts), _failed(run, bars, parts, total)
    if broken:
        return Judgement(BROKEN, tuple(broken + failed))
    if total.mutants == total.unchecked:
        return Judgement(NOTHING, (_nothing(run), *failed))
    return Judgement(FAILED if failed else GOOD, tuple(failed), tuple(_notes(run, bars)))


def _nothing(run: Run) -> Text:
    if run.since:
        return _said(
            f"no mutant is touched by what changed since {run.since}: nothing was tested",
            f"自 {run.since} 以来的改动没有涉及任何变异体：什么也没有测试",
        )
    return _said("no mutants: nothing was tested", "没有变异体：什么也没有测试")


def _broken(run: Run) -> list[Text]:
    """Why the run cannot be trusted, whatever its percentage is."""
    found = list(run.broken)
    found += [_control(control) for control in run.controls if not control.holds]
    for mutant in run.mutants:
        if mutant.status is Status.ERROR:
            found.append(
                _said(f"{mutant.key}: error: {mutant.reason}", f"{mutant.key}：出错：{mutant.reason}")
            )
    unchecked = [mutant.key for mutant in run.mutants if mutant.status is None]
    if unchecked and not run.since:
        count, first = len(unchecked), unchecked[0]
        found.append(_said(
            f"mutants without a verdict: {count}, the first is {first}; the run did not finish",
            f"没有判定的变异体：{count} 个，第一个是 {first}；运行没有完成",
        ))  # fmt: skip
    return found


def _empty(run: Run, parts: tuple[tuple[Part, Row], ...]) -> list[Text]:
    """Parts with a bar that no mutant has to pass: their patterns are wrong."""
    if run.since or not run.mutants:
        return []
    return [
        _said(
            f"part {part.name}: no mutant belongs to it, required is a pattern that fits some module",
            f"{part.name} 部分：没有变异体属于它；需要能匹配到模块的模式",
        )
        for part, members in parts
        if not members.mutants
    ]


def _control(control: Control) -> Text:
    return _said(
        f"control {control.name}: {control.status}, required: {control.expected} {control.detail}".rstrip(),
        f"对照 {control.name}：{control.status}，应为 {control.expected} {control.detail}".rstrip(),
    )


def _failed(run: Run, bars: Bars, parts: tuple[tuple[Part, Row], ...], total: Row) -> list[Text]:
    found = list(run.unproved) + _too_many_equivalents(total, bars)
    for part, members in parts:
        if members.score is not None and not (100 * members.score >= part.at_least):
            found.append(_under(f"part {part.name}", f"{part.name} 部分", members.score, part.at_least))
    if bars.fail_under is not None:
        found += _under_total(total, bars.fail_under)
    return found + _survivors(run, bars)


def _too_many_equivalents(total: Row, bars: Bars) -> list[Text]:
    if 100 * total.equivalent <= bars.equivalents_at_most * total.mutants:
        return []
    share = 100 * total.equivalent / total.mutants
    return [_said(
        f"equivalents are {share:.1f} % of all mutants, at most {bars.equivalents_at_most:g} % may be",
        f"等价变异体占 {share:.1f} %，最多 {bars.equivalents_at_most:g} %",
    )]  # fmt: skip


def _under_total(total: Row, bar: float) -> list[Text]:
    if total.score is None:
        return [_said("score n/a: no mutant could be judged", "得分 n/a：没有可判定的变异体")]
    return [] if 100 * total.score >= bar else [_under("score", "得分", total.score, bar)]


def _under(name: str, chinese: str, score: float, bar: float) -> Text:
    # Rounded down, so that a score under the bar never prints as the bar.
    percent = f"{int(score * 1000) / 10:.1f}"
    return _said(
        f"{name}: {percent} % killed, at least {bar:g} % is required",
        f"{chinese}：杀死 {percent} %，至少需要 {bar:g} %",
    )


def _survivors(run: Run, bars: Bars) -> list[Text]:
    """Who may not survive: anybody where there is no bar, and with a baseline whoever is not in it."""
    if bars.known is not None:
        return [_alive(mutant, "new survivor", "新的存活者") for mutant in unknown(run.mutants, bars.known)]
    if bars.fail_under is not None or bars.parts:
        return []
    return [_alive(mutant, "survivor", "存活者") for mutant in run.mutants if missed(mutant)]


def unknown(mutants: Iterable[Mutant], known: Mapping[str, int]) -> list[Mutant]:
    """The survivors that a baseline does not have, or not so many times."""
    left = dict(known)
    found = []
    for mutant in mutants:
        if not missed(mutant):
            continue
        if left.get(mutant.identity, 0) > 0:
            left[mutant.identity] -= 1
        else:
            found.append(mutant)
    return found


def _alive(mutant: Mutant, kind: str, chinese: str) -> Text:
    return _said(f"{kind}: {mutant.key}", f"{chinese}：{mutant.key}")


def _notes(run: Run, bars: Bars) -> list[Text]:
    """What is good to know: entries of the baseline that nobody needs any more."""
    if bars.known is None or run.since:
        return []
    alive = [mutant.identity for mutant in run.mutants if missed(mutant)]
    gone = sum(max(0, count - alive.count(identity)) for identity, count in bars.known.items())
    if not gone:
        return []
    return [_said(
        f"killed since the baseline was written: {gone}; write it again with --write-baseline",
        f"写入基线之后又杀死 {gone} 个；请用 --write-baseline 重新写入",
    )]  # fmt: skip


def _said(en: str, zh: str) -> Text:
    return {"en": en, "zh": zh}
