"""The registry: exactly five faults, each told completely in both languages, and each of them real."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from detectors import patterns
from detectors.catalogue import BY_NAME
from detectors.fixtures import Extents, Fixture
from faults import mutants, registry
from faults.model import Fault, Seam, Status, Text, UsageError, Variant
from faults.witness import Search
from tests.faults import samples

ROOT = Path(__file__).parents[2]
CHINESE = re.compile(r"[\u4e00-\u9fff]")

every_variant = pytest.mark.parametrize(("fault", "variant"), samples.CASES, ids=samples.CASE_NAMES)
every_fault = pytest.mark.parametrize("fault", registry.all_faults(), ids=registry.NAMES)


def test_there_are_exactly_five_in_the_order_of_the_table() -> None:
    assert registry.NAMES == (
        "residual_shape",
        "missing_scale",
        "mask_adds_zero",
        "flipped_triangle",
        "head_seq_swap",
    )
    assert tuple(fault.name for fault in registry.all_faults()) == registry.NAMES


@pytest.mark.parametrize("name", registry.NAMES)
def test_a_fault_is_loaded_by_its_name(name: str) -> None:
    assert registry.load(name).name == name


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("mising_scale", "missing_scale"),
        ("residual", "residual_shape"),
        ("Flipped_Triangel", "flipped_triangle"),
        ("scale", "missing_scale"),
    ],
)
def test_a_misspelt_name_is_a_usage_error_with_the_nearest_name(misspelt: str, meant: str) -> None:
    with pytest.raises(UsageError) as raised:
        registry.load(misspelt)
    assert str(raised.value) == f"no fault is called {misspelt!r}; did you mean {meant}?"
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("name", ["", "zzz", "fault", "faults.registry", "../quiz"])
def test_a_name_near_to_none_lists_all_five(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        registry.load(name)
    five = "residual_shape, missing_scale, mask_adds_zero, flipped_triangle, head_seq_swap"
    assert str(raised.value) == f"no fault is called {name!r}; there are {five}"


def test_a_variant_is_found_by_its_name_and_a_misspelt_one_suggested() -> None:
    scale = registry.load("missing_scale")
    assert registry.variant(scale, "twice").name == "twice"
    with pytest.raises(UsageError) as raised:
        registry.variant(scale, "abscent")
    assert str(raised.value) == "missing_scale has no variant 'abscent'; did you mean absent?"
    with pytest.raises(UsageError, match="did you mean by_model_width"):
        registry.variant(scale, "width")
    with pytest.raises(UsageError, match="there are absent, by_model_width"):
        registry.variant(scale, "zzz")


REQUIRED = {
    "residual_shape": (
        "dropped",
        "doubled",
        "after_norm",
        "post_norm",
        "broadcast",
        "ffn_from_input",
        "ffn_from_branch",
        "joined",
        "norm_unused",
    ),
    "missing_scale": (
        "absent",
        "by_model_width",
        "by_heads",
        "by_keys",
        "twice",
        "reciprocal",
        "after_softmax",
        "each_block",
    ),
    "mask_adds_zero": (
        "zero",
        "tiny",
        "one",
        "missing",
        "weak",
        "after_softmax",
    ),
    "flipped_triangle": (
        "flipped",
        "inverted",
        "kept_hidden",
        "one_too_far",
        "diagonal_lost",
        "wrong_corner",
        "first_row",
        "late_rows",
    ),
    "head_seq_swap": ("split", "merge", "both", "tiled", "batch", "stacked"),
}
"""The ways of writing each fault that public bug reports show, and that must never be dropped."""


@every_fault
def test_the_ways_that_bug_reports_show_are_there_and_no_name_twice(fault: Fault) -> None:
    names = [variant.name for variant in fault.variants]
    assert len(set(names)) == len(names)
    assert set(REQUIRED[fault.name]) <= set(names)


def texts(fault: Fault) -> dict[str, Text]:
    named = {
        name: getattr(fault, name) for name in ("title", "injected", "signal", "repair", "enters", "shapes")
    }
    return named | {variant.name: variant.summary for variant in fault.variants}


@every_fault
def test_every_text_is_there_in_both_languages_and_in_one_line(fault: Fault) -> None:
    for name, text in texts(fault).items():
        assert set(text) == {"en", "zh"}, name
        assert CHINESE.search(text["zh"]), name
        assert not CHINESE.search(text["en"]), name
        assert text["en"].strip() == text["en"] != "", name
        assert not any("\n" in line for line in text.values()), name
    assert fault.formula


@every_variant
def test_a_variant_speaks_of_detectors_and_patterns_that_exist(fault: Fault, variant: Variant) -> None:
    signature = variant.signature
    assert variant.lead in BY_NAME
    assert set(signature.fires) <= set(BY_NAME)
    assert variant.lead in signature.fires
    words = {patterns.CAUSAL, patterns.FULL, patterns.TRIANGLE, patterns.NOTHING, patterns.SCRAMBLED}
    for probe, word in signature.patterns.items():
        assert word in ({"fail", "fail unless square"} if probe == "calls" else words)
        assert probe in {"block", "attention", "huge", "short", "calls"}


@every_variant
def test_a_seam_is_a_plain_function_of_the_module_that_is_named(fault: Fault, variant: Variant) -> None:
    for seam in variant.patches:
        function = getattr(importlib.import_module(seam.module), seam.attribute)
        assert inspect.isfunction(function)
        assert (function.__module__, function.__qualname__) == (seam.module, seam.attribute)
        assert str(seam) == f"{seam.module}.{seam.attribute}"
        assert not hasattr(function, "__wrapped__")


@every_fault
def test_the_text_on_where_a_fault_enters_names_the_seams_of_its_first_variant(fault: Fault) -> None:
    for seam in fault.variants[0].patches:
        if not seam.attribute.endswith("_backward"):
            assert seam.attribute in fault.enters["en"]
            assert seam.attribute in fault.enters["zh"]


FORWARD_ONLY = {
    Seam("core.mask", "causal_mask"): "a constant",
    Seam("core.attention", "add_mask"): "a constant is added",
    Seam("core.attention", "scale"): "its own adjoint",
}


@every_variant
def test_a_forward_patch_comes_with_the_patch_of_its_gradient(fault: Fault, variant: Variant) -> None:
    for seam in variant.patches:
        if seam.attribute.endswith("_backward") or seam in FORWARD_ONLY or variant.no_gradient:
            continue
        assert Seam(seam.module, f"{seam.attribute}_backward") in variant.patches


@every_variant
def test_a_variant_dies_on_its_smallest_witness(fault: Fault, variant: Variant) -> None:
    witness = Search().smallest(variant)
    assert witness is not None
    fixture = Fixture(Extents(**witness.extents), witness.seed)
    mutant = mutants.observe(fault, variant, [fixture], [mutants.examined(fixture)])
    assert mutants.status(mutant) is Status.KILLED
    assert variant.lead in mutant.faulty[0].fired
    # `shape` counts failed calls: alone it makes one, in a whole examination several.
    assert variant.lead == "shape" or mutant.faulty[0].value(variant.lead) == witness.value
    assert mutant.restored == 0.0


def test_the_names_can_be_read_without_loading_numpy_or_a_fault() -> None:
    code = (
        "import sys; from faults import registry\n"
        "heavy = {'numpy', 'hypothesis', 'tabulate', 'core', 'detectors', 'reports'} & set(sys.modules)\n"
        "print(len(registry.NAMES), sorted(heavy), [n for n in registry.NAMES if f'faults.{n}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "5 [] []\n"
