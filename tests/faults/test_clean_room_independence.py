"""Ways to the reference, in the text and at run time; and how similar two texts are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from detectors.host import HOME
from faults.clean_room import independence, similarity
from tests.faults.clean_room_samples.variants import COMPLETE, WRITTEN, examined

SILENT = "try:\n    {}\nexcept Exception:\n    pass\n"

IN_TEXT = [
    ("import core", "imports the reference core"),
    ("import core.block as b", "imports the reference core.block"),
    ("from core import heads", "imports the reference core"),
    ("import numpy, faults.reference", "imports the reference faults.reference"),
    ("from llm_core.blocks import x", "imports the reference llm_core.blocks"),
    ("import importlib\nimportlib.import_module('core.heads')", "import_module() imports the reference"),
    ("m = __import__('core')", "__import__() imports the reference"),
    ("m = __import__('co' + 're')", "__import__() imports a name that is computed"),
    ("exec('import ' + 'core')", "exec() runs text"),
    ("eval('1')", "eval() runs text"),
    ("open('core/block.py')", "open() reads a file of the reference"),
    ("Path('../core').joinpath('x')", "Path() reads a file of the reference"),
]

INNOCENT = [
    "import numpy as np",
    "from . import core",
    "from .core import heads",
    "import importlib\nimportlib.import_module('math')",
    "core = 1",
    "open('notes/core.txt')",
    "import re\nre.compile('core')",
    "score = core_size = 2",
]

AT_RUN_TIME = [
    ("from importlib import import_module as fetch; fetch('co' + 're')", "tried to import core"),
    ("import builtins; getattr(builtins, '__imp' + 'ort__')('core.block')", "tried to import core"),
    (f"import io; io.FileIO({HOME + '/core/block.py'!r})", "tried to read the reference's file block.py"),
    (
        f"import pathlib; (pathlib.PurePath({HOME!r}) / 'core' / 'heads.py'); open({HOME + '/co'!r} + 're/heads.py')",
        "heads.py",
    ),
    ("import os; os.system('true')", "tried to start another program (os.system)"),
    ("import subprocess; subprocess.run(['true'])", "tried to start another program (subprocess.Popen)"),
]


@pytest.mark.parametrize(("text", "words"), IN_TEXT)
def test_the_text_is_searched_for_ways_to_the_reference(tmp_path: Path, text: str, words: str) -> None:
    (found,) = independence.in_text(ast.parse("x = 1\n" + text), tmp_path, Path(HOME))
    assert words in found.what["en"]
    assert found.line == 2 + text.count("\n")


@pytest.mark.parametrize("text", INNOCENT)
def test_an_innocent_text_is_left_alone(tmp_path: Path, text: str) -> None:
    assert independence.in_text(ast.parse(text), tmp_path, Path(HOME)) == ()


def test_a_package_of_the_learners_own_may_have_our_name(tmp_path: Path) -> None:
    (tmp_path / "core.py").write_text("SIZE = 4\n")
    room = examined(tmp_path, "import core\n\nassert core.SIZE == 4\n" + COMPLETE)
    assert room.traces == ()
    assert room.done


def test_a_file_beside_the_reference_owns_nothing_of_it() -> None:
    (found,) = independence.in_text(ast.parse("import core"), Path(HOME), Path(HOME))
    assert found.line == 1


@pytest.mark.parametrize(("statement", "words"), AT_RUN_TIME)
def test_the_running_program_is_watched(tmp_path: Path, statement: str, words: str) -> None:
    text = COMPLETE.replace('    inner = x @ weights["W1"]', '    reach()\n    inner = x @ weights["W1"]')
    body = "\n\ndef reach():\n" + "".join(f"    {row}\n" for row in SILENT.format(statement).splitlines())
    room = examined(tmp_path, text + body)
    assert any(words in trace.what["en"] and trace.line is None for trace in room.traces)
    assert not room.done


def test_a_neighbour_that_imports_the_reference_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "aside.py").write_text("\n\ntry:\n    import core\nexcept ImportError:\n    core = None\n")
    room = examined(tmp_path, "import aside\n" + COMPLETE)
    assert ("aside.py", 4) in [(trace.file, trace.line) for trace in room.traces]
    assert not room.done


def test_a_copy_with_other_names_is_similar_and_only_that(tmp_path: Path) -> None:
    names = ("heads", "attention", "mask", "softmax", "residual", "feed_forward")
    text = "\n".join((WRITTEN / "core" / f"{name}.py").read_text(encoding="utf-8") for name in names)
    text = re.sub(r"from __future__.*|from core.*|import \(?core.*", "", text)
    text = re.sub(r"\b(scores|grad|weights|heads|mask|query|key|value)\b", r"my_\1", text)
    like = similarity.likeness(ast.parse(text), similarity.reference_trees(Path(HOME)))
    assert like.similar
    assert like.share is not None
    assert like.share > 0.8


def test_independent_work_is_not_similar() -> None:
    like = similarity.likeness(ast.parse(COMPLETE), similarity.reference_trees(Path(HOME)))
    assert like.share is not None
    assert like.share < 0.05
    assert not like.similar


def test_nothing_is_said_of_a_small_file() -> None:
    small = ast.parse(COMPLETE[: COMPLETE.index("def causal_attention")])
    like = similarity.likeness(small, similarity.reference_trees(Path(HOME)))
    assert like.share is None
    assert not like.similar
    assert 0 < like.size < like.floor == 150


def test_names_docstrings_and_annotations_do_not_count() -> None:
    one = 'def f(a):\n    """Text."""\n    return a.reshape(1, 2) + a * 3 - (a / 4) * a\n'
    other = "def g(array: int) -> int:\n    return array.reshape(7, 8) + array * 9 - (array / 9) * array\n"
    assert similarity.runs(ast.parse(one)) == similarity.runs(ast.parse(other)) != frozenset()


def test_what_is_done_counts() -> None:
    one, other = "def f(a):\n    return a.{}(1) + a * 3 - (a / 4) * a\n".format, similarity.runs
    assert other(ast.parse(one("sum"))) != other(ast.parse(one("max")))


def test_similar_work_is_not_unfinished_for_that(tmp_path: Path) -> None:
    reference = (WRITTEN / "core" / "generate.py").read_text(encoding="utf-8")
    unused = re.sub(r"from core[^\n]*\([^)]*\)|from (core|__future__)[^\n]*", "", reference)
    unused = "def spare():\n" + "".join(f"    {row}\n" for row in unused.splitlines())
    room = examined(tmp_path, COMPLETE + "\n\n" + unused)
    assert room.likeness is not None
    assert room.likeness.similar
    assert room.likeness.nearest == "core/generate.py"
    assert room.done
