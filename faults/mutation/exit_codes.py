"""What the exit code that mutmut keeps for a mutant means as a status, and why."""

from __future__ import annotations

import signal

from faults.model import Status

CPU_LIMIT = 24
"""SIGXCPU: mutmut's limit of CPU seconds."""

TIMEOUTS = (36, CPU_LIMIT, -CPU_LIMIT, 128 + CPU_LIMIT, 255)
NOT_REACHED = (5, 33)
NOT_RUN = {34: "skipped by its configuration", 37: "refused by the type checker"}
PYTEST = {
    2: "pytest was interrupted or could not collect the tests",
    3: "pytest itself failed",
    4: "pytest refused its command line",
}

SIGNALS = {-number: f"killed by signal {int(number)}" for number in signal.valid_signals()}

Verdict = tuple[Status | None, str]
"""Status (None: no verdict) and, where it is no plain verdict, the reason."""


def verdict(code: int | None) -> Verdict:
    """The status of one exit code. Only 1, a failed test, is a kill: whatever else stopped pytest is an error.

    mutmut itself counts 3, an internal error of pytest, as a kill; a crash is no test that found something.
    """
    if code is None:
        return None, "no verdict"
    if code in (0, 1):
        return (Status.KILLED if code else Status.SURVIVED), ""
    if code in TIMEOUTS:
        return Status.TIMEOUT, ""
    if code in NOT_REACHED:
        return Status.NO_COVERAGE, ""
    if code in NOT_RUN:
        return Status.NOT_APPLICABLE, NOT_RUN[code]
    return Status.ERROR, PYTEST.get(code) or SIGNALS.get(code) or f"exit code {code}"
