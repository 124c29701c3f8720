"""The registry as text: what `faults list` prints."""

from __future__ import annotations

from collections.abc import Sequence

from faults.model import Fault, Variant
from reports.document import Block, Grid, Heading, Lines, draw
from reports.words import say


def render(faults: Sequence[Fault], language: str, style: str, verbosity: int = 0) -> str:
    """One row per fault, and with a verbosity of 1 one row per variant."""
    count = sum(len(fault.variants) for fault in faults)
    title = say("list heading", language, faults=len(faults), variants=count)
    blocks: list[Block] = [Heading(title, level=1), _faults(faults, language)]
    if verbosity > 0:
        blocks += [Heading(say("variants heading", language)), _variants(faults, language)]
    return draw([*blocks, Lines([say("list note", language)])], style, language)


def _faults(faults: Sequence[Fault], language: str) -> Grid:
    names = ("fault", "variants", "seams", "injected", "signal")
    rows = [_fault_row(fault, language) for fault in faults]
    return Grid([say(name, language) for name in names], rows, (16, 8, 26, 28, 24), "lrlll")


def _fault_row(fault: Fault, language: str) -> list[str]:
    seams = dict.fromkeys(str(seam) for variant in fault.variants for seam in _forward(variant))
    injected, signal = fault.injected[language], fault.signal[language]
    return [fault.name, str(len(fault.variants)), "\n".join(seams), injected, signal]


def _variants(faults: Sequence[Fault], language: str) -> Grid:
    names = ("variant", "summary", "seams", "lead")
    rows = [_variant_row(fault, variant, language) for fault in faults for variant in fault.variants]
    return Grid([say(name, language) for name in names], rows, (20, 40, 30, 16))


def _variant_row(fault: Fault, variant: Variant, language: str) -> list[str]:
    seams = "\n".join(_forward(variant))
    return [f"{fault.name}/{variant.name}", variant.summary[language], seams, variant.lead]


def _forward(variant: Variant) -> list[str]:
    """The seams of the forward pass; those of the gradient follow from them."""
    return [str(seam) for seam in variant.patches if not seam.attribute.endswith("_backward")]
