from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import block as benchmark

ROOT = Path(__file__).parents[2]


def test_without_torch_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert benchmark.main([]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "PyTorch is not installed, nothing to compare with; install it with: pip install 'attention-faults[torch]'\n"
    )


def test_the_ratio_is_the_median_of_neighbouring_runs() -> None:
    # Run by run 2, 1, 3: the machine was slower in the second run, for both.
    timing = benchmark.Timing([2.0, 100.0, 3.0], [1.0, 100.0, 1.0], [1.0, 1.0, 1.0], 0.0)
    assert timing.ratio == 2.0


def test_contestants_take_turns_and_the_first_turn_does_not_count() -> None:
    order: list[str] = []
    times = benchmark.alternate([lambda: order.append("a"), lambda: order.append("b")], 2)
    assert order == ["a", "b"] * 3
    assert [len(row) for row in times] == [2, 2]


def test_torch_and_core_compute_the_same_block(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.setattr(benchmark, "SHAPES", ((2, 5, 16),))
    for activation in ("relu", "gelu", "swiglu"):
        assert benchmark.main(["--runs", "1", "--limit", "1000", "--activation", activation]) == 0
    assert "(2, 5, 16)" in capsys.readouterr().out


THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@pytest.mark.parametrize("name", THREADS)
def test_one_thread_is_asked_of_every_linear_algebra_before_numpy_is_loaded(name: str) -> None:
    code = f"import os, benchmarks.block; print(os.environ[{name!r}])"
    environment = {**os.environ, name: "7"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "1\n"
    source = (ROOT / "benchmarks" / "block.py").read_text(encoding="utf-8")
    assert source.index(f'os.environ["{name}"] = "1"') < source.index("import numpy")
