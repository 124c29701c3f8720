"""The types of a report: what they compute, and that they need nothing but the standard library."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from faults.model import Control, FaultsError, Reading, Seam, Status, UsageError, score
from tests.faults.samples import report, result, row

ROOT = Path(__file__).parents[2]
FLOOR = 1e-16

K, S, N, T, E, X = (
    Status.KILLED,
    Status.SURVIVED,
    Status.NO_COVERAGE,
    Status.TIMEOUT,
    Status.ERROR,
    Status.NOT_APPLICABLE,
)


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([K, K, K], 1.0),
        ([K, S], 0.5),
        ([K, N], 0.5),
        ([T, S], 0.5),
        ([K, T, S, N], 0.5),
        ([S, N], 0.0),
        ([K, E, E, X], 1.0),
        ([K, K, K, S, E, X], 0.75),
    ],
)
def test_the_score_is_killed_and_timeout_over_all_that_could_die(
    statuses: list[Status], expected: float
) -> None:
    assert score(statuses) == expected


@pytest.mark.parametrize("statuses", [[], [E], [X], [E, X]])
def test_the_score_of_nothing_that_could_die_is_not_available(statuses: list[Status]) -> None:
    assert score(statuses) is None


def reading(healthy: float, faulty: float | None) -> Reading:
    return Reading("rows", "weight", 1e-3, healthy, faulty)


@pytest.mark.parametrize(
    ("healthy", "faulty", "decades"),
    [
        (1e-7, 1e-2, 5.0),
        (1e-2, 1e-7, -5.0),
        (0.0, 1.0, 16.0),  # nothing counts as smaller than the floor
        (1e-16, 1.0, 16.0),
        (1e-30, 1.0, 16.0),
        (1e-3, math.inf, math.inf),
    ],
)
def test_a_margin_is_in_decades_over_the_healthy_value_or_the_floor(
    healthy: float, faulty: float, decades: float
) -> None:
    assert reading(healthy, faulty).margin(FLOOR) == pytest.approx(decades)


@pytest.mark.parametrize("faulty", [None, 0.0, math.nan, -1.0])
def test_there_is_no_margin_without_a_faulty_value_above_zero(faulty: float | None) -> None:
    assert reading(1e-7, faulty).margin(FLOOR) is None


def test_a_control_holds_only_when_it_ends_as_it_must() -> None:
    assert Control("no_op", S, S).holds
    assert not Control("no_op", S, K).holds
    assert not Control("no_op", S, N).holds


def test_a_fault_adds_up_its_variants() -> None:
    fault = result(row(generated=5, caught=3), row(generated=4, caught=4))
    assert (fault.total("generated"), fault.total("caught")) == (9, 7)
    assert result().total("generated") == 0


def test_a_report_lists_all_variants_in_order_and_adds_up_its_alarms() -> None:
    found = report(faults=(result(row(variant="a"), row(variant="b")), result(row(variant="c"))))
    assert [variant.variant for variant in found.variants] == ["a", "b", "c"]
    assert found.alarms == 0
    assert report(detectors=(*LOUD,)).alarms == 5


LOUD = tuple(
    type(report().detectors[0])("rows", {"en": "", "zh": ""}, "weight", 0.0, 1.0, alarms, 9)
    for alarms in (2, 3)
)


def test_statuses_are_written_as_words() -> None:
    assert [str(status) for status in Status] == [
        "not applicable",
        "error",
        "timeout",
        "no coverage",
        "killed",
        "survived",
    ]


def test_a_seam_is_written_as_one_finds_it() -> None:
    assert str(Seam("core.mask", "causal_mask")) == "core.mask.causal_mask"


def test_errors_carry_their_exit_code() -> None:
    assert (FaultsError.exit_code, UsageError.exit_code) == (3, 2)
    assert issubclass(UsageError, FaultsError)


def test_the_types_need_the_standard_library_only() -> None:
    code = (
        "import sys; before = set(sys.modules); import faults.model\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "['faults']\n"
