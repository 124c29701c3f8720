"""Settings that the whole suite shares."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings

# Before NumPy is imported: the arrays here are tiny, and waking a second thread costs more than it brings.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# A test may write a module twice within a second, and as long as before: bytecode of the first would stand for both.
sys.dont_write_bytecode = True

# Under mutation the same examples must be drawn for every mutant, and a failure needs no smaller example.
settings.register_profile(
    "mutation", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate)
)
if "MUTANT_UNDER_TEST" in os.environ or "FAULTS_MUTATION" in os.environ:
    settings.load_profile("mutation")
if "MUTANT_UNDER_TEST" in os.environ:
    from tests.forked_guests import guests_are_forks as guests_are_forks


@pytest.fixture
def signals_as_in_a_terminal() -> Iterator[None]:
    """What a test starts is not deaf to interrupts and hang-ups, as all is that runs under nohup or behind `&`."""
    hangup = getattr(signal, "SIGHUP", signal.SIGTERM)
    before = [
        (signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler)),
        (hangup, signal.signal(hangup, signal.SIG_DFL)),
    ]
    yield
    for number, handler in before:
        signal.signal(number, handler)
