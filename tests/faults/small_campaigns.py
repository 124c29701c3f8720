"""Campaigns of made-up variants, on few fixtures."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from detectors.fixtures import Fixture
from faults import campaign, mutants
from faults.injection import Injection
from faults.model import Function, Report, Seam, Variant, VariantResult
from faults.mutants import Mutant
from tests.faults import samples

EXAMPLES = 24
SCALE = Seam("core.attention", "scale")
UNUSED = Seam("core.residual", "post_norm")


def run(*variants: Variant, examples: int = 4, seed: int = 0) -> Report:
    """A campaign of made-up variants."""
    return campaign.run([samples.fault(*variants)], examples, seed)


def only(report: Report) -> VariantResult:
    (row,) = report.variants
    return row


def unchanged(original: Function) -> Function:
    return lambda *arguments: original(*arguments)


def raising(error: BaseException) -> Callable[[Function], Function]:
    def patch(original: Function) -> Function:
        def replacement(*arguments: Any) -> Any:
            raise error

        return replacement

    return patch


def held(seam: Seam) -> Function:
    function: Function = getattr(importlib.import_module(seam.module), seam.attribute)
    return function


def injected_ever(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Fills with the name of every variant that is injected from now on."""
    names: list[str] = []
    apply = Injection.apply

    def noted(self: Injection) -> None:
        names.append(self.variant.name)
        apply(self)

    monkeypatch.setattr(Injection, "apply", noted)
    return names


def observed(variant: Variant, *fixtures: Fixture) -> Mutant:
    """One variant on fixtures of one's own choice."""
    healthy = [mutants.examined(fixture) for fixture in fixtures]
    return mutants.observe(samples.fault(variant), variant, fixtures, healthy)
