"""The mutation score as JUnit XML: a suite for each module, a case for each mutant.

What the tests missed is a failure with its diff; a crash or a missing verdict is an error; what does not count is
skipped. Whatever else fails the gate is a suite of its own, so that no red gate has a green file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from faults.model import Status
from faults.mutation.model import Mutant, ScoreReport, missed

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2, production 2) does not allow, not even escaped."""


def to_junit(report: ScoreReport) -> str:
    """The whole XML document, with a line end."""
    root = ElementTree.Element("testsuites", name="faults score")
    suite = _suite(root, "gate")
    for problem in report.judgement.problems or ({"en": "passed"},):
        case = ElementTree.SubElement(suite, "testcase", classname="gate", name=clean(problem["en"]))
        if report.judgement.problems:
            ElementTree.SubElement(case, "failure", message=clean(problem["en"]))
    for name, mutants in _by_module(report.run.mutants).items():
        suite = _suite(root, name)
        for mutant in mutants:
            _case(suite, mutant)
    for element in (*root, root):
        count(element, list(element.iter("testcase")))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _suite(root: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(root, "testsuite", name=clean(name))


def _by_module(mutants: Sequence[Mutant]) -> dict[str, list[Mutant]]:
    found: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        found.setdefault(mutant.module, []).append(mutant)
    return dict(sorted(found.items()))


def _case(suite: ElementTree.Element, mutant: Mutant) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=clean(mutant.name), name=clean(mutant.key))
    outcome, message = _outcome(mutant)
    if outcome:
        ElementTree.SubElement(case, outcome, message=clean(message)).text = clean(mutant.change.diff)


def _outcome(mutant: Mutant) -> tuple[str, str]:
    """ "", "failure", "error" or "skipped", and the message."""
    if missed(mutant):
        return "failure", f"{mutant.status}: {mutant.change.before} -> {mutant.change.after}"
    if mutant.equivalent:
        return "skipped", f"equivalent: {mutant.equivalent}"
    if mutant.status in (None, Status.ERROR):
        return "error", mutant.reason
    return ("skipped", mutant.reason) if mutant.status is Status.NOT_APPLICABLE else ("", "")


def count(element: ElementTree.Element, cases: Sequence[ElementTree.Element]) -> None:
    """Writes the number of cases and of their outcomes into a suite."""
    element.set("tests", str(len(cases)))
    for outcome, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(attribute, str(sum(case.find(outcome) is not None for case in cases)))


def clean(text: str) -> str:
    """The text with a replacement character for everything XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
