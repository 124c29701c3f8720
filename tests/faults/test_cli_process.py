"""The command line as a process of its own, where being one is the point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import faults

HOME = Path(faults.__file__).parent.parent


def run(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """`python -m faults ...` started in a folder, with our packages behind that folder on the path."""
    environment = {**os.environ, "PYTHONPATH": str(HOME), "LC_ALL": "C.UTF-8", **variables}
    command = [sys.executable, "-m", "faults", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False)


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder with modules of our names that must never be imported."""
    for name in ("core", "detectors"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')\n")
    (tmp_path / "reports.py").write_text("raise SystemExit('the wrong package')\n")
    return tmp_path


def test_our_own_packages_are_used_in_a_folder_that_has_some_of_the_same_names(crowded: Path) -> None:
    done = run("run", "flipped_triangle", "--examples", "4", "-q", folder=crowded)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"PASS")


def test_the_library_uses_our_own_packages_there_too(crowded: Path) -> None:
    program = "from faults import campaign, registry; import core; print(core.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=crowded, env=environment, capture_output=True, timeout=60, check=False)
    assert done.stdout.decode().strip() == str(HOME / "core" / "__init__.py")


def test_a_package_of_our_name_that_came_first_is_refused_in_one_line(crowded: Path) -> None:
    (crowded / "core" / "__init__.py").write_text("")
    (crowded / "sitecustomize.py").write_text("import sys; sys.path.insert(0, '.'); import core\n")
    done = run("list", folder=crowded, PYTHONPATH=f"{crowded}{os.pathsep}{HOME}")
    line = done.stderr.decode()
    assert done.returncode == 3
    assert line.startswith("faults: package 'core' is already imported from ")
    assert str(crowded / "core" / "__init__.py") in line or "./core/__init__.py" in line
    assert f"required is {HOME / 'core'}" in line
    assert line.count("\n") == 1


def test_the_library_refuses_a_package_of_our_name_that_came_first_in_one_line(crowded: Path) -> None:
    (crowded / "core" / "__init__.py").write_text("")
    program = "import sys; sys.path.insert(0, '.'); import core; from faults import campaign"
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=crowded, env=environment, capture_output=True, timeout=60, check=False)
    last = done.stderr.decode().strip().splitlines()[-1]
    assert last.startswith("faults.model.FaultsError: package 'core' is already imported from ")


def test_the_same_command_prints_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    arguments = ("run", "head_seq_swap", "mask_adds_zero", "--examples", "12", "-v")
    first = run(*arguments, folder=tmp_path, PYTHONHASHSEED="1")
    second = run(*arguments, folder=tmp_path, PYTHONHASHSEED="2")
    assert first.returncode == 0
    assert first.stdout == second.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [sys.executable, "-m", "faults", "list"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
@pytest.mark.parametrize("arguments", [["list"], ["check", "--help"], ["--help"]])
def test_a_full_disk_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(HOME), "LC_ALL": "C.UTF-8"}
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "faults", *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.decode().splitlines() == ["faults: stdout cannot be written (No space left on device)"]


LOADING = """
import os, signal, sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "faults.language":
            os.kill(os.getpid(), signal.SIGINT)

import faults, runpy
sys.meta_path.insert(0, Interrupts())
runpy.run_module("faults", run_name="__main__", alter_sys=True)
"""


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_while_the_program_is_loaded_is_one_line(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    command = [sys.executable, "-c", LOADING, "list"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"faults: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a folder in use cannot be taken away")
def test_a_current_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    program = (
        "import os; os.rmdir(os.getcwd()); from faults.__main__ import main; exit(main(['check', 'x.py:y']))"
    )
    gone = tmp_path / "gone"
    gone.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(HOME), "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=gone, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 3
    assert done.stderr == b"faults: the current folder is gone; change to one that exists\n"


def test_a_terminal_without_line_drawing_gets_ascii(tmp_path: Path) -> None:
    done = run("list", folder=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"+--" in done.stdout
    assert b"?" not in done.stdout


def test_a_start_loads_nothing_heavy(tmp_path: Path) -> None:
    program = (
        "import sys, faults.__main__ as program; program.main(['--help']); "
        "print(sorted({'numpy', 'hypothesis', 'tabulate', 'yaml', 'argparse', 'reports'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.decode().splitlines()[-1] == "[]"


def test_a_wrong_command_line_loads_no_numpy(tmp_path: Path) -> None:
    program = (
        "import sys, faults.__main__ as program; program.main(['run', '--all', '--seed', '-1']); "
        "print(sorted({'numpy', 'hypothesis', 'yaml'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.decode().splitlines()[-1] == "[]"
