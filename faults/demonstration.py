"""A fault on one fixture small enough to be followed by hand: before, after and repaired."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from detectors.catalogue import BY_NAME
from detectors.examination import measure
from detectors.fixtures import Extents, Fixture
from faults import reference
from faults.injection import inject
from faults.model import Demonstration, Fault, Stage, Variant

Array = NDArray[Any]
Numbers = list[list[float]]

TINY = Extents(batch=1, tokens=3, heads=2, kv_heads=2, head_width=2, hidden=3)
GROUPED = Extents(batch=1, tokens=3, heads=4, kv_heads=2, head_width=1, hidden=3)
SEVERAL = Extents(batch=2, tokens=3, heads=2, kv_heads=2, head_width=2, hidden=3)
SEED = 5

STAGES = {
    "input": ("token", "channel"),
    "scores": ("query", "key"),
    "masked": ("query", "key"),
    "weights": ("query", "key"),
    "output": ("token", "channel"),
}
"""What is shown, with its axes; scores, masked and weights are those of the first head. Where fewer queries than keys
make the fault, the queries are the last two tokens, and the output is that of attention in the first head."""


def demonstrate(fault: Fault, variant: Variant | None = None) -> Demonstration:
    """The stages of the tiny fixture without the fault, with it and after it, and the lead signal of each.

    The first variant unless another is given; grouped heads, or two sequences, where the fixture could not witness it
    otherwise.
    """
    chosen = variant or fault.variants[0]
    fixture = Fixture(next(sizes for sizes in (TINY, GROUPED, SEVERAL) if chosen.witnesses(sizes)), SEED)
    before, healthy, _ = _look(fixture, chosen)
    with inject(chosen):
        after, faulty, error = _look(fixture, chosen)
    repaired, restored, _ = _look(fixture, chosen)
    stages = tuple(
        Stage(name, axes, before[name], after.get(name), repaired[name]) for name, axes in STAGES.items()
    )
    return Demonstration(
        fault.name,
        chosen.name,
        fixture.extents.as_dict(),
        stages,
        chosen.lead,
        healthy,
        faulty,
        restored,
        error,
    )


def _look(fixture: Fixture, variant: Variant) -> tuple[dict[str, Numbers], float, str]:
    """The stages that could be computed, the lead signal, and what was raised."""
    signal = measure(reference.subject(fixture), fixture, BY_NAME[variant.lead])
    value = float("nan") if signal.value is None else signal.value
    shown: dict[str, Numbers] = {"input": _rows(fixture.x[0])}
    try:
        shown |= _short(fixture) if variant.lead == "short_queries" else _whole(fixture)
    except Exception as error:  # the faulty block may well raise: that is what is being shown
        return shown, value, f"{type(error).__name__}: {error}"
    return shown, value, ""


def _whole(fixture: Fixture) -> dict[str, Numbers]:
    """The block on all tokens: what its attention does in the first head, and its output."""
    return _head(reference.trace(fixture)) | {"output": _rows(reference.output(fixture)[0])}


def _short(fixture: Fixture) -> dict[str, Numbers]:
    """Attention asked by the last two tokens alone, as when the first one's key comes from a cache."""
    query, key, value = reference.projections(fixture)
    trace = reference.attention_trace(query[:, :, -2:], key, value)
    return _head(trace) | {"output": _rows(trace.output[0, 0])}


def _head(trace: Any) -> dict[str, Numbers]:
    return {name: _rows(getattr(trace, name)[0, 0]) for name in ("scores", "masked", "weights")}


def _rows(array: Array) -> Numbers:
    return [[float(number) for number in row] for row in np.asarray(array)]
