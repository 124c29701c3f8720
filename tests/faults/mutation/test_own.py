from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from faults import registry
from faults.model import Status
from faults.mutation import finished, own
from faults.mutation.model import Origin
from faults.mutation.settings import Settings
from tests.faults.mutation.made_run import FAST, LARGER, SLOW, TIMES, project, put

PYPROJECT = '[tool.mutmut]\nsource_paths = ["shop", "single.py"]\n'
USER = "from shop import box\nfrom shop.box import LIMIT\n\n\ndef use():\n    return box\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "pyproject.toml", PYPROJECT)
    put(tmp_path / "single.py", "SIZE = 2.0\n")
    put(tmp_path / "shop/user.py", USER)
    return project(tmp_path)


def selection(folder: Path, **reached: list[str]) -> own.Tests:
    run = finished.read(folder)
    known = {**run.reached, **{name.replace("__", "."): tuple(tests) for name, tests in reached.items()}}
    return own.Tests(folder, finished.Finished(run.mutants, run.sources, run.broken, run.tests, known))


def test_source_files_are_those_that_mutmut_looks_at(folder: Path) -> None:
    assert own.source_files(folder) == ["shop/box.py", "shop/user.py", "single.py"]


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("core/mask.py", "core.mask"),
        ("core/__init__.py", "core"),
        ("src/shop/box.py", "shop.box"),
        ("a.py", "a"),
    ],
)
def test_a_file_has_the_name_it_is_imported_by(path: str, module: str) -> None:
    assert own.module_of(path) == module


def test_numbers_and_defaults_of_the_packages_named_are_changed(folder: Path) -> None:
    programs = own.edited(folder, Settings(constants=("shop",)), selection(folder))
    assert [program.mutant.key for program in programs] == ["shop.box:constant_1"]
    (program,) = programs
    assert program.mutant.status is None
    assert (program.mutant.origin, program.mutant.module) == (Origin.OWN, "shop.box")
    assert (program.mutant.change.before, program.mutant.change.after) == ("LIMIT = 3", "LIMIT = 4")
    assert "LIMIT = 4" in program.text
    assert program.mutant.tests == ("tests/test_box.py",)
    assert program.path == "shop/box.py"


def test_only_the_packages_named_are_changed(folder: Path) -> None:
    tests = selection(folder)
    assert own.edited(folder, Settings(), tests) == []
    assert own.edited(folder, Settings(constants=("sho",)), tests) == []
    keys = [program.mutant.key for program in own.edited(folder, Settings(constants=("single",)), tests)]
    assert keys == ["single:constant_1"]


def test_of_other_packages_only_decorated_functions_are_changed(folder: Path) -> None:
    put(
        folder / "shop/user.py",
        "LIMIT = 1\n\nclass A:\n    @property\n    def f(self):\n        return self.a + 1\n",
    )
    programs = own.edited(folder, Settings(decorated=("shop",)), selection(folder))
    assert [program.mutant.key for program in programs] == [
        "shop.user.A.f:operator_1",
        "shop.user.A.f:literal_1",
    ]


def test_mutants_of_one_kind_are_numbered(folder: Path) -> None:
    put(folder / "single.py", "A = 1\nB = 2\nT = f(threshold=1.0)\n")
    programs = own.edited(folder, Settings(constants=("single",)), selection(folder))
    names = ["constant_1", "constant_2", "threshold_1", "threshold_2"]
    assert [program.mutant.key for program in programs] == [f"single:{name}" for name in names]


def test_the_mirroring_test_file_comes_first_and_then_whatever_reaches_the_module(folder: Path) -> None:
    put(folder / "tests/shop/test_box.py", "")
    assert selection(folder).stages("shop.box") == (("tests/shop/test_box.py",), (FAST, SLOW))


def test_a_test_file_may_carry_the_name_of_its_folder_too(folder: Path) -> None:
    put(folder / "tests/shop/test_shop_box.py", "")
    assert selection(folder).mirror("shop.box") == ("tests/shop/test_shop_box.py",)
    put(folder / "tests/shop/test_box.py", "")
    assert selection(folder).mirror("shop.box") == ("tests/shop/test_box.py",)
    assert own.mirrors("a.b.c") == ("tests/a/b/test_c.py", "tests/a/b/test_b_c.py")
    assert own.mirrors("single") == ("tests/test_single.py", "tests/test_single.py")


def test_tests_of_the_mirroring_file_do_not_run_twice(folder: Path) -> None:
    put(folder / "tests/shop/test_box.py", "")
    tests = selection(folder, shop__box__x_f=["tests/shop/test_box.py::test_a"])
    assert tests.stages("shop.box") == (("tests/shop/test_box.py",), (FAST, SLOW))


def test_tests_of_modules_that_import_it_count(folder: Path) -> None:
    more = "tests/test_user.py::test_use"
    assert selection(folder, shop__user__x_use=[more]).stages("shop.box") == (
        ("tests/test_user.py",),
        (FAST, SLOW),
    )


def test_without_a_mirroring_file_the_one_whose_tests_reach_the_least_on_average_comes_first(
    folder: Path,
) -> None:
    narrow, wide, late = "tests/test_a.py::test_1", "tests/test_a.py::test_2", "tests/test_c.py::test_3"
    tests = selection(
        folder,
        shop__box__x_f=[wide, narrow],
        shop__user__x_g=[wide, late],
        shop__user__x_h=[wide, late, SLOW],
    )
    assert tests.breadth == {FAST: 1, SLOW: 3, narrow: 1, wide: 3, late: 2}
    assert tests.narrowest([wide, late, narrow]) == ("tests/test_a.py",)
    assert tests.narrowest([late, wide]) == ("tests/test_c.py",)
    assert tests.narrowest([]) == ()
    assert tests.stages("shop.box") == (("tests/test_a.py",), (FAST, late, SLOW))


def test_the_selected_test_files_that_import_the_module_or_a_user_of_it_count_too(folder: Path) -> None:
    select = 'pytest_add_cli_args_test_selection = ["tests", "--ignore-glob=*/test_slow*", "extra.py"]\n'
    put(folder / "pyproject.toml", PYPROJECT + select)
    for name in ("tests/test_a.py", "tests/test_slow_one.py", "tests/sub/test_b.py", "other/test_c.py"):
        put(folder / name, "from shop import box\n")
    put(folder / "tests/test_d.py", "import shop.user\n")
    put(folder / "tests/test_e.py", "import single\n")
    put(folder / "tests/made.py", "import shop.box\n")
    put(folder / "extra.py", "import shop.box\n")
    files = ("extra.py", "tests/sub/test_b.py", "tests/test_a.py", "tests/test_d.py")
    assert selection(folder).stages("shop.box") == (("tests/test_box.py",), files)
    put(folder / "tests/shop/test_box.py", "import shop.box\n")
    assert selection(folder).stages("shop.box")[0] == ("tests/shop/test_box.py",)
    assert selection(folder).stages("shop.box")[1] == files


def test_test_files_that_import_it_come_early_if_they_are_quick_and_else_last(folder: Path) -> None:
    put(folder / "pyproject.toml", PYPROJECT + 'pytest_add_cli_args_test_selection = ["tests"]\n')
    names = ("tests/test_a.py", "tests/test_b.py", "tests/test_c.py", "tests/test_d.py")
    for name in names:
        put(folder / name, "from shop import box\n")
    put(folder / "tests/shop/test_box.py", "")
    run = finished.read(folder)
    took = {"a.py::x": 7.0, "a.py::y": 2.0, "b.py::x": 5.0, "c.py::x": 5.0, "c.py::y": 0.01}
    seconds = {f"tests/test_{test}": time for test, time in took.items()}
    tests = own.Tests(folder, replace(run, tests=seconds))
    # Nothing is known of d: 0 + 5 = 5, and with 5.01 it is too much.
    brief, long = (names[3], names[1]), (names[2], names[0])
    assert tests.stages("shop.box") == (("tests/shop/test_box.py",), brief, (FAST, SLOW), long)
    seconds["tests/test_c.py::y"] = 0.0
    tests = own.Tests(folder, replace(run, tests=seconds))
    assert tests.parted(names) == ((names[3], names[1], names[2]), (names[0],))


def test_survivors_that_ran_at_import_are_run_anew(folder: Path) -> None:
    put(folder / "mutants/faults-imported.json", '["shop.box.x_larger", "shop.box.xǁBoxǁsize"]')
    tests = selection(folder)
    program, other = own.imported(folder, Settings(), finished.read(folder), tests)
    assert (program.mutant.key, other.mutant.key) == (LARGER, TIMES)
    assert "if first >= second:" in program.text
    assert (program.path, program.stages) == ("shop/box.py", tests.stages("shop.box"))
    put(folder / "mutants/faults-imported.json", "[]")
    assert own.imported(folder, Settings(), finished.read(folder), tests) == []


def test_what_ran_at_import_in_a_declared_module_is_tested_in_its_child_alone(folder: Path) -> None:
    put(folder / "mutants/faults-imported.json", '["shop.box.x_larger"]')
    run, tests = finished.read(folder), selection(folder)
    assert len(own.imported(folder, Settings(), run, tests)) == 1
    config = Settings(child_process={"shop.*": ("tests/test_guest.py",)})
    assert own.imported(folder, config, run, tests) == []


def test_a_module_that_nothing_reaches_has_no_stages(folder: Path) -> None:
    assert selection(folder).stages("single") == ()


def test_without_a_suite_there_are_no_semantic_mutants(folder: Path) -> None:
    assert own.semantic(folder, Settings(), selection(folder)) == []


def test_every_fault_variant_is_a_program_of_the_suite_under_injection(folder: Path) -> None:
    home = Path(registry.__file__).parent
    for fault in registry.all_faults():
        put(folder / f"faults/{fault.name}/fault.py", (home / fault.name / "fault.py").read_text())
    put(folder / "tests/core/test_mask.py", "")
    programs = own.semantic(folder, Settings(semantic=("tests/core",)), selection(folder))
    by_key = {program.mutant.key: program for program in programs}
    assert list(by_key) == [f"{f.name}/{v.name}" for f in registry.all_faults() for v in f.variants]
    program = by_key["mask_adds_zero/zero"]
    assert program.arguments == ("-p", "faults.mutation.injected", "--fault", "mask_adds_zero/zero")
    assert program.stages == (("tests/core/test_mask.py",), ("tests/core",))
    assert (program.path, program.text) == ("", "")
    change = program.mutant.change
    assert (program.mutant.module, program.mutant.origin) == ("core.mask", Origin.SEMANTIC)
    assert (change.path, change.function, change.before) == (
        "faults/mask_adds_zero/fault.py",
        "zero",
        "core.mask.causal_mask",
    )
    summary = registry.variant(registry.load("mask_adds_zero"), "zero").summary["en"]
    assert (change.after, change.replacement, change.mutator) == (summary, summary, "mask_adds_zero")
    assert (change.diff, change.place.line) == ("", change.place.end_line)
    assert program.mutant.tests == ("tests/core",)
    after = by_key["mask_adds_zero/after_softmax"].mutant.change
    assert after.before == "core.attention.attend, core.attention.attend_backward"
    line = (home / "mask_adds_zero/fault.py").read_text().splitlines()[change.place.line - 1]
    assert line[change.place.column - 1 : change.place.end_column - 1] == '"zero"'
    assert by_key["missing_scale/absent"].stages == (("tests/core",),)


def test_a_variant_that_is_not_written_down_by_name_stands_at_the_top_of_its_file(folder: Path) -> None:
    for fault in registry.all_faults():
        put(folder / f"faults/{fault.name}/fault.py", "x = 1\ny = 2\n")
    program = own.semantic(folder, Settings(semantic=("tests/core",)), selection(folder))[0]
    place = program.mutant.change.place
    assert (place.line, place.column, place.end_line) == (1, 1, 1)


def test_a_mutant_of_a_declared_module_that_no_test_killed_is_tested_in_its_child(folder: Path) -> None:
    mutants = finished.read(folder).mutants
    config = Settings(child_process={"shop.box": ("tests/test_guest.py", "tests/test_slow_guest.py")})
    survivor, program = own.child_process(folder, config, mutants)
    assert (survivor.mutant.key, survivor.mutant.status) == (LARGER, Status.SURVIVED)
    assert (program.mutant.key, program.mutant.status) == (TIMES, Status.NO_COVERAGE)
    assert program.stages == (("tests/test_guest.py",), ("tests/test_slow_guest.py",))
    expected = (folder / "shop/box.py").read_text().replace("self.width * unit", "self.width / unit")
    assert program.text == expected
    assert own.child_process(folder, Settings(), mutants) == []


def test_the_text_of_a_mutant_is_plain_python(folder: Path) -> None:
    larger = next(mutant for mutant in finished.read(folder).mutants if mutant.key == LARGER)
    text = own.mutated_text(folder, larger)
    ast.parse(text)
    assert text == (folder / "shop/box.py").read_text().replace("first > second", "first >= second")


def test_the_limit_follows_what_the_tests_took() -> None:
    known = {"tests/a/test_a.py::x": 1.0, "tests/a/test_a.py::y": 2.0, "tests/ab/test_b.py::x": 4.0}
    assert own.seconds_of([], known) == 60.0
    assert own.seconds_of(["tests/a/test_a.py::y"], known) == 90.0
    assert own.seconds_of(["tests/a/test_a.py"], known) == 105.0
    assert own.seconds_of(["tests/a", "tests/a/test_a.py::x"], known) == 105.0
    assert own.seconds_of(["tests"], known) == 165.0
