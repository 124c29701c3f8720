"""The block and the chain behind it: tokens -> logits -> loss and update -> generate, against the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors import plain_block
from faults import reference
from faults.clean_room.inputs import EXTENTS, NEW_TOKENS, RATE, Inputs
from faults.clean_room.judging import TOLERANCE, agrees, array, error, explained, run, wrong
from faults.clean_room.room import Room

Array = NDArray[Any]

B, T, V = EXTENTS.batch, EXTENTS.tokens, EXTENTS.vocab
FUTURE = 1e-6
"""Chapter 7: what replacing later tokens may change in an earlier logit, at most."""

PARITY = TOLERANCE

STEP = 1e-4
"""Relative: finite differences are a fair way to a gradient, and no more exact than this."""


def blocked(room: Room, inputs: Inputs) -> Array:
    """The learner's block; raises Judged unless it is the reference's."""
    name, x = "block", inputs.x
    found = array(name, run(room, name, x, inputs.weights, inputs.heads), x.shape)
    explained(name, found, plain_block.output(inputs.fixture), _other_blocks(inputs))
    return found


def _other_blocks(inputs: Inputs) -> dict[str, Array]:
    """What blocks with one thing otherwise return."""
    x, w, heads = inputs.x, inputs.weights, inputs.heads
    right = reference.run_block(x, w, heads)
    no_attention = reference.run_block(x, w | {role: np.zeros_like(w[role]) for role in ("Wo", "bo")}, heads)
    no_feed = reference.run_block(x, w | {role: np.zeros_like(w[role]) for role in ("W2", "b2")}, heads)
    swapped = w | {"gain1": w["gain2"], "gain2": w["gain1"], "shift1": w["shift2"], "shift2": w["shift1"]}
    return {
        "cut": right - x,
        "doubled": right + x,
        "no_feed": no_feed,
        "no_attention": no_attention,
        "no_bo": reference.run_block(x, w | {"bo": np.zeros_like(w["bo"])}, heads),
        "other_norms": reference.run_block(x, swapped, heads),
        "feed_from_x": no_attention - x + no_feed,
    }


def logits(room: Room, inputs: Inputs) -> Array:
    """The learner's logits; raises Judged unless they are the reference's and no later token changes them."""
    name = "logits"
    found = array(name, run(room, name, inputs.tokens, inputs.model, inputs.heads), (B, T, V))
    moved = future_change(room, inputs, found)
    if not moved < FUTURE:
        en = f"see the future: replacing later tokens changes an earlier logit by {moved:.3g}, required < {FUTURE:g}"
        zh = f"看到了未来：替换后面的 token 使前面的 logit 改变 {moved:.3g}，应 < {FUTURE:g}"
        raise wrong(name, f"your {name} {en}", f"你的 {name} {zh}")
    explained(name, found, inputs.language.logits(inputs.tokens), {})
    return found


def future_change(room: Room, inputs: Inputs, before: Array, replaced: str = "", fault: str = "") -> float:
    """Largest change of a logit before position t when every token from t on is replaced, over all t > 0."""
    changes = []
    for t in range(1, T):
        other = np.where(np.arange(T) < t, inputs.tokens, (inputs.tokens + 5) % V)
        after = room.call("logits", other, inputs.model, inputs.heads, replaced=replaced, fault=fault)
        changes.append(error(np.asarray(after)[:, :t], before[:, :t]))
    return float(np.max(changes))


def learned(room: Room, inputs: Inputs) -> None:
    """Raises Judged unless the loss is the cross-entropy, and one update goes down its gradient."""
    expected, gradients = inputs.language.loss_and_gradients(inputs.tokens, inputs.targets)
    given = (inputs.tokens, inputs.targets, inputs.model, inputs.heads)
    found = array("loss", run(room, "loss", *given), ())
    others = {"sum": expected * B * T, "bits": expected / np.log(2), "negative": -expected}
    explained("loss", found, np.asarray(expected), {key: np.asarray(value) for key, value in others.items()})
    after = run(room, "update", *given, RATE)
    count = stepped(inputs.model, after, gradients)
    if not count:
        raise wrong("update", "your update moves no parameter", "你的 update 没有改变任何参数")
    lower = array("loss", run(room, "loss", *given[:2], after, inputs.heads), ())
    if not lower < found:
        en, zh = (
            f"does not lower the loss: {found:.6g} -> {lower:.6g}",
            f"没有降低 loss：{found:.6g} -> {lower:.6g}",
        )
        raise wrong("update", f"your update {en}", f"你的 update {zh}")


def stepped(before: Any, after: Any, gradients: Any, where: str = "", judge: bool = True) -> int:
    """How many parameters moved; raises Judged where the form of the model changed, or, if they are judged, where
    one moved otherwise than by -rate * gradient."""
    if isinstance(before, np.ndarray):
        found = array("update", after, before.shape)
        return _moved(before, found, gradients, where.strip()) if judge else int((found != before).any())
    keys: Any = before.keys() if isinstance(before, dict) else range(len(before))
    if type(after) is not type(before) or len(after) < len(before) or not set(keys) <= set(_keys(after)):
        en = f"update does not return a whole model: {where or 'it '}is incomplete or of another kind"
        raise wrong("update", en, f"update 返回的不是完整的 model：{where.strip() or '整体'}不完整或类型不同")
    return sum(
        stepped(before[key], after[key], gradients[key] if judge else None, f"{where}{key} ", judge)
        for key in keys
    )


def _keys(tree: Any) -> Any:
    return tree.keys() if isinstance(tree, dict) else range(len(tree))


def _moved(before: Array, after: Array, gradient: Array, where: str) -> int:
    if (after == before).all():
        return 0
    step = (before - after) / RATE
    if not error(step, gradient) <= STEP * max(1e-3, float(np.abs(gradient).max())):
        if agrees(step, -gradient):
            raise wrong(
                "update",
                f"your update climbs: {where} moves up its gradient",
                f"你的 update 方向反了：{where} 沿梯度上升",
            )
        apart = error(step, gradient)
        en = f"moves {where} otherwise than by -learning_rate * gradient: the gradient is off by {apart:.3g}"
        raise wrong(
            "update",
            f"your update {en}",
            f"你的 update 对 {where} 的变化不是 -learning_rate * 梯度：梯度相差 {apart:.3g}",
        )
    return 1


def generated(room: Room, inputs: Inputs) -> Array:
    """The learner's generation; raises Judged unless it is the prompt and the likeliest tokens."""
    name, prompt = "generate", inputs.tokens[:, :3]
    found = array(name, run(room, name, prompt, inputs.model, inputs.heads, NEW_TOKENS), (B, 3 + NEW_TOKENS))
    if not (found[:, :3] == prompt).all():
        raise wrong(name, f"your {name} does not keep the prompt", f"你的 {name} 没有保留 prompt")
    expected = inputs.language.generate(prompt, NEW_TOKENS)
    if not (found == expected).all():
        first = int((found != expected).any(axis=0).argmax()) - 2
        en = f"takes another token than the likeliest, first at new token {first}"
        raise wrong(
            name, f"your {name} {en}", f"你的 {name} 选的不是最可能的 token，首次出现在第 {first} 个新 token"
        )
    return found


def parity(room: Room, inputs: Inputs) -> tuple[float, float]:
    """Largest difference of the learner's block from the reference, and from the heads computed one by one."""
    found = array("block", run(room, "block", inputs.x, inputs.weights, inputs.heads), inputs.x.shape)
    return error(found, reference.output(inputs.fixture)), error(found, plain_block.output(inputs.fixture))
