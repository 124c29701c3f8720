"""Patches, variants and expected signatures of `residual_shape`.

The seam is one sublayer, `pre_norm(x, skip, norm, branch)`, and its gradient
`pre_norm_backward(grad, norm_backward, branch_backward) -> (gradient of x, gradient of skip)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults.fault_words import fault
from faults.model import Function, Seam, Signature, Variant
from faults.residual_shape import words

Array = NDArray[Any]

FORWARD = Seam("core.residual", "pre_norm")
BACKWARD = Seam("core.residual", "pre_norm_backward")
COMPOSE = Seam("core.residual", "compose")
COMPOSE_BACKWARD = Seam("core.residual", "compose_backward")


def dropped(original: Function) -> Function:
    return lambda x, skip, norm, branch: branch(norm(x))


def dropped_backward(original: Function) -> Function:
    return lambda grad, norm_backward, branch_backward: (
        norm_backward(branch_backward(grad)),
        np.zeros_like(grad),
    )


def doubled(original: Function) -> Function:
    return lambda x, skip, norm, branch: skip + skip + branch(norm(x))


def doubled_backward(original: Function) -> Function:
    return lambda grad, norm_backward, branch_backward: (norm_backward(branch_backward(grad)), grad + grad)


def after_norm(original: Function) -> Function:
    def pre_norm(x: Array, skip: Array, norm: Function, branch: Function) -> Any:
        normed = norm(x)
        return normed + branch(normed)

    return pre_norm


def after_norm_backward(original: Function) -> Function:
    return lambda grad, norm_backward, branch_backward: (
        norm_backward(grad + branch_backward(grad)),
        np.zeros_like(grad),
    )


def post_norm(original: Function) -> Function:
    return lambda x, skip, norm, branch: norm(skip + branch(x))


def post_norm_backward(original: Function) -> Function:
    def pre_norm_backward(grad: Array, norm_backward: Function, branch_backward: Function) -> tuple[Any, Any]:
        inner = norm_backward(grad)
        return branch_backward(inner), inner

    return pre_norm_backward


def broadcast(original: Function) -> Function:
    return lambda x, skip, norm, branch: skip[:, :1] + branch(norm(x))


def broadcast_backward(original: Function) -> Function:
    def pre_norm_backward(grad: Array, norm_backward: Function, branch_backward: Function) -> tuple[Any, Any]:
        skip = np.zeros_like(grad)
        skip[:, 0] = grad.sum(axis=1)
        return norm_backward(branch_backward(grad)), skip

    return pre_norm_backward


def ffn_from_input(original: Function) -> Function:
    return lambda x, first, second: second(first(x, x), x)


def ffn_from_input_backward(original: Function) -> Function:
    def compose_backward(grad: Array, first_backward: Function, second_backward: Function) -> Any:
        stream, skip = second_backward(grad)
        return sum(first_backward(stream), start=skip)

    return compose_backward


def ffn_from_branch(original: Function) -> Function:
    def compose(x: Array, first: Function, second: Function) -> Any:
        attended = first(x, np.zeros_like(x))
        return second(attended, x + attended)

    return compose


def ffn_from_branch_backward(original: Function) -> Function:
    def compose_backward(grad: Array, first_backward: Function, second_backward: Function) -> Any:
        read, skip = second_backward(grad)
        return first_backward(read + skip)[0] + skip

    return compose_backward


def sequence_first(original: Function) -> Function:
    return lambda x, skip, norm, branch: skip + branch(norm(x)).swapaxes(0, 1)


def sequence_first_backward(original: Function) -> Function:
    """For as many sequences as tokens; everywhere else the block raises or gives another shape."""
    return lambda grad, norm_backward, branch_backward: (
        norm_backward(branch_backward(grad.swapaxes(0, 1))),
        grad,
    )


def norm_unused(original: Function) -> Function:
    return lambda x, skip, norm, branch: skip + branch(x)


def norm_unused_backward(original: Function) -> Function:
    return lambda grad, norm_backward, branch_backward: (branch_backward(grad), grad)


def joined(original: Function) -> Function:
    return lambda x, skip, norm, branch: np.concatenate([skip, branch(norm(x))], axis=-1)


STREAM = frozenset({"skip", "gradient_flow", "attention_branch", "feed_forward_branch", "order", "heads"})
"""What breaks as soon as the stream itself is not handed on."""


PATCHES: Mapping[str, Mapping[Seam, Callable[[Function], Function]]] = {
    "dropped": {FORWARD: dropped, BACKWARD: dropped_backward},
    "doubled": {FORWARD: doubled, BACKWARD: doubled_backward},
    "after_norm": {FORWARD: after_norm, BACKWARD: after_norm_backward},
    "post_norm": {FORWARD: post_norm, BACKWARD: post_norm_backward},
    "broadcast": {FORWARD: broadcast, BACKWARD: broadcast_backward},
    "ffn_from_input": {COMPOSE: ffn_from_input, COMPOSE_BACKWARD: ffn_from_input_backward},
    "ffn_from_branch": {COMPOSE: ffn_from_branch, COMPOSE_BACKWARD: ffn_from_branch_backward},
    "sequence_first": {FORWARD: sequence_first, BACKWARD: sequence_first_backward},
    "joined": {FORWARD: joined},
    "norm_unused": {FORWARD: norm_unused, BACKWARD: norm_unused_backward},
}


def _variant(name: str, lead: str, fires: frozenset[str], **more: Any) -> Variant:
    signature = Signature(fires, more.pop("patterns", {}))
    more.setdefault("witnesses", lambda extents: True)
    return Variant(name, words.VARIANTS[name], PATCHES[name], lead, signature, **more)


FAULT = fault(
    "residual_shape",
    words,
    _variant("dropped", "gradient_flow", STREAM),
    _variant("doubled", "gradient_flow", STREAM),
    _variant("after_norm", "gradient_flow", STREAM | {"isolation"}),
    _variant("post_norm", "gradient_flow", STREAM | {"isolation"}),
    _variant("broadcast", "gradient_flow", STREAM, witnesses=lambda extents: extents.tokens > 1),
    _variant("ffn_from_input", "order", frozenset({"order", "attention_branch", "heads"})),
    _variant("ffn_from_branch", "order", frozenset({"order", "heads"})),
    _variant(
        "sequence_first",
        "shape",
        frozenset({"shape"}),
        patterns={"calls": "fail"},
        witnesses=lambda extents: extents.batch > 1 or extents.tokens > 1,
    ),
    _variant(
        "joined",
        "shape",
        frozenset({"shape"}),
        patterns={"calls": "fail"},
        no_gradient="the block raises: the next norm finds 2D channels",
    ),
    # The stream itself is handed on, but what the branches add to it grows with it.
    _variant("norm_unused", "skip", frozenset({"skip", "attention_branch", "feed_forward_branch", "heads"})),
)
