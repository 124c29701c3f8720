"""Everything about one learner's file: the nine parts, and what else a finished clean room has."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import checking
from detectors.host import HOME
from faults.clean_room import (
    block_parts,
    chain,
    contract,
    contracts,
    independence,
    mapping,
    repair,
    similarity,
    sketch,
)
from faults.clean_room.inputs import Inputs
from faults.clean_room.interface import PARTS
from faults.clean_room.judging import Judged, array, run
from faults.clean_room.model import DONE, CleanRoom, Contract, Finding, Likeness, Repair, Requirement, Trace
from faults.clean_room.room import Raised, Room
from faults.clean_room.source import Source, neighbours
from faults.evidence_model import said
from faults.model import Text

Array = NDArray[Any]
OK = said("done", "完成")

CHECKS: Mapping[str, Callable[[Room, Inputs], Any]] = {
    "qkv": block_parts.projected,
    "attention": lambda room, inputs: (block_parts.masked(room), block_parts.attended(room, inputs)),
    "merge": block_parts.merged,
    "residual": block_parts.residual,
    "ffn": block_parts.fed,
    "block": chain.blocked,
    "logits": chain.logits,
    "learning": chain.learned,
    "generate": chain.generated,
}


class Work:
    """One file in its room, measured step by step; `whole` is the result."""

    def __init__(self, source: Source, room: Room, given: Mapping[str, str]) -> None:
        self.source, self.room, self.inputs = source, room, Inputs()
        self.given = given
        self.neighbours = neighbours(source, room.neighbours)
        self.lines = {
            ours: source.lines[theirs] for ours in _ours() if (theirs := room.theirs(ours)) in source.lines
        }
        self.repairs: tuple[Repair, ...] = ()
        self.held: set[str] = set()
        """Functions of ours that were judged and are right."""

    def interface(self) -> CleanRoom:
        """The interface alone."""
        findings = tuple(contract.check(self.room, self.inputs, self.source.lines))
        return CleanRoom(self.source.name, "contract", findings, self._traces(), self._proposal())

    def whole(self) -> CleanRoom:
        """Everything."""
        findings = tuple(self._part(*part) for part in PARTS)
        self.repairs = self._repairs()
        verdict, named, rows = self._contracts()
        shapes = dict(self._shapes())
        requirements = tuple(self._requirements(findings, verdict, rows, shapes))
        return CleanRoom(
            self.source.name, "work", findings, self._traces(), self._proposal(), self._likeness(),
            rows, verdict, named, requirements, self.repairs, shapes,
        )  # fmt: skip

    def _part(self, key: str, functions: tuple[str, ...], title: Text) -> Finding:
        try:
            CHECKS[key](self.room, self.inputs)
        except Judged as judged:
            # A part is judged in the order of its functions: those before the one that is wrong are right.
            self.held |= set(
                functions[: functions.index(judged.function)] if judged.function in functions else ()
            )
            return Finding(
                key, title, judged.state, judged.what, judged.line or self.lines.get(judged.function)
            )
        except Raised as raised:
            what = said(f"{functions[-1]} raises {raised}", f"{functions[-1]} 抛出 {raised}")
            return Finding(key, title, "failed", what, raised.line or self.lines.get(functions[-1]))
        self.held |= set(functions)
        return Finding(key, title, DONE, OK, self.lines.get(functions[-1]))

    def _proposal(self) -> tuple[tuple[str, str], ...]:
        functions = {name: entry[0] for name, entry in self.room.functions.items()}
        return mapping.propose(functions, self.given)

    def _traces(self) -> tuple[Trace, ...]:
        folder, home = self.source.path.parent, Path(HOME)
        text = independence.in_text(self.source.tree, folder, home)
        others = [independence.in_text(tree, folder, home, name) for name, tree in self.neighbours.items()]
        return (
            *text,
            *(trace for found in others for trace in found),
            *independence.at_run_time(self.room.attempts),
        )

    def _likeness(self) -> Likeness:
        trees = [self.source.tree, *self.neighbours.values()]
        everything = ast.Module([node for tree in trees for node in tree.body], [])
        return similarity.likeness(everything, similarity.reference_trees(Path(HOME)))

    def _repairs(self) -> tuple[Repair, ...]:
        try:
            run(self.room, "block", self.inputs.x, self.inputs.weights, self.inputs.heads)
            return tuple(repair.repairs(self.room, self.inputs, self.lines, self.held))
        except (Judged, Raised, ValueError, TypeError):
            return ()

    def _contracts(self) -> tuple[str, tuple[str, ...], tuple[Contract, ...]]:
        try:
            run(self.room, "block", self.inputs.x, self.inputs.weights, self.inputs.heads)
        except Judged:
            return "", (), ()
        return contracts.check(self.room)

    def _shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Shapes observed in the learner's own program, each where it runs."""
        for names, look in OBSERVED:
            try:
                found = look(self.room, self.inputs)
            except (Judged, Raised, TypeError, KeyError, ValueError, IndexError):
                continue
            yield from zip(names, (np.shape(one) for one in found), strict=False)

    def _requirements(
        self, findings: tuple[Finding, ...], verdict: str, rows: tuple[Contract, ...], shapes: dict[str, Any]
    ) -> Iterator[Requirement]:
        yield _requirement("contracts", TITLES["contracts"], _sound(verdict), _contract_words(verdict, rows))
        yield self._measured("rows", lambda: _row_error(self.room, self.inputs), block_parts.ROW_SUM)
        yield self._measured("future", lambda: _future(self.room, self.inputs), chain.FUTURE, strict=True)
        yield self._merge(shapes)
        yield self._measured("reference", lambda: chain.parity(self.room, self.inputs)[0], chain.PARITY)
        yield self._measured("per_head", lambda: chain.parity(self.room, self.inputs)[1], chain.PARITY)
        yield _chain(findings)
        yield self._sketch(shapes)
        yield _repair(self.repairs, sorted(name for name in repair.PLACES if name not in self.held))

    def _measured(
        self, key: str, measure: Callable[[], float], limit: float, strict: bool = False
    ) -> Requirement:
        sign = "<" if strict else "<="
        try:
            value = measure()
        except (Judged, Raised, TypeError, KeyError, ValueError):
            return _requirement(key, TITLES[key], None, said("could not be measured yet", "尚无法测量"))
        holds = value < limit if strict else value <= limit
        return _requirement(
            key,
            TITLES[key],
            holds,
            said(f"{value:.3g}, required {sign} {limit:g}", f"{value:.3g}，应 {sign} {limit:g}"),
        )

    def _merge(self, shapes: Mapping[str, Any]) -> Requirement:
        found = shapes.get("merged")
        what = said(f"{found}, required {block_parts.STREAM}", f"{found}，应为 {block_parts.STREAM}")
        if found is None:
            return _requirement(
                "merge", TITLES["merge"], None, said("could not be measured yet", "尚无法测量")
            )
        return _requirement("merge", TITLES["merge"], found == block_parts.STREAM, what)

    def _sketch(self, shapes: Mapping[str, Any]) -> Requirement:
        documents = {name: entry[1] for name, entry in self.room.functions.items()}
        flaws = list(sketch.compare(sketch.written(self.room.sketch, documents), shapes))
        joined = said("; ".join(one["en"] for one in flaws), "；".join(one["zh"] for one in flaws))
        right = said("every array as sketched", "每个数组都与草图一致")
        return _requirement("sketch", TITLES["sketch"], not flaws, joined if flaws else right)


TITLES: Mapping[str, Text] = {
    "contracts": said("contracts of the detectors", "检测器契约"),
    "rows": said("rows of attention weights miss 1 by", "attention 权重的行和与 1 之差"),
    "future": said("replacing future tokens changes logits by", "替换未来 token 后 logits 的变化"),
    "merge": said("merge gives (B, T, D)", "合并得到 (B, T, D)"),
    "reference": said("block against the reference, same weights", "block 与参考实现对拍（相同权重）"),
    "per_head": said("block against heads computed one by one", "block 与逐头参考对拍"),
    "chain": said("tokens -> logits -> loss/update -> generate", "tokens → logits → loss/update → generate"),
    "sketch": said("shape sketch", "shape 草图"),
    "repair": said(
        "a fault of your own, failing before, fixed after", "自己代码上的故障（修复前失败，修复后通过）"
    ),
}

OBSERVED: tuple[tuple[tuple[str, ...], Callable[[Room, Inputs], Any]], ...] = (
    (("query",), lambda room, i: room.call("project_qkv", i.x, i.weights, i.heads)[:1]),
    (("mask",), lambda room, i: [room.call("causal_mask", i.x.shape[1])]),
    (("scores", "weights", "attended"), lambda room, i: _picked(room.call("causal_attention", *i.projected))),
    (("merged",), lambda room, i: [room.call("merge_heads", i.attended.output)]),
    (("block",), lambda room, i: [room.call("block", i.x, i.weights, i.heads)]),
    (("logits",), lambda room, i: [room.call("logits", i.tokens, i.model, i.heads)]),
)


def _picked(found: Mapping[str, Array]) -> list[Array]:
    return [found["scores"], found["weights"], found["output"]]


def _ours() -> Iterator[str]:
    return (name for _, functions, _ in PARTS for name in functions)


def _requirement(key: str, title: Text, holds: bool | None, what: Text) -> Requirement:
    return Requirement(key, title, holds, what)


def _sound(verdict: str) -> bool | None:
    return None if not verdict else verdict in (checking.SOUND, checking.FRAGILE)


def _contract_words(verdict: str, rows: tuple[Contract, ...]) -> Text:
    if not verdict:
        return said("could not be measured yet", "尚无法测量")
    held = sum(row.verdict == checking.HOLDS for row in rows)
    broken = [row.name for row in rows if row.verdict == checking.BROKEN]
    en, zh = f"{held} hold", f"{held} 项满足"
    if not broken:
        return said(en, zh)
    return said(f"{en}, broken: {', '.join(broken)}", f"{zh}，不满足：{'、'.join(broken)}")


def _row_error(room: Room, inputs: Inputs) -> float:
    weights = array(
        "causal_attention", run(room, "causal_attention", *inputs.projected)["weights"], block_parts.MAPS
    )
    return block_parts.row_error(weights)


def _future(room: Room, inputs: Inputs) -> float:
    before = run(room, "logits", inputs.tokens, inputs.model, inputs.heads)
    return chain.future_change(room, inputs, array("logits", before, (chain.B, chain.T, chain.V)))


def _chain(findings: tuple[Finding, ...]) -> Requirement:
    parts = [finding for finding in findings if finding.key in ("logits", "learning", "generate")]
    done = sum(finding.done for finding in parts)
    what = said(f"{done} of {len(parts)} links", f"{len(parts)} 环中的 {done} 环")
    return _requirement("chain", TITLES["chain"], done == len(parts), what)


def _repair(repairs: tuple[Repair, ...], wrong: Sequence[str]) -> Requirement:
    if not repairs:
        names = ", ".join(wrong), "、".join(wrong)
        what = said(
            "not made: block does not run, is not right itself, or calls none of your own functions",
            "未能进行：block 无法运行、本身不正确，或没有调用你自己的函数",
        )
        unfinished = said(
            f"not made: a fault goes only into what is right, and is not yet: {names[0]}",
            f"未能进行：故障只注入已经正确的函数，尚未正确的有：{names[1]}",
        )
        return _requirement("repair", TITLES["repair"], None, unfinished if wrong else what)
    shown = [one for one in repairs if one.shown]
    best = (shown or list(repairs))[0]
    what = said(
        f"{best.fault} in {best.function}: {best.broken:.3g} before, {best.repaired:.3g} after",
        f"{best.function} 中的 {best.fault}：修复前 {best.broken:.3g}，修复后 {best.repaired:.3g}",
    )
    return _requirement("repair", TITLES["repair"], bool(shown), what)
