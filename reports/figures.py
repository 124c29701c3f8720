"""How numbers are written: short enough for a table, never rounded to something they are not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def value(number: float | None) -> str:
    """Two or three digits: "0", "0.0285", "12.3", "2.8e-6", "inf", "nan"; "-" where nothing was measured."""
    if number is None:
        return "-"
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return f"{number:.0f}"
    if 1e-3 <= abs(number) < 1e4:
        return f"{number:.3g}" if abs(number) < 1e3 else f"{number:.0f}"
    return scientific(number)


def scientific(number: float) -> str:
    """One decimal and an exponent without padding: "2.8e-6"."""
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


def decades(margin: float | None, healthy: float, exact: str) -> str:
    """A margin in decades; the word `exact` where the healthy value is exactly 0; "-" where there is none."""
    if margin is None:
        return "-"
    return exact if healthy == 0 else f"{margin:.1f}"


def share(part: int, whole: int) -> str:
    """ "12/13"."""
    return f"{part}/{whole}"


def percent(part: float, whole: float) -> str:
    """ "92.3 %", rounded down so that only all of them are 100 %; "n/a" of nothing."""
    return f"{math.floor(1000 * part / whole) / 10:.1f} %" if whole else "n/a"


SYMBOLS = {
    "batch": "B",
    "tokens": "T",
    "heads": "H",
    "kv_heads": "Hkv",
    "head_width": "d_k",
    "hidden": "d_ff",
    "norm_kind": "norm",
}
"""The letters of the papers for the names of the extents."""


def extents(sizes: Mapping[str, Any]) -> str:
    """Sizes of a fixture as declared, without parts it does not have: "B=1 T=2 H=3 Hkv=3 d_k=4 float64"."""
    return " ".join(_extent(name, size) for name, size in sizes.items() if size != 0)


def _extent(name: str, size: Any) -> str:
    if name == "dtype":
        return str(size)
    return (
        f"{SYMBOLS.get(name, name)}={size:g}"
        if isinstance(size, float)
        else f"{SYMBOLS.get(name, name)}={size}"
    )
