from __future__ import annotations

from pathlib import Path

import pytest

from faults.model import FaultsError
from faults.mutation import settings
from faults.mutation.model import Part
from faults.mutation.settings import Settings
from tests.faults.mutation.made_run import put

TEXT = """
[tool.mutmut]
source_paths = ["shop"]

[tool.faults.score]
equivalents = "same.yaml"
proofs = "proofs.py"
equivalents_at_most = 2
constants = ["shop"]
decorated = ["shop.box"]
semantic = ["tests"]
controls = "shop.controls"

[tool.faults.score.child_process]
"shop.guest" = ["tests/test_guest.py"]

[[tool.faults.score.parts]]
name = "deciding"
at_least = 99.5
modules = ["shop.*", "shop"]
"""

ONE = "{name = 'x', modules = ['*'], at_least = 1}"


def test_a_project_that_says_nothing_has_no_settings(tmp_path: Path) -> None:
    assert settings.load(tmp_path) == Settings()
    assert settings.mutmut(tmp_path) == {}
    put(tmp_path / "pyproject.toml", "[project]\nname = 'x'\n")
    assert settings.load(tmp_path) == Settings()


def test_every_setting_is_read(tmp_path: Path) -> None:
    put(tmp_path / "pyproject.toml", TEXT)
    assert settings.load(tmp_path) == Settings(
        parts=(Part("deciding", ("shop.*", "shop"), 99.5),),
        equivalents="same.yaml",
        proofs="proofs.py",
        equivalents_at_most=2,
        constants=("shop",),
        decorated=("shop.box",),
        semantic=("tests",),
        controls="shop.controls",
        child_process={"shop.guest": ("tests/test_guest.py",)},
    )
    assert settings.mutmut(tmp_path) == {"source_paths": ["shop"]}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("colour = 'red'", "colour: found 'red'"),
        ("constants = 'core'", "constants: found 'core'"),
        ("equivalents = 3", "equivalents: found 3"),
        ("equivalents_at_most = '3'", "equivalents_at_most: found '3'"),
        ("child_process = []", r"child_process: found \[\]"),
        ("parts = [{name = 'x'}]", r"parts: found \[\{'name': 'x'\}\]"),
        ("parts = [{name = 'x', modules = [], at_least = 'all'}]", "parts: found "),
        ("parts = ['x']", r"parts: found \['x'\]"),
        ("parts = [{name = 'x', modules = '*', at_least = 100}]", "parts: found "),
        ("parts = [{name = 'x', modules = ['*'], at_least = nan}]", "parts: found "),
        ("parts = [{name = 'x', modules = ['*'], at_least = 101}]", "parts: found "),
        ("parts = [{name = 'x', modules = ['*'], at_least = true}]", "parts: found "),
        ("parts = [{name = '', modules = ['*'], at_least = 1}]", "parts: found "),
        ("parts = [{name = 'x', modules = ['*'], at_least = 1, most = 2}]", "parts: found "),
        ("parts = [{name = 1, modules = ['*'], at_least = 1}]", "parts: found "),
        (f"parts = [{', '.join([ONE] * 2)}]", "parts: found "),
        ("equivalents_at_most = nan", "equivalents_at_most: found nan"),
        ("equivalents_at_most = true", "equivalents_at_most: found True"),
        ("equivalents_at_most = -1", "equivalents_at_most: found -1"),
        ("constants = [1]", r"constants: found \[1\]"),
        ("child_process = {a = 'b'}", "child_process: found "),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(tmp_path: Path, line: str, said: str) -> None:
    put(tmp_path / "pyproject.toml", f"[tool.faults.score]\n{line}\n")
    with pytest.raises(FaultsError, match=said) as raised:
        settings.load(tmp_path)
    assert str(raised.value).startswith("pyproject.toml, [tool.faults.score] ")
    assert "required are the keys parts, equivalents, proofs, " in str(raised.value)
    assert str(raised.value).endswith("; parts need a name of their own, modules and at_least, 0 to 100")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tool = 3", "tool: found 3, required is a table"),
        ("[tool]\nfaults = []", r"faults: found \[\], required is a table"),
        ("[tool]\nmutmut = 'x'", "mutmut: found 'x', required is a table"),
        ("[tool.mutmut]\nsource_paths = 'core'", "source_paths: found 'core', required is a list of strings"),
        ("[tool.mutmut]\nalso_copy = [1]", r"also_copy: found \[1\], required is a list of strings"),
        ("a = " + "[" * 100_000, "required is valid TOML"),
    ],
)
def test_other_tables_are_read_with_care_too(tmp_path: Path, text: str, said: str) -> None:
    put(tmp_path / "pyproject.toml", text)
    with pytest.raises(FaultsError, match=said):
        settings.load(tmp_path), settings.mutmut(tmp_path)


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "pyproject.toml", "[[")
    with pytest.raises(FaultsError, match=r"pyproject\.toml: cannot be read \(.*; required is valid TOML"):
        settings.load(tmp_path)
