"""The words of evidence as types: bounds, problems, measures, parts of the gate. Standard library only."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass

from faults.model import Text

SCHEMA = "learn-llm.evidence.v1"
MODULE = "07-attention-transformer"
INTERMEDIATES = ("scores", "scaled", "masked", "weights", "output")
NO_COMMIT = "none: this record was not written in a Git repository that has a commit"

Compare = Callable[[float, float], bool]
COMPARE: dict[str, Compare] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def said(en: str, zh: str) -> Text:
    """One sentence in both languages of the program."""
    return {"en": en, "zh": zh}


@dataclass(frozen=True)
class Bound:
    """What a metric must satisfy, whatever the examined file says it expects: `actual SIGN limit`.

    `limit` is kept as it is written in the source, so that the two can be compared by eye.
    `ceiling` is the largest value the quantity can have at all.
    """

    metric: str
    sign: str
    limit: str
    source: Text
    ceiling: float = math.inf

    @property
    def value(self) -> float:
        return float(self.limit)

    def __str__(self) -> str:
        return f"{self.sign} {self.limit}"

    def possible(self, actual: float) -> bool:
        """True unless the quantity cannot be that: NaN, infinite and negative it never is."""
        return math.isfinite(actual) and 0 <= actual <= self.ceiling

    def allows(self, actual: float) -> bool:
        """True when `actual` is a possible value within the bound."""
        return self.possible(actual) and COMPARE[self.sign](actual, self.value)


_TEMPLATE = said("chapter 7, template", "第7章 Evidence 模板")
_EXPECTED = said("chapter 7, expected output", "第7章「命令与预期输出」")
# The chapter leaves this tolerance open.
_OWN = said("this program", "本程序")

HOLDS, OUTSIDE = said("holds", "满足"), said("out of bounds", "越界")

BOUNDS = (
    Bound("future_token_invariance", "<", "1e-6", _EXPECTED),
    Bound("reference_output_max_error", "<=", "1e-6", _OWN),
    Bound("no_mask_future_prefix_influence", ">", "1e-5", _TEMPLATE),
    # Two weights lie in [0, 1], so that their difference cannot exceed 1.
    Bound("scale_ablation_max_weight_delta", ">", "0.01", _TEMPLATE, ceiling=1.0),
    Bound("residual_ablation_max_output_delta", ">", "1e-5", _TEMPLATE),
)


@dataclass(frozen=True)
class Problem:
    """One thing that keeps a file from being evidence: where it is and what is wrong with it."""

    where: Text
    what: Text


@dataclass(frozen=True)
class Measure:
    """A recorded metric against its bound; `actual` is None where no number was recorded."""

    bound: Bound
    actual: float | None
    verdict: Text

    @property
    def holds(self) -> bool:
        return self.actual is not None and self.bound.allows(self.actual)


def judged(bound: Bound, actual: float) -> Measure:
    """A number that was measured, against its bound."""
    return Measure(bound, actual, HOLDS if bound.allows(actual) else OUTSIDE)


@dataclass(frozen=True)
class Part:
    """One of the four parts of the gate: present or missing, and why."""

    name: Text
    present: bool
    why: Text


@dataclass(frozen=True)
class Check:
    """The verdict on one evidence file."""

    file: str
    problems: tuple[Problem, ...]
    measures: tuple[Measure, ...]
    gate: tuple[Part, ...]

    @property
    def complete(self) -> bool:
        return not self.problems and all(part.present for part in self.gate)
