"""Blocks in PyTorch in every combination of positions, heads, norm and kernel: sound ones quiet, faults named."""

from __future__ import annotations

from typing import Any

import pytest

from faults import registry
from tests.quality.foreign import blocks, pairs

torch = pytest.importorskip("torch", reason="PyTorch is not installed in this environment")
written = pytest.importorskip("tests.quality.foreign.torch_blocks")

CASES = [(fault, form) for fault in written.FAULTS for form in blocks.chosen(fault, written.FORMS, 1)]

each_form = pytest.mark.parametrize("form", written.FORMS, ids=str)
each_case = pytest.mark.parametrize(("fault", "form"), CASES, ids=[f"{name}-{form}" for name, form in CASES])

# A second thread costs far more than it brings with arrays this small.
torch.set_num_threads(1)


def nan_rows(form: Any) -> bool:
    return not form.fused


def examined(form: Any, fault: str = "") -> Any:
    return pairs.examined(written.block(form, fault), blocks.declared(form, "layer"))


@each_form
def test_a_sound_block_is_sound_in_every_form(form: Any) -> None:
    found = examined(form)
    assert [finding.detector.name for finding in found.broken] == []
    assert found.verdict == "sound"
    slope = found.finding("slope")
    assert slope.value == pytest.approx(0, abs=1e-5), slope.reason


@each_case
def test_a_fault_is_caught_and_named(fault: str, form: Any) -> None:
    found = examined(form, fault)
    assert found.broken
    assert found.named == (blocks.said_of(fault, form, nan_rows(form)),)


def test_every_variant_is_written_in_or_said_to_be_invisible() -> None:
    variants = {
        f"{fault.name}/{variant.name}" for fault in registry.all_faults() for variant in fault.variants
    }
    assert set(written.FAULTS) | set(blocks.NOT_HERE) == variants
    assert not set(written.FAULTS) & set(blocks.NOT_HERE)
