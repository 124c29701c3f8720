from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from faults.model import FaultsError
from faults.mutation import since
from faults.mutation.since import Touched
from tests.faults.mutation.made_run import mutant, put

PYPROJECT = '[tool.mutmut]\nsource_paths = ["shop"]\n'
BEFORE = "LIMIT = 1\n\n\ndef same():\n    return 1\n\n\ndef other():\n    return 2\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose first commit has a module, three test files, a helper and a conftest."""
    put(tmp_path / "pyproject.toml", PYPROJECT)
    put(tmp_path / "shop/box.py", BEFORE)
    put(tmp_path / "tools/box.py", BEFORE)
    put(tmp_path / "tests/test_box.py", "from tests import helper\n")
    put(tmp_path / "tests/shop/test_size.py", "x = 1\n")
    put(tmp_path / "tests/shop/conftest.py", "x = 1\n")
    put(tmp_path / "tests/helper.py", "x = 1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def test_nothing_is_touched_where_nothing_changed(repository: Path) -> None:
    assert since.touched(repository, "HEAD") == Touched(frozenset(), frozenset())


def test_a_changed_function_is_touched_and_no_other(repository: Path) -> None:
    put(repository / "shop/box.py", BEFORE.replace("return 2", "return 3"))
    assert since.touched(repository, "HEAD").functions == {("shop/box.py", "other")}


def test_a_file_that_git_does_not_know_is_new(repository: Path) -> None:
    put(repository / "shop/new.py", "def f():\n    pass\n")
    assert since.touched(repository, "HEAD").functions == {("shop/new.py", "f")}


def test_a_removed_file_touches_what_was_in_it_no_more(repository: Path) -> None:
    (repository / "shop/box.py").unlink()
    assert since.touched(repository, "HEAD").functions == frozenset()


def test_of_several_changes_all_are_found(repository: Path) -> None:
    put(repository / "tests/unrelated/__init__.py", "")
    for name in ("shop/box.py", "tests/helper.py", "tests/shop/conftest.py", "tests/shop/test_a.py"):
        put(repository / name, "x = 3\n")
    put(repository / "shop/.gitignore", "hidden.py\n")
    put(repository / "shop/hidden.py", "def f():\n    pass\n")
    found = since.touched(repository, "HEAD")
    assert found.functions == {("shop/box.py", "")}
    assert found.tests == {"tests/test_box.py", "tests/shop/test_size.py", "tests/shop/test_a.py"}


def test_a_project_in_a_folder_of_the_repository_counts_from_its_own(repository: Path) -> None:
    inner = repository / "inner"
    put(inner / "pyproject.toml", PYPROJECT)
    put(inner / "shop/box.py", BEFORE)
    git(repository, "add", ".")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "second")
    put(inner / "shop/box.py", BEFORE.replace("return 2", "return 3"))
    assert since.touched(inner, "HEAD").functions == {("shop/box.py", "other")}


def test_a_revision_may_be_called_like_a_file(repository: Path) -> None:
    git(repository, "branch", "shop")
    assert since.touched(repository, "shop") == Touched(frozenset(), frozenset())


def test_files_that_are_not_mutated_do_not_count(repository: Path) -> None:
    put(repository / "tools/box.py", "x = 1\n")
    put(repository / "README.md", "text\n")
    assert since.touched(repository, "HEAD") == Touched(frozenset(), frozenset())


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("tests/test_box.py", {"tests/test_box.py"}),
        ("tests/shop/conftest.py", {"tests/shop/test_size.py"}),
        ("tests/helper.py", {"tests/test_box.py"}),
        ("tests/shop/test_new.py", {"tests/shop/test_new.py"}),
    ],
)
def test_a_changed_test_a_conftest_and_a_helper_touch_tests(
    repository: Path, path: str, tests: set[str]
) -> None:
    put(repository / path, "y = 2\n")
    assert since.touched(repository, "HEAD").tests == tests


def test_a_revision_that_does_not_exist_is_refused_in_one_line(repository: Path) -> None:
    with pytest.raises(
        FaultsError,
        match=r"^--since: git diff failed \(fatal: .*no-such-rev.*\); required is a revision of a Git",
    ) as error:
        since.touched(repository, "no-such-revision")
    assert "\n" not in str(error.value)
    assert "Use '--' to separate" not in str(error.value)


@pytest.mark.parametrize(
    ("now", "names"),
    [
        (BEFORE, set()),
        (BEFORE.replace("return 1", "return 0"), {"same"}),
        (BEFORE.replace("LIMIT = 1", "LIMIT = 2"), {""}),
        (BEFORE + "\n\ndef third():\n    pass\n", {"third"}),
        ("\n\n" + BEFORE, set()),
        (BEFORE + "SIZE = 1\n", {""}),
        (BEFORE.replace("def same", "@cached\ndef same"), {""}),
    ],
)
def test_functions_that_differ(now: str, names: set[str]) -> None:
    assert since.differing(BEFORE, now) == names


def test_a_mutant_is_chosen_for_its_function_its_module_or_its_tests() -> None:
    found = mutant(path="a.py", function="f", tests=("tests/a/test_a.py::test_x",))
    none: frozenset[str] = frozenset()
    assert Touched(frozenset({("a.py", "f")}), none).includes(found)
    assert Touched(frozenset({("a.py", "")}), none).includes(found)
    assert not Touched(frozenset({("a.py", "g"), ("b.py", ""), ("b.py", "f")}), none).includes(found)
    assert Touched(frozenset(), frozenset({"tests/a/test_a.py"})).includes(found)
    assert not Touched(frozenset(), frozenset({"tests/a/test_ab.py"})).includes(found)


def test_a_mutant_whose_tests_are_folders_is_chosen_for_a_test_in_one() -> None:
    found = mutant(tests=("tests/core",))
    assert Touched(frozenset(), frozenset({"tests/core/test_mask.py"})).includes(found)
    assert not Touched(frozenset(), frozenset({"tests/core_more/test_mask.py"})).includes(found)
