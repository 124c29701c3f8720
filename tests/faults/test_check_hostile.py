"""Subjects that misbehave: each ends in one clear line and the documented exit code, and hurts nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faults.__main__ import main
from tests.faults.check_subjects import HOSTILE

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks, signals and process groups")

HARMLESS = (
    "writes_into_its_input",
    "prints_and_warns",
    "closes_its_files",
    "leaves_threads",
    "forks",
    "cannot_be_pickled",
)

BROKEN = {
    "returns_nan": "not_finite/",
    "returns_another_shape": "residual_shape/",
    "raises_an_error": "residual_shape/",
    "recurses_forever": "residual_shape/",
    "reads_stdin": "residual_shape/",
}

UNUSABLE = {
    "hangs": "the subject did not answer within 2 seconds; a longer --timeout may help",
    "hangs_while_built": "the subject did not answer within 2 seconds; a longer --timeout may help",
    "exits": "the subject ended the program: SystemExit: 3 (hostile.py, line ",
    "interrupts_itself": "the subject ended the program: KeyboardInterrupt (hostile.py, line ",
    "exits_at_once": "the subject ended its process with exit code 7",
    "leaves_a_copy_behind": "the subject ended its process with exit code 4",
    "is_killed": "the subject's process died of signal 9 (SIGKILL)",
    "crashes_hard": "the subject's process died of signal 11 (SIGSEGV)",
    "cuts_the_pipe": "the subject",
    "floods_memory": "the call returned 1200 MB; required: at most 256 MB for an input this small",
    "returns_a_generator": "the call returned a generator; required: an array",
    "returns_none": "the call returned None; required: an array",
    "returns_objects": "the call returned a ndarray of dtype object; required: an array of real numbers",
    "returns_text": "the call returned a str of dtype <U6; required: an array of real numbers",
    "returns_complex": "the call returned a ndarray of dtype complex64; required: an array of real numbers",
    "is_none": "the subject is None; required: a callable, a torch.nn.Module or a mapping with 'call'",
    "is_a_number": "the subject is a int; required: a callable, a torch.nn.Module or ",
    "NeedsArguments": "NeedsArguments needs arguments (width, heads); say how to build it, --init ",
    "fails_to_build": "it cannot be built: RuntimeError: no weights here (hostile.py, line ",
    "nothing_of_the_name": "hostile.py has no attribute 'nothing_of_the_name'; it has: np, Block, ",
}

FILES = {
    "syntax.py": ("def block(x:\n", "it cannot be built: SyntaxError: "),
    "missing.py": (
        "import no_such_module_anywhere\nblock = print\n",
        f"which {sys.executable} does not have",
    ),
    "leaving.py": (
        "raise SystemExit('bye')\n",
        "the subject ended the program: SystemExit: bye (leaving.py, line 1)",
    ),
    "raising.py": ("1 / 0\n", "it cannot be built: ZeroDivisionError: division by zero (raising.py, line 1)"),
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("hostile") / "hostile.py"
    file.write_text(HOSTILE)
    return file


def run(subject: str, capfd: pytest.CaptureFixture[str], *more: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `faults check SUBJECT -q`."""
    code = main(["--lang", "en", "check", subject, "-q", "--timeout", "2", *more])
    return code, *capfd.readouterr()


@pytest.mark.parametrize("name", HARMLESS)
def test_a_sound_subject_with_bad_manners_is_still_sound_as_far_as_it_is_seen(
    name: str, hostile: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = run(f"{hostile}:{name}", capfd, "--timeout", "60")
    said = "sound as far as seen; not observable: missing_scale"
    assert found == (0, f"UNDECIDED {hostile}:{name}: {said}\n", "")


@pytest.mark.parametrize("name", BROKEN)
def test_a_subject_that_fails_on_valid_input_is_broken(
    name: str, hostile: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(f"{hostile}:{name}", capfd, "--timeout", "60")
    assert (code, err) == (1, "")
    assert out.startswith(f"BROKEN {hostile}:{name}: ")
    assert BROKEN[name] in out
    assert out.count("\n") == 1


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_subject_that_cannot_be_used_gives_one_line_and_exit_code_3(
    name: str, hostile: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(f"{hostile}:{name}", capfd)
    assert (code, out) == (3, "")
    assert err.startswith(f"faults: {hostile}:{name}: ")
    assert UNUSABLE[name] in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_loaded_gives_one_line_and_exit_code_3(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, line = FILES[name]
    (tmp_path / name).write_text(text)
    code, out, err = run(f"{tmp_path / name}:block", capfd)
    assert (code, out) == (3, "")
    assert line in err
    assert err.count("\n") == 1


def test_an_interpreter_that_is_none_is_said_in_one_line(
    hostile: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(f"{hostile}:sound", capfd, "--python", "/bin/false")
    assert (code, out) == (3, "")
    assert err.endswith(
        "/bin/false ended with exit code 1 before it answered; required: Python 3.9 or later\n"
    )
    code, _, err = run(f"{hostile}:sound", capfd, "--python", str(hostile.parent / "none"))
    assert code == 3
    assert "none cannot be used: No such file or directory; required: a Python interpreter\n" in err


PROGRAM = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n"


@pytest.mark.usefixtures("signals_as_in_a_terminal")
def test_an_interrupt_while_waiting_kills_the_child_and_exits_with_130(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(PROGRAM)
    home = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "faults", "check", "slow.py:block"]
    environment = {**os.environ, "PYTHONPATH": str(home)}
    waiting = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    child = _number(tmp_path / "pid")
    waiting.send_signal(signal.SIGINT)
    _, said = waiting.communicate(timeout=30)
    assert (waiting.returncode, said) == (130, b"faults: interrupted\n")
    assert not _alive(child)


def test_more_memory_than_there_is_gives_one_line_and_exit_code_2(
    hostile: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object, **more: object) -> None:
        raise MemoryError

    monkeypatch.setattr("detectors.foreign.Fixture", full)
    code, out, err = run(f"{hostile}:sound", capfd)
    assert (code, out) == (2, "")
    why = "there is not enough memory for inputs of the declared sizes; declare smaller ones"
    assert err == f"faults: {hostile}:sound: {why}\n"


SPINNING = "import os\nopen('pid', 'w').write(str(os.getpid()))\nwhile True: pass\n"


@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("verb", [["check", "slow.py:block"], ["clean-room", "slow.py"]])
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_whatever_ends_the_parent_ends_a_child_that_is_busy(
    verb: list[str], number: signal.Signals, code: int, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SPINNING)
    home = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(home)}
    command = [sys.executable, "-m", "faults", *verb]
    waiting = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    child = _number(tmp_path / "pid")
    waiting.send_signal(number)
    _, said = waiting.communicate(timeout=30)
    assert (waiting.returncode, said) == (code, b"")
    assert not _alive(child)


def test_a_copy_that_lives_on_holds_nobody_up(hostile: Path) -> None:
    home = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-W", "error", "-m", "faults", "check", f"{hostile}:leaves_a_copy_behind"]
    environment = {**os.environ, "PYTHONPATH": str(home), "LC_ALL": "C"}
    begun = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1)
    assert done.stderr.endswith(b"the subject ended its process with exit code 4\n")
    assert time.monotonic() - begun < 15


def _number(file: Path) -> int:
    for _ in range(600):
        if file.exists() and file.read_text():
            return int(file.read_text())
        time.sleep(0.05)
    raise AssertionError("the child never started")


def _alive(process: int) -> bool:
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True
