"""The live session piece by piece, in this process: what it learns, in which order it asks, how its children end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mutmut import __main__ as mutmut
from mutmut.mutation import trampoline
from mutmut.mutation.data import SourceFileMutationData
from mutmut.state import MutmutState
from mutmut.workers.isolation import ForkRunner

from faults.mutation import live

A, B, C, D = "a.py::one", "b.py::two", "a.py::three", "c.py::four"


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> MutmutState:
    """What mutmut knows, apart from what it knows of a session that may be going on around this test."""
    made = MutmutState()
    monkeypatch.setattr(live, "state", lambda: made)
    return made


@pytest.fixture
def session(tmp_path: Path, known: MutmutState, monkeypatch: pytest.MonkeyPatch) -> Iterator[live.Live]:
    """A live session that has collected nothing yet, in a project's folder of its own."""
    (tmp_path / "mutants").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(live, "settle", lambda mutant: None)
    monkeypatch.setenv(live.TEMPORARY, "whatever was there before")
    made = live.Live(["m"], 2)
    yield made
    os.rmdir(made.temporary)


class Item:
    """A test: notes that it ran, and fails, raises or stops the session if it is told to."""

    def __init__(
        self, name: str, session: Any, fails: bool = False, error: BaseException | None = None
    ) -> None:
        self.nodeid, self.session, self.fails, self.error = name, session, fails, error
        self.config = SimpleNamespace(hook=self)

    def pytest_runtest_protocol(self, item: Item, nextitem: Item | None) -> None:
        assert item is self
        assert Path.cwd().name == "mutants"
        assert Path(os.environ[live.TEMPORARY]).is_dir()
        self.session.ran.append((self.nodeid, nextitem and nextitem.nodeid))
        if self.error is not None:
            raise self.error
        if self.fails:
            self.session.testsfailed += 1
            self.session.shouldfail = "stopping after 1 failures"


def collected(session: Any, **given: Any) -> Any:
    """Gives the session the tests A, B and C, all of the same length, that reach 3, 1 and 2 functions."""
    made = SimpleNamespace(ran=[], testsfailed=0, shouldfail=False, shouldstop=False)
    session.items = {name: Item(name, made, **given.get(name[0], {})) for name in (A, B, C)}
    session.breadth.update({A: 3, B: 1, C: 2})
    return made


# In which order tests are asked


def test_the_test_that_reaches_the_least_is_asked_first(session: Any) -> None:
    made = collected(session)
    assert session.run_tests(mutant_name="m", tests=[A, B, C]) == 0
    assert made.ran == [(B, C), (C, A), (A, None)]


def test_a_test_is_as_dear_as_its_time_that_of_its_fixtures_and_what_it_reaches(
    session: Any, known: MutmutState
) -> None:
    session.breadth.update({A: 3})
    assert session.cost(A) == pytest.approx(3 * 0.05)
    known.duration_by_test[A] = 0.25
    assert session.cost(A) == pytest.approx(3 * 0.3)
    session.price[A] = 0.5
    assert session.cost(A) == pytest.approx(3 * 0.8)
    assert session.cost(B) == 0


def test_a_dear_test_is_asked_late(session: Any, known: MutmutState) -> None:
    made = collected(session)
    known.duration_by_test[B] = 9.0
    session.run_tests(mutant_name="m", tests=[A, B])
    assert [name for name, _ in made.ran] == [A, B]


# How a child ends


def test_a_test_that_fails_ends_the_child_with_1_and_no_other_is_asked(session: Any) -> None:
    made = collected(session, b={"fails": True})
    assert session.run_tests(mutant_name="m", tests=[A, B]) == 1
    assert made.ran == [(B, A)]


def test_without_a_test_by_name_all_are_run(session: Any) -> None:
    made = collected(session)
    assert session.run_tests(mutant_name=None, tests=[]) == 0
    assert made.ran == [(A, B), (B, C), (C, None)]


def test_a_session_that_should_stop_stops(session: Any) -> None:
    made = collected(session)
    made.shouldstop = "enough"
    assert session.run_tests(mutant_name=None, tests=[A, B]) == 0
    assert made.ran == [(B, A)]


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 2), (SystemExit(1), 3), (ValueError("no"), 3)]
)
def test_what_stops_the_tests_otherwise_is_no_kill(session: Any, error: BaseException, code: int) -> None:
    collected(session, b={"error": error})
    assert session.run_tests(mutant_name="m", tests=[B]) == code


def test_a_child_has_a_folder_of_its_own_for_the_time_of_its_tests(session: Any) -> None:
    collected(session)
    session.run_tests(mutant_name="m", tests=[A])
    assert Path(os.environ[live.TEMPORARY]).parent == Path(session.temporary)
    assert list(Path(session.temporary).iterdir()) == []


def test_a_child_keeps_the_streams_that_mutmut_gave_it(session: Any) -> None:
    collected(session)
    given = (sys.stdout, sys.stderr)
    session.run_tests(mutant_name="m", tests=[A])
    assert session.streams == given


def test_the_mutant_of_a_child_is_looked_up_once(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[str] = []
    monkeypatch.setattr(live, "settle", settled.append)
    collected(session)
    monkeypatch.setenv("MUTANT_UNDER_TEST", "shop.box.x_f__mutmut_1")
    session.run_tests(mutant_name="m", tests=[A])
    monkeypatch.delenv("MUTANT_UNDER_TEST")
    os.chdir("..")
    session.run_tests(mutant_name=None, tests=[A])
    assert settled == ["shop.box.x_f__mutmut_1", ""]


def test_a_settled_mutant_is_the_answer_to_whoever_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trampoline, "get_mutant_under_test", trampoline.get_mutant_under_test)
    live.settle("the mutant")
    answer = trampoline.get_mutant_under_test()
    monkeypatch.undo()
    assert answer == "the mutant"


# A library with threads of its own that another test has loaded (JAX) warns of every fork, and so does Python 3.12.
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_child_ends_with_the_code_of_what_it_runs_and_says_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def run() -> int:
        print("out")
        print("err", file=sys.stderr)
        return 7

    def killed() -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert live.waited(live.fork(run)) == 7
    assert live.waited(live.fork(killed)) == -9
    assert capfd.readouterr() == ("", "")


# What is learnt


def report(name: str, when: str, seconds: float, text: str = "") -> Any:
    return SimpleNamespace(nodeid=name, when=when, duration=seconds, failed=bool(text), longreprtext=text)


def test_what_a_test_reached_and_took_counts_from_its_setup_to_its_teardown(
    session: Any, known: MutmutState
) -> None:
    session.items = {A: SimpleNamespace(), B: SimpleNamespace()}
    known._stats.update({"shop.x_b", "shop.x_a"})
    session.pytest_runtest_logreport(report(A, "setup", 0.5))
    session.pytest_runtest_logreport(report(A, "call", 1.0))
    assert session.reached == {}
    session.pytest_runtest_logreport(report(A, "teardown", 0.25))
    known._stats.update({"shop.x_c"})
    session.pytest_runtest_logreport(report(B, "teardown", 2.0))
    assert session.reached == {A: ["shop.x_a", "shop.x_b"], B: ["shop.x_c"]}
    assert session.seconds == {A: 1.75, B: 2.0}
    assert session.waits == {A: 0, B: 0}
    assert session.failures == []


def test_of_a_test_that_fails_the_end_of_the_reason_is_kept(session: Any, known: MutmutState) -> None:
    session.pytest_runtest_logreport(report(A, "call", 0.0, "x" * 10 + "y" * 300))
    assert session.failures == [f"FAILED {A}: {'y' * 300}"]


def test_what_a_fixture_reached_and_took_counts_for_each_test_that_uses_it(
    session: Any, known: MutmutState, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([10.0, 13.0, 20.0, 21.0])
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    fixture: Any = object()
    for function in ("shop.x_first", "shop.x_second"):
        known._stats.clear()
        known._stats.add("shop.x_test")
        setup = session.pytest_fixture_setup(fixture)
        next(setup)
        assert known._stats == set()
        known._stats.add(function)
        with pytest.raises(StopIteration) as stop:
            setup.send("made")
        assert stop.value.value == "made"
        assert known._stats == {"shop.x_test", function}
    known._stats.clear()
    uses = SimpleNamespace(name2fixturedefs={"fixture": [fixture], "other": [object()]})
    session.items = {A: SimpleNamespace(_fixtureinfo=uses)}
    known._stats.add("shop.x_own")
    session.pytest_runtest_logreport(report(A, "teardown", 0.0))
    assert session.reached == {A: ["shop.x_first", "shop.x_own", "shop.x_second"]}
    assert session.waits == {A: 3.0}


def test_what_a_fixture_that_fails_had_reached_counts_too(session: Any, known: MutmutState) -> None:
    setup, fixture = None, object()
    setup = session.pytest_fixture_setup(fixture)
    next(setup)
    known._stats.add("shop.x_f")
    with contextlib.suppress(ValueError):
        setup.throw(ValueError("no"))
    assert session.prepared[fixture].reached == {"shop.x_f"}


def test_a_child_leaves_behind_what_it_learnt_and_the_session_reads_it(
    session: Any,
    known: MutmutState,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forked: list[Any] = []
    monkeypatch.setattr(os, "register_at_fork", lambda after_in_child: forked.append(after_in_child))
    collected(session, b={"fails": True})
    session.reached, session.seconds = {A: ["x_f", "x_g"], C: ["x_f"]}, {A: 1.5, C: 0.5}
    session.waits, session.failures = {A: 2.0}, ["FAILED somewhere"]
    place = tmp_path / "learnt.json"
    assert session.learn([A, B], place) == 1
    assert json.loads(place.read_text())["failures"] == ["FAILED somewhere"]
    assert live.learnt(place) == {A: 2.0}
    assert (known.duration_by_test[A], known.duration_by_test[C]) == (1.5, 0.5)
    assert known.tests_by_mangled_function_name == {"x_f": {A, C}, "x_g": {A}}
    assert capsys.readouterr().out == "FAILED somewhere\n"
    # A fork of it tells what it reaches, and each thing once; what its parent had reached it does not know.
    known._stats.add("shop.x_before")
    forked[0]()
    for function in ("shop.x_f", "shop.x_g", "shop.x_f"):
        known._stats.add(function)
    assert (tmp_path / "learnt.told").read_text() == "shop.x_f\nshop.x_g\n"
    assert session.heard() == ["shop.x_f", "shop.x_g"]
    assert session.heard() == []


def test_what_a_fork_of_a_test_reached_counts_for_that_test(session: Any, known: MutmutState) -> None:
    session.items = {A: SimpleNamespace(), B: SimpleNamespace()}
    known._stats.add("shop.x_b")
    session.told.write_text("shop.x_c\nshop.x_a\n")
    session.pytest_runtest_logreport(report(A, "teardown", 0.0))
    session.pytest_runtest_logreport(report(B, "teardown", 0.0))
    assert session.reached == {A: ["shop.x_a", "shop.x_b", "shop.x_c"], B: []}


def test_the_tests_of_one_file_stay_in_one_share() -> None:
    assert live.shared([A, B, C, D], 2) == [[A, C, D], [B]]
    assert live.shared([A, B, C, D], 9) == [[A, C], [B], [D]]
    assert live.shared([A, B, C, D], 1) == [[A, C, B, D]]
    assert live.shared([], 2) == []


def test_what_ran_while_tests_were_collected_is_written_down_and_then_nobody_counts(
    session: Any, known: MutmutState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(trampoline, "set_mutant_under_test", asked.append)
    known._stats.update({"shop.x_b", "shop.x_a"})
    session.imported()
    assert (tmp_path / "mutants/faults-imported.json").read_text() == '["shop.x_a", "shop.x_b"]'
    assert known._stats == set()
    assert asked == [""]


# The session itself


@pytest.mark.parametrize("failed", [0, 1])
def test_in_place_of_running_the_tests_mutmut_runs_its_mutants_unless_a_file_cannot_be_collected(
    session: Any, failed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collections: list[str] = []
    monkeypatch.setattr(trampoline, "set_mutant_under_test", lambda mutant: None)
    monkeypatch.setattr(live, "gc", SimpleNamespace(
        collect=lambda: collections.append("collect"), freeze=lambda: collections.append("freeze")
    ))  # fmt: skip
    monkeypatch.setattr(session, "mutate", lambda: 5)
    os.chdir("mutants")
    item = Item(A, None)
    assert session.pytest_runtestloop(SimpleNamespace(items=[item], testsfailed=failed)) is True
    assert session.items == {A: item}
    assert session.code == (3 if failed else 5)
    assert Path.cwd() == tmp_path
    assert collections == ["collect", "freeze"]


@pytest.mark.parametrize(
    ("stop", "code"), [(None, 0), (SystemExit(1), 1), (SystemExit("no"), 3), (SystemExit(), 3)]
)
def test_the_exit_code_is_that_of_mutmut(
    session: Any, stop: BaseException | None, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(names: list[str], children: int) -> None:
        assert (names, children) == (["m"], 2)
        runner: Any = vars(mutmut)["get_mutant_runner"](9)
        assert isinstance(runner, live.Forks)
        assert (runner.max_workers, runner.live, runner.test_runner) == (2, session, session)
        if stop is not None:
            raise stop

    monkeypatch.setattr(mutmut, "get_mutant_runner", None)
    monkeypatch.setattr(mutmut, "_run", run)
    assert session.mutate() == code


# mutmut's runner


class Data:
    """Verdicts of one file; notes when they are written."""

    def __init__(self, name: str) -> None:
        self.name = name


def test_verdicts_are_written_at_the_first_and_every_ten_seconds_and_at_the_end(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    now = [100.0]
    monkeypatch.setattr(live, "SAVE", lambda data: written.append(data.name))
    monkeypatch.setattr(live, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(ForkRunner, "shutdown", lambda self: written.append("down"))
    runner: Any = live.Forks(2, session)
    one, other = Data("one"), Data("other")
    for after, data in ((0.0, one), (9.9, other), (0.0, one), (0.1, other)):
        now[0] += after
        runner.keep(data)
    assert written[0] == "one"
    assert sorted(written[1:]) == ["one", "other"]
    runner.keep(one)
    runner.shutdown()
    assert written[3:] == ["down", "one"]


def test_before_the_first_mutant_it_is_counted_what_each_test_reaches(
    session: Any, known: MutmutState, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []
    kept: list[Any] = []
    monkeypatch.setattr(ForkRunner, "startup", lambda self: begun.append(self))
    monkeypatch.setattr(mutmut, "print_stats", None)
    monkeypatch.setattr(SourceFileMutationData, "save", None)
    known.tests_by_mangled_function_name.update({"x_f": {A, B}, "x_g": {A}})
    runner: Any = live.Forks(2, session)
    monkeypatch.setattr(runner, "keep", kept.append)
    runner.startup()
    assert session.breadth == {A: 2, B: 1}
    assert begun == [runner]
    assert vars(mutmut)["print_stats"]({}, force_output=True) is None
    data = SourceFileMutationData(path="shop/box.py")
    data.save()
    assert kept == [data]


def test_what_the_tests_reach_is_learnt_in_as_many_children_as_there_may_be(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[list[str], str]] = []

    def learn(tests: list[str], place: Path) -> int:
        asked.append((tests, place.name))
        place.write_text(json.dumps({"reached": {}, "seconds": {}, "failures": [], "waits": {tests[0]: 1.0}}))
        return len(tests) if A in tests else 0

    monkeypatch.setattr(live, "fork", lambda run: run())
    monkeypatch.setattr(live, "waited", lambda child: child)
    monkeypatch.setattr(session, "learn", learn)
    session.items = dict.fromkeys((A, B, C))
    runner: Any = live.Forks(2, session)
    assert runner.collect_stats() == 2
    assert asked == [([A, C], "0.json"), ([B], "1.json")]
    assert session.price == {A: 1.0, B: 1.0}
    for place in Path(session.temporary).iterdir():
        place.unlink()
    assert runner.collect_stats([B]) == 0
    assert asked[2:] == [([B], "0.json")]
    (Path(session.temporary) / "0.json").unlink()
    assert runner.list_all_tests().ids == {A, B, C}
    assert runner.run_clean_tests([A]) == 0


def test_a_child_that_left_nothing_behind_is_no_trouble_to_read(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "fork", lambda run: 3)
    monkeypatch.setattr(live, "waited", lambda child: child)
    session.items = dict.fromkeys((A, B))
    assert live.Forks(2, session).collect_stats() == 3
    assert session.price == {}


def test_the_test_that_must_fail_runs_every_test_in_a_child(
    session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_tests(*, mutant_name: str | None, tests: list[str]) -> int:
        assert (mutant_name, tests) == (None, [])
        return 1

    monkeypatch.setattr(session, "run_tests", run_tests)
    monkeypatch.setattr(live, "fork", lambda run: run())
    monkeypatch.setattr(live, "waited", lambda child: 10 + child)
    assert live.Forks(2, session).run_forced_fail() == 11
