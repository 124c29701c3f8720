"""A fault from its name, its words and its variants."""

from __future__ import annotations

from typing import Protocol

from faults.model import Fault, Variant


class FaultWords(Protocol):
    """What the module `words` of a fault says of it; its texts have "en" and "zh"."""

    TITLE: dict[str, str]
    INJECTED: dict[str, str]
    SIGNAL: dict[str, str]
    REPAIR: dict[str, str]
    FORMULA: str
    ENTERS: dict[str, str]
    SHAPES: dict[str, str]


def fault(name: str, words: FaultWords, *variants: Variant) -> Fault:
    """The fault of that name, described by its words, with its variants in order."""
    return Fault(
        name=name,
        title=words.TITLE,
        injected=words.INJECTED,
        signal=words.SIGNAL,
        repair=words.REPAIR,
        formula=words.FORMULA,
        enters=words.ENTERS,
        shapes=words.SHAPES,
        variants=variants,
    )
