"""The first five parts: projection, attention, merge, residual, feed-forward; each alone, on the reference's inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faults import reference
from faults.clean_room.inputs import EXTENTS, Inputs
from faults.clean_room.judging import agrees, array, explained, run, same_numbers, wrong
from faults.clean_room.room import Room
from faults.evidence_intermediates import future
from faults.evidence_model import INTERMEDIATES, said

Array = NDArray[Any]

B, T, H, D = EXTENTS.batch, EXTENTS.tokens, EXTENTS.heads, EXTENTS.width
HEADS = (B, H, T, EXTENTS.head_width)
MAPS = (B, H, T, T)
STREAM = (B, T, D)
ROW_SUM = 1e-6


def projected(room: Room, inputs: Inputs) -> tuple[Array, Array, Array]:
    """The learner's query, key and value; raises Judged unless they are the reference's."""
    name = "project_qkv"
    value = run(room, name, inputs.x, inputs.weights, inputs.heads)
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise wrong(name, f"{name} does not return (query, key, value)", f"{name} 应返回 (query, key, value)")
    found = [array(name, one, HEADS) for one in value]
    for letter, one, expected in zip("qkv", found, inputs.projected, strict=True):
        _projected(letter, one, expected, inputs)
    return found[0], found[1], found[2]


def _projected(letter: str, found: Array, expected: Array, inputs: Inputs) -> None:
    name = "project_qkv"
    if not agrees(found, expected) and same_numbers(found, expected):
        en = f"your {name} scrambles heads and tokens ({letter}): right numbers, wrong order of elements"
        raise wrong(name, en, f"你的 {name} 打乱了 head 与 token（{letter}）：数值对，元素顺序错")
    others = [one for one in inputs.projected if agrees(found, one)]
    bare = reference.project(
        inputs.x, {r: a * (r[0] != "b") for r, a in inputs.weights.items()}, inputs.heads
    )
    explained(name, found, expected, {"no_bias": bare["qkv".index(letter)], "other": [*others, expected][0]})


def masked(room: Room) -> Array:
    """The learner's mask; raises Judged unless it hides the future and nothing else, additive or boolean."""
    name = "causal_mask"
    found = array(name, run(room, name, T), (T, T))
    hidden = ~found if found.dtype.kind == "b" else found < -1e3
    late = future(np.ones((T, T)))
    if (hidden == late).all():
        return found
    raise wrong(name, *_mask_words(name, hidden, late))


def _mask_words(name: str, hidden: Array, late: Array) -> tuple[str, str]:
    if (hidden == late.T).all() or (hidden == ~late).all() or (hidden == ~late.T).all():
        return (
            f"your {name} has its triangle flipped or shifted: it hides the wrong side (flipped_triangle)",
            f"你的 {name} 上下三角写反或错位：遮住了错误的一侧（flipped_triangle）",
        )
    if not hidden[late].any():
        return (
            f"your {name} adds 0 where it must add -inf: the future stays visible (mask_adds_zero)",
            f"你的 {name} 在未来位置加的是 0，不是 -inf：未来仍可见（mask_adds_zero）",
        )
    count = int((hidden != late).sum())
    return (
        f"your {name} is wrong at {count} of {late.size} places",
        f"你的 {name} 在 {late.size} 个位置中有 {count} 处不对",
    )


def attended(room: Room, inputs: Inputs) -> Mapping[str, Array]:
    """The learner's five intermediates; raises Judged unless they hang together and agree with the reference."""
    found = intermediates(room, inputs.projected)
    expected = inputs.attended
    name, width = "causal_attention", EXTENTS.head_width**0.5
    scores, scaled = expected.scores, expected.scaled
    explained(name, found["scores"], scores, {"early_scale": scaled, "swapped_axes": scores.swapaxes(-1, -2)})
    factors = {"unscaled": 1.0, "by_d": 1 / width**2, "times": width, "by_width": D**-0.5}
    explained(name, found["scaled"], scaled, {key: scores * factor for key, factor in factors.items()})
    _weights(name, found["weights"])
    explained(name, found["weights"], expected.weights, {})
    explained(name, found["output"], expected.output, {})
    _hidden(name, found["masked"], found["scaled"])
    return found


def intermediates(room: Room, projected: tuple[Array, Array, Array]) -> dict[str, Array]:
    """The five arrays by name; raises Judged where one is absent or of another shape."""
    name = "causal_attention"
    value = run(room, name, *projected)
    absent = [key for key in INTERMEDIATES if not isinstance(value, dict) or key not in value]
    if absent:
        listed = ", ".join(absent)
        raise wrong(name, f"{name} returns no {listed}", f"{name} 的返回值缺少 {listed}")
    shapes = {key: HEADS if key == "output" else MAPS for key in INTERMEDIATES}
    return {
        key: array(name, value[key], shapes[key], said(f"{key} of ", f" {key} 的")) for key in INTERMEDIATES
    }


def _weights(name: str, weights: Array) -> None:
    late = future(weights)
    seen = float(np.abs(weights[..., late]).max())
    earlier = float(np.abs(weights[..., np.tril(np.ones((T, T), bool), -1)]).max())
    if seen > ROW_SUM and earlier <= ROW_SUM:
        en = "looks at the future and not at the past (flipped_triangle)"
        raise wrong(name, f"your {name} {en}", f"你的 {name} 看未来而不看过去：三角写反（flipped_triangle）")
    if seen != 0:
        en = f"puts weight {seen:.3g} on the future: its mask does not reach the scores (mask_adds_zero)"
        raise wrong(
            name,
            f"your {name} {en}",
            f"你的 {name} 给未来位置 {seen:.3g} 的权重：遮罩没有生效（mask_adds_zero）",
        )
    off = row_error(weights)
    if not off <= ROW_SUM:
        en = f"has rows of weights that miss 1 by {off:.3g}"
        raise wrong(name, f"your {name} {en}", f"你的 {name} 的 weights 行和与 1 相差 {off:.3g}")


def row_error(weights: Array) -> float:
    """How far any row of weights misses the sum 1."""
    return float(np.abs(weights.sum(axis=-1) - 1).max())


def _hidden(name: str, found: Array, scaled: Array) -> None:
    seen = ~future(found)
    if not agrees(found[..., seen], scaled[..., seen]):
        en = 'changes in "masked" what the mask must leave alone'
        raise wrong(name, f"your {name} {en}", f'你的 {name} 的 "masked" 改动了不该遮罩的位置')


def merged(room: Room, inputs: Inputs) -> Array:
    """The learner's merge of the reference's attention; raises Judged unless heads stay heads."""
    name, given = "merge_heads", inputs.attended.output
    found = array(name, run(room, name, given), STREAM)
    expected = reference.merge(given)
    if not agrees(found, expected) and same_numbers(found, expected):
        raise wrong(
            name,
            f"your {name} scrambles heads: right shape, wrong order of elements (head_seq_swap)",
            f"你的 {name} 打乱了 head：shape 对，元素顺序错（head_seq_swap）",
        )
    explained(name, found, expected, {})
    return found


def residual(room: Room, inputs: Inputs) -> None:
    """Raises Judged unless the learner's residual is x + branch(Norm(x))."""
    name, x, matrix = "pre_norm_residual", inputs.x, inputs.matrix
    gain, shift = inputs.roles
    found = array(name, run(room, name, x, ("linear", matrix), gain, shift), STREAM)
    n, branch = normalised(x, gain, shift), x @ matrix
    guesses = {
        "dropped": n @ matrix,
        "normed_skip": n + n @ matrix,
        "post_norm": normalised(x + branch, gain, shift),
        "late_norm": x + normalised(branch, gain, shift),
        "no_norm": x + branch,
        "doubled": 2 * x + n @ matrix,
    }
    explained(name, found, reference.pre_norm(x, matrix, gain, shift), guesses)


def normalised(x: Array, gain: Array, shift: Array) -> Array:
    """LayerNorm by its formula, for guesses about what was written instead."""
    centred = x - x.mean(axis=-1, keepdims=True)
    y: Array = gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) + shift
    return y


def fed(room: Room, inputs: Inputs) -> None:
    """Raises Judged unless the learner's feed-forward network is the reference's."""
    name, x, w = "feed_forward", inputs.x, inputs.weights
    found = array(name, run(room, name, x, w), STREAM)
    inner = x @ w["W1"] + w["b1"]
    right = reference.feed(x, w)
    guesses = {
        "no_relu": inner @ w["W2"] + w["b2"],
        "own_skip": x + right,
        "no_b1": np.maximum(x @ w["W1"], 0) @ w["W2"] + w["b2"],
        "no_b2": right - w["b2"],
    }
    explained(name, found, right, guesses)
