"""Decides whether a file is complete evidence for chapter 7: fields, figures, artifacts, and the gate.

Bounds are those of this program (`faults.evidence_model.BOUNDS`); what a file says it expects may be
stricter, never looser. A file cannot prove that its figures were measured: the check says what is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from faults.evidence_artifacts import Arrays, RefusedError, gather, locate, repository
from faults.evidence_fields import at, field_problems
from faults.evidence_intermediates import flaws
from faults.evidence_metrics import measures_of, metric_problems
from faults.evidence_model import INTERMEDIATES, Check, Measure, Part, Problem, said
from faults.evidence_yaml import Document, Tree, filled, read, shown
from faults.model import Text

ARTIFACT_LIMIT = 100
ABLATIONS = (
    "no_mask_future_prefix_influence",
    "scale_ablation_max_weight_delta",
    "residual_ablation_max_output_delta",
)

GATE = (
    said("intermediates", "中间张量"),
    said("causal perturbation", "因果扰动"),
    said("three ablations", "三项消融"),
    said("clean-room parity", "clean-room 对拍"),
)
"""Chapter 7: only when all four can be traced may the chapter leave its gate."""
_UNREAD = said("no record could be read from the file", "未能从文件中读出记录")


@dataclass(frozen=True)
class _Artifacts:
    """The artifacts that exist, and what is wrong with the others."""

    paths: tuple[Path, ...]
    problems: tuple[Problem, ...]


def check(path: Path, root: Path | None = None) -> Check:
    """The verdict on the evidence file at `path`; raises OSError where it cannot be read.

    Artifacts are sought in `root`, by default the top level of the Git work tree that holds the file.
    """
    document = read(path)
    tree = document.tree if isinstance(document.tree, dict) else {}
    artifacts = _artifacts(tree.get("artifacts"), root or repository(path), path)
    measures = measures_of(tree.get("metrics"))
    problems = (*document.problems, *_tree_problems(document), *artifacts.problems)
    gate = _gate(artifacts.paths, measures) if tree else tuple(Part(name, False, _UNREAD) for name in GATE)
    return Check(str(path), problems, measures, gate)


def _tree_problems(document: Document) -> Iterator[Problem]:
    if isinstance(document.tree, dict):
        yield from field_problems(document.tree)
        yield from metric_problems(document.tree.get("metrics"))
    elif document.tree is not None:
        yield Problem(said("file", "文件"), said("not a mapping of fields to values", "不是“字段: 值”的映射"))


def _artifacts(value: Tree | None, root: Path | None, record: Path) -> _Artifacts:
    entries = [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
    named = [entry for entry in entries if entry.strip() and filled(entry)]
    if named and root is None:
        return _Artifacts((), (at("artifacts", _NO_ROOT),))
    if root is None or len(named) > ARTIFACT_LIMIT:
        return _Artifacts((), (at("artifacts", _TOO_MANY),) if named else ())
    paths: list[Path] = []
    problems: list[Problem] = []
    for entry in named:
        try:
            paths.append(locate(entry, root, record))
        except RefusedError as refused:
            problems.append(_refused(entry, refused.why))
    return _Artifacts(tuple(paths), tuple(problems))


_NO_ROOT = said(
    "the file lies in no Git repository: name the folder that holds the artifacts with --root",
    "该文件不在任何 Git 仓库中：请用 --root 指定产物所在的目录",
)
_TOO_MANY = said(f"more than {ARTIFACT_LIMIT} entries", f"超过 {ARTIFACT_LIMIT} 项")


def _refused(entry: str, why: Text) -> Problem:
    found = shown(entry)
    return at("artifacts", said(f"{found} {why['en']}", f"{found} {why['zh']}"))


def _gate(paths: Sequence[Path], measures: Sequence[Measure]) -> tuple[Part, ...]:
    """The four parts of the chapter's gate."""
    measured = {measure.bound.metric: measure for measure in measures}
    intermediates, perturbation, ablations, parity = GATE
    return (
        _intermediates(intermediates, paths),
        _recorded(perturbation, [measured["future_token_invariance"]]),
        _recorded(ablations, [measured[name] for name in ABLATIONS]),
        _recorded(parity, [measured["reference_output_max_error"]]),
    )


def _recorded(name: Text, measures: Sequence[Measure]) -> Part:
    """Present when every one of the measures holds."""
    lines = {
        language: ", ".join(f"{one.bound.metric} {one.verdict[language]}" for one in measures)
        for language in ("en", "zh")
    }
    return Part(name, all(measure.holds for measure in measures), lines)


def _intermediates(name: Text, paths: Sequence[Path]) -> Part:
    """Present when one set of artifacts holds all five intermediates and they hang together."""
    # Hostile figures overflow.
    with np.errstate(all="ignore"):
        sets = gather(paths)
        found = {place: _flaws(arrays) for place, arrays in sets.items()}
    if not found:
        return Part(name, False, _NO_ARRAYS)
    best = min(found, key=lambda place: (bool(found[place]), _absent(sets[place])))
    file, why = shown(best.name), (*found[best], _SOUND)[0]
    return Part(name, not found[best], said(f"{file}: {why['en']}", f"{file}：{why['zh']}"))


def _flaws(arrays: Arrays | RefusedError) -> list[Text]:
    return [arrays.why] if isinstance(arrays, RefusedError) else list(flaws(arrays))


def _absent(arrays: Arrays | RefusedError) -> int:
    return len(INTERMEDIATES) - (0 if isinstance(arrays, RefusedError) else len(arrays))


_NO_ARRAYS = said(
    f"no artifact (.npz, .npy or .json) holds {', '.join(INTERMEDIATES)}",
    f"没有产物（.npz、.npy 或 .json）含有 {'、'.join(INTERMEDIATES)}",
)
_SOUND = said(
    "five arrays, rows of weights sum to 1, nothing on the future",
    "五个数组齐全，weights 每行和为 1，未来位置为 0",
)
