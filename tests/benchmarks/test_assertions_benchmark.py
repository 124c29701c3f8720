from __future__ import annotations

import ast
from typing import Any

import pytest

from benchmarks.assertions import Assertion, assertions, code_of, without

SOURCE = """
from __future__ import annotations
import pytest

def test_two():
    x = 1
    assert x == 1, "one"
    if x:
        assert x == 2

def test_raises():
    with pytest.raises(ValueError, match="invalid"):
        int("a")

def test_keeps():
    with pytest.raises(ValueError) as error:
        int("a")
    assert error

def helper():
    assert False
"""


def test_assertions_of_tests_are_found_and_those_that_keep_something_are_not() -> None:
    found = [(one.function, one.number, one.line, one.text) for one in assertions("a.py", SOURCE)]
    assert found == [
        ("test_two", 0, 7, "assert x == 1, 'one'"),
        ("test_two", 1, 9, "assert x == 2"),
        ("test_raises", 0, 12, "with pytest.raises(ValueError, match='invalid'):"),
        ("test_keeps", 0, 18, "assert error"),
    ]


@pytest.mark.parametrize("which", range(4))
def test_one_assertion_is_taken_out_and_the_others_stay(which: int) -> None:
    found = assertions("a.py", SOURCE)
    left = [one.text for one in assertions("a.py", ast.unparse(without(SOURCE, found[which])))]
    assert left == [one.text for one in found[:which] + found[which + 1 :]]


def run(name: str, number: int | None) -> Any:
    """Calls the function of the file, weakened or as it is."""
    weaker = ast.parse(SOURCE) if number is None else without(SOURCE, Assertion("a.py", name, number, 0, ""))
    space: dict[str, Any] = {}
    exec(compile(SOURCE, "a.py", "exec", dont_inherit=True), space)
    space[name].__code__ = code_of(weaker, name)
    return space[name]()


def test_a_test_without_its_failing_assertion_passes() -> None:
    with pytest.raises(AssertionError):
        run("test_two", None)
    with pytest.raises(AssertionError):
        run("test_two", 0)
    run("test_two", 1)


def test_a_test_that_need_not_raise_any_more_may_still_raise() -> None:
    run("test_raises", None)
    run("test_raises", 0)
