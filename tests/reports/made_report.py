"""A small report made by hand, with figures that can be added up in the head."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from faults.model import (
    Alone,
    Control,
    DetectorInfo,
    FaultResult,
    Reading,
    Report,
    Status,
    VariantResult,
    Witness,
)

SIZES = {"batch": 1, "tokens": 2, "heads": 1, "kv_heads": 1, "head_width": 2, "dtype": "float64"}


def variant(fault: str, name: str, detector: str, **changes: Any) -> VariantResult:
    """One killed variant: 10 fixtures, 9 witnessing, all 9 caught and named."""
    made = VariantResult(
        fault=fault,
        variant=name,
        summary={"en": f"{name} in words", "zh": f"{name} 的写法"},
        status=Status.KILLED,
        generated=10,
        witnessing=9,
        caught=9,
        activations=90,
        reading=Reading(detector, "relative", 1e-9, 0.0, 0.25),
        margin=15.1,
        kills={detector: 9},
        observed={"future": 9, "slope": 9},
        named=9,
        tied=0,
        named_without_own=9,
        restored=0.0,
        witness=Witness(SIZES, 7, detector, 0.25),
    )
    return replace(made, **changes)


def made_report() -> Report:
    """Two faults with three variants; everything killed, named and restored."""
    mask = FaultResult(
        name="mask_adds_zero",
        title={"en": "Mask adds 0", "zh": "mask 加 0"},
        injected={"en": "mask adds 0, not -inf", "zh": "mask 加 0 而不是负无穷"},
        signal={
            "en": "probability on the future > 0, the future leaks",
            "zh": "未来位置概率非零、未来信息泄漏",
        },
        repair={"en": "future-token perturbation back to 0", "zh": "future-token 扰动差回到 0"},
        diagnosis="mask_adds_zero",
        variants=(
            variant("mask_adds_zero", "zero", "future"),
            variant("mask_adds_zero", "missing", "future"),
        ),
    )
    scale = FaultResult(
        name="missing_scale",
        title={"en": "Scale forgotten", "zh": "忘记缩放"},
        injected={"en": "no 1/sqrt(d_k)", "zh": "忘记除以 sqrt(d_k)"},
        signal={
            "en": "softmax near one-hot, the gradient vanishes",
            "zh": "softmax 输出趋近 one-hot、梯度消失",
        },
        repair={"en": "scale right after the dot product", "zh": "点积后立刻缩放"},
        diagnosis="missing_scale",
        variants=(variant("missing_scale", "absent", "slope"),),
    )
    return Report(
        seed=5,
        examples=10,
        detectors=(
            DetectorInfo(
                "future",
                {"en": "no output depends on a later token", "zh": "输出不依赖之后的 token"},
                "relative",
                1e-9,
                0.0,
                0,
                10,
            ),
            DetectorInfo(
                "slope",
                {"en": "log-weights have slope 1/sqrt(d_k)", "zh": "对数权重的斜率为 1/sqrt(d_k)"},
                "log ratio",
                1e-4,
                3e-6,
                0,
                10,
            ),
        ),
        controls=(
            Control("no-op", Status.SURVIVED, Status.SURVIVED),
            Control("must-die", Status.KILLED, Status.KILLED),
        ),
        faults=(mask, scale),
        alone=(
            Alone("shape", (), (), 3),
            Alone("future", ("mask_adds_zero/zero",), ("mask_adds_zero/missing",), 3),
        ),
        symptoms=({"head_width": 64.0, "entropy": 0.5},),
    )
