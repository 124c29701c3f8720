from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from faults.mutation import edits
from faults.mutation.edits import Edit
from faults.mutation.model import Place


def texts(made: Iterator[Edit], source: str) -> list[str]:
    """What each edit makes of the one line it changes."""
    before = source.splitlines()
    found = []
    for edit in made:
        text = edits.applied(source, edit)
        ast.parse(text)
        assert len([1 for old, new in zip(before, text.splitlines(), strict=True) if old != new]) == 1
        found.append(
            next(new.strip() for old, new in zip(before, text.splitlines(), strict=True) if old != new)
        )
    return found


def constants(source: str) -> list[str]:
    return texts(edits.constants("a.py", source), source)


def decorated(body: str) -> list[str]:
    source = f"@property\ndef f(self):\n    {body}\n"
    return texts(edits.decorated("a.py", source), source)


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("LIMIT = 3", ["LIMIT = 4"]),
        ("LIMIT: int = 3", ["LIMIT: int = 4"]),
        ("LIMIT = -3", ["LIMIT = -2"]),
        ("SIZE = 1.5", ["SIZE = 15.0"]),
        ("SIZE = 0.0", ["SIZE = 1.0"]),
        ("SIZES = (1, 2.0)", ["SIZES = (2, 2.0)", "SIZES = (1, 20.0)"]),
        ("SIZES = {'a': 1}", ["SIZES = {'a': 2}"]),
        ("SIZE = sqrt(2.0 / pi)", ["SIZE = sqrt(20.0 / pi)"]),
        ("D = Detector(threshold=1e-3)", ["D = Detector(threshold=0.01)", "D = Detector(threshold=0.0001)"]),
        ("D = Detector(threshold=0.0)", ["D = Detector(threshold=1.0)", "D = Detector(threshold=-1.0)"]),
        ("D = Detector(weight=0.5, name='x')", ["D = Detector(weight=5.0, name='x')"]),
    ],
)
def test_each_number_of_a_module_is_changed(source: str, changed: list[str]) -> None:
    assert constants(source) == changed


@pytest.mark.parametrize(
    "source", ["FLAG = True", "NAME = 'x'", "F = lambda x: x + 1", "x: int", "import a", "assert 3"]
)
def test_what_is_no_number_of_a_module_is_left_alone(source: str) -> None:
    assert constants(source) == []


@pytest.mark.parametrize(
    ("default", "changed"),
    [
        ("3", ["4"]),
        ("-1.0", ["-10.0"]),
        ("True", ["False"]),
        ("None", ["1"]),
        ("'pre'", ["'XXpreXX'"]),
        ("np.float64", ["np.float32"]),
        ("np.float32", ["np.float64"]),
        ("np.inf", []),
        ("field(default_factory=dict)", []),
        ("field(default=3)", ["field(default=4)"]),
        ("(1, 'a')", ["(2, 'a')"]),
        ("()", []),
    ],
)
def test_each_default_of_a_class_is_changed(default: str, changed: list[str]) -> None:
    assert constants(f"class A:\n    a: int = {default}") == [f"a: int = {value}" for value in changed]


def test_of_a_functions_defaults_those_that_mutmut_leaves_alone_are_changed() -> None:
    source = "def f(a=1, b=None, *, c='x', d=np.float64, e): pass"
    assert constants(source) == [
        "def f(a=1, b=1, *, c='x', d=np.float64, e): pass",
        "def f(a=1, b=None, *, c='x', d=np.float32, e): pass",
    ]


def test_of_a_decorated_functions_defaults_all_are_changed() -> None:
    source = "class A:\n    @cached\n    def f(self, a=1, b=True): pass"
    assert constants(source) == ["def f(self, a=2, b=True): pass", "def f(self, a=1, b=False): pass"]


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("return a < b", ["return (a <= b)"]),
        ("return a <= b", ["return (a < b)"]),
        ("return a > b", ["return (a >= b)"]),
        ("return a >= b", ["return (a > b)"]),
        ("return a == b", ["return (a != b)"]),
        ("return a != b", ["return (a == b)"]),
        ("return a is b", ["return (a is not b)"]),
        ("return a is not b", ["return (a is b)"]),
        ("return a in b", ["return (a not in b)"]),
        ("return a not in b", ["return (a in b)"]),
        ("return a < b < c", ["return (a <= b < c)", "return (a < b <= c)"]),
        ("return a + b", ["return (a - b)"]),
        ("return a - b", ["return (a + b)"]),
        ("return a * b", ["return (a / b)"]),
        ("return a / b", ["return (a * b)"]),
        ("return a // b", ["return (a / b)"]),
        ("return a % b", ["return (a / b)"]),
        ("return a ** b", ["return (a * b)"]),
        ("return a @ b", []),
        ("return a and b", ["return (a or b)"]),
        ("return a or b", ["return (a and b)"]),
        ("return not a", ["return a"]),
        ("return -a", []),
        ("return True", ["return False"]),
        ("return 1", ["return 2"]),
        ("return 0.5", ["return 1.5"]),
        ("return 'x'", ["return 'XXxXX'"]),
        ("return None", []),
        ("return a if b else c", ["return a", "return c"]),
        ("return f(a, b)", ["return f(None, b)", "return f(a, None)"]),
        ("return f(a, None)", ["return f(None, None)"]),
        ("return f(*a)", []),
        ("return f(b for b in a)", []),
        ("x: A[1] = a", []),
        ("return f'{a} 1'", []),
        ("return a + b, f'{a} 1'", ["return (a - b), f'{a} 1'"]),
        ("'''A docstring.'''", []),
        ("return (not a) * 2", ["return (not a) / 2", "return (not a) * 3", "return (a) * 2"]),
    ],
)
def test_the_body_of_a_decorated_function_is_changed(body: str, changed: list[str]) -> None:
    found = [text.replace("((not a) / 2)", "(not a) / 2") for text in decorated(body)]
    assert sorted(found) == sorted(changed)


@pytest.mark.parametrize("decorators", ["", "@staticmethod\n", "@classmethod\n"])
def test_functions_that_mutmut_changes_are_left_alone(decorators: str) -> None:
    assert list(edits.decorated("a.py", f"{decorators}def f(a):\n    return a + 1\n")) == []


@pytest.mark.parametrize("decorators", ["@cache\n@staticmethod\n", "@contextmanager\n", "@lru_cache(1)\n"])
def test_functions_with_other_decorators_are_not(decorators: str) -> None:
    found = list(edits.decorated("a.py", f"{decorators}def f(a):\n    return a + b\n"))
    assert [(edit.function, edit.mutator) for edit in found] == [("f", "operator")]


def test_an_edit_knows_its_function_and_kind() -> None:
    source = (
        "A = 1\n\nclass B:\n    c: int = 2\n\n    def d(self, e=None): pass\n\nD = Detector(threshold=1.0)\n"
    )
    made = list(edits.constants("a.py", source))
    assert {edit.path for edit in made} == {"a.py"}
    found = [(edit.function, edit.mutator) for edit in made]
    assert found == [
        ("", "constant"),
        ("B", "default"),
        ("", "threshold"),
        ("", "threshold"),
        ("B.d", "default"),
    ]


def test_an_edit_behind_chinese_characters_hits_its_place() -> None:
    source = 'WORDS = {"中文": 1}\n'
    (edit,) = edits.constants("a.py", source)
    assert edits.applied(source, edit) == 'WORDS = {"中文": 2}\n'


def test_an_edit_as_a_change() -> None:
    source = "a\nb\nc\nLIMIT = (1,\n    2.0)\nd\ne\nf\n"
    _, edit = edits.constants("dir/a.py", source)
    change = edits.change(source, edit)
    assert (change.path, change.function, change.mutator) == ("dir/a.py", "", "constant")
    assert (change.before, change.after) == ("2.0)", "20.0)")
    assert (change.place, change.replacement) == (Place(5, 5, 5, 8), "20.0")
    assert change.diff.split("\n")[2:] == [
        "@@",
        " c",
        " LIMIT = (1,",
        "-    2.0)",
        "+    20.0)",
        " d",
        " e",
    ]


def test_a_change_on_the_first_line_has_nothing_above_it() -> None:
    source = "A = 1\nb\n"
    (edit,) = edits.constants("a.py", source)
    assert edits.change(source, edit).diff.split("\n")[2:] == ["@@", "-A = 1", "+A = 2", " b"]


def test_a_change_of_several_lines_ends_where_they_end() -> None:
    source = "@cached\ndef f(a, b):\n    return (a\n        and b)\n"
    (edit,) = edits.decorated("a.py", source)
    change = edits.change(source, edit)
    assert (change.before, change.after) == ("return (a\nand b)", "return ((a or b))")
    assert (change.place, change.replacement) == (Place(3, 13, 4, 14), "(a or b)")
