from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from detectors.attention.slope import Scale
from detectors.catalogue import BY_NAME, DETECTORS
from detectors.detector import Signal
from detectors.diagnosis import PATTERN_WEIGHT, TIE, Candidate, Diagnosis, Expected, diagnose, distance, rank
from detectors.examination import Examination


def examination(
    fired: Iterable[str], unseen: Iterable[str] = (), patterns: Mapping[str, str] | None = None
) -> Examination:
    """Signals at 1 where they fire and at 0 where they do not."""
    values = dict.fromkeys(BY_NAME, 0.0) | dict.fromkeys(fired, 1.0)
    signals = tuple(
        Signal(detector, None if detector.name in unseen else values[detector.name]) for detector in DETECTORS
    )
    return Examination(signals, patterns or {}, ())


def expected(
    fires: Iterable[str], fault: str = "fault", variant: str = "variant", **patterns: str
) -> Expected:
    return Expected(fault, variant, frozenset(fires), patterns)


def test_the_weights_these_examples_are_calculated_with() -> None:
    # A change of weights is welcome; then the arithmetic below changes with it.
    weights = {name: BY_NAME[name].weight for name in ("future", "rows", "prefix", "heads", "slope")}
    assert weights == {"future": 1, "rows": 1, "prefix": 0.5, "heads": 0.25, "slope": 2}
    assert PATTERN_WEIGHT == 1.5


@pytest.mark.parametrize(
    ("fired", "wanted", "apart"),
    [
        ({"future", "rows"}, {"future", "rows"}, 0.0),
        ({"future"}, {"rows"}, 1.0),
        ({"future"}, {"future", "rows"}, 1 / 2),
        # 1 in common of 1 + 2
        ({"future", "slope"}, {"future"}, 2 / 3),
        # 0.5 in common of 0.5 + 0.25 + 1
        ({"prefix", "heads"}, {"prefix", "future"}, 1 - 0.5 / 1.75),
        (set(), set(), 1.0),
    ],
)
def test_distance_is_the_share_of_weight_that_is_not_in_common(
    fired: set[str], wanted: set[str], apart: float
) -> None:
    assert distance(examination(fired), expected(wanted)) == pytest.approx(apart)


def test_what_could_not_be_observed_is_not_held_against_a_fault() -> None:
    found = examination({"future"}, unseen={"rows"})
    assert distance(found, expected({"future", "rows"})) == 0
    assert distance(examination({"future"}), expected({"future", "rows"})) == 0.5


def test_nan_is_held_neither_against_a_fault_nor_for_it() -> None:
    signals = (Signal(BY_NAME["future"], 1.0), Signal(BY_NAME["rows"], float("nan")))
    found = Examination(signals, {}, ())
    assert found.fired == {"future", "rows"}
    assert distance(found, expected({"future"})) == 0
    assert distance(found, expected({"future", "rows"})) == 0
    assert distance(found, expected({"rows"})) == 1


def test_patterns_count_where_they_were_looked_for() -> None:
    found = examination({"future"}, patterns={"block": "full"})
    assert distance(found, expected({"future"}, block="full")) == 0
    assert distance(found, expected({"future"}, block="full", attention="full")) == 0
    # 1 in common of 1 + 1.5, and with another pattern of 1 + 1.5 + 1.5
    assert distance(found, expected({"future"})) == pytest.approx(1 - 1 / 2.5)
    assert distance(found, expected({"future"}, block="triangle")) == pytest.approx(1 - 1 / 4)


def test_the_same_word_in_another_look_is_another_pattern() -> None:
    found = examination({"future"}, patterns={"block": "full", "huge": "causal"})
    # "huge" is causal here: 1 in common of 1 + 1.5 + 1.5
    assert distance(found, expected({"future"}, huge="full")) == pytest.approx(1 - 1 / 4)


def test_causal_is_no_mark_on_either_side() -> None:
    found = examination({"rows"}, patterns={"block": "causal"})
    assert distance(found, expected({"rows"}, block="causal")) == 0
    assert distance(found, expected({"rows"})) == 0


def test_the_nearest_variant_stands_for_its_fault() -> None:
    table = [
        expected({"future"}, "mask", "zero"),
        expected({"future", "rows"}, "mask", "late"),
        expected({"slope"}, "scale", "absent"),
    ]
    found = diagnose(examination({"future", "rows"}), table)
    assert found.named == ("mask",)
    assert [(c.fault, c.variant, c.distance) for c in found.candidates] == [
        ("mask", "late", 0.0),
        ("scale", "absent", 1.0),
    ]


def test_equal_distances_are_reported_as_a_tie_in_the_order_of_the_table() -> None:
    table = [expected({"future"}, "second"), expected({"future"}, "first"), expected({"rows"}, "third")]
    assert diagnose(examination({"future"}), table).named == ("second", "first")


def test_a_difference_of_rounding_is_still_a_tie() -> None:
    pairs = [(expected((), "one"), 0.1 + 0.2), (expected((), "other"), 0.3), (expected((), "far"), 0.3001)]
    assert rank(pairs).named == ("other", "one")


def test_two_variants_of_one_fault_are_no_tie() -> None:
    table = [expected({"future"}, "mask", "zero"), expected({"future"}, "mask", "tiny")]
    found = diagnose(examination({"future"}), table)
    assert found.named == ("mask",)
    assert found.candidates[0].variant == "zero"


def factors(**factors: float | None) -> list[Expected]:
    """Variants of one fault that look alike and multiply the scores by these numbers, after another fault's."""
    made = [
        Expected("scale", name, frozenset({"slope"}), {}, None if factor is None else lambda *_, f=factor: f)
        for name, factor in factors.items()
    ]
    return [expected({"slope"}, "first"), *made]


@pytest.mark.parametrize(
    ("found", "variant"),
    [
        (1.0, "absent"),
        (1.04, "absent"),
        (0.25, "twice"),
        (2.0, "reciprocal"),
        # None of these numbers: what has no number of its own, and else the nearest.
        (0.6, "blocks"),
        (1.2, "blocks"),
        (float("nan"), "absent"),
        (-1.0, "absent"),
        (0.0, "absent"),
    ],
)
def test_the_scale_that_was_found_parts_variants_that_look_alike(found: float, variant: str) -> None:
    table = factors(absent=1.0, twice=0.25, blocks=None, reciprocal=2.0)
    named = diagnose(examination({"slope"}), table, Scale(found, heads=2, head_width=4, keys=5))
    assert [candidate.fault for candidate in named.candidates] == ["first", "scale"]
    assert named.candidates[1].variant == variant
    assert diagnose(examination({"slope"}), table).candidates[1].variant == "absent"


def test_a_factor_is_told_of_the_heads_their_width_and_the_keys() -> None:
    def factor(heads: int, head_width: int, keys: int) -> float:
        return heads + 10 * head_width + 100 * keys

    exact = Expected("scale", "exact", frozenset({"slope"}), {}, factor)
    table = [*factors(blocks=None), exact]
    found = diagnose(examination({"slope"}), table, Scale(542.0, heads=2, head_width=4, keys=5))
    assert found.candidates[1].variant == "exact"


def test_distances_apart_by_a_billionth_are_a_tie_and_no_more() -> None:
    def named(apart: float) -> tuple[str, ...]:
        return Diagnosis((Candidate("near", "v", 0.25), Candidate("far", "v", 0.25 + apart))).named

    assert named(5e-10) == named(TIE) == ("near", "far")
    assert named(5e-9) == ("near",)


def test_without_a_better_one_the_nearest_factor_is_named() -> None:
    table = factors(absent=1.0, twice=0.25, reciprocal=2.0)
    assert diagnose(examination({"slope"}), table, Scale(1.7, 2, 4, 5)).candidates[1].variant == "reciprocal"
    assert diagnose(examination({"slope"}), table, Scale(0.1, 2, 4, 5)).candidates[1].variant == "twice"


def test_a_nearer_signature_outweighs_the_scale() -> None:
    table = [*factors(absent=1.0, twice=0.25), expected({"slope", "rows"}, "scale", "late")]
    named = diagnose(examination({"slope", "rows"}), table, Scale(0.25, 2, 4, 5))
    assert named.candidates[0].variant == "late"


def test_a_quiet_examination_names_none_whatever_its_patterns() -> None:
    table = [expected({"future"}, block="full"), expected((), "empty")]
    assert diagnose(examination(()), table) == Diagnosis(())
    assert diagnose(examination((), patterns={"block": "full"}), table).named == ()


def test_signals_with_nothing_in_common_name_none() -> None:
    found = diagnose(examination({"finite"}), [expected({"future"}, "mask"), expected({"slope"}, "scale")])
    assert found.named == ()
    assert [candidate.distance for candidate in found.candidates] == [1.0, 1.0]


def test_an_empty_table_names_none() -> None:
    assert diagnose(examination({"future"}), []).named == ()


STREAM = ("skip", "gradient_flow", "attention_branch", "feed_forward_branch", "order")


def test_shape_and_the_residual_laws_take_priority_over_what_they_upset_further_down() -> None:
    table = [
        expected({"heads", "isolation", "prefix", "future"}, "heads"),
        expected(STREAM, "residual"),
        expected({"shape"}, "shapes"),
    ]
    further_down = {"heads", "isolation", "prefix", "future"}
    assert diagnose(examination({*STREAM, *further_down}), table).named == ("residual",)
    assert diagnose(examination({"shape", "prefix", "heads"}), table).named == ("shapes",)


def test_the_kind_of_failed_call_tells_a_confusion_of_axes_from_a_wrong_shape() -> None:
    table = [
        expected({"shape"}, "residual", calls="fail"),
        expected({"shape", "reach"}, "heads", calls="fail unless square"),
    ]
    everywhere = examination({"shape"}, patterns={"calls": "fail"})
    unless_square = examination({"shape", "reach"}, patterns={"calls": "fail unless square"})
    assert diagnose(everywhere, table).named == ("residual",)
    assert diagnose(unless_square, table).named == ("heads",)
