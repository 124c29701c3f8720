"""Static pictures of a report for slides and documents: who sees whom, saturation, kill matrix. Needs matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from typing import Any

from faults.model import FaultResult, Report, Text
from faults.page_model import Look, PagePart
from reports.words import both

HEALTHY, FAULTY, EMPTY = "#1f5f9e", "#b04a05", "#efede7"
INK, SOFT = "#1d2227", "#565d66"

GALLERY = (
    ("mask_adds_zero", "zero"),
    ("flipped_triangle", "flipped"),
    ("flipped_triangle", "one_too_far"),
    ("head_seq_swap", "both"),
    ("head_seq_swap", "merge"),
)
"""Variants whose visibility matrix gives them away."""

FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "PingFang SC", "Microsoft YaHei", "SimHei")

WORDS: Mapping[str, Text] = {
    "sound": both("sound", "正确"),
    "query": both("query", "query"),
    "key": both("key", "key"),
    "visibility": both(
        "Who sees whom: change of output t when token s moves; an empty square is exactly 0",
        "谁看得见谁：移动 token s 时输出 t 的变化；空格恰好为 0",
    ),
    "entropy": both("entropy of the weights, bits", "权重的熵（bit）"),
    "largest": both("largest weight w", "最大权重 w"),
    "slope": both("its gradient w(1 - w)", "它的梯度 w(1 - w)"),
    "scaled": both("with 1/sqrt(d_k)", "有 1/sqrt(d_k)"),
    "unscaled": both("without", "没有"),
    "kills": both("share of fixtures on which the detector fired", "检测器报警的 fixture 比例"),
}


def draw(report: Report, kind: str, language: str) -> dict[str, bytes]:
    """File name -> content, `kind` "png" or "svg", for a report with its page part; the same bytes every time."""
    import matplotlib

    # Ids in an SVG come from a random salt, and its date from the clock, unless both are fixed.
    settings = {"svg.hashsalt": "faults", "font.family": _fonts(), "text.color": INK, "axes.edgecolor": SOFT}
    with matplotlib.rc_context(settings):
        return {
            f"{name}.{kind}": _saved(picture(report, language), kind) for name, picture in PICTURES.items()
        }


def _fonts() -> list[str]:
    from matplotlib import font_manager

    present = {font.name for font in font_manager.fontManager.ttflist}
    return [name for name in FONTS if name in present] or ["sans-serif"]


def _saved(figure: Any, kind: str) -> bytes:
    content = io.BytesIO()
    plain = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(content, format=kind, dpi=160, metadata=plain, facecolor="white")
    return content.getvalue()


def _figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    # Not pyplot: it keeps every figure it has made, and asks for a screen.
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def visibility(report: Report, language: str) -> Any:
    """The visibility matrix of the sound block beside those of the faults that can be told from it."""
    looks = _gallery(_part(report), language)
    figure, axes = _figure(1, len(looks), (2.1 * len(looks), 2.75))
    for axis, (title, look, colour) in zip(axes, looks, strict=True):
        _squares(axis, look, colour)
        axis.set_title(title, fontsize=9)
    axes[0].set_xlabel(WORDS["key"][language], fontsize=8)
    axes[0].set_ylabel(WORDS["query"][language], fontsize=8)
    figure.suptitle(WORDS["visibility"][language], fontsize=10)
    return figure


def _part(report: Report) -> PagePart:
    if report.page is None:
        raise ValueError("found a report without its page part; required to draw pictures")
    return report.page


def _gallery(part: PagePart, language: str) -> list[tuple[str, Look, str]]:
    found = {(sight.fault, sight.variant): sight.looks[0] for sight in part.sights}
    faulty = [
        (f"{key[0]}\n{key[1]}", found[key], FAULTY)
        for key in GALLERY
        if key in found and found[key].matrix is not None
    ]
    return [(f"{WORDS['sound'][language]}\n", part.healthy[0], HEALTHY), *faulty]


def _squares(axis: Any, look: Look, colour: str) -> None:
    """Strength by the square root, as on the page: a faint leak shows, and only exact zeros are empty."""
    import numpy as np

    matrix = np.array(look.matrix or [[0.0]])
    tones = np.where(matrix > 0, 0.12 + 0.88 * np.sqrt(np.minimum(matrix, 1)), 0)
    axis.imshow(tones, cmap=_ramp(colour), vmin=0, vmax=1)
    _frame(axis, matrix.shape)


def _frame(axis: Any, shape: tuple[int, ...]) -> None:
    axis.set_xticks([])
    axis.set_yticks([])
    axis.vlines([at + 0.5 for at in range(shape[1] - 1)], -0.5, shape[0] - 0.5, color="white", linewidth=1)
    axis.hlines([at + 0.5 for at in range(shape[0] - 1)], -0.5, shape[1] - 0.5, color="white", linewidth=1)
    axis.spines[:].set_visible(False)


def _ramp(colour: str) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(colour, [EMPTY, colour])


def saturation(report: Report, language: str) -> Any:
    """Entropy, largest weight and w(1 - w) over d_k, with the scale and without."""
    figure, axes = _figure(1, 3, (9.6, 2.9))
    widths = [slope.head_width for slope in _part(report).slopes]
    for axis, name in zip(axes, ("entropy", "largest", "slope"), strict=True):
        for kind, colour, mark in (("scaled", HEALTHY, "o-"), ("unscaled", FAULTY, "s--")):
            curve = _curve(report, kind, name)
            axis.plot(widths, curve, mark, color=colour, label=WORDS[kind][language], markersize=4)
        axis.set_xscale("log", base=2)
        axis.set_xticks(widths, [f"{width:g}" for width in widths], fontsize=7)
        axis.set_ylim(bottom=0)
        axis.set_title(WORDS[name][language], fontsize=10)
        axis.set_xlabel("d_k", fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(fontsize=8, frameon=False)
    return figure


def _curve(report: Report, kind: str, name: str) -> list[float]:
    if name == "slope":
        return [float(getattr(slope, kind)) for slope in _part(report).slopes]
    by_width = {row["head_width"]: row.get(f"{kind}_{name}", math.nan) for row in report.symptoms}
    return [by_width.get(slope.head_width, math.nan) for slope in _part(report).slopes]


def kill_matrix(report: Report, language: str) -> Any:
    """A row per variant and a column per detector that fired: the share of fixtures on which it did."""
    names = [d.name for d in report.detectors if any(row.kills.get(d.name) for row in report.variants)]
    shares = [[_share(row.kills, row.observed, name) for name in names] for row in report.variants]
    figure, (axis,) = _figure(1, 1, (0.36 * len(names) + 3.2, 0.24 * len(shares) + 1.9))
    axis.imshow(shares, cmap=_ramp(HEALTHY), vmin=0, vmax=1, aspect="auto")
    _frame(axis, (len(shares), len(names)))
    labels = [f"{row.fault}/{row.variant}" for row in report.variants]
    axis.set_yticks(range(len(labels)), labels, fontsize=7)
    axis.set_xticks(range(len(names)), names, fontsize=7, rotation=90)
    axis.tick_params(length=0)
    axis.set_title(WORDS["kills"][language], fontsize=9)
    for at in _borders(report.faults):
        axis.axhline(at - 0.5, color=SOFT, linewidth=0.8)
    return figure


def _share(kills: Mapping[str, int], observed: Mapping[str, int], name: str) -> float:
    return kills.get(name, 0) / observed[name] if observed.get(name) else 0.0


def _borders(faults: tuple[FaultResult, ...]) -> list[int]:
    """Rows at which another fault begins."""
    sizes = [len(fault.variants) for fault in faults]
    return [sum(sizes[:at]) for at in range(1, len(sizes))]


PICTURES: dict[str, Callable[[Report, str], Any]] = {
    "visibility": visibility,
    "saturation": saturation,
    "kill_matrix": kill_matrix,
}
