"""Do five arrays hang together as the intermediates of one causal attention?

Formula: scores = Q K^T, scaled = scores / sqrt(d_k), masked = scaled + M, weights = softmax(masked),
output = weights V. Shapes: the first four `[..., query, key]`, output `[..., query, channel]`, of each head
or of all heads merged. Source: Vaswani et al. (2017), Attention Is All You Need, section 3.2.1; chapter 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from faults.evidence_artifacts import Array
from faults.evidence_model import INTERMEDIATES, said
from faults.model import Text

ROW_SUM_TOLERANCE = 1e-6
# float32 rounds each step to 1e-7 of the largest value; another temperature or mask moves it by 1e-2 or more.
STEP_TOLERANCE = 1e-5
# Of the width; rounding moves it by twice what it moves the factor.
WIDTH_TOLERANCE = 1e-3
MAPS = ("scores", "scaled", "masked", "weights")


def flaws(arrays: Mapping[str, Array]) -> Iterator[Text]:
    """What is wrong with the intermediates, the most basic thing first; nothing where they hang together.

    Hostile figures overflow; the comparisons then fail by themselves. NumPy's warnings are the caller's to silence.
    """
    absent = [name for name in INTERMEDIATES if name not in arrays]
    if absent:
        names = ", ".join(absent)
        yield said(f"without {names}", f"缺少 {names}")
        return
    shapes = list(_shape_flaws(arrays))
    yield from shapes or _value_flaws(arrays)


def _shape_flaws(arrays: Mapping[str, Array]) -> Iterator[Text]:
    weights, output = arrays["weights"], arrays["output"]
    differing = [name for name in MAPS if arrays[name].shape != weights.shape]
    if differing:
        names = ", ".join(f"{name} {arrays[name].shape}" for name in differing)
        yield said(
            f"{names} has not the shape of weights {weights.shape}",
            f"{names} 与 weights {weights.shape} 形状不同",
        )
    elif weights.ndim < 2 or weights.size == 0 or not 2 <= weights.shape[-2] <= weights.shape[-1]:
        yield said(
            f"weights {weights.shape}: required [..., query, key], 2 <= queries <= keys",
            f"weights {weights.shape}：应为 [..., query, key]，且 2 <= query 数 <= key 数",
        )
    elif not _fits(output.shape, weights.shape):
        yield said(
            f"output {output.shape} does not fit weights {weights.shape}: required [..., query, channel]",
            f"output {output.shape} 与 weights {weights.shape} 不相配：应为 [..., query, channel]",
        )


def _fits(output: tuple[int, ...], weights: tuple[int, ...]) -> bool:
    """True when `output` is `[..., query, channel]` for these weights, per head or heads merged."""
    if len(output) < 2 or output[-1] == 0 or output[-2] != weights[-2]:
        return False
    return output[:-2] in (weights[:-2], weights[:-3])


def _value_flaws(arrays: Mapping[str, Array]) -> Iterator[Text]:
    for name in ("scores", "scaled", "weights", "output"):
        if not np.isfinite(arrays[name]).all():
            yield said(f"{name} is not finite everywhere", f"{name} 含有非有限值")
            return
    weights = arrays["weights"]
    row_error = float(np.abs(weights.sum(axis=-1) - 1).max())
    if not _close(weights.sum(axis=-1), 1, ROW_SUM_TOLERANCE) or (weights < 0).any():
        yield said(
            f"rows of weights miss 1 by {row_error:.1e}: required at most 1e-6, no weight below 0",
            f"weights 行和与 1 相差 {row_error:.1e}：应不超过 1e-6，且权重不得为负",
        )
    leak = float(np.abs(weights[..., future(weights)]).max())
    if leak != 0:
        yield said(f"weight on the future {leak:.1e}: required 0", f"未来位置的权重为 {leak:.1e}：应为 0")
    yield from _step_flaws(arrays)


def future(weights: Array) -> npt.NDArray[np.bool_]:
    """Where a key is later than the query `[query, key]`; fewer queries than keys are the last ones."""
    queries, keys = weights.shape[-2:]
    return np.triu(np.ones((queries, keys), dtype=bool), k=1 + keys - queries)


def _step_flaws(arrays: Mapping[str, Array]) -> Iterator[Text]:
    scores, scaled, masked, weights = (arrays[name] for name in MAPS)
    if not _scaled_by_a_width(scores, scaled):
        yield said(
            "scaled is not scores / sqrt(d_k), d_k = 2, 3, ...",
            "scaled 不等于 scores / √d_k（d_k = 2, 3, …）",
        )
    seen = ~future(weights) & (weights != 0)
    if not _close(masked[seen], scaled[seen], _allowed(scaled)):
        yield said("masked differs from scaled where nothing is masked", "masked 在未遮罩处与 scaled 不同")
    if not _close(_softmax(masked), weights, STEP_TOLERANCE):
        yield said("weights are not softmax(masked)", "weights 不等于 softmax(masked)")


def _close(values: Array, others: Array | float, tolerance: float) -> bool:
    """True when no value is further than that from the other; NaN never is as near."""
    return np.allclose(values, others, rtol=0, atol=tolerance)


def _allowed(values: Array) -> float:
    return STEP_TOLERANCE * float(np.abs(values).max())


def _scaled_by_a_width(scores: Array, scaled: Array) -> bool:
    """True when scaled = scores / sqrt(d_k) for a whole number d_k above 1."""
    factor = (scores * scaled).sum() / (scores * scores).sum()
    # Below 0 where the sign is turned, infinite where the factor is too small: no whole number above 1 is near.
    width = 1 / (factor * abs(factor))
    whole = np.rint(width)
    if not whole >= 2:
        return False
    return _close(width / whole, 1, WIDTH_TOLERANCE) and _close(scaled, scores * factor, _allowed(scaled))


def _softmax(masked: Array) -> Array:
    """Softmax over keys; NaN where a row has no finite largest value, which then equals no weight."""
    exponentials = np.exp(masked - masked.max(axis=-1, keepdims=True))
    normalised: Array = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return normalised
