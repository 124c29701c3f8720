from __future__ import annotations

import ast

import pytest

from faults.mutation import functions as module
from faults.mutation.functions import change, cut, functions, renamed, rewritten
from faults.mutation.model import Place

SOURCE = '''x = 1

def plain(a):
    return a

class Box:
    @property
    def size(self):
        text = """
no indent"""
        return text

    async def later(self):
        def inner():
            pass

if x:
    def hidden():
        pass
'''


def test_functions_and_methods_are_found_by_name() -> None:
    assert list(functions(SOURCE)) == ["plain", "Box.size", "Box.later"]


def test_a_method_loses_its_indentation_but_no_more_than_it_has() -> None:
    size = functions(SOURCE)["Box.size"]
    assert (size.line, size.indent, size.decorated) == (8, 4, True)
    assert size.lines == ("def size(self):", '    text = """', 'no indent"""', "    return text")


def test_a_function_without_decorators_says_so() -> None:
    plain = functions(SOURCE)["plain"]
    assert (plain.name, plain.line, plain.indent, plain.decorated) == ("plain", 3, 0, False)


def test_a_renamed_function_differs_in_its_name_only() -> None:
    lines = "def x_larger__mutmut_1(x_larger__mutmut_1):\n    return x_larger__mutmut_1\n"
    copy = renamed(functions(lines)["x_larger__mutmut_1"], "Box.larger")
    assert copy.name == "Box.larger"
    assert copy.lines == ("def larger(x_larger__mutmut_1):", "    return x_larger__mutmut_1")
    assert (copy.line, copy.indent, copy.decorated) == (1, 0, False)


def test_an_asynchronous_method_is_renamed_too() -> None:
    assert renamed(functions(SOURCE)["Box.later"], "Box.sooner").lines[0] == "async def sooner(self):"


def test_a_rewritten_file_has_the_new_lines_with_the_old_indentation() -> None:
    new = rewritten(SOURCE, functions(SOURCE)["Box.later"], ["async def later(self):", "", "    return 1"])
    assert new == SOURCE.replace("        def inner():\n            pass\n", "\n        return 1\n")
    ast.parse(new)


def test_a_function_rewritten_with_its_own_lines_leaves_the_file_as_it_was() -> None:
    plain = functions(SOURCE)["plain"]
    assert rewritten(SOURCE, plain, plain.lines) == SOURCE


def test_a_change_names_the_lines_that_differ_and_where() -> None:
    source = "class A:\n    def f(self, a):\n        b = a\n        c = b < 3\n        return c\n"
    function = functions(source)["A.f"]
    found = change(
        "a.py", function, ["def f(self, a):", "    b = a", "    c = b <= 3", "    return c"], "swap"
    )
    assert (found.path, found.function, found.mutator) == ("a.py", "A.f", "swap")
    assert (found.before, found.after) == ("c = b < 3", "c = b <= 3")
    assert (found.place, found.replacement) == (Place(4, 15, 4, 16), "<=")
    assert found.diff.split("\n") == [
        "--- a.py",
        "+++ a.py",
        "@@",
        " def f(self, a):",
        "     b = a",
        "-    c = b < 3",
        "+    c = b <= 3",
        "     return c",
    ]


def test_a_change_of_several_lines_keeps_them_in_order() -> None:
    function = functions("def f():\n    a(\n        1,\n    )\n    return 2\n")["f"]
    found = change("a.py", function, ["def f():", "    a(", "    )", "    return 2"])
    assert (found.before, found.after, found.mutator) == ("1,", "", "")
    function = functions("def f():\n    a = 1\n    b = 2\n")["f"]
    found = change("a.py", function, ["def f():", "    b = 1", "    a = 2"])
    assert (found.before, found.after) == ("a = 1\nb = 2", "b = 1\na = 2")
    assert (found.place, found.replacement) == (Place(2, 5, 3, 6), "b = 1\n    a")


@pytest.mark.parametrize(
    ("before", "after", "columns", "replacement"),
    [
        ("a = 1.0", "a = 2.0", (5, 8), "2.0"),
        ("a = 12", "a = 13", (5, 7), "13"),
        ("f(left, x)", "f(None, x)", (3, 7), "None"),
        ("a is not b", "a is b", (6, 10), ""),
        ("a == b", "a != b", (3, 5), "!="),
        ("f(a, b)", "f(a)", (4, 7), ""),
        ("a", "a", (1, 2), "a"),
        ("", "x", (1, 1), "x"),
    ],
)
def test_a_place_is_widened_to_whole_words_and_operators(
    before: str, after: str, columns: tuple[int, int], replacement: str
) -> None:
    place, found = cut(before, after, 7, 0)
    assert (place.column, place.end_column) == columns
    assert (place.line, place.end_line) == (7, 7)
    assert found == replacement
    assert before[: columns[0] - 1] + found + before[columns[1] - 1 :] == after


def test_a_place_may_end_on_a_later_line() -> None:
    place, found = cut("a = 1\nb = 2", "c = 1\nb = 3", 4, 2)
    assert place == Place(4, 3, 5, 8)
    assert found == "c = 1\nb = 3"


def test_a_diff_shows_two_lines_around_a_change() -> None:
    before = ["0", "1", "2", "3", "4", "5", "6"]
    text = module.diff("a.py", before, ["0", "1", "2", "x", "4", "5", "6"])
    assert text.split("\n")[2:] == ["@@", " 1", " 2", "-3", "+x", " 4", " 5"]
