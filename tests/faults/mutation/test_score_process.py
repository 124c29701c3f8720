"""The whole of `faults score` as a process, with the real mutmut, on a project of three functions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import faults
from faults.model import Status
from faults.mutation import controls, finished, record
from tests.faults.mutation.made_run import put

HOME = Path(faults.__file__).parent.parent

BOX = '''"""A module."""

LIMIT = 3


def larger(first, second):
    return first if first > second else second


def count_down(number):
    while number > 0:
        number = number - 1
    return number


def untested(number):
    return number + 1


def limited(number):
    return min(number, LIMIT)


def tripled(number):
    return number * 3


def at_import(number):
    return number * 2


DOUBLE = at_import(LIMIT)
'''

TESTS = """
import pytest
from shop import box, controls

def test_larger():
    assert box.larger(2, 1) == 2
    assert box.larger(1, 2) == 2

def test_count_down():
    assert box.count_down(2) == 0

def test_limit():
    assert box.limited(7) == 3
    assert box.limited(2) == 2

def test_double():
    assert box.DOUBLE == 6

@pytest.fixture(scope="module")
def shared():
    return box.tripled(2)

def test_first_to_ask(shared):
    assert shared

def test_second_to_ask(shared):
    assert shared == 6

def test_controls():
    assert controls.must_die(7, 6) == 5.5
    assert controls.must_live(2) == 2
"""

PYPROJECT = """
[tool.pytest.ini_options]
addopts = "-p no:cacheprovider"
filterwarnings = ["error"]

[tool.mutmut]
source_paths = ["shop"]
pytest_add_cli_args_test_selection = ["tests"]
timeout_multiplier = 2.0

[tool.faults.score]
controls = "shop.controls"
constants = ["shop"]
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mutmut needs fork")


def make(folder: Path) -> Path:
    """The project, committed to a repository of its own."""
    text = Path(controls.__file__).read_text("utf-8")
    start, end = text.index("def must_die"), text.index("def apart")
    put(folder / "shop/__init__.py", "")
    put(folder / "shop/controls.py", text[start:end].replace(": float", "").replace(" -> float", ""))
    put(folder / "shop/box.py", BOX)
    put(folder / "tests/test_box.py", TESTS)
    put(folder / "pyproject.toml", PYPROJECT)
    put(folder / ".gitignore", "mutants/\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words]
        subprocess.run(git, cwd=folder, check=True, capture_output=True)
    return folder


def score(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(HOME), "LC_ALL": "C.UTF-8"}
    # Whoever calls may well let Python write bytecode; the children of the score must not.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-P", "-m", "faults", "score", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def verdicts(folder: Path) -> dict[str, Any]:
    """Every verdict of the run in a folder, of mutmut and of our own."""
    own = {key: result["status"] for key, result in record.read(folder).results.items()}
    return {mutant.identity: str(mutant.status) for mutant in finished.read(folder).mutants} | own


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = make(tmp_path_factory.mktemp("shop"))
    return folder, score(folder)


def test_every_kind_of_verdict_is_found(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    folder, done = ran
    assert done.stderr == ""
    found = {mutant.identity: mutant.status for mutant in finished.read(folder).mutants}
    box = {name.partition("shop.box.")[2]: status for name, status in found.items() if "shop.box" in name}
    line = "return first if first > second else second"
    assert box[f"larger: {line} -> {line.replace('>', '>=')}"] is Status.SURVIVED
    assert box["count_down: number = number - 1 -> number = number + 1"] is Status.TIMEOUT
    assert box["count_down: number = number - 1 -> number = None"] is Status.KILLED
    assert box["untested: return number + 1 -> return number - 1"] is Status.NO_COVERAGE
    assert None not in found.values()
    assert Status.ERROR not in found.values()


def test_the_constant_that_mutmut_leaves_alone_is_changed_and_killed(
    ran: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    result = record.read(ran[0]).results["shop.box:constant_1"]
    assert (result["status"], result["killed_by"]) == ("killed", "tests/test_box.py::test_limit")


def test_what_a_shared_fixture_reaches_counts_for_every_test_that_uses_it(
    ran: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    found = [mutant for mutant in finished.read(ran[0]).mutants if mutant.change.function == "tripled"]
    assert {mutant.status for mutant in found} == {Status.KILLED}
    assert set(found[0].tests) == {
        "tests/test_box.py::test_first_to_ask",
        "tests/test_box.py::test_second_to_ask",
    }


def test_what_ran_at_import_is_run_anew(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    assert finished.read(ran[0]).imported == {"shop.box.x_at_import"}
    result = record.read(ran[0]).results["shop.box.x_at_import__mutmut_1"]
    assert (result["status"], result["killed_by"]) == ("killed", "tests/test_box.py::test_double")


def test_controls_hold_and_survivors_fail_the_gate(
    ran: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    _, done = ran
    assert done.returncode == 1
    for name, status in (("must_die", "killed"), ("must_live", "survived")):
        assert f"Control {name}: {status}, as it must be." in done.stdout
    assert "Control edit that changes nothing: survived, as it must be." in done.stdout
    assert "Control edit that must die: killed, as it must be." in done.stdout
    assert done.stdout.splitlines()[-1].startswith("FAIL: survivor: shop.box.x_larger__mutmut_")


def test_the_finished_run_is_read_again_with_the_same_report(
    ran: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = ran
    again = score(folder, "--no-run")
    assert (again.returncode, again.stdout) == (done.returncode, done.stdout)


def test_a_second_run_from_nothing_gives_the_same_verdicts(
    ran: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    score(make(tmp_path), "-q")
    assert verdicts(tmp_path) == verdicts(ran[0])


def test_mutmut_can_read_the_run(ran: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    command = [sys.executable, "-c", "from mutmut.__main__ import cli; cli()", "results"]
    done = subprocess.run(command, cwd=ran[0], capture_output=True, text=True, check=True)
    assert "shop.box.x_untested__mutmut_1: no tests" in done.stdout


def test_a_failing_baseline_fails_the_gate(tmp_path: Path) -> None:
    folder = make(tmp_path)
    put(folder / "tests/test_box.py", TESTS + "\ndef test_wrong():\n    assert box.larger(1, 1) == 2\n")
    done = score(folder, "-q", "--fail-under", "0")
    assert done.returncode == 3
    assert done.stdout.startswith(
        "FAIL: mutmut ended with 1, its tests must pass before anything is mutated: "
    )


def test_a_partial_run_tests_what_changed_and_says_so(tmp_path: Path) -> None:
    folder = make(tmp_path)
    put(folder / "shop/box.py", BOX.replace("min(number, LIMIT)", "min(LIMIT, number)"))
    done = score(folder, "--since", "HEAD")
    assert "PARTIAL: only mutants in functions changed since HEAD" in done.stdout
    tested = {m.change.function for m in finished.read(folder).mutants if m.status is not None}
    assert tested == {"limited", "must_die", "must_live"}
    assert done.returncode == 0
    assert score(folder, "--no-run", "-q").stdout == done.stdout.splitlines()[-1] + "\n"


def test_a_part_is_run_and_judged_alone(tmp_path: Path) -> None:
    folder = make(tmp_path)
    put(folder / "shop/other.py", "def unseen(number):\n    return number + 1\n")
    parts = [("box", ["shop.box"]), ("rest", ["*"])]
    text = "".join(
        f"[[tool.faults.score.parts]]\nname = '{name}'\nmodules = {modules}\nat_least = 50\n"
        for name, modules in parts
    )
    put(folder / "pyproject.toml", PYPROJECT + text)
    done = score(folder, "--part", "box")
    assert (done.returncode, done.stderr) == (0, "")
    assert "PARTIAL: only the part box." in done.stdout
    assert "shop.other" not in done.stdout
    tested = {m.module for m in finished.read(folder).mutants if m.status is not None}
    assert tested == {"shop.box", "shop.controls"}
    assert score(folder, "--no-run").stdout == done.stdout
    rest = score(folder, "--no-run", "-q", "--part", "rest")
    assert (rest.returncode, rest.stdout) == (5, "FAIL: no mutants: nothing was tested\n")


def test_a_changed_test_brings_the_mutants_it_reaches(tmp_path: Path) -> None:
    folder = make(tmp_path)
    put(
        folder / "tests/test_new.py",
        "from shop import box\n\ndef test_new():\n    assert box.untested(1) == 2\n",
    )
    assert score(folder, "-q", "--since", "HEAD").returncode == 0
    tested = {m.change.function for m in finished.read(folder).mutants if m.status is not None}
    assert tested == {"untested", "must_die", "must_live"}


def test_a_mutant_whose_worker_crashes_fails_the_gate(tmp_path: Path) -> None:
    folder = make(tmp_path)
    # A change of the number makes the function end its process, as a fault in C code would.
    crash = (
        "import os\n\n\ndef careful(number):\n    if number != 1:\n        os.abort()\n    return number\n"
    )
    put(folder / "shop/box.py", crash)
    put(
        folder / "tests/test_box.py",
        "from shop import box, controls\n\ndef test_careful():\n    box.careful(1)\n"
        + TESTS[TESTS.index("\ndef test_controls") :],
    )
    done = score(folder, "-q", "--fail-under", "0")
    assert done.returncode == 3
    assert "error: killed by signal 6" in done.stdout


def test_the_tools_leave_nothing_behind_but_their_folder(
    ran: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, _ = ran
    names = {path.name for path in folder.iterdir()}
    assert names == {".git", ".gitignore", "mutants", "pyproject.toml", "shop", "tests"}
    assert not list((folder / "mutants").rglob("*.pyc"))
    assert json.loads((folder / "mutants/faults-score.json").read_text())["schema_version"] == 1
