"""Computes the answers of the self-test with the library's own functions, injection and detectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from detectors.catalogue import BY_NAME
from detectors.examination import measure
from detectors.fixtures import Extents, Fixture
from faults import reference, registry, saturation_slopes, symptoms
from faults.injection import inject
from faults.page_model import Question
from faults.quiz.words import ANSWERS, QUESTIONS

SEED = 7
WALKED = Extents(batch=2, tokens=5, heads=3, kv_heads=3, head_width=4, hidden=7)
"""Five different sizes, so that no shape can be mistaken for another."""

HEAD_WIDTH = 64
PAIRS = 4000
CHANNELS = 32
STARTS = (0, 5, 10)

Figures = dict[str, float]


def questions() -> tuple[Question, ...]:
    """Every question with its answer in both languages and the figures in it, in a fixed order."""
    return tuple(_question(name) for name in QUESTIONS)


def _question(name: str) -> Question:
    figures, shapes = FIGURES[name](), _shapes() if name == "shapes" else {}
    answer = {language: text.format(**figures, **shapes) for language, text in ANSWERS[name].items()}
    return Question(name, QUESTIONS[name], answer, figures)


def _shapes() -> Mapping[str, str]:
    return {f"{name}_shape": str(shape) for name, shape in reference.shapes(Fixture(WALKED, SEED)).items()}


def _sizes() -> Figures:
    names = ("batch", "tokens", "heads", "head_width", "width")
    return {name: float(getattr(WALKED, name)) for name in names}


def _axes() -> Figures:
    weights = reference.trace(Fixture(WALKED, SEED)).weights
    columns, seen = weights.sum(axis=-2), (weights > 0).sum(axis=-1)
    future = np.triu(np.ones(weights.shape[-2:], bool), k=1)
    return {
        "row_error": float(np.abs(weights.sum(axis=-1) - 1).max()),
        "least_column": float(columns.min()),
        "largest_column": float(columns.max()),
        "first_seen": float(seen[..., 0].max()),
        "last_seen": float(seen[..., -1].max()),
        "future_weight": float(weights[..., future].max()),
    }


def _scale() -> Figures:
    query, key = np.random.default_rng(SEED).standard_normal((2, PAIRS, HEAD_WIDTH))
    products = np.array([reference.dot_product(q, k) for q, k in zip(query, key, strict=True)])
    spread = math.sqrt(HEAD_WIDTH)
    # Given q, q.k is normal with deviation |q|, and the mean of |q| is that of a chi distribution.
    length = math.sqrt(2) * math.exp(math.lgamma((HEAD_WIDTH + 1) / 2) - math.lgamma(HEAD_WIDTH / 2))
    return {
        "spread": spread,
        "typical": math.sqrt(2 / math.pi) * spread,
        "exact": math.sqrt(2 / math.pi) * length,
        "measured": float(np.abs(products).mean()),
        "scaled_spread": float(products.std() / spread),
        "own": float(np.mean([reference.dot_product(q, q) for q in query])),
        "pairs": float(PAIRS),
    }


def _gradient() -> Figures:
    rows = {int(row.head_width): row for row in saturation_slopes.slopes()}
    small, middle, wide = rows[4], rows[HEAD_WIDTH], rows[512]
    return {
        "keys": float(symptoms.KEYS),
        "scaled_largest": saturation_slopes.largest(HEAD_WIDTH, "scaled"),
        "unscaled_largest": saturation_slopes.largest(HEAD_WIDTH, "unscaled"),
        "scaled_slope": middle.scaled,
        "unscaled_slope": middle.unscaled,
        "wide_slope": wide.unscaled,
        "small_scaled_slope": small.scaled,
        "small_unscaled_slope": small.unscaled,
    }


def _dot() -> Figures:
    a, b = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    product = reference.dot_product(a, b)
    lengths = math.sqrt(reference.dot_product(a, a) * reference.dot_product(b, b))
    return {
        "product": product,
        "cosine": product / lengths,
        "aligned": lengths,
        "orthogonal": reference.dot_product(a, np.array([3.0, 0.0, -1.0])),
        "score": product / math.sqrt(a.size),
        "longer": reference.dot_product(a, 2 * b),
    }


def _jobs() -> Figures:
    return {
        "masked_future": _signal("future"),
        "open_future": _signal("future", "mask_adds_zero", "zero"),
        "kept_flow": _signal("gradient_flow"),
        "lost_flow": _signal("gradient_flow", "residual_shape", "dropped"),
        "normed_branch": _signal("attention_branch"),
        "unnormed_branch": _signal("attention_branch", "residual_shape", "post_norm"),
    }


def _necessary() -> Figures:
    return {
        "threshold": BY_NAME["future"].threshold,
        "swap_future": _signal("future", "head_seq_swap", "both"),
        "swap_heads": _signal("heads", "head_seq_swap", "both"),
        "scale_future": _signal("future", "missing_scale", "absent"),
        "scale_heads": _signal("heads", "missing_scale", "absent"),
    }


def _signal(detector: str, fault: str = "", variant: str = "") -> float:
    """The value of one detector on the example, sound or with one variant injected."""
    if not fault:
        fixture = Fixture(reference.EXAMPLE, SEED)
        value = measure(reference.subject(fixture), fixture, BY_NAME[detector]).value
        return math.nan if value is None else value
    with inject(registry.variant(registry.load(fault), variant)):
        return _signal(detector)


def _information() -> Figures:
    certain, equal = np.array([1.0]), np.full(8, 1 / 8)
    unlikely, likely = 0.1, 0.9
    return {
        "half": reference.self_information(1 / 2),
        "eighth": reference.self_information(1 / 8),
        "uniform": sum(p * reference.self_information(p) for p in equal),
        "certain": sum(p * reference.self_information(p) for p in certain),
        "unlikely": unlikely - 1,
        "likely": likely - 1,
    }


def _positions() -> Figures:
    table = reference.positions(3 * CHANNELS, CHANNELS)
    products = table[: 2 * CHANNELS] @ table[0]
    rises = int(np.argmax(np.diff(products) > 0)) + 1
    return {
        "channels": float(CHANNELS),
        "one_apart": reference.dot_product(table[0], table[1]),
        "five_apart": reference.dot_product(table[0], table[5]),
        "disagreement": max(
            abs(reference.dot_product(table[p], table[p + d]) - products[d]) for p in STARTS for d in (1, 5)
        ),
        "rises_at": float(rises),
        "before_rise": float(rises - 1),
    }


FIGURES: dict[str, Callable[[], Figures]] = {
    "shapes": _sizes,
    "axes": _axes,
    "scale": _scale,
    "gradient": _gradient,
    "dot": _dot,
    "jobs": _jobs,
    "necessary": _necessary,
    "information": _information,
    "positions": _positions,
}
