"""The list of equivalent mutants: who is on it, and what is wrong with it.

Each entry names the function, the line and what it becomes, a reason a reader can check, and a proof that is run
here and now. An entry that is not proved, that no mutant fits or that nobody needs is a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml

from faults.model import FaultsError, Text
from faults.mutation.model import Mutant, missed

BYTECODE, INPUTS = "bytecode", "inputs"
EXTREMES = ("zero", "negative zero", "subnormal", "largest", "infinity", "nan", "empty")
REQUIRED = ("function", "line", "mutated", "reason", "proof")


@dataclass(frozen=True)
class Entry:
    """One line of the list."""

    function: str
    """With its module: "core.softmax.softmax"."""
    line: str
    mutated: str
    reason: str
    proof: str
    """`bytecode`, or `inputs`: bit-equality on 10,000 of them."""
    inputs: str = ""
    """The function of the file of proofs that gives the inputs."""
    extremes: tuple[str, ...] = ()
    """What must be among the inputs."""

    @property
    def identity(self) -> str:
        return f"{self.function}: {self.line} -> {self.mutated}"

    def fits(self, mutant: Mutant) -> bool:
        return mutant.identity == self.identity


def read(name: str, text: str) -> tuple[Entry, ...]:
    """The entries of a file. Raises FaultsError for one that does not say everything."""
    try:
        content = yaml.safe_load(text) or []
        return tuple(_entry(name, item) for item in content)
    except (yaml.YAMLError, TypeError) as error:
        line = " ".join(str(error).split())
        raise FaultsError(
            f"{name}: cannot be read ({line}), required is a YAML list of equivalents"
        ) from error


def _entry(name: str, item: Mapping[str, Any]) -> Entry:
    proof, extremes = item.get("proof"), item.get("extremes", [])
    lacking = [key for key in REQUIRED if not str(item.get(key) or "").strip()]
    if proof == INPUTS:
        lacking += [key for key in ("inputs", "extremes") if not item.get(key)]
    wrong = [key for key in item if key not in (*REQUIRED, "inputs", "extremes")]
    wrong += [word for word in extremes if word not in EXTREMES]
    if lacking or wrong or proof not in (BYTECODE, INPUTS):
        raise FaultsError(
            f"{name}, {item.get('function')}: lacks {lacking}, has unknown {wrong}, proof {proof!r}; required are "
            f"{', '.join(REQUIRED)}, a proof by {BYTECODE} or {INPUTS}, and for {INPUTS} also inputs and extremes"
        )
    plain = {key: str(item[key]).strip() for key in (*REQUIRED, "inputs") if key in item}
    return Entry(**plain, extremes=tuple(extremes))


def wanted(entries: Sequence[Entry], mutants: Iterable[Mutant]) -> list[tuple[Entry, Mutant]]:
    """The proofs to be run: every entry with every surviving mutant that it fits."""
    alive = [mutant for mutant in mutants if missed(mutant)]
    return [(entry, mutant) for entry in entries for mutant in alive if entry.fits(mutant)]


def settled(
    entries: Sequence[Entry], mutants: Sequence[Mutant], found: Mapping[str, str], partial: bool = False
) -> tuple[tuple[Mutant, ...], tuple[Text, ...]]:
    """The mutants with their reason where a proof held, and what is wrong with the list.

    `found` maps the key of a mutant to why its proof failed, "" where it held.
    """
    reasons = {entry.identity: entry.reason for entry in entries}
    proved = tuple(
        replace(mutant, equivalent=reasons[mutant.identity]) if found.get(mutant.key) == "" else mutant
        for mutant in mutants
    )
    wrong = [_unproved(mutant, found[mutant.key]) for mutant in mutants if found.get(mutant.key)]
    return proved, (*wrong, *_unused(entries, mutants, partial), *_twice(entries))


def _unused(entries: Sequence[Entry], mutants: Sequence[Mutant], partial: bool) -> list[Text]:
    """Entries that no mutant fits, and entries whose mutants are killed anyway."""
    problems = []
    for entry in entries:
        fitting = [mutant for mutant in mutants if entry.fits(mutant)]
        if not fitting and not partial:
            problems.append(_about(entry, "stale: no mutant makes this change", "过时：没有这样的变异体"))
        killed = [mutant for mutant in fitting if mutant.status is not None and not missed(mutant)]
        if killed and len(killed) == len(fitting):
            how = killed[0].status
            problems.append(_about(entry, f"not needed: its mutant was {how}", f"多余：其变异体 {how}"))
    return problems


def _twice(entries: Sequence[Entry]) -> list[Text]:
    seen: set[str] = set()
    problems = []
    for entry in entries:
        if entry.identity in seen:
            problems.append(_about(entry, "listed twice", "重复列出"))
        seen.add(entry.identity)
    return problems


def _about(entry: Entry, en: str, zh: str) -> Text:
    return {"en": f"equivalent {entry.identity!r}: {en}", "zh": f"等价变异体 {entry.identity!r}：{zh}"}


def _unproved(mutant: Mutant, why: str) -> Text:
    return {
        "en": f"equivalent {mutant.identity!r}: not proved: {why}",
        "zh": f"等价变异体 {mutant.identity!r}：未能证明：{why}",
    }
