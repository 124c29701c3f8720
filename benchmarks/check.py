"""What `check` says of public bug reports written as pairs, and what its contracts cost.

`python -m benchmarks.check` prints one line for each pair and the totals. With `--time` it prints instead the seconds
that all contracts take on a torch model (on a NumPy one where torch is missing), by layers and by tokens, apart from
importing and building it.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Sequence
from typing import Any

from detectors import checking, foreign
from detectors.foreign import Foreign
from detectors.testing import NO_TARGET, Here
from tests.quality.foreign import numpy_pieces, score, wild
from tests.quality.foreign.pairs import Row
from tests.quality.foreign.unseen import UNSEEN

LAYERS, TOKENS = (1, 2, 4, 8), (8, 16)
REPEATS = 3


def line(row: Row) -> str:
    """Report, what it is, what was said, and the verdict on the half without the defect."""
    pair = row.pair
    is_ = f"{pair.family}/{pair.variant}" if pair.variant else pair.family
    said = f"{row.said}/{row.variant}" if row.variant else row.said
    sign = "=" if row.said == pair.family else "!"
    return f"{pair.report:20s} {is_:32s} {sign} {said:44s} {row.verdict}"


def totals(rows: Sequence[Row]) -> list[str]:
    """How many were observable, caught, named; the false alarms."""
    found = wild.named(list(rows))
    told, described = wild.of_the_variant(list(rows))
    return [
        f"reports {len(rows) + len(UNSEEN)}, observable {len(rows)}",
        f"caught {sum(row.detected for row in rows)} of {len(rows)}",
        f"family right {sum(is_ == said for is_, said in found)} of {len(rows)}, "
        f"macro-F1 {score.macro_f1(found):.3f}",
        f"variant right {told} of {described} that have one",
        f"false alarms {sum(row.verdict != 'sound' for row in rows)}",
    ]


def model(layers: int) -> Any:
    """A model of that many layers and width 64, in torch where it is installed."""
    if importlib.util.find_spec("torch") is None:
        made = numpy_pieces.Model()
        made.blocks = [numpy_pieces.Block() for _ in range(layers)]
        return made
    from benchmarks import check_model

    return check_model.Model(layers)


def seconds(layers: int, tokens: int) -> float:
    """The least of a few runs of every contract on one fixture of that many tokens."""
    host = Here(model(layers))
    here = Foreign(host, foreign.load(host, NO_TARGET), {"kind": "model", "heads": 4})
    fixture, taken = here.fixture(tokens), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        found = checking.check(here.subject("model"), [fixture])
        taken.append(time.perf_counter() - start)
    if found.verdict != checking.SOUND:
        raise SystemExit(f"the model is {found.verdict}; required: sound")
    return min(taken)


def times() -> list[str]:
    """Seconds by layers at 16 tokens, and by tokens at 2 layers."""
    by_layers = [f"{layers} layers, 16 tokens: {seconds(layers, 16):.2f} s" for layers in LAYERS]
    return by_layers + [f"2 layers, {tokens} tokens: {seconds(2, tokens):.2f} s" for tokens in TOKENS]


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where every observable report is caught without a false alarm, else 1."""
    parser = argparse.ArgumentParser(description="What check says of public bug reports, and what it costs.")
    parser.add_argument("--time", action="store_true", help="print the seconds instead")
    if parser.parse_args(arguments).time:
        print("\n".join(times()))
        return 0
    rows = wild.rows()
    print("\n".join([*map(line, rows), "", *totals(rows)]))
    return int(not all(row.detected and row.verdict == "sound" for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
