"""Which of the five faults an examination looked for, from the contracts that could be measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from detectors.checking import ASSUMED, UNSEEN, Checked, Finding

TELLING: Mapping[str, frozenset[str]] = {
    "residual_shape": frozenset(
        {"skip", "gradient_flow", "attention_branch", "feed_forward_branch", "order", "heads"}
    ),
    "missing_scale": frozenset({"slope", "duplication", "heads"}),
    "mask_adds_zero": frozenset(
        {"future", "prefix", "future_weight", "first_token", "zero_query", "huge_logits", "heads"}
    ),
    "flipped_triangle": frozenset(
        {"future", "prefix", "reach", "future_weight", "first_token", "zero_query", "huge_logits", "heads"}
    ),
    "head_seq_swap": frozenset({"isolation", "prefix", "reach", "heads"}),
}
"""The contracts that each fault breaks in the form it is named after: with one of them measured it was looked for."""

ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("residual_shape", "attention"): "a subject of kind attention has no residual",
    ("residual_shape", "self_attention"): "a subject of kind self_attention has no residual",
    ("head_seq_swap", "attention"): "a subject of kind attention is given its heads",
}
"""Faults that are outside some kinds of subjects, and why."""

CAUSAL = ("mask_adds_zero", "flipped_triangle")
"""Faults of a causal mask."""

FAILED = "the call failed"


def unseen(checked: Checked, heads: int | None) -> dict[str, str]:
    """The faults that could be in the subject and were not looked for, each with the reason.

    heads: how many it has; with one, that axis can be confused with the batch alone, which every call shows.
    """
    told = {
        fault: [finding for finding in checked.findings if finding.detector.name in telling]
        for fault, telling in TELLING.items()
        if not outside(fault, checked) and (fault, heads) != ("head_seq_swap", 1)
    }
    return {fault: reason(findings) for fault, findings in told.items() if not shown(findings)}


def outside(fault: str, checked: Checked) -> str:
    """Why the fault cannot be in the subject at all; empty where it can."""
    if fault in CAUSAL and "causal" not in checked.subject.declares:
        return ASSUMED["causal"]
    return ELSEWHERE.get((fault, checked.subject.kind), "")


def shown(findings: Sequence[Finding]) -> bool:
    """Whether one of the contracts was measured."""
    return any(finding.value is not None for finding in findings)


def reason(findings: Sequence[Finding]) -> str:
    """Why none of them was: a failed call before all else, then what could have been measured."""
    if any(one.reason.startswith(FAILED) for one in findings):
        return FAILED
    return min(findings, key=lambda one: (one.verdict != UNSEEN, -one.detector.weight)).reason
