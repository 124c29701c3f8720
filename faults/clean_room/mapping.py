"""The learner's names for ours: given with --map, or proposed and never used without being confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from faults.clean_room.interface import BY_NAME, FUNCTIONS, Function
from faults.model import UsageError

LIKE = 0.75
"""Least likeness of two names that is worth a proposal; "attention" and "atention" have 0.94."""


def parse(entries: Sequence[str], language: str) -> dict[str, str]:
    """Ours -> theirs, from entries "theirs=ours"; UsageError for another form, an unknown name or one given twice."""
    mapping: dict[str, str] = {}
    for entry in entries:
        theirs, sign, ours = entry.partition("=")
        if not sign or not theirs.strip().isidentifier() or ours.strip() not in BY_NAME:
            listed = ", ".join(BY_NAME)
            en = f"--map {entry!r}: required is theirs=ours, ours one of: {listed}"
            raise UsageError(
                {"en": en, "zh": f"--map {entry!r}：应为 他们的名字=接口名，接口名可选：{listed}"}[language]
            )
        if ours.strip() in mapping:
            en = f"--map {entry!r}: {ours} is mapped twice; keep one"
            raise UsageError({"en": en, "zh": f"--map {entry!r}：{ours} 被映射了两次；只保留一个"}[language])
        mapping[ours.strip()] = theirs.strip()
    return mapping


def propose(
    functions: Mapping[str, Sequence[str]], mapping: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """(theirs, ours) for names of ours that are absent: the nearest free function with a fitting number of parameters.

    `functions` gives the parameters of each function of the file.
    """
    taken = {mapping.get(function.name, function.name) for function in FUNCTIONS} & set(functions)
    proposed: list[tuple[str, str]] = []
    for function in FUNCTIONS:
        if mapping.get(function.name, function.name) in functions:
            continue
        free = [
            name
            for name in functions
            if name not in taken and takes(functions[name], len(function.parameters))
        ]
        near = max(free, key=lambda name: alike(name, function), default="")
        if near and alike(near, function) >= LIKE:
            taken.add(near)
            proposed.append((near, function.name))
    return tuple(proposed)


def alike(name: str, function: Function) -> float:
    """1 for a known synonym, else the likeness of the spelling with the nearest of them."""
    plain = name.lower().strip("_").replace("_", "")
    known = [other.replace("_", "") for other in (function.name, *function.synonyms)]
    return max(SequenceMatcher(None, plain, other).ratio() for other in known)


def takes(parameters: Sequence[str], count: int) -> bool:
    """Whether a function with these parameters can be called with `count` positional arguments."""
    plain = [name for name in parameters if not name.startswith("*")]
    required = [name for name in plain if not name.endswith("=")]
    stretches = any(name.startswith("*") and not name.startswith("**") for name in parameters)
    return len(required) <= count and (count <= len(plain) or stretches)
