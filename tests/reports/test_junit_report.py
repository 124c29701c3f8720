"""JUnit XML: what a CI server would show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from faults.model import Control, Report, Status
from reports.junit import to_junit


def changed(report: Report, **changes: Any) -> Report:
    """The report with fields of its first variant replaced."""
    first = report.faults[0]
    variants = (replace(first.variants[0], **changes), *first.variants[1:])
    return replace(report, faults=(replace(first, variants=variants), *report.faults[1:]))


def suite(report: Report, name: str) -> ElementTree.Element:
    return next(element for element in suites(report) if element.get("name") == name)


def suites(report: Report) -> Iterator[ElementTree.Element]:
    return ElementTree.fromstring(to_junit(report)).iter("testsuite")


def counts(element: ElementTree.Element) -> tuple[str | None, ...]:
    return tuple(element.get(name) for name in ("tests", "failures", "errors", "skipped"))


def test_each_fault_is_a_suite_and_each_variant_a_case(report: Report) -> None:
    assert [element.get("name") for element in suites(report)][2:] == [
        "mask_adds_zero",
        "missing_scale",
        "verdict",
    ]
    assert [case.get("name") for case in suite(report, "mask_adds_zero")] == ["zero", "missing"]


def test_a_good_run_has_no_failure(report: Report) -> None:
    assert counts(ElementTree.fromstring(to_junit(report))) == ("8", "0", "0", "0")


def test_what_fails_the_run_as_a_whole_is_red_though_every_variant_is_green(report: Report) -> None:
    root = ElementTree.fromstring(to_junit(report, [{"en": "missing_scale: named none", "zh": "未认出"}]))
    assert counts(root) == ("8", "1", "0", "0")
    assert [failure.get("message") for failure in root.iter("failure")] == ["missing_scale: named none"]


def test_a_partial_report_is_an_error(report: Report) -> None:
    root = ElementTree.fromstring(to_junit(replace(report, interrupted=True)))
    assert counts(root) == ("8", "0", "1", "0")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"status": Status.SURVIVED}, ("2", "1", "0", "0")),
        ({"status": Status.NO_COVERAGE}, ("2", "1", "0", "0")),
        ({"status": Status.ERROR}, ("2", "0", "1", "0")),
        ({"status": Status.NOT_APPLICABLE}, ("2", "0", "0", "1")),
        ({"status": Status.TIMEOUT}, ("2", "0", "0", "0")),
        ({"restored": 1e-17}, ("2", "1", "0", "0")),
        ({"restored": float("nan")}, ("2", "1", "0", "0")),
    ],
)
def test_an_end_is_counted_as_what_it_is(report: Report, changes: dict[str, Any], expected: object) -> None:
    assert counts(suite(changed(report, **changes), "mask_adds_zero")) == expected


def test_a_failure_says_how_many_fixtures_caught_it(report: Report) -> None:
    text = to_junit(changed(report, status=Status.SURVIVED, caught=4))
    assert "survived, caught on 4/9 witnessing fixtures" in text


def test_a_false_alarm_fails_the_baseline(report: Report) -> None:
    noisy = replace(report.detectors[0], alarms=1)
    assert counts(suite(replace(report, detectors=(noisy,)), "baseline")) == ("1", "1", "0", "0")


def test_a_control_that_ends_wrong_fails(report: Report) -> None:
    dead = Control("no-op", Status.SURVIVED, Status.KILLED)
    assert counts(suite(replace(report, controls=(dead,)), "controls")) == ("1", "1", "0", "0")


def test_names_that_xml_forbids_leave_the_document_readable(report: Report) -> None:
    odd = 'a\x00\x1b"<&>\ud800\uffff名'
    case = next(iter(suite(changed(report, variant=odd, reason=odd, status=Status.ERROR), "mask_adds_zero")))
    assert case.get("name") == 'a\ufffd\ufffd"<&>\ufffd\ufffd名'


def test_the_same_report_gives_the_same_bytes_without_durations(report: Report) -> None:
    assert to_junit(report) == to_junit(report)
    assert "time" not in to_junit(report)


def cases(report: Report, name: str) -> list[tuple[str, ...]]:
    """Class, name, and outcome and message if there is one, of each case of a suite."""
    found = []
    for case in suite(report, name):
        told = [(one.tag, one.get("message", "")) for one in case]
        found.append(
            (case.get("classname", ""), case.get("name", ""), *(word for pair in told for word in pair))
        )
    return found


def test_every_case_says_what_was_found_and_what_is_required(report: Report) -> None:
    bad = replace(report.detectors[0], alarms=3, fixtures=10)
    alive = replace(report.controls[1], status=Status.SURVIVED)
    red = replace(report, detectors=(bad, report.detectors[1]), controls=(report.controls[0], alive))
    assert cases(red, "baseline") == [
        ("faults.baseline", "future", "failure", "fired on 3/10 healthy fixtures"),
        ("faults.baseline", "slope"),
    ]
    assert cases(red, "controls") == [
        ("faults.controls", "no-op"),
        ("faults.controls", "must-die", "failure", "survived, required: killed"),
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ()),
        (
            {"status": Status.SURVIVED, "caught": 4},
            ("failure", "survived, caught on 4/9 witnessing fixtures"),
        ),
        ({"restored": 0.25}, ("failure", "not restored, differs by 0.25")),
        ({"status": Status.ERROR, "reason": "it raised"}, ("error", "error: it raised")),
        ({"status": Status.ERROR}, ("error", "error")),
        ({"status": Status.NOT_APPLICABLE}, ("skipped", "not applicable")),
    ],
)
def test_a_variant_ends_in_one_of_these_ways(
    report: Report, changes: dict[str, Any], told: tuple[str, ...]
) -> None:
    first = cases(changed(report, **changes), "mask_adds_zero")[0]
    assert first == ("faults.mask_adds_zero", "zero", *told)


def test_the_verdict_is_a_suite_of_its_own(report: Report) -> None:
    assert cases(report, "verdict") == [("faults.verdict", "verdict")]
    assert cases(replace(report, interrupted=True), "verdict") == [
        ("faults.verdict", "complete", "error", "interrupted: the report is partial")
    ]
    problems = [{"en": "first", "zh": "一"}, {"en": "second", "zh": "二"}]
    root = ElementTree.fromstring(to_junit(report, problems))
    assert (root.tag, root.get("name")) == ("testsuites", "faults")
    told = [(case.get("name"), case[0].tag, case[0].get("message")) for case in list(root)[-1]]
    assert told == [("problem 1", "failure", "first"), ("problem 2", "failure", "second")]
