"""The forward block of `core` beside the same block in unfused PyTorch eager: python -m benchmarks.block

Same weights, float32, one thread each, pre-norm, causal, 8 heads. The two run alternately, so that a busy machine slows
both; the figure is the median of the ratios of neighbouring runs. PyTorch's mask is made beforehand, core's in
the call. The fused kernel (scaled_dot_product_attention) is timed beside them for scale; it is no target.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

# One thread, whichever of these NumPy's linear algebra obeys; each is read once, when numpy is imported.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"
os.environ["VECLIB_MAXIMUM_THREADS"] = "1"

import numpy as np

from core import block
from core.arrays import FloatArray
from core.block import BlockConfig
from core.feed_forward import ACTIVATIONS
from core.parameters import Parameters

SHAPES = ((8, 128, 256), (1, 1024, 256), (32, 32, 64))
HEADS = 8
TOLERANCE = 1e-4
NO_TORCH = "PyTorch is not installed, nothing to compare with; install it with: pip install 'attention-faults[torch]'"


@dataclass(frozen=True)
class Timing:
    """Milliseconds of each contestant, run by run, and how far their results differ."""

    core: list[float]
    unfused: list[float]
    fused: list[float]
    difference: float

    @property
    def ratio(self) -> float:
        """Return the median of core's time over that of the unfused block, run by run."""
        return statistics.median(ours / theirs for ours, theirs in zip(self.core, self.unfused, strict=True))


def main(argv: Sequence[str] | None = None) -> int:
    """Print one line for each shape. Returns 1 when a ratio is above --limit or results differ, 3 without PyTorch."""
    options = parse(argv)
    try:
        torch: Any = import_module("torch")
    except ImportError:
        print(NO_TORCH, file=sys.stderr)
        return 3
    torch.set_num_threads(1)
    print(f"numpy {np.__version__}, torch {torch.__version__}, {options.activation}, {options.runs} runs")
    print(
        f"{'batch, token, width':>20} {'core ms':>9} {'unfused ms':>11} {'ratio':>6} {'fused ms':>9} {'difference':>11}"
    )
    good = True
    for shape in SHAPES:
        timing = compare(torch, shape, options)
        print(line(shape, timing))
        good &= timing.ratio <= options.limit and timing.difference <= TOLERANCE
    return 0 if good else 1


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of one run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.block", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "--runs", type=int, default=41, help="alternating runs for each shape (default: %(default)s)"
    )
    parser.add_argument("--activation", choices=ACTIVATIONS, default="relu")
    parser.add_argument(
        "--limit", type=float, default=1.5, help="largest ratio that passes (default: %(default)s)"
    )
    return parser.parse_args(argv)


def compare(torch: Any, shape: tuple[int, int, int], options: argparse.Namespace) -> Timing:
    """Return the timing of one shape, results checked first."""
    config = BlockConfig(HEADS, activation=options.activation)
    parameters = block.init_block(shape[2], config, dtype=np.float32)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    theirs = TorchBlock(torch, parameters, config, shape[1])
    tensor = torch.tensor(x)
    contestants: list[Callable[[], Any]] = [
        lambda: block.block(x, parameters, config),
        lambda: theirs.run(tensor, theirs.unfused),
        lambda: theirs.run(tensor, theirs.fused),
    ]
    ours: FloatArray = contestants[0]()
    difference = max(float(np.abs(ours - other().numpy()).max()) for other in contestants[1:])
    with torch.inference_mode():
        times = alternate(contestants, options.runs)
    return Timing(times[0], times[1], times[2], difference)


def alternate(contestants: list[Callable[[], Any]], runs: int) -> list[list[float]]:
    """Return each contestant's milliseconds; they take turns, after one turn that is not counted."""
    times: list[list[float]] = [[] for _ in contestants]
    for turn in range(runs + 1):
        for contestant, row in zip(contestants, times, strict=True):
            start = time.perf_counter()
            contestant()
            if turn:
                row.append(1e3 * (time.perf_counter() - start))
    return times


def line(shape: tuple[int, int, int], timing: Timing) -> str:
    """Return one row of the table, medians of the milliseconds."""
    core, unfused, fused = map(statistics.median, (timing.core, timing.unfused, timing.fused))
    return f"{shape!s:>20} {core:9.2f} {unfused:11.2f} {timing.ratio:6.2f} {fused:9.2f} {timing.difference:11.1e}"


class TorchBlock:
    """The same pre-norm block in PyTorch: one operator for each step, weights laid out as torch.nn.Linear does."""

    def __init__(self, torch: Any, parameters: Parameters, config: BlockConfig, token: int) -> None:
        self.torch, self.functions, self.config = torch, torch.nn.functional, config
        self.p = {
            role: torch.tensor(a.T.copy() if a.ndim == 2 else a.copy()) for role, a in parameters.items()
        }
        self.mask = torch.full((token, token), float("-inf")).triu(1)

    def run(self, x: Any, attend: Callable[[Any, Any, Any], Any]) -> Any:
        h = x + self.attention(self.norm(x, "1"), attend)
        return h + self.feed_forward(self.norm(h, "2"))

    def norm(self, x: Any, number: str) -> Any:
        gain, shift = self.p["gain" + number], self.p["shift" + number]
        return self.functions.layer_norm(x, gain.shape, gain, shift, self.config.eps)

    def attention(self, x: Any, attend: Callable[[Any, Any, Any], Any]) -> Any:
        output = attend(*(self.split(self.linear(x, role)) for role in "qkv"))
        return self.linear(output.transpose(1, 2).reshape(x.shape), "o")

    def unfused(self, query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5 + self.mask
        return self.torch.softmax(scores, dim=-1) @ value

    def fused(self, query: Any, key: Any, value: Any) -> Any:
        return self.functions.scaled_dot_product_attention(query, key, value, is_causal=True)

    def feed_forward(self, x: Any) -> Any:
        expanded = self.linear(x, "1")
        if self.config.activation == "relu":
            return self.linear(self.functions.relu(expanded), "2")
        if self.config.activation == "gelu":
            return self.linear(self.functions.gelu(expanded, approximate="tanh"), "2")
        gate, value = expanded.chunk(2, dim=-1)
        return self.linear(self.functions.silu(gate) * value, "2")

    def split(self, x: Any) -> Any:
        batch, token, width = x.shape
        return x.view(batch, token, self.config.heads, width // self.config.heads).transpose(1, 2)

    def linear(self, x: Any, role: str) -> Any:
        return self.functions.linear(x, self.p["W" + role], self.p["b" + role])


if __name__ == "__main__":
    sys.exit(main())
