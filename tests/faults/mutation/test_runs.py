"""What is run, in which order, and what is kept of it. The tools themselves stand in here as functions."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from faults.model import Control, FaultsError, Status
from faults.mutation import own, pool, processes, record, runs, since
from faults.mutation.model import Likeness, Part, Run
from faults.mutation.pool import Result, Task
from faults.mutation.record import Record
from faults.mutation.settings import Settings
from faults.mutation.since import Touched
from tests.faults.mutation.made_run import CODES, LARGER, MUTATED, SOURCE, STATS, TIMES, UNIT, project, put

PYPROJECT = """
[tool.mutmut]
source_paths = ["shop"]
pytest_add_cli_args_test_selection = ["tests", "--ignore=tests/slow"]
"""
NONE: dict[str, int | None] = dict.fromkeys(CODES)
CONTROLS = "def must_die(first, second):\n    return first - second / 4\n"


@dataclass
class Tools:
    """Stands in for mutmut and the workers, and remembers what it was asked."""

    project: Path
    codes: list[dict[str, int | None]] = field(default_factory=list)
    """What each call of mutmut leaves behind as verdicts; the first call generates them without any."""
    exits: list[int] = field(default_factory=list)
    calls: list[str | list[str]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    status: Status = Status.KILLED
    only: Any = None
    """The files that are to have mutants."""

    def mutmut(self, command: Sequence[str], **options: Any) -> Any:
        assert (options["cwd"], command[0]) == (self.project, sys.executable)
        assert options["env"]["PYTHONDONTWRITEBYTECODE"] == "1"
        assert options["stderr"] == subprocess.STDOUT
        options["stdout"].write(b"mutmut \xff says\r why")
        message = json.loads(options["input"])
        if command[1:] == ["-P", str(runs.PREPARE)]:
            self.calls.append("prepare")
            self.only = message
        else:
            assert command[1:3] == ["-P", str(runs.LIVE)]
            names, only = message
            self.calls.append([*command[3:], *names])
            assert only == self.only
        if self.codes:
            project(self.project, self.codes.pop(0))
        return type("Done", (), {"returncode": self.exits.pop(0) if self.exits else 0})

    def run(self, folder: Path, tasks: Sequence[Task], say: Any) -> dict[str, Result]:
        assert folder == self.project
        self.tasks = list(tasks)
        ends = {runs.NO_OP: Status.SURVIVED}
        return {t.key: Result(t.key, ends.get(t.key, self.status), "", "test_a", 0.5) for t in tasks}


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    put(tmp_path / "pyproject.toml", PYPROJECT)
    put(tmp_path / "shop/box.py", SOURCE)
    put(tmp_path / "shop/controls.py", CONTROLS)
    made = Tools(tmp_path)
    monkeypatch.setattr(subprocess, "run", made.mutmut)
    monkeypatch.setattr(pool, "run", made.run)
    monkeypatch.setattr(pool, "processors", lambda: 2)
    return made


def said(text: str) -> None:
    """Nobody listens."""


def test_mutmut_runs_from_a_clean_state_on_every_processor(tools: Tools) -> None:
    project(tools.project)
    put(tools.project / "mutants/old.txt", "old")
    tools.codes = [NONE, CODES]
    runs.fresh(tools.project, Settings(), "", "", said)
    assert tools.calls == ["prepare", ["2"]]
    assert tools.only == []
    assert not (tools.project / "mutants/old.txt").exists()
    assert b"says" in (tools.project / "mutants/mutmut.log").read_bytes()


def test_without_mutmut_the_advice_is_how_to_get_it(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", {}.get)
    with pytest.raises(
        FaultsError, match=r"^mutmut is not installed, .* pip install 'attention-faults\[test\]'$"
    ):
        runs.fresh(tools.project, Settings(), "", "", said)
    assert tools.calls == []


def test_what_took_too_long_is_run_again_alone(tools: Tools) -> None:
    tools.codes = [NONE, {**CODES, UNIT: 36}, {**CODES, UNIT: 1}]
    heard: list[str] = []
    runs.fresh(tools.project, Settings(), "", "", heard.append)
    assert tools.calls == ["prepare", ["2"], ["1", UNIT]]
    assert heard == ["mutmut", "mutants", "again, alone: 1", "side by side"]


def test_a_failing_baseline_breaks_the_run_and_nothing_more_is_done(tools: Tools) -> None:
    tools.exits = [1]
    runs.fresh(tools.project, Settings(constants=("shop",)), "", "", said)
    run = runs.read(tools.project, Settings())
    assert tools.tasks == []
    assert len(tools.calls) == 1
    (line,) = run.broken
    assert line["en"] == (
        "mutmut ended with 1, its tests must pass before anything is mutated: ... mutmut \ufffd says why"
    )
    assert line["zh"].startswith("mutmut 以 1 结束；")
    assert run.mutants == ()


def test_a_second_run_that_fails_breaks_the_run_too(tools: Tools) -> None:
    tools.codes, tools.exits = [NONE, {**CODES, UNIT: 36}], [0, 0, 3]
    runs.fresh(tools.project, Settings(), "", "", said)
    assert [line["en"][:20] for line in runs.read(tools.project, Settings()).broken] == [
        "mutmut ended with 3,"
    ]


def test_a_clean_run_that_fails_breaks_the_run(tools: Tools) -> None:
    tools.codes, tools.exits = [NONE], [0, 1]
    runs.fresh(tools.project, Settings(constants=("shop",)), "", "", said)
    assert tools.calls == ["prepare", ["2"]]
    assert tools.tasks == []
    assert [line["en"][:20] for line in runs.read(tools.project, Settings()).broken] == [
        "mutmut ended with 1,"
    ]


def test_a_folder_of_somebody_else_is_left_alone(tools: Tools) -> None:
    put(tools.project / "mutants/picture.txt", "mine")
    with pytest.raises(FaultsError, match=r"mutants: found a folder that mutmut did not make; move it away"):
        runs.fresh(tools.project, Settings(), "", "", said)
    assert (tools.project / "mutants/picture.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["mutmut-stats.json", "mutmut.log", "shop/a.py.meta", ""])
def test_a_folder_of_mutmut_is_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / "mutants").mkdir()
    if name:
        put(tmp_path / "mutants" / name, "")
    runs.clean(tmp_path)
    assert not (tmp_path / "mutants").exists()
    runs.clean(tmp_path)


def test_mutants_of_our_own_are_run_and_kept_beside_those_of_mutmut(tools: Tools) -> None:
    tools.codes = [NONE, CODES]
    config = Settings(constants=("shop",))
    runs.fresh(tools.project, config, "", "", said)
    constant = "shop.box:constant_1"
    assert [task.key for task in tools.tasks] == [runs.NO_OP, constant]
    task = tools.tasks[1]
    assert (task.path, "LIMIT = 4" in task.text) == ("shop/box.py", True)
    assert task.arguments == ("--ignore=tests/slow",)
    # Both tests of the statistics reach the module: 1.51 s of tests.
    assert task.seconds == pytest.approx(60 + 15 * 1.51)
    run = runs.read(tools.project, config)
    statuses = {mutant.key: mutant.status for mutant in run.mutants}
    assert statuses == {
        LARGER: Status.SURVIVED,
        UNIT: Status.KILLED,
        TIMES: Status.NO_COVERAGE,
        constant: Status.KILLED,
    }
    own = run.mutants[-1]
    assert (own.killed_by, own.seconds) == ("test_a", 0.5)
    assert run.controls == (Control(runs.NO_OP, Status.SURVIVED, Status.SURVIVED, "test_a"),)
    assert run.broken == ()
    assert run.sources["shop/box.py"] == SOURCE
    assert run.seconds is not None
    assert 0 <= run.seconds < 600


def test_the_controls_of_our_own_programs_are_the_unchanged_one_and_one_that_only_raises(
    tools: Tools,
) -> None:
    tools.codes = [NONE, CODES]
    put(tools.project / "tests/shop/test_controls.py", "")
    config = Settings(constants=("shop",), controls="shop.controls")
    runs.fresh(tools.project, config, "", "", said)
    same, dead = tools.tasks[:2]
    assert (same.key, same.path, same.text) == (runs.NO_OP, "", "")
    assert same.stages == (tools.tasks[2].stages[0],)
    assert same.arguments == dead.arguments == ("--ignore=tests/slow",)
    assert (dead.key, dead.path) == (runs.MUST_DIE, "shop/controls.py")
    assert dead.text == "def must_die(first, second):\n    raise ArithmeticError\n"
    assert dead.stages == (("tests/shop/test_controls.py",),)
    kept = record.read(tools.project).controls
    assert [(control.expected, control.status) for control in kept] == [
        (Status.SURVIVED, Status.SURVIVED),
        (Status.KILLED, Status.KILLED),
    ]


def test_a_program_that_was_not_run_has_no_verdict(tools: Tools) -> None:
    tools.codes = [NONE, CODES]
    runs.fresh(tools.project, Settings(), "", "", said)
    run = runs.read(tools.project, Settings(constants=("shop",)))
    assert [mutant.status for mutant in run.mutants if mutant.key == "shop.box:constant_1"] == [None]


def test_a_file_changed_since_its_own_mutants_ran_breaks_the_run(tools: Tools) -> None:
    tools.codes = [NONE, CODES]
    config = Settings(constants=("shop",))
    runs.fresh(tools.project, config, "", "", said)
    put(tools.project / "shop/box.py", SOURCE.replace("LIMIT = 3", "LIMIT = 5"))
    assert [line["en"] for line in runs.read(tools.project, config).broken] == [
        "shop/box.py: the file has changed since mutmut ran; run it again"
    ]


def test_a_mutant_that_no_test_killed_here_takes_the_verdict_of_the_tests_of_its_child(tools: Tools) -> None:
    tools.codes = [NONE, CODES]
    config = Settings(child_process={"shop.box": ("tests/test_guest.py",)})
    runs.fresh(tools.project, config, "", "", said)
    guest = (("tests/test_guest.py",),)
    assert [(task.key, task.stages) for task in tools.tasks[1:]] == [(LARGER, guest), (TIMES, guest)]
    run = runs.read(tools.project, config)
    assert {mutant.status for mutant in run.mutants} == {Status.KILLED}
    assert len(run.mutants) == 3


# Partial runs


def partial(tools: Tools, monkeypatch: pytest.MonkeyPatch, *functions: str) -> Run:
    """A run since a revision that changed these functions of shop/box.py."""
    changed = Touched(frozenset(("shop/box.py", name) for name in functions), frozenset())

    def touched(folder: Path, revision: str) -> Touched:
        assert (folder, revision) == (tools.project, "main")
        return changed

    monkeypatch.setattr(since, "touched", touched)
    tools.codes = [NONE, NONE, {**NONE, LARGER: 1}]
    tools.exits = [0, 3, 0]
    runs.fresh(tools.project, Settings(constants=("shop",)), "main", "", said)
    return runs.read(tools.project, Settings(constants=("shop",)))


def test_a_partial_run_learns_what_tests_reach_and_runs_what_is_touched(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = partial(tools, monkeypatch, "larger")
    assert tools.calls == ["prepare", ["2", runs.NOBODY], ["2", LARGER]]
    assert (run.since, run.broken) == ("main", ())
    assert [mutant.status for mutant in run.mutants] == [Status.KILLED, None, None, None]
    assert tools.tasks == []


def test_a_part_is_known_before_any_test_runs(tools: Tools) -> None:
    parts = (Part("larger", ("shop.other",), 100), Part("rest", ("shop.*",), 100))
    config = Settings(parts=parts, controls="shop.controls")
    put(tools.project / "shop/other.py", "")
    tools.codes = [NONE, {**NONE, LARGER: 1}]
    runs.fresh(tools.project, config, "", "rest", said)
    assert tools.calls == ["prepare", ["2", LARGER, UNIT, TIMES]]
    assert tools.only == ["shop/box.py", "shop/controls.py"]
    assert runs.read(tools.project, config).part == "rest"
    tools.calls, tools.codes = [], [NONE]
    runs.fresh(tools.project, config, "", "larger", said)
    assert tools.calls == ["prepare"]
    assert tools.only == ["shop/controls.py", "shop/other.py"]


def test_a_change_outside_of_functions_touches_the_constants_too(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial(tools, monkeypatch, "")
    assert tools.calls[2] == ["2", LARGER, UNIT, TIMES]
    assert [task.key for task in tools.tasks[1:]] == ["shop.box:constant_1"]


def test_where_nothing_is_touched_nothing_is_run(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    partial(tools, monkeypatch)
    assert tools.calls == ["prepare", ["2", runs.NOBODY]]


def test_a_partial_run_on_a_failing_baseline_is_broken(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(since, "touched", lambda folder, revision: Touched(frozenset(), frozenset()))
    tools.exits = [1]
    runs.fresh(tools.project, Settings(), "main", "", said)
    run = runs.read(tools.project, Settings())
    assert (len(run.broken), record.read(tools.project).since) == (1, "main")


def test_a_partial_run_ends_where_the_tests_that_should_tell_what_they_reach_fail(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(since, "touched", lambda folder, revision: Touched(frozenset(), frozenset()))
    tools.exits = [0, 1]
    runs.fresh(tools.project, Settings(), "main", "", said)
    assert tools.calls == ["prepare", ["2", runs.NOBODY]]
    assert [line["en"][:20] for line in runs.read(tools.project, Settings()).broken] == [
        "mutmut ended with 1,"
    ]


def test_the_controls_are_part_of_every_partial_run(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(since, "touched", lambda folder, revision: Touched(frozenset(), frozenset()))
    tools.codes, tools.exits = [NONE, NONE, CODES], [0, 3, 0]
    runs.fresh(tools.project, Settings(controls="shop.box"), "main", "", said)
    assert tools.calls[2] == ["2", LARGER, UNIT, TIMES]


# Side by side, and equivalents


def test_the_mutants_of_core_are_held_against_the_fault_variants(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def ask(*arguments: Any) -> Any:
        asked.append(arguments)
        return {"missing_scale/absent": [core], "missing_scale/twice": []}

    core, late = LARGER.replace("shop", "core"), "core.box.x_larger__mutmut_2"
    for name, text in (("core/box.py", SOURCE), ("mutants/core/box.py", MUTATED + MUTATED)):
        put(tools.project / name, text)
    monkeypatch.setattr(processes, "ask", ask)
    monkeypatch.setattr(own, "semantic", lambda *arguments: [])
    tools.codes = [NONE, CODES]
    monkeypatch.setattr(runs, "clean", lambda folder: None)
    put(tools.project / "mutants/core/box.py.meta", json.dumps({"exit_code_by_key": {core: 1, late: 36}}))
    put(tools.project / "mutants/mutmut-stats.json", json.dumps(STATS))
    runs.fresh(tools.project, Settings(semantic=("tests",)), "", "", said)
    (arguments, keys, folder, variables) = asked[0]
    assert (arguments, keys) == (["-m", "faults.mutation.likeness"], [core])
    assert folder == tools.project / "mutants"
    assert variables["PYTHONPATH"] == str(folder)
    assert variables["MUTANT_UNDER_TEST"] == ""
    kept = record.read(tools.project)
    assert kept.likeness == (Likeness("missing_scale/absent", (core,)), Likeness("missing_scale/twice", ()))
    assert kept.compared == 1
    run = runs.read(tools.project, Settings())
    assert (run.likeness, run.compared) == (kept.likeness, 1)


def test_without_semantic_mutants_nothing_is_compared(tools: Tools) -> None:
    tools.codes = [NONE, CODES]
    runs.fresh(tools.project, Settings(), "", "", said)
    assert runs.read(tools.project, Settings()).compared is None


def test_controls_of_mutmut_do_not_count(tools: Tools) -> None:
    tools.codes = [NONE, CODES]
    runs.fresh(tools.project, Settings(), "", "", said)
    run = runs.read(tools.project, Settings(controls="shop.box"))
    assert [control.name for control in run.controls] == ["must_die", "must_live"]
    assert len(run.mutants) == 3


EQUIVALENT = """
- function: shop.box.larger
  line: "if first > second:"
  mutated: "if first >= second:"
  reason: equal ones are one
  proof: inputs
  inputs: pairs
  extremes: [zero]
"""
CONFIG = Settings(equivalents="same.yaml", proofs="proofs.py")


def test_proved_equivalents_are_marked(tools: Tools) -> None:
    folder = project(tools.project)
    put(folder / "same.yaml", EQUIVALENT)
    put(folder / "proofs.py", "def pairs(seed):\n    return [(0.0, float(at)) for at in range(10000)]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", REAL_RUN)
        run = runs.read(folder, CONFIG)
    assert run.unproved == ()
    assert {mutant.key: mutant.equivalent for mutant in run.mutants}[LARGER] == "equal ones are one"


def test_what_is_no_equivalent_is_not_marked(tools: Tools) -> None:
    folder = project(tools.project)
    put(folder / "same.yaml", EQUIVALENT)
    put(folder / "proofs.py", "def pairs(seed):\n    return [(0.0, -0.0)] * 10000\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", REAL_RUN)
        run = runs.read(folder, CONFIG)
    assert [line["en"].partition("not proved: ")[2] for line in run.unproved] == [
        "input 1 tells them apart: (0.0, -0.0)"
    ]


def test_a_list_with_a_mistake_is_named(tmp_path: Path) -> None:
    put(project(tmp_path) / "same.yaml", "3")
    with pytest.raises(FaultsError, match=r"^same\.yaml: cannot be read"):
        runs.read(tmp_path, CONFIG)


def test_in_a_partial_run_entries_for_the_rest_are_not_stale(
    tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tools.project / "same.yaml", EQUIVALENT.replace("larger", "other"))
    partial(tools, monkeypatch, "larger")
    assert runs.read(tools.project, CONFIG).unproved == ()


def test_without_anything_to_prove_no_process_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "ask", None)
    put(project(tmp_path, {LARGER: 1, UNIT: 1, TIMES: 1}) / "same.yaml", EQUIVALENT)
    (line,) = runs.read(tmp_path, CONFIG).unproved
    assert "not needed: its mutant was killed" in line["en"]


def test_equivalents_of_our_own_are_proved_too(tmp_path: Path) -> None:
    entry = "function: shop.box, line: LIMIT = 3, mutated: LIMIT = 4, reason: unused, proof: inputs"
    put(tmp_path / "pyproject.toml", PYPROJECT)
    put(project(tmp_path) / "same.yaml", f"[{{{entry}, inputs: pairs, extremes: [zero]}}]")
    put(tmp_path / "mutants/faults-score.json", "{}")
    own_mutant = {"status": "survived", "reason": "", "killed_by": "", "seconds": 1.0}
    record.write(tmp_path, Record(results={"shop.box:constant_1": own_mutant}))
    put(tmp_path / "proofs.py", "")
    (line,) = runs.read(tmp_path, replace(CONFIG, constants=("shop",))).unproved
    # A constant has no function to be called; the proof begins with the right text and ends there.
    assert "not proved: AttributeError: " in line["en"]
    put(tmp_path / "same.yaml", f"[{{{entry.replace('inputs', 'bytecode')}}}]")
    (line,) = runs.read(tmp_path, replace(CONFIG, constants=("shop",))).unproved
    assert line["en"].endswith("not proved: the bytecode differs")


def test_a_list_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert runs.read(project(tmp_path), CONFIG).unproved == ()


def test_a_child_that_fails_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(
        FaultsError, match=r"^-c import sys; sys\.exit\('why'\): ended with 1 \(why\); required is 0$"
    ):
        processes.ask(["-c", "import sys; sys.exit('why')"], [], tmp_path, processes.environment())


def test_a_child_answers_in_json(tmp_path: Path) -> None:
    program = "import json, os, sys; print(json.dumps([json.load(sys.stdin), os.environ['X'], os.getcwd()]))"
    found = processes.ask(["-c", program], {"a": 1}, tmp_path, processes.environment(X="y"))
    assert found == [{"a": 1}, "y", str(tmp_path)]


def test_a_run_without_a_record_is_read_as_it_is(tmp_path: Path) -> None:
    run = runs.read(project(tmp_path), Settings())
    assert (len(run.mutants), run.controls, run.seconds, run.since) == (3, (), None, "")
    assert record.read(tmp_path) == Record()
    assert pool.processors() >= 1


REAL_RUN = subprocess.run
