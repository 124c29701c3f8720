"""Runs the tools from a clean state, or reads what a finished run left behind."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from faults.model import Control, FaultsError, Status, Text
from faults.mutation import controls, finished, own, pool, processes, proofs, record, settings, since
from faults.mutation.functions import functions, rewritten
from faults.mutation.model import Likeness, Mutant, Run, part_of
from faults.mutation.own import Program
from faults.mutation.record import Record
from faults.mutation.settings import Settings

Say = Callable[[str], None]
Wanted = Callable[[Mutant], bool]

LOG = "mutmut.log"
LIVE = Path(__file__).with_name("live.py")
NOBODY = "no mutant has this name"
PREPARE = Path(__file__).with_name("prepare.py")

TAIL = 300


def fresh(project: Path, config: Settings, revision: str, part: str, say: Say) -> None:
    """Runs mutmut and then everything of our own, from nothing; the folder of mutants holds the result.

    With a revision only what changed since then, with a part only that part.
    """
    started = time.monotonic()
    if importlib.util.find_spec("mutmut") is None:
        raise FaultsError(
            "mutmut is not installed, required is mutmut 3.8; install it with: pip install 'attention-faults[test]'"
        )
    clean(project)
    wanted = _wanted(project, config, revision, part)
    say("mutmut")
    broken = _mutated(project, config, wanted, bool(revision), _files(project, config, part), say)
    kept = Record(broken=broken) if broken else _own(project, config, wanted, say)
    seconds = time.monotonic() - started
    record.write(project, replace(kept, since=revision, part=part, seconds=seconds))


def _wanted(project: Path, config: Settings, revision: str, part: str) -> Wanted | None:
    """Which mutants are to be run; None for all there are."""
    if not revision and not part:
        return None
    changes = since.touched(project, revision) if revision else None

    def wanted(mutant: Mutant) -> bool:
        own = not part or part_of(mutant.module, config.parts) == part
        return own and (changes is None or changes.includes(mutant))

    return wanted


def _files(project: Path, config: Settings, part: str) -> list[str]:
    """The files of a part and of the controls: all that need mutants. None are named where all files do."""
    if not part:
        return []
    modules = {path: own.module_of(path) for path in own.source_files(project)}
    return [
        path
        for path, module in modules.items()
        if part_of(module, config.parts) == part or module == config.controls
    ]


def clean(project: Path) -> None:
    """Removes the folder of an earlier run. Raises FaultsError where the folder holds something else."""
    folder = project / finished.FOLDER
    if not folder.exists():
        return
    marks = (finished.STATS, LOG)
    known = any(folder.rglob("*.meta")) or any((folder / mark).exists() for mark in marks)
    if not known and any(folder.iterdir()):
        raise FaultsError(
            f"{folder}: found a folder that mutmut did not make; move it away, mutmut needs the name"
        )
    shutil.rmtree(folder)


def _mutated(
    project: Path, config: Settings, wanted: Wanted | None, reached: bool, only: list[str], say: Say
) -> tuple[Text, ...]:
    """Why mutmut did not finish; nothing where it did. Mutants that took too long are run again alone.

    reached: whether it depends on the tests that reach a mutant if it is wanted, so that they must be known first.
    only: the files that get mutants; all of them where none is named.
    """
    code = _call(project, ["-P", str(PREPARE)], only)
    if code:
        return (_failed(code, project / finished.FOLDER / LOG),)
    say("mutants")
    if reached:
        code = _call(project, ["-P", str(LIVE), str(pool.processors())], [[NOBODY], only])
        if not (project / finished.FOLDER / finished.STATS).exists():
            return (_failed(code, project / finished.FOLDER / LOG),)
    broken = _live(project, pool.processors(), _names(project, config, wanted), only)
    late = [mutant.key for mutant in finished.read(project).mutants if mutant.status is Status.TIMEOUT]
    if late and not broken:
        say(f"again, alone: {len(late)}")
        broken = _live(project, 1, late, only)
    return broken


def _names(project: Path, config: Settings, wanted: Wanted | None) -> list[str] | None:
    """The controls and the mutants that are wanted; None for all there are."""
    if wanted is None:
        return None
    return [m.key for m in finished.read(project).mutants if wanted(m) or m.module == config.controls]


def _live(project: Path, children: int, names: list[str] | None, only: list[str]) -> tuple[Text, ...]:
    """Tests mutants in a live session, so many at once; all of them without names, none with an empty list."""
    if names == []:
        return ()
    code = _call(project, ["-P", str(LIVE), str(children)], [names or [], only])
    return (_failed(code, project / finished.FOLDER / LOG),) if code else ()


def _call(project: Path, arguments: Sequence[str], message: Any) -> int:
    """The exit code of a Python child in the project's folder; what it prints is added to the log."""
    folder = project / finished.FOLDER
    folder.mkdir(exist_ok=True)
    with (folder / LOG).open("ab") as log:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=project,
            env=processes.environment(),
            input=json.dumps(message).encode(),
            stdout=log,
            stderr=subprocess.STDOUT,
        ).returncode


def _failed(code: int, log: Path) -> Text:
    last = b" ".join(log.read_bytes().split())[-TAIL:].decode(errors="replace")
    return {
        "en": f"mutmut ended with {code}, its tests must pass before anything is mutated: ... {last}",
        "zh": f"mutmut 以 {code} 结束；变异之前测试必须全部通过：……{last}",
    }


def _own(project: Path, config: Settings, wanted: Wanted | None, say: Say) -> Record:
    """The verdicts of the programs of our own, their controls, and the comparison with the fault variants."""
    run = finished.read(project)
    tests = own.Tests(project, run)
    programs = everything(project, config, run, tests)
    chosen = [program for program in programs if wanted is None or wanted(program.mutant)]
    tasks = [_task(program, run.tests, _options(project)) for program in chosen]
    results = pool.run(project, [*_control_tasks(project, config, tasks, tests), *tasks], say)
    say("side by side")
    likeness, compared = _likeness(project, config, run)
    return Record(
        results={key: asdict(result) for key, result in results.items() if not key.startswith(CONTROL)},
        controls=_controls(results),
        likeness=likeness,
        compared=compared,
        digests=record.digests(project, (program.mutant.change.path for program in programs)),
    )


def everything(project: Path, config: Settings, run: finished.Finished, tests: own.Tests) -> list[Program]:
    """All programs that are tested next to mutmut's."""
    return [
        *own.edited(project, config, tests),
        *own.semantic(project, config, tests),
        *own.child_process(project, config, run.mutants),
        *own.imported(project, config, run, tests),
    ]


def _options(project: Path) -> tuple[str, ...]:
    """The options among mutmut's selection of tests, such as --ignore."""
    configured = settings.mutmut(project).get("pytest_add_cli_args_test_selection", [])
    return tuple(word for word in configured if word.startswith("-"))


def _task(program: Program, seconds: Mapping[str, float], options: tuple[str, ...]) -> pool.Task:
    tests = [test for stage in program.stages for test in stage]
    return pool.Task(
        program.mutant.key,
        program.path,
        program.text,
        program.stages,
        (*options, *program.arguments),
        own.seconds_of(tests, seconds),
    )


CONTROL = "edit that "
"""Begins the key of a control, which no mutant's does."""

NO_OP, MUST_DIE = f"{CONTROL}changes nothing", f"{CONTROL}must die"


def _control_tasks(
    project: Path, config: Settings, tasks: Iterable[pool.Task], tests: own.Tests
) -> list[pool.Task]:
    """The unchanged program with every first stage, and a change that no test may miss."""
    first = dict.fromkeys(test for task in tasks for stage in task.stages[:1] for test in stage)
    if not first:
        return []
    options = _options(project)
    found = [pool.Task(NO_OP, "", "", (tuple(first),), options)]
    if config.controls:
        path = config.controls.replace(".", "/") + ".py"
        dead = _dead((project / path).read_bytes().decode())
        found.append(pool.Task(MUST_DIE, path, dead, tests.stages(config.controls), options))
    return found


def _dead(source: str) -> str:
    """The module of controls with a function that only raises."""
    function = functions(source)["must_die"]
    return rewritten(source, function, [function.lines[0], "    raise ArithmeticError"])


def _controls(results: Mapping[str, pool.Result]) -> tuple[Control, ...]:
    expected = {NO_OP: Status.SURVIVED, MUST_DIE: Status.KILLED}
    return tuple(
        Control(key, status, results[key].status, results[key].killed_by or results[key].reason)
        for key, status in expected.items()
        if key in results
    )


def _likeness(
    project: Path, config: Settings, run: finished.Finished
) -> tuple[tuple[Likeness, ...], int | None]:
    """The fault variants with the mutants of `core` that behave like them, and how many were compared."""
    keys = [m.key for m in run.mutants if m.module.startswith("core.") and m.status is not Status.TIMEOUT]
    if not config.semantic or not keys:
        return (), None
    folder = project / finished.FOLDER
    variables = processes.environment(PYTHONPATH=str(folder))
    found = processes.ask(["-m", "faults.mutation.likeness"], keys, folder, variables)
    return tuple(Likeness(name, tuple(alike)) for name, alike in found.items()), len(keys)


def read(project: Path, config: Settings, part: str = "") -> Run:
    """The run in the folder of mutants, or one part of it, judged by nobody yet.

    Raises FaultsError where there is none.
    """
    kept = record.read(project)
    part = part or kept.part
    if kept.broken and not finished.exists(project):
        return Run((), broken=kept.broken)
    run = finished.read(project)
    programs = everything(project, config, run, own.Tests(project, run))
    mutants = [record.decided(mutant, kept.results) for mutant in run.mutants]
    known = {mutant.key for mutant in run.mutants}
    mutants += [
        record.decided(program.mutant, kept.results)
        for program in programs
        if program.mutant.key not in known
    ]
    counted, held = controls.apart(mutants, config.controls)
    counted = [m for m in counted if not part or part_of(m.module, config.parts) == part]
    texts = {program.mutant.key: program.text for program in programs}
    settled, unproved = proofs.proved(project, config, counted, texts, bool(kept.since or part))
    paths = sorted({mutant.change.path for mutant in settled})
    return Run(
        settled,
        (*held, *kept.controls),
        (*kept.broken, *run.broken, *record.changed(project, kept, paths)),
        unproved,
        kept.since,
        part,
        kept.compared,
        kept.likeness,
        kept.seconds,
        {path: (project / path).read_bytes().decode() for path in paths},
    )
