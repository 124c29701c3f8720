from __future__ import annotations

import json
from pathlib import Path

import pytest

from faults.model import FaultsError, Status
from faults.mutation import finished
from faults.mutation.model import Mutant, Origin
from tests.faults.mutation.made_run import (
    CODES,
    FAST,
    LARGER,
    MUTATED,
    SLOW,
    SOURCE,
    TIMES,
    UNIT,
    project,
    put,
)


def read(folder: Path) -> dict[str, Mutant]:
    run = finished.read(folder)
    assert run.broken == ()
    return {mutant.key: mutant for mutant in run.mutants}


def broken(folder: Path) -> list[str]:
    return [line["en"] for line in finished.read(folder).broken]


def test_every_mutant_is_read_with_its_verdict_change_and_tests(tmp_path: Path) -> None:
    mutants = read(project(tmp_path))
    assert list(mutants) == [LARGER, UNIT, TIMES]
    larger = mutants[LARGER]
    assert (larger.status, larger.module, larger.origin) == (Status.SURVIVED, "shop.box", Origin.MUTMUT)
    assert (larger.change.path, larger.change.function) == ("shop/box.py", "larger")
    assert (larger.change.before, larger.change.after) == ("if first > second:", "if first >= second:")
    assert (larger.change.place.line, larger.change.replacement) == (8, ">=")
    assert (larger.tests, larger.seconds) == ((FAST, SLOW), 0.5)
    assert (larger.reason, larger.name) == ("", "shop.box.larger")


def test_methods_are_named_with_their_class(tmp_path: Path) -> None:
    mutants = read(project(tmp_path))
    times = mutants[TIMES]
    assert (times.status, times.name) == (Status.NO_COVERAGE, "shop.box.Box.size")
    assert (times.change.before, times.change.after) == (
        "return self.width * unit",
        "return self.width / unit",
    )
    assert (times.seconds, times.tests, times.change.place.line) == (None, (SLOW,), 15)
    assert mutants[UNIT].change.after == "def size(self, unit=2):"


def test_the_source_is_read_of_files_that_have_mutants(tmp_path: Path) -> None:
    folder = project(tmp_path)
    for name in ("shop/empty.py", "mutants/shop/empty.py"):
        put(folder / name, "x = 1\n")
    put(folder / "mutants/shop/empty.py.meta", json.dumps({"exit_code_by_key": {}}))
    run = finished.read(folder)
    assert (run.sources, run.broken) == ({"shop/box.py": SOURCE}, ())


def test_how_long_each_test_took_is_read(tmp_path: Path) -> None:
    run = finished.read(project(tmp_path))
    assert run.tests == {FAST: 0.01, SLOW: 1.5}
    assert run.reached["shop.box.x_larger"] == (FAST, SLOW)


def test_an_older_run_may_know_neither_seconds_nor_tests(tmp_path: Path) -> None:
    folder = project(tmp_path)
    put(folder / "mutants/shop/box.py.meta", json.dumps({"exit_code_by_key": CODES}))
    put(
        folder / "mutants/mutmut-stats.json", '{"tests_by_mangled_function_name": {}, "duration_by_test": {}}'
    )
    assert {(mutant.tests, mutant.seconds) for mutant in read(folder).values()} == {((), None)}


def test_tests_of_equal_length_come_by_name(tmp_path: Path) -> None:
    folder = project(tmp_path)
    stats = {"duration_by_test": {"b": 1}, "tests_by_mangled_function_name": {"f": ["b", "unknown", "a"]}}
    put(folder / "mutants/mutmut-stats.json", json.dumps(stats))
    assert finished.read(folder).reached == {"f": ("a", "unknown", "b")}


def test_a_mutant_that_was_not_run_has_no_verdict(tmp_path: Path) -> None:
    mutants = read(project(tmp_path, {**CODES, UNIT: None}))
    assert (mutants[UNIT].status, mutants[UNIT].reason) == (None, "no verdict")


def test_a_folder_without_a_run_is_refused_in_one_line(tmp_path: Path) -> None:
    put(tmp_path / "mutants/other.txt", "")
    assert not finished.exists(tmp_path)
    with pytest.raises(
        FaultsError, match=r"mutants: found no finished run of mutmut, required is one; .*--no-run"
    ):
        finished.read(tmp_path)


def test_a_folder_with_a_run_is_known(tmp_path: Path) -> None:
    assert finished.exists(project(tmp_path))


def test_a_mutant_without_an_entry_breaks_the_run(tmp_path: Path) -> None:
    folder = project(tmp_path, {LARGER: 1, UNIT: 1})
    assert broken(folder) == [
        "shop/box.py: xǁBoxǁsize__mutmut_2 is in the mutated file or in its verdicts, not in both; run mutmut again"
    ]


def test_an_entry_without_a_mutant_breaks_the_run(tmp_path: Path) -> None:
    folder = project(tmp_path, {"shop.box.x_larger__mutmut_9": 1, **CODES})
    assert len(broken(folder)) == 1
    assert "x_larger__mutmut_9" in broken(folder)[0]
    assert len(finished.read(folder).mutants) == 3


def test_a_function_changed_since_the_run_breaks_it(tmp_path: Path) -> None:
    folder = project(tmp_path, source=SOURCE.replace("return second", "return second + 0"))
    assert broken(folder) == ["shop/box.py: larger has changed since mutmut ran; run it again"]


def test_a_function_removed_since_the_run_breaks_it(tmp_path: Path) -> None:
    folder = project(tmp_path, source=SOURCE.partition("class Box")[0])
    assert broken(folder) == ["shop/box.py: Box.size has changed since mutmut ran; run it again"]
    assert [mutant.key for mutant in finished.read(folder).mutants] == [LARGER]


def test_a_function_added_since_the_run_breaks_it(tmp_path: Path) -> None:
    folder = project(tmp_path, source=SOURCE + "\n\ndef new():\n    return 1\n")
    assert broken(folder) == ["shop/box.py: new has changed since mutmut ran; run it again"]


def test_a_function_without_mutants_does_not(tmp_path: Path) -> None:
    more = "\n\ndef nothing():\n    pass\n"
    assert broken(project(tmp_path, source=SOURCE + more, mutated=MUTATED + more)) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mutants/shop/box.py.meta", "{"),
        ("mutants/shop/box.py.meta", "{}"),
        ("mutants/shop/box.py.meta", "[]"),
        ("mutants/shop/box.py.meta", "[" * 100_000),
        ("mutants/shop/box.py.meta", '{"exit_code_by_key": []}'),
        ("mutants/shop/box.py.meta", '{"exit_code_by_key": {"shop.box.x_larger__mutmut_1": "0"}}'),
        ("mutants/shop/box.py.meta", '{"exit_code_by_key": {"shop.box.x_larger__mutmut_1": true}}'),
        ("mutants/shop/box.py.meta", '{"exit_code_by_key": {"shop.box.x_larger__mutmut_1": 1.5}}'),
        ("mutants/shop/box.py.meta", '{"exit_code_by_key": {"\\ud800": 0}}'),
        ("mutants/shop/box.py.meta", '{"exit_code_by_key": {}, "durations_by_key": {"a": "long"}}'),
        ("mutants/shop/box.py.meta", '{"exit_code_by_key": {}, "durations_by_key": 3}'),
        ("mutants/shop/box.py", "def ("),
        ("mutants/shop/box.py", "a = 1\0"),
        ("mutants/shop/box.py", "a = " + "(" * 10_000),
        ("shop/box.py", "def ("),
    ],
)
def test_a_damaged_file_breaks_the_run(tmp_path: Path, name: str, text: str) -> None:
    folder = project(tmp_path)
    put(folder / name, text)
    (line,) = broken(folder)
    assert line.startswith("shop/box.py: cannot be read as a file of mutmut (")
    assert line.endswith("); run it again from a clean state")
    assert finished.read(folder).mutants == ()


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "[]",
        "{}",
        "[" * 100_000,
        '{"duration_by_test": 3}',
        '{"duration_by_test": {"a": []}, "tests_by_mangled_function_name": {}}',
        '{"duration_by_test": {"a": 1' + "0" * 400 + '}, "tests_by_mangled_function_name": {}}',
        '{"duration_by_test": {}, "tests_by_mangled_function_name": {"a": 3}}',
        '{"duration_by_test": {}, "tests_by_mangled_function_name": {"a": [3]}}',
        '{"duration_by_test": {}, "tests_by_mangled_function_name": {"\\ud800": []}}',
    ],
)
def test_damaged_statistics_break_the_run(tmp_path: Path, text: str) -> None:
    folder = project(tmp_path)
    put(folder / "mutants/mutmut-stats.json", text)
    (line,) = broken(folder)
    assert line.startswith("mutmut-stats.json: cannot be read as a file of mutmut (")


def test_what_ran_at_import_is_read_where_it_is_known(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert finished.read(folder).imported == frozenset()
    put(folder / "mutants/faults-imported.json", '["shop.box.x_larger"]')
    assert finished.read(folder).imported == {"shop.box.x_larger"}


@pytest.mark.parametrize("text", ["[", "3", "[3]", "[" * 100_000])
def test_a_damaged_list_of_it_breaks_the_run(tmp_path: Path, text: str) -> None:
    folder = project(tmp_path)
    put(folder / "mutants/faults-imported.json", text)
    (line,) = broken(folder)
    assert line.startswith("faults-imported.json: cannot be read as a file of mutmut (")


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("faults-imported.json", "[3]", "ValueError: found 3, required is a name"),
        ("mutmut-stats.json", '{"duration_by_test": {}}', "KeyError: 'tests_by_mangled_function_name'"),
        (
            "shop/box.py.meta",
            '{"exit_code_by_key": {"a": "0"}}',
            "ValueError: found '0', required is an exit code",
        ),
    ],
)
def test_what_was_found_is_said(tmp_path: Path, name: str, text: str, what: str) -> None:
    folder = project(tmp_path)
    put(folder / "mutants" / name, text)
    assert f" ({what}); run it again" in broken(folder)[0]


def test_the_seconds_of_a_mutant_may_be_missing(tmp_path: Path) -> None:
    folder = project(tmp_path)
    meta = {"exit_code_by_key": CODES, "durations_by_key": {LARGER: None, UNIT: 2}}
    put(folder / "mutants/shop/box.py.meta", json.dumps(meta))
    assert [mutant.seconds for mutant in finished.read(folder).mutants] == [None, 2.0, None]


def test_what_is_wrong_with_a_file_is_said(tmp_path: Path) -> None:
    folder = project(tmp_path)
    put(folder / "mutants/mutmut-stats.json", "[")
    put(folder / "mutants/shop/box.py.meta", "{}")
    end = "; run it again from a clean state"
    assert broken(folder) == [
        "mutmut-stats.json: cannot be read as a file of mutmut "
        f"(JSONDecodeError: Expecting value: line 1 column 2 (char 1)){end}",
        f"shop/box.py: cannot be read as a file of mutmut (KeyError: 'exit_code_by_key'){end}",
    ]


def test_missing_statistics_break_the_run(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "mutants/mutmut-stats.json").unlink()
    assert len(broken(folder)) == 1


def test_whatever_is_wrong_is_said_in_chinese_too(tmp_path: Path) -> None:
    source = SOURCE.replace("return second", "return second + 0")
    folder = project(tmp_path, {LARGER: 1, UNIT: 1}, source=source)
    put(folder / "mutants/mutmut-stats.json", "[")
    lines = [line["zh"] for line in finished.read(folder).broken]
    assert lines[0].startswith("mutmut-stats.json：不是可读的 mutmut 文件（")
    assert lines[0].endswith("）；请清空后重新运行")
    assert lines[1:] == [
        "shop/box.py：xǁBoxǁsize__mutmut_2 只在变异文件或判定记录之一中出现；请重新运行 mutmut",
        "shop/box.py：larger 在 mutmut 运行之后有改动；请重新运行",
    ]


@pytest.mark.parametrize(
    ("generated", "name"),
    [
        ("x_larger__mutmut_1", "larger"),
        ("x_larger__mutmut_orig", "larger"),
        ("x__private__mutmut_12", "_private"),
        ("xǁBoxǁ__init____mutmut_3", "Box.__init__"),
        ("Box.xǁBoxǁsize__mutmut_orig", "Box.size"),
        ("x__mutmut__mutmut_1", "_mutmut"),
        ("x_axis", "x_axis"),
        ("Box.size", "Box.size"),
    ],
)
def test_names_that_mutmut_generates_are_read_back(generated: str, name: str) -> None:
    assert finished.original_name(generated) == name
