"""The answers of `faults check` as JUnit XML: one test suite per subject, one test case per contract.

A broken contract is a failure; one that was not observed or does not apply is skipped; a subject that could not be
used is one error. The properties of a suite have the verdict, and the faults of the five that were not looked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from detectors.checking import BROKEN, HOLDS, Finding
from faults.answers import Answer
from reports import figures

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2, production 2) does not allow, not even escaped."""

Case = tuple[str, str, str]
"""Name, outcome ("", "failure", "error" or "skipped") and message of a test case."""


def to_junit(answers: Sequence[Answer]) -> str:
    """The whole XML document, with a line end."""
    root = ElementTree.Element("testsuites", name="faults check")
    for answer in answers:
        suite = ElementTree.SubElement(root, "testsuite", name=_clean(answer.subject))
        _describe(suite, {"verdict": answer.verdict, "unseen": " ".join(one.fault for one in answer.unseen)})
        for case in _cases(answer):
            _add(suite, answer.subject, case)
        _count(suite, suite.findall("testcase"))
    _count(root, list(root.iter("testcase")))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _describe(suite: ElementTree.Element, said: Mapping[str, str]) -> None:
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in said.items():
        ElementTree.SubElement(properties, "property", name=name, value=value)


def _cases(answer: Answer) -> list[Case]:
    if answer.checked is None:
        return [("subject", "error", answer.cause)]
    return [_case(finding) for finding in answer.checked.findings]


def _case(finding: Finding) -> Case:
    name, value = finding.detector.name, figures.value(finding.value)
    if finding.verdict == BROKEN:
        law, threshold = finding.detector.law["en"], figures.value(finding.detector.threshold)
        return name, "failure", f"{law}: found {value} {finding.detector.unit}, threshold {threshold}"
    return (name, "", "") if finding.verdict == HOLDS else (name, "skipped", finding.reason)


def _add(suite: ElementTree.Element, subject: str, case: Case) -> None:
    name, outcome, message = case
    element = ElementTree.SubElement(suite, "testcase", classname=_clean(subject), name=_clean(name))
    if outcome:
        ElementTree.SubElement(element, outcome, message=_clean(message))


def _count(element: ElementTree.Element, cases: Sequence[ElementTree.Element]) -> None:
    element.set("tests", str(len(cases)))
    for outcome, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(outcome) is not None for case in cases)))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
