"""What a run says about itself: baseline, controls, score, diagnosis, restoration."""

from __future__ import annotations

from faults.model import Control, DetectorInfo, Report, Status
from reports import figures
from reports.words import STATUS, say


def checks(report: Report, language: str) -> list[str]:
    """One sentence each, in the order a reader doubts them."""
    controls = [_control(control, language) for control in report.controls]
    return [*_baseline(report, language), *controls, *_diagnosis(report, language), _score(report, language)]


def _baseline(report: Report, language: str) -> list[str]:
    fixtures = max((detector.fixtures for detector in report.detectors), default=0)
    counts = {"detectors": len(report.detectors), "fixtures": fixtures, "alarms": report.alarms}
    lines = [say("baseline", language, **counts)]
    return lines + [_alarm(detector, language) for detector in report.detectors if detector.alarms]


def _alarm(detector: DetectorInfo, language: str) -> str:
    return say(
        "alarm",
        language,
        name=detector.name,
        alarms=detector.alarms,
        fixtures=detector.fixtures,
        healthy=figures.value(detector.healthy),
        threshold=figures.value(detector.threshold),
    )


def _control(control: Control, language: str) -> str:
    return say(
        "control" if control.holds else "control broken",
        language,
        name=control.name,
        status=STATUS[control.status][language],
        expected=STATUS[control.expected][language],
        detail=f" ({control.detail})" if control.detail else "",
    )


def _score(report: Report, language: str) -> str:
    statuses = [variant.status for variant in report.variants]
    dead = sum(status in (Status.KILLED, Status.TIMEOUT) for status in statuses)
    judged = dead + sum(status in (Status.SURVIVED, Status.NO_COVERAGE) for status in statuses)
    return say("score", language, share=figures.share(dead, judged), percent=figures.percent(dead, judged))


def _diagnosis(report: Report, language: str) -> list[str]:
    witnessing = sum(fault.total("witnessing") for fault in report.faults)
    named = sum(fault.total("named") for fault in report.faults)
    without = sum(fault.total("named_without_own") for fault in report.faults)
    shares = {
        fault.name: fault.total("named_without_own") / fault.total("witnessing")
        for fault in report.faults
        if fault.total("witnessing")
    }
    lowest = min(shares, key=lambda name: shares[name], default="-")
    return [
        say(
            "diagnosis",
            language,
            named=named,
            witnessing=witnessing,
            percent=figures.percent(named, witnessing),
            tied=sum(fault.total("tied") for fault in report.faults),
        ),
        say(
            "left out",
            language,
            named=without,
            witnessing=witnessing,
            percent=figures.percent(without, witnessing),
            lowest=lowest,
            least=figures.percent(shares.get(lowest, 0.0), 1.0),
        ),
    ]
