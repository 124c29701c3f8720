"""A Report as JUnit XML: one test suite per fault, one test case per variant.

A variant that survived, or whose code was never reached, or that was not restored, is a failure; one that
crashed is an error; one that does not apply is skipped. The baseline and the controls are suites of their
own, so that a false alarm is red here too, and so is the verdict on the run as a whole. There are no durations:
the same run gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from faults.model import Control, DetectorInfo, Report, Status, Text, VariantResult
from reports import cells, figures
from reports.words import STATUS

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2, production 2) does not allow, not even escaped."""

Case = tuple[str, str, str]
"""Name, outcome ("", "failure", "error" or "skipped") and message of a test case."""


def to_junit(report: Report, problems: Sequence[Text] = ()) -> str:
    """The whole XML document, with a line end; `problems` are the verdict's, one failed test case each."""
    root = ElementTree.Element("testsuites", name="faults")
    _suite(root, "baseline", [_baseline_case(detector) for detector in report.detectors])
    _suite(root, "controls", [_control_case(control) for control in report.controls])
    for fault in report.faults:
        _suite(root, fault.name, [_variant_case(variant) for variant in fault.variants])
    _suite(root, "verdict", _verdict_cases(report, problems))
    _count(root, list(root.iter("testcase")))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(root: ElementTree.Element, name: str, cases: Sequence[Case]) -> None:
    suite = ElementTree.SubElement(root, "testsuite", name=_clean(name))
    for case, outcome, message in cases:
        element = ElementTree.SubElement(
            suite, "testcase", classname=_clean(f"faults.{name}"), name=_clean(case)
        )
        if outcome:
            ElementTree.SubElement(element, outcome, message=_clean(message))
    _count(suite, list(suite))


def _count(element: ElementTree.Element, cases: Sequence[ElementTree.Element]) -> None:
    element.set("tests", str(len(cases)))
    for outcome, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(outcome) is not None for case in cases)))


def _variant_case(variant: VariantResult) -> Case:
    outcome, message = _variant_outcome(variant)
    return variant.variant, outcome, f"{message}: {variant.reason}" if variant.reason else message


def _variant_outcome(variant: VariantResult) -> tuple[str, str]:
    status = STATUS[variant.status]["en"]
    if variant.status is Status.ERROR:
        return "error", status
    if variant.status in (Status.SURVIVED, Status.NO_COVERAGE):
        caught = figures.share(variant.caught, variant.witnessing)
        return "failure", f"{status}, caught on {caught} witnessing fixtures"
    if variant.restored != 0:
        return "failure", f"not restored, {cells.restored(variant.restored, 'en')}"
    return ("skipped" if variant.status is Status.NOT_APPLICABLE else ""), status


def _verdict_cases(report: Report, problems: Sequence[Text]) -> list[Case]:
    """What makes the run fail as a whole, also where every variant for itself is green."""
    failed = [(f"problem {at}", "failure", text["en"]) for at, text in enumerate(problems, start=1)]
    if report.interrupted:
        failed.append(("complete", "error", "interrupted: the report is partial"))
    return failed or [("verdict", "", "")]


def _baseline_case(detector: DetectorInfo) -> Case:
    fired = figures.share(detector.alarms, detector.fixtures)
    return detector.name, "failure" if detector.alarms else "", f"fired on {fired} healthy fixtures"


def _control_case(control: Control) -> Case:
    ended, expected = STATUS[control.status]["en"], STATUS[control.expected]["en"]
    return control.name, "" if control.holds else "failure", f"{ended}, required: {expected}"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
