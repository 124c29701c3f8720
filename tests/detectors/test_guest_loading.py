"""How a subject is found and built, and what must not be mistaken for it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from detectors.guest import conversion, describing, loading, subjects, wire
from detectors.guest.refusal import Refused, worded


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    """Leaves the interpreter as it was: a guest has one of its own."""
    modules, path, meta = dict(sys.modules), list(sys.path), list(sys.meta_path)
    yield
    for name in set(sys.modules) - set(modules):
        del sys.modules[name]
    sys.modules.update(modules)
    sys.path[:], sys.meta_path[:] = path, meta


def load(module: str, attribute: str, init: str = "", **more: Any) -> Any:
    header = {"module": module, "attribute": attribute, "init": init, "home": "", "blocked": [], **more}
    return loading.load(header)


def write(file: Path, text: str) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


def test_factories_and_classes_without_arguments_are_built_and_ready_objects_left(tmp_path: Path) -> None:
    file = write(
        tmp_path / "mine.py",
        "class A:\n    b = len\ndef f(): return [1]\ndef g(x): return x\nready = {'call': g}\n",
    )
    assert type(load(file, "A")).__name__ == "A"
    assert load(file, "f") == [1]
    assert load(file, "g")(3) == 3
    assert load(file, "ready")["call"](3) == 3
    assert load(file, "A.b") is len


def test_an_expression_builds_what_needs_arguments(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.py", "class A:\n    def __init__(self, n, *, m): self.n = n * m\n")
    assert load(file, "A", "A(2, m=3)").n == 6
    with pytest.raises(Refused, match=r'A needs arguments \(n, m\); say how to build it, --init "A\(...\)"'):
        load(file, "A")
    with pytest.raises(Refused, match="is not an expression"):
        load(file, "A", "A(2,")


def test_a_file_in_a_package_is_imported_as_part_of_it(tmp_path: Path) -> None:
    write(tmp_path / "outer" / "__init__.py", "")
    write(tmp_path / "outer" / "inner" / "__init__.py", "")
    write(tmp_path / "outer" / "other.py", "value = 5\n")
    file = write(tmp_path / "outer" / "inner" / "mine.py", "from ..other import value\nf = [value]\n")
    assert load(file, "f") == [5]


def test_a_file_beside_others_imports_them_by_name(tmp_path: Path) -> None:
    write(tmp_path / "neighbour.py", "value = 5\n")
    assert load(write(tmp_path / "mine.py", "from neighbour import value\nf = [value]\n"), "f") == [5]


def test_a_file_named_like_a_module_does_not_take_its_place(tmp_path: Path) -> None:
    import random

    assert load(write(tmp_path / "random.py", "f = [1]\n"), "f") == [1]
    assert sys.modules["random"] is random


def test_what_is_missing_is_said_with_the_interpreter(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.py", "import no_such_thing\n")
    with pytest.raises(
        Refused, match=r"mine.py needs the module 'no_such_thing', which .*python.* does not have"
    ):
        load(file, "f")
    with pytest.raises(Refused, match="no module named 'no_such_package' for "):
        load("no_such_package.part", "f")
    with pytest.raises(Refused, match="there is no file "):
        load(str(tmp_path / "none.py"), "f")
    with pytest.raises(Refused, match=r"has no attribute 'f'; it has: g$"):
        load(write(tmp_path / "other.py", "g = 1\n"), "f")


def test_draws_of_a_subject_are_the_same_every_time(tmp_path: Path) -> None:
    text = "import random\nimport numpy\ndef f(): return [random.random(), numpy.random.rand()]\n"
    file = write(tmp_path / "mine.py", text)
    assert load(file, "f") == load(file, "f")


def test_our_own_packages_are_not_the_subjects(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write(ours / "shared_name" / "__init__.py", "whose = 'ours'\n")
    write(theirs / "shared_name" / "__init__.py", "whose = 'theirs'\n")
    sys.path.insert(0, str(ours))
    sys.meta_path.insert(0, loading.Blocker(str(ours), ["shared_name"]))
    with pytest.raises(ModuleNotFoundError, match="No module named 'shared_name'"):
        __import__("shared_name")
    sys.path.insert(0, str(theirs))
    assert __import__("shared_name").whose == "theirs"


# --- what it is ------------------------------------------------------------------------------------------------


def test_our_packages_are_refused_by_where_they_are_and_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    write(home / "ours.py", "")
    write(home / "spread/inner.py", "")
    write(away / "theirs.py", "")
    monkeypatch.syspath_prepend(home)
    monkeypatch.syspath_prepend(away)
    blocker = loading.Blocker(str(home), ["ours", "spread", "theirs", "nowhere_at_all"])
    for name in ("ours", "spread", "ours"):
        with pytest.raises(ModuleNotFoundError, match=f"^No module named '{name}'$") as error:
            blocker.find_spec(name)
        assert error.value.name == name
    for name in ("theirs", "nowhere_at_all", "json"):
        assert blocker.find_spec(name) is None  # type: ignore[func-returns-value]


def test_the_folder_is_searched_once_and_what_is_ours_is_looked_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mine_here.py", "f = 7")
    others = [place for place in sys.path if place not in ("", str(tmp_path))]
    for before, after in (
        (others, [str(tmp_path), *others]),
        (["", *others], ["", *others]),
        ([str(tmp_path), *others], [str(tmp_path), *others]),
    ):
        sys.path[:] = before
        assert load("mine_here", "f") == 7
        assert sys.path == after
    load("mine_here", "f", blocked=["core"], home=str(tmp_path))
    assert isinstance(sys.meta_path[0], loading.Blocker)


@pytest.mark.parametrize(
    ("stem", "name"), [("mine_alone", "mine_alone"), ("json", "subject_json"), ("this", "subject_this")]
)
def test_a_file_goes_by_its_own_name_unless_a_module_has_it(tmp_path: Path, stem: str, name: str) -> None:
    assert "this" not in sys.modules
    assert load(write(tmp_path / f"{stem}.py", "def f(x): return x"), "f").__module__ == name
    assert sys.modules[name].__file__ == str(tmp_path / f"{stem}.py")


def made(text: str, **names: str) -> Any:
    """What `f` is in this text, in which each name is a module of another name."""
    space: dict[str, Any] = {name: ModuleType(module) for name, module in names.items()}
    exec(text, space)
    return space["f"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(x): return t.sin(x)", "torch"),
        ("def f(x): return j.sin(x)", "jax"),
        ("def f(x): return n.sin(x)", "numpy"),
        ("def f(x): return j.sin(n.pi * x)", "jax"),
        ("def f(x): return x", "torch"),
        ("def g(x): return j.sin(x)\nimport functools\nf = functools.partial(g)", "jax"),
        (
            "import functools\ndef g(x): return j.sin(x)\n@functools.wraps(g)\ndef f(x): return t.sin(x)",
            "jax",
        ),
        ("class C:\n    def m(self, x): return j.sin(x)\nf = C().m", "jax"),
        ("class C:\n    def __call__(self, x): return j.sin(x)\nf = C()", "jax"),
    ],
)
def test_the_framework_is_the_one_that_the_code_itself_names(text: str, found: str) -> None:
    assert subjects.framework(made(text, t="torch", j="jax.numpy", n="numpy")) == found
    assert subjects.framework(made("def f(x): return x")) == "numpy"
    assert subjects.framework(len) == "numpy"


def test_a_mapping_or_object_declares_and_a_function_does_not() -> None:
    made = SimpleNamespace(call=len, heads=2)
    assert subjects.field(made, "heads") == 2
    assert subjects.field({"heads": 2}, "heads") == 2
    assert subjects.field(np.tanh, "kind") is None
    assert subjects.callable_of({"kind": "attention", "attention": len}) is len
    for nothing in (None, 3, {"call": 3}, SimpleNamespace(call=None)):
        with pytest.raises(Refused, match="required: a callable"):
            subjects.callable_of(nothing)


def test_methods_of_an_object_declare_nothing() -> None:
    class Block:
        kind, heads, mask = "block", 2, len

        def call(self, x: Any) -> Any:
            return x

    wanted = {"declared": ["kind", "heads", "mask"], "numbers": [], "switches": []}
    assert describing.describe(Block(), wanted)["declared"] == {"kind": "block", "heads": 2}


def test_the_framework_is_that_of_the_callable_or_the_one_it_names() -> None:
    assert subjects.framework(np.tanh) == "numpy"
    assert subjects.framework(lambda x: np.tanh(x)) == "numpy"
    assert subjects.framework({"call": np.tanh, "framework": "torch"}) == "torch"
    module = type(sys)("jax.numpy")
    named = eval("lambda x: jnp.tanh(x)", {"jnp": module, "np": np})
    assert subjects.framework(named) == "jax"
    assert subjects.framework(eval("lambda x: np.tanh(x)", {"jnp": module, "np": np})) == "numpy"
    assert subjects.framework(eval("lambda x: helper(x)", {"jnp": module, "helper": len})) == "jax"


def test_extents_are_read_off_an_object_and_its_configuration() -> None:
    class Caller:
        n_head, causal, args = 3, True, SimpleNamespace(n_head=4, dim=8, vocab=True)

        def __call__(self, x: Any) -> Any:
            return x

    wanted = {"declared": [], "numbers": ["n_head", "dim", "vocab"], "switches": ["causal"]}
    found = describing.describe(Caller(), wanted)
    assert found["numbers"] == {"n_head": [3, 4], "dim": [8]}
    assert found["switches"] == {"causal": [True]}


# --- arrays ----------------------------------------------------------------------------------------------------


def test_numbers_of_any_kind_become_float32_or_float64() -> None:
    for kind, wanted in (("f8", "f8"), ("f4", "f4"), ("f2", "f4"), ("i8", "f4"), ("?", "f4"), (">f8", "f8")):
        assert conversion.as_array(np.ones((2, 3), kind).T).dtype == np.dtype(wanted)
    assert conversion.as_array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert conversion.as_array(np.ones((2, 3)).T).flags.c_contiguous


def test_a_result_is_chosen_by_its_name_or_number() -> None:
    output = SimpleNamespace(mixed=[1.0], logits=[2.0])
    assert conversion.chosen(output, "mixed") == [1.0]
    assert conversion.chosen({"mixed": [1.0], "logits": [2.0]}, "mixed") == [1.0]
    assert conversion.chosen(([1.0], [2.0]), 1) == [2.0]
    refused = "^the call returned a SimpleNamespace without the item 'other' that --output names$"
    with pytest.raises(Refused, match=refused):
        conversion.chosen(output, "other")


def test_the_result_is_chosen_out_of_what_a_call_returns() -> None:
    array = np.ones(2)
    for output in (
        (array, "cache"),
        [array, None],
        {"logits": array},
        SimpleNamespace(last_hidden_state=array),
    ):
        assert conversion.chosen(output, None) is array
    assert conversion.chosen(("cache", array), 1) is array
    assert conversion.chosen({"hidden": array}, "hidden") is array
    assert conversion.chosen([[1.0, 2.0]], None) == [[1.0, 2.0]]
    with pytest.raises(Refused, match="returned a tuple without the item 2 that --output names"):
        conversion.chosen((array,), 2)


def test_frames_arrive_as_they_were_sent() -> None:
    pipe = io.BytesIO()
    arrays = [np.arange(6, dtype="f4").reshape(2, 3), np.zeros((0, 2), "i8"), np.array(True)]
    wire.write_frame(pipe, {"operation": "call"}, arrays)
    pipe.seek(0)
    found = wire.read_frame(pipe)
    assert found is not None
    assert found[0] == {"operation": "call"}
    for sent, received in zip(arrays, found[1], strict=True):
        assert (sent.dtype, sent.shape) == (received.dtype, received.shape)
        assert (sent == received).all()
    assert wire.read_frame(pipe) is None


@pytest.mark.parametrize(
    "data",
    [
        b'{"arrays": []}',
        b"noise\n",
        b'{"arrays": [["<f4", [2]]]}\n1234',
        b'{"arrays": [["<f4", [1000000000]]]}\n',
        b'{"arrays": [["<f4", [-1]]]}\n',
        b'{"arrays": [["|O", [1]]]}\n12345678',
    ],
)
def test_half_a_frame_or_an_unbelievable_one_is_refused(data: bytes) -> None:
    with pytest.raises((EOFError, ValueError)):
        wire.read_frame(io.BytesIO(data))


def test_an_error_is_worded_in_one_line_with_its_place() -> None:
    assert worded(ValueError("two\nlines")) == "ValueError: two lines"
    assert worded(KeyError()) == "KeyError"
    assert len(worded(ValueError("x" * 1000))) < 350
    with pytest.raises(ValueError, match="here") as raised:
        raise ValueError("here")
    assert worded(raised.value).startswith("ValueError: here (test_guest_loading.py, line ")
