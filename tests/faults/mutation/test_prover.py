"""Proofs run in a process of their own; here its functions are called where they are."""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from faults.mutation import prover
from tests.faults.mutation.made_run import put

SOURCE = "def f(a, b=0.0):\n    return a + b\n"
SAME = "def f(a, b=0.0):\n    # a comment, and other lines\n\n    return a + b\n"
PROOFS = """
def numbers(seed):
    assert seed == 0
    for at in range({count}):
        yield (float(at),)
    yield from ((float("nan"),), (float("inf"),), (-0.0,), (1.7976931348623157e308,), (5e-324,))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a module `proved_here`, not kept among the imported ones."""
    put(tmp_path / "proved_here.py", SOURCE)
    put(tmp_path / "proofs.py", PROOFS.format(count=10_000))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("proved_here", None)


def task(folder: Path, mutated: str, proof: str = "inputs", **more: Any) -> dict[str, Any]:
    return {
        "key": "m1",
        "path": "proved_here.py",
        "module": "proved_here",
        "function": "f",
        "source": SOURCE,
        "mutated": mutated,
        "proof": proof,
        "proofs": str(folder / "proofs.py"),
        "inputs": "numbers",
        "extremes": ["nan", "infinity", "negative zero", "largest", "subnormal", "zero"],
        **more,
    }


def test_the_same_bytecode_is_a_proof(folder: Path) -> None:
    assert prover.prove(task(folder, SAME, "bytecode")) == ""


@pytest.mark.parametrize(
    "mutated",
    [
        "def f(a, b=0.0):\n    return a - b\n",
        "def f(a, b=-0.0):\n    return a + b\n",
        "def f(a, b=0):\n    return a + b\n",
        "def f(b, a=0.0):\n    return a + b\n",
        "def f(a, *, b=0.0):\n    return a + b\n",
        "def f(a, /, b=0.0):\n    return a + b\n",
        "def f(a, b=0.0):\n    return b + a\n",
        "def f(a, b=0.0):\n    return a + b\n\n\nx = 1\n",
        "async def f(a, b=0.0):\n    return a + b\n",
        "def f(a, b=0.0):\n    try:\n        return a + b\n    except TypeError:\n        pass\n",
    ],
)
def test_other_bytecode_is_none(folder: Path, mutated: str) -> None:
    assert prover.prove(task(folder, mutated, "bytecode")) == "the bytecode differs"


def test_a_function_inside_a_function_is_compared_too(folder: Path) -> None:
    source = "def f():\n    def g():\n        return {}\n    return g\n"
    asked = task(folder, source.format(2), "bytecode", source=source.format(1))
    assert prover.prove(asked) == "the bytecode differs"
    assert prover.prove({**asked, "mutated": source.format(1)}) == ""


def test_annotations_are_compared_without_the_switches_of_the_prover(folder: Path) -> None:
    # Under `from __future__ import annotations` both would be the same string constants.
    source = "def f(a: {}) -> None:\n    return a\n"
    asked = task(folder, source.format("1 + 2"), "bytecode", source=source.format("3"))
    assert prover.prove(asked) == ""


def test_ten_thousand_inputs_with_the_same_bits_are_a_proof(folder: Path) -> None:
    assert prover.prove(task(folder, "def f(a, b=0.0):\n    return b + a\n")) == ""


def test_one_input_that_tells_them_apart_is_shown(folder: Path) -> None:
    found = prover.prove(task(folder, "def f(a, b=0.0):\n    return a + b if a != 7 else 8.0\n"))
    assert found == "input 8 tells them apart: (7.0,)"


def test_a_zero_of_the_other_sign_tells_them_apart(folder: Path) -> None:
    found = prover.prove(task(folder, "def f(a, b=0.0):\n    return a\n"))
    assert found == "input 10003 tells them apart: (-0.0,)"


def test_too_few_inputs_are_no_proof(folder: Path) -> None:
    put(folder / "proofs.py", PROOFS.format(count=9994))
    assert prover.prove(task(folder, SAME)) == (
        "9999 inputs without []; at least 10000 with "
        "['nan', 'infinity', 'negative zero', 'largest', 'subnormal', 'zero'] are required"
    )
    put(folder / "proofs.py", PROOFS.format(count=9995))
    assert prover.prove(task(folder, SAME)) == ""


def test_extremes_that_were_promised_must_be_there(folder: Path) -> None:
    found = prover.prove(task(folder, SAME, extremes=["empty", "nan"]))
    assert found == "10005 inputs without ['empty']; at least 10000 with ['empty', 'nan'] are required"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"inputs": "letters"}, "AttributeError: "),
        ({"function": "g"}, "AttributeError: "),
        ({"module": "no_such_module"}, "ImportError: no module no_such_module"),
        ({"mutated": "1 / 0"}, "ZeroDivisionError: "),
        ({"mutated": "def"}, "SyntaxError: "),
        ({"proofs": "/no/such/file.py"}, "FileNotFoundError: "),
        ({"proofs": "/no/such/file"}, "ImportError: no file /no/such/file"),
    ],
)
def test_whatever_goes_wrong_is_no_proof(folder: Path, more: dict[str, Any], said: str) -> None:
    assert prover.prove({**task(folder, SAME), **more}).startswith(said)


def test_a_method_is_found_in_its_class(folder: Path) -> None:
    source = "class Box:\n    @staticmethod\n    def f(a):\n        return a\n"
    assert prover.prove(task(folder, source, source=source, function="Box.f")) == ""


def test_dataclasses_of_a_module_that_is_not_registered_can_be_made(folder: Path) -> None:
    source = "import dataclasses\n\n@dataclasses.dataclass\nclass Box:\n    a: float\n\ndef f(a):\n    return Box(a)\n"
    assert prover.prove(task(folder, source, source=source)) == ""
    assert "proved_here" not in sys.modules


def test_a_module_that_is_registered_stays_the_same(folder: Path) -> None:
    import proved_here  # type: ignore[import-not-found]  # made by the fixture

    prover.prove(task(folder, SAME))
    assert sys.modules["proved_here"] is proved_here


def test_exceptions_and_changed_arguments_are_outcomes() -> None:
    def clears(items: list[int]) -> None:
        items.clear()

    def fails(items: list[int]) -> None:
        raise KeyError(len(items))

    arguments = ([1, 2],)
    assert prover.outcome(clears, arguments) == ("gives", None, ([],))
    assert prover.outcome(fails, arguments) == ("raises", "KeyError", "2", ([1, 2],))
    assert arguments == ([1, 2],)


def test_a_generator_is_read_to_its_end() -> None:
    def counts(to: int) -> Iterator[int]:
        yield from range(to)

    assert prover.outcome(counts, (3,)) == ("gives", [0, 1, 2], (3,))


@dataclasses.dataclass
class Box:
    size: float


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.zeros(2), -np.zeros(2)),
        (np.zeros((1, 2)), np.zeros((2, 1))),
        ((1.0,), (1.0, 2.0)),
        ((1.0,), [1.0]),
        ({"a": 1.0}, {"a": 2.0}),
        ({"a": 1.0}, {"b": 1.0}),
        (Box(1.0), Box(2.0)),
        ("a", "b"),
    ],
)
def test_what_differs_in_a_bit_is_not_alike(first: Any, second: Any) -> None:
    assert not prover.alike(first, second)


@pytest.mark.parametrize(
    "value",
    [float("nan"), -0.0, np.array([np.nan, -0.0]), [1.0, (2,)], {"a": [1]}, Box(float("nan")), None, "a"],
)
def test_what_is_the_same_in_every_bit_is_alike(value: Any) -> None:
    import copy

    assert prover.alike(value, copy.deepcopy(value))


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (0.0, ["zero"]),
        (-0.0, ["negative zero"]),
        (5e-324, ["subnormal"]),
        (2.2250738585072014e-308, []),
        (sys.float_info.max, ["largest"]),
        (float("-inf"), ["infinity"]),
        (float("nan"), ["nan"]),
        (1.5, []),
        (3, []),
        (np.array([], np.float64), ["empty"]),
        (np.array([0, np.finfo(np.float32).max], np.float32), ["zero", "largest"]),
        (np.array([1e-40], np.float32), ["subnormal"]),
        (np.array([0]), []),
        ([0.0, (float("nan"),)], ["zero", "nan"]),
        ({"a": 0.0}, ["zero"]),
    ],
)
def test_extremes_are_recognised_in_the_precision_they_are_in(value: Any, names: list[str]) -> None:
    assert list(prover.extremes_in(value)) == names


def test_tasks_come_from_stdin_and_answers_go_to_stdout(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps([task(folder, SAME, "bytecode")])))
    prover.main()
    assert json.loads(capsys.readouterr().out) == {"m1": ""}


def test_the_prover_answers_by_key_in_a_process_of_its_own(folder: Path) -> None:
    tasks = [task(folder, SAME, "bytecode"), {**task(folder, "x = 1\n", "bytecode"), "key": "m2"}]
    command = [sys.executable, "-P", prover.__file__]
    done = subprocess.run(command, input=json.dumps(tasks), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"m1": "", "m2": "the bytecode differs"}
