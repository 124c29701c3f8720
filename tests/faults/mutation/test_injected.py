"""The plugin in a pytest of its own, on suites that are small enough to know what they reach."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import faults
from tests.faults.mutation.made_run import put

HOME = Path(faults.__file__).parent.parent

CAUSAL = """
import numpy as np
from core.mask import causal_mask

def test_the_future_is_closed():
    assert np.isneginf(causal_mask(2, 2)[0, 1])
"""
BLIND = (
    "from core.mask import causal_mask\n\ndef test_shape():\n    assert causal_mask(2, 2).shape == (2, 2)\n"
)
ELSEWHERE = "def test_nothing():\n    assert True\n"


def code(folder: Path, test: str, *arguments: str) -> int:
    """The exit code of pytest with the plugin."""
    put(folder / "test_it.py", test)
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "faults.mutation.injected",
    ]
    done = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, check=False
    )
    return done.returncode


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (CAUSAL, pytest.ExitCode.TESTS_FAILED),
        (BLIND, pytest.ExitCode.OK),
        (ELSEWHERE, pytest.ExitCode.NO_TESTS_COLLECTED),
    ],
)
def test_a_suite_kills_misses_or_never_reaches_a_fault(tmp_path: Path, test: str, expected: int) -> None:
    assert code(tmp_path, test, "--fault", "mask_adds_zero/zero") == expected


def test_without_a_fault_nothing_is_injected(tmp_path: Path) -> None:
    assert code(tmp_path, CAUSAL) == pytest.ExitCode.OK
    assert code(tmp_path, ELSEWHERE) == pytest.ExitCode.OK


def test_a_name_that_is_no_variant_stops_pytest(tmp_path: Path) -> None:
    assert code(tmp_path, CAUSAL, "--fault", "mask_adds_zero/two") not in (0, 1)
