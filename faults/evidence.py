"""Measures the chapter's five metrics on our own synthetic fixture, and keeps the intermediates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from faults import injection, reference, registry
from faults.evidence_model import BOUNDS, INTERMEDIATES, Measure, judged
from faults.model import FaultsError

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Measurement:
    """One run on one fixture: its seed and extents, the five measures, and the healthy intermediates."""

    seed: int
    extents: Mapping[str, Any]
    measures: tuple[Measure, ...]
    intermediates: Mapping[str, Array]

    @property
    def holds(self) -> bool:
        return all(measure.holds for measure in self.measures)


def measure(seed: int) -> Measurement:
    """The five metrics of chapter 7 on the synthetic fixture of `seed`, with the healthy intermediates."""
    example = reference.example(seed)
    trace = example.trace()
    actual = {
        "future_token_invariance": future_influence(example, seed),
        "reference_output_max_error": _largest(example.run() - example.expected()),
        **_ablations(example, seed),
    }
    measures = tuple(judged(bound, actual[bound.metric]) for bound in BOUNDS)
    intermediates = {name: np.array(getattr(trace, name)) for name in INTERMEDIATES}
    return Measurement(seed, _extents(example.x), measures, intermediates)


def future_influence(example: Any, seed: int) -> float:
    """Largest change of any output before position t when every token from t on is replaced, over all t > 0.

    Formula: max over t of |run(x with others from t on)[:, :t] - run(x)[:, :t]|; 0 for a causal block.
    """
    x, before = example.x, example.run()
    others = np.random.default_rng((seed, 1)).standard_normal(x.shape).astype(x.dtype)
    positions = np.arange(x.shape[1])[:, None]
    changes = [
        _largest((example.run(np.where(positions < t, x, others)) - before)[:, :t])
        for t in range(1, x.shape[1])
    ]
    # np.max, not max: a NaN must come through.
    return float(np.max(changes))


def _ablations(example: Any, seed: int) -> dict[str, float]:
    """The three ablations: what the mask, the scale and the residual each prevent or carry."""
    output, weights = example.run(), example.trace().weights
    with _ablated("mask_adds_zero", "missing"):
        leak = future_influence(example, seed)
    with _ablated("missing_scale", "absent"):
        sharper = _largest(example.trace().weights - weights)
    with _ablated("residual_shape", "dropped"):
        cut = _largest(example.run() - output)
    return {
        "no_mask_future_prefix_influence": leak,
        "scale_ablation_max_weight_delta": sharper,
        "residual_ablation_max_output_delta": cut,
    }


@contextmanager
def _ablated(fault: str, name: str) -> Iterator[None]:
    with injection.inject(registry.variant(registry.load(fault), name)) as entered:
        yield
    if not entered.activations:
        raise FaultsError(
            f"ablation {fault}/{name}: the changed code was never reached; required: at least once"
        )


def _largest(difference: Array) -> float:
    return float(np.abs(difference).max())


def _extents(x: Array) -> dict[str, Any]:
    batch, token, channel = x.shape
    return {"batch": batch, "token": token, "channel": channel, "dtype": str(x.dtype)}
