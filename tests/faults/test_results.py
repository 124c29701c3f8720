"""From observations to rows: counts, the quoted signal, the name a fault gets, and what lesser tests catch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from detectors.catalogue import BY_NAME, DETECTORS
from detectors.diagnosis import Expected
from detectors.examination import Examination
from detectors.fixtures import Extents, Fixture
from faults import registry, results
from faults.model import Fault, Status, Variant, Witness
from faults.mutants import Mutant
from tests.faults import samples
from tests.faults.samples import examination, firing

QUIET = examination({})


def row(fault: str, variant: str, *fires: str, **patterns: str) -> Expected:
    return Expected(fault, variant, frozenset(fires), patterns)


# `reach` and `batch` weigh 1 each.
TABLE = (
    row("near", "one", "reach"),
    row("near", "two", "reach", "batch"),
    row("far", "one", "batch", "finite"),
    row("twin", "one", "batch", "finite"),
)


def made(
    faulty: Sequence[Examination],
    healthy: Sequence[Examination] = (),
    fault: str = "near",
    name: str = "one",
    lead: str = "reach",
) -> Mutant:
    """What a mutant looks like after its fixtures were examined, each with two calls of the patch."""
    variant = samples.variant({}, name, lead=lead)
    fixtures = [Fixture(Extents(), seed) for seed in range(len(faulty))]
    mutant = Mutant(samples.fault(variant, name=fault), variant, len(faulty) + 1, fixtures, list(healthy))
    mutant.faulty = list(faulty)
    mutant.activations = [2] * len(faulty)
    return mutant


def named(found: Examination, table: Sequence[Expected] = TABLE) -> tuple[str, ...]:
    return results.Naming(table).named(found)


def test_the_weights_that_these_tests_count_with() -> None:
    assert {BY_NAME[name].weight for name in ("reach", "batch", "finite")} == {1.0}


def test_signals_name_the_fault_with_the_nearest_signature() -> None:
    assert named(firing("reach")) == ("near",)
    assert named(firing("reach", "batch")) == ("near",)


def test_equal_distances_are_a_tie_in_the_order_of_the_table() -> None:
    assert named(firing("batch", "finite")) == ("far", "twin")
    assert named(firing("batch", "finite"), TABLE[::-1]) == ("twin", "far")


def test_a_quiet_examination_and_one_that_resembles_nothing_name_no_fault() -> None:
    assert named(QUIET) == ()
    assert named(firing("rows")) == ()
    assert named(examination({}, {"block": "full"}), (row("leak", "one", block="full"),)) == ()


def test_a_pattern_tells_apart_what_fires_alike() -> None:
    table = (row("full", "one", "future", block="full"), row("turned", "one", "future", block="triangle"))
    assert named(firing("future", patterns={"block": "triangle"}), table) == ("turned",)
    assert named(firing("future", patterns={"block": "full"}), table) == ("full",)
    assert named(firing("future"), table) == ("full", "turned")


def test_what_could_not_be_observed_does_not_count_against_a_fault() -> None:
    table = (row("seen", "one", "reach"), row("unseen", "one", "reach", "rows"))
    assert named(examination({"reach": 1.0}), table) == ("seen",)
    assert named(examination({"reach": 1.0, "rows": None}), table) == ("seen", "unseen")


def test_examinations_that_differ_in_what_was_observed_alone_are_told_apart() -> None:
    naming = results.Naming((row("seen", "one", "reach"), row("unseen", "one", "reach", "rows")))
    assert naming.named(examination({"reach": 1.0})) == ("seen",)
    assert naming.named(examination({"reach": 1.0, "rows": None})) == ("seen", "unseen")
    patterned = results.Naming((row("open", "one", "reach", block="full"), row("shut", "one", "reach")))
    assert patterned.named(firing("reach")) == ("open", "shut")
    assert patterned.named(firing("reach", patterns={"block": "full"})) == ("open",)


def test_a_signature_left_out_leaves_the_fault_to_its_other_variants() -> None:
    naming = results.Naming(TABLE)
    found = firing("batch", "finite")
    assert naming.named(found) == ("far", "twin")
    assert naming.named(found, ("far", "one")) == ("twin",)
    assert naming.named(found, ("near", "one")) == ("far", "twin")
    # near/two is the only signature of its fault that has anything in common with this.
    assert naming.named(firing("reach"), ("near", "one")) == ("near",)
    assert naming.named(firing("reach"), ("near", "none such")) == ("near",)


def test_the_table_has_one_row_for_each_variant_with_its_signature() -> None:
    table = results.expected(registry.all_faults())
    assert [f"{row.fault}/{row.variant}" for row in table] == samples.CASE_NAMES
    signatures = [variant.signature for _, variant in samples.CASES]
    assert [(row.fires, row.patterns, row.factor) for row in table] == [
        (s.fires, s.patterns, s.factor) for s in signatures
    ]
    assert any(s.factor is not None for s in signatures)


def test_a_row_counts_names_ties_and_names_without_its_own_signature() -> None:
    faulty = [firing("batch", "finite"), firing("batch", "finite"), firing("reach"), QUIET]
    twin = made(faulty, fault="twin")
    found = results.variant_result(twin, results.Naming(TABLE), None)
    # Two ties, one that is named "near", one quiet; without its own signature, "far" stands alone.
    assert (found.named, found.tied, found.named_without_own) == (0, 2, 0)
    near = made(faulty, fault="near", name="one")
    found = results.variant_result(near, results.Naming(TABLE), None)
    assert (found.named, found.tied, found.named_without_own) == (1, 2, 1)
    far = made([firing("batch", "finite")], fault="far")
    found = results.variant_result(far, results.Naming((*TABLE[:3], row("far", "two", "finite"))), None)
    assert (found.named, found.tied, found.named_without_own) == (1, 0, 1)
    lonely = results.variant_result(made([firing("reach")]), results.Naming((TABLE[0], TABLE[2])), None)
    assert (lonely.named, lonely.tied, lonely.named_without_own) == (1, 0, 0)


def test_a_row_counts_fixtures_calls_and_kills_by_detector() -> None:
    faulty = [firing("reach", "rows"), examination({"reach": 1.0, "rows": None}), QUIET]
    found = results.variant_result(made(faulty), results.Naming(TABLE), None)
    assert (found.fault, found.variant, found.status) == ("near", "one", Status.SURVIVED)
    assert (found.generated, found.witnessing, found.caught, found.activations) == (4, 3, 2, 6)
    assert list(found.kills) == list(found.observed) == [detector.name for detector in DETECTORS]
    assert (found.kills["reach"], found.kills["rows"], found.kills["slope"]) == (2, 1, 0)
    assert (found.observed["reach"], found.observed["rows"]) == (3, 2)
    assert found.reason == "missed on 1 of 3 witnessing fixtures"


def test_a_row_keeps_the_words_the_restoration_and_the_witness_of_its_variant() -> None:
    mutant, witness = made([firing("reach")]), Witness({"token": 2}, 3, "reach", 0.5)
    mutant.restored = 0.25
    found = results.variant_result(mutant, results.Naming(TABLE), witness)
    assert (found.summary, found.restored, found.witness) == (samples.TEXT, 0.25, witness)


def test_a_row_quotes_the_largest_healthy_and_the_smallest_faulty_value_of_its_lead() -> None:
    healthy = [examination({"slope": value}) for value in (1e-6, 4e-6, None)]
    faulty = [examination({"slope": value}) for value in (0.7, 0.4, None)]
    found = results.variant_result(made(faulty, healthy, lead="slope"), results.Naming(TABLE), None)
    reading = found.reading
    assert (reading.detector, reading.unit, reading.threshold) == ("slope", "|ln factor|", 0.05)
    assert (reading.healthy, reading.faulty) == (4e-6, 0.4)
    assert found.margin == pytest.approx(5.0)  # log10(0.4 / 4e-6)


def test_a_lead_that_was_never_measured_has_no_faulty_value_and_no_margin() -> None:
    found = results.variant_result(made([examination({"reach": None})]), results.Naming(TABLE), None)
    assert (found.reading.healthy, found.reading.faulty, found.margin) == (0.0, None, None)


@pytest.mark.parametrize("order", [1, -1])
def test_a_value_that_is_no_number_does_not_hide_the_smallest_one(order: int) -> None:
    faulty = [examination({"slope": value}) for value in (math.nan, 0.5)][::order]
    reading = results.variant_result(made(faulty, lead="slope"), results.Naming(TABLE), None).reading
    assert reading.faulty == 0.5
    only = [examination({"slope": math.nan})]
    assert (
        results.variant_result(made(only, lead="slope"), results.Naming(TABLE), None).reading.faulty
        == math.inf
    )


def test_no_healthy_value_counts_as_smaller_than_the_roundoff_of_the_coarsest_dtype() -> None:
    double, single = Fixture(Extents(dtype="float64"), 0), Fixture(Extents(dtype="float32"), 0)
    assert results.floor([double]) == 2.0**-52
    assert results.floor([double, single]) == results.floor([single, double]) == 2.0**-23
    assert results.floor([]) == 2.0**-52


def result_of(*mutants: Mutant) -> str:
    fault: Fault = mutants[0].fault
    return results.fault_result(fault, mutants, (), results.Naming(TABLE)).diagnosis


def test_a_fault_is_named_as_most_of_its_examinations_are() -> None:
    assert result_of(made([firing("reach"), QUIET]), made([firing("reach")])) == "near"
    assert result_of(made([QUIET]), made([firing("reach")] * 2)) == "near"
    assert result_of(made([firing("batch", "finite")] * 2), made([firing("reach")])) == "far = twin"
    assert result_of(made([firing("batch", "finite")]), made([firing("reach")])) == "far = twin = near"
    assert result_of(made([QUIET])) == "none"
    assert result_of(made([])) == "none"


def test_a_fault_keeps_its_words() -> None:
    fault = registry.load("missing_scale")
    found = results.fault_result(fault, [], (), results.Naming(TABLE))
    assert (found.name, found.title, found.injected) == (fault.name, fault.title, fault.injected)
    assert (found.signal, found.repair, found.variants) == (fault.signal, fault.repair, ())


def test_a_detector_is_listed_with_its_largest_healthy_value_and_its_false_alarms() -> None:
    healthy = [examination({"rows": value}) for value in (1e-7, 0.2, 3e-7, None)]
    (info,) = [info for info in results.detector_infos(healthy) if info.name == "rows"]
    assert (info.healthy, info.alarms, info.fixtures) == (0.2, 1, 3)
    assert (info.unit, info.threshold, info.law) == ("weight", 1e-3, BY_NAME["rows"].law)
    assert [info.name for info in results.detector_infos([])] == [detector.name for detector in DETECTORS]
    assert {(info.healthy, info.alarms, info.fixtures) for info in results.detector_infos([])} == {
        (0.0, 0, 0)
    }


@pytest.mark.parametrize("order", [1, -1])
def test_a_healthy_value_that_is_no_number_is_an_alarm_and_shown_as_infinite(order: int) -> None:
    healthy = [examination({"rows": value}) for value in (math.nan, 1e-7)][::order]
    (info,) = [info for info in results.detector_infos(healthy) if info.name == "rows"]
    assert (info.healthy, info.alarms, info.fixtures) == (math.inf, 1, 2)


def test_what_each_usual_test_alone_would_have_caught() -> None:
    leak, sums = firing("future", "heads"), firing("rows", "heads")
    found = results.alone(
        [
            made([leak, leak], fault="a"),
            made([leak, sums], fault="b"),
            made([sums], fault="c"),
            made([firing("slope")], fault="d"),
            made([], fault="never examined"),
        ]
    )
    assert [alone.name for alone in found] == ["shape", "rows", "future"]
    shape, rows, future = found
    assert (shape.caught, shape.sometimes) == ((), ())
    assert (rows.caught, rows.sometimes) == (("c/one",), ("b/one",))
    assert (future.caught, future.sometimes) == (("a/one",), ("b/one",))
    assert {alone.total for alone in found} == {4}


def test_the_usual_tests_are_detectors() -> None:
    assert set(results.ALONE) <= set(BY_NAME)


def test_a_label_is_the_fault_and_its_variant() -> None:
    variant: Variant = samples.variant({}, "twice")
    assert results.label(samples.fault(variant, name="missing_scale"), variant) == "missing_scale/twice"
