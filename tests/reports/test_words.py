from __future__ import annotations

from pathlib import Path

from detectors.catalogue import DETECTORS
from reports import words


def test_every_entry_is_said_somewhere() -> None:
    folder = Path(words.__file__).parent
    sources = [path for path in folder.rglob("*.py") if path != Path(words.__file__)]
    said = "".join(path.read_text(encoding="utf-8") for path in sources)
    assert [entry for entry in words.WORDS if f'"{entry}"' not in said] == []


def test_every_entry_is_there_in_both_languages_with_the_same_figures() -> None:
    for name, entry in words.WORDS.items():
        assert entry.keys() == {"en", "zh"}, name
        assert entry["en"].count("{") == entry["zh"].count("{"), name


def test_every_unit_of_a_detector_is_there_in_chinese() -> None:
    assert {detector.unit for detector in DETECTORS} == set(words.UNITS)
    assert (words.unit("weight", "en"), words.unit("weight", "zh")) == ("weight", "权重")
    assert words.unit("parsecs", "zh") == "parsecs"
