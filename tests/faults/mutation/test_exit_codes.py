from __future__ import annotations

import pytest

from faults.model import Status
from faults.mutation.exit_codes import verdict

# What the numbers mean: pytest's exit codes 0 to 6, mutmut 3.8's own 33 to 37 and 255, signals as negative numbers.


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (0, Status.SURVIVED),
        (1, Status.KILLED),
        (36, Status.TIMEOUT),
        (24, Status.TIMEOUT),
        (-24, Status.TIMEOUT),
        (152, Status.TIMEOUT),
        (255, Status.TIMEOUT),
        (5, Status.NO_COVERAGE),
        (33, Status.NO_COVERAGE),
    ],
)
def test_a_plain_verdict_needs_no_reason(code: int, status: Status) -> None:
    assert verdict(code) == (status, "")


def test_no_exit_code_is_no_verdict() -> None:
    assert verdict(None) == (None, "no verdict")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (2, "pytest was interrupted or could not collect the tests"),
        (3, "pytest itself failed"),
        (4, "pytest refused its command line"),
        (6, "exit code 6"),
        (35, "exit code 35"),
        (99, "exit code 99"),
        (-11, "killed by signal 11"),
        (-9, "killed by signal 9"),
        (-6, "killed by signal 6"),
        (-1, "killed by signal 1"),
    ],
)
def test_whatever_else_stopped_the_tests_is_an_error_and_no_kill(code: int, reason: str) -> None:
    assert verdict(code) == (Status.ERROR, reason)


@pytest.mark.parametrize(
    ("code", "reason"), [(34, "skipped by its configuration"), (37, "refused by the type checker")]
)
def test_a_mutant_that_was_never_meant_to_run_does_not_count(code: int, reason: str) -> None:
    assert verdict(code) == (Status.NOT_APPLICABLE, reason)
