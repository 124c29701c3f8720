"""Our own packages win over any of the same name."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from faults import siblings
from faults.model import FaultsError


def module(name: str, **attributes: object) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(attributes)
    return made


@pytest.mark.parametrize("name", siblings.NAMES)
def test_each_of_the_three_is_found_next_to_this_package(name: str) -> None:
    spec = siblings.SiblingFinder.find_spec(name)
    assert spec is not None
    assert Path(str(spec.origin)) == Path(siblings.HOME, name, "__init__.py")


@pytest.mark.parametrize("name", ["json", "core.mask", "cores", "faults", ""])
def test_every_other_import_is_left_alone(name: str) -> None:
    assert siblings.SiblingFinder.find_spec(name) is None


def test_the_finder_is_asked_first_and_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [object()])
    siblings.install()
    siblings.install()
    assert sys.meta_path[0] is siblings.SiblingFinder
    assert sys.meta_path.count(siblings.SiblingFinder) == 1


def test_our_own_package_imported_before_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(Path(siblings.HOME, "core", "__init__.py"))
    monkeypatch.setitem(sys.modules, "core", module("core", __file__=place))
    siblings.pin()


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ({"__file__": "/elsewhere/core/__init__.py"}, "/elsewhere/core/__init__.py"),
        ({"__file__": None, "__path__": ["/elsewhere/core"]}, "/elsewhere/core"),
        ({"__file__": None}, "an unknown place"),
        ({"__file__": str(Path(siblings.HOME, "core2", "__init__.py"))}, "core2"),
    ],
)
def test_a_foreign_package_imported_before_is_refused_in_one_line(
    attributes: dict[str, object], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "core", module("core", **attributes))
    with pytest.raises(FaultsError) as refusal:
        siblings.pin()
    line = str(refusal.value)
    assert found in line
    assert f"required is {Path(siblings.HOME, 'core')}" in line
    assert "\n" not in line


def test_a_namespace_of_folders_is_ours_if_it_lies_here(monkeypatch: pytest.MonkeyPatch) -> None:
    place = str(Path(siblings.HOME, "core"))
    monkeypatch.setitem(sys.modules, "core", module("core", __file__=None, __path__=[place]))
    siblings.pin()
