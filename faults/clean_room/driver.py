"""The child's end of the clean room: loads the learner's file, watches what it reads, calls its functions.

Sent to the child as text, so it runs on Python 3.9 with NumPy alone and imports nothing of this package.
Requests and answers are trees (None, booleans, numbers, text, lists, tuples, dicts, arrays) packed into one array.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy

LARGEST = 64 * 2**20
"""Bytes of one array that is handed back at most."""

DEEPEST = 8
LONGEST = 200
STARTERS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile")


# --- trees ---------------------------------------------------------------------------------------------------------


def pack(tree: Any) -> Any:
    """The tree as one float64 array, bit by bit: length of the JSON, the JSON, the arrays."""
    arrays: list[Any] = []
    text = json.dumps(_encoded(tree, arrays, 0)).encode()
    raw = len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for array in arrays)
    return numpy.frombuffer(raw + bytes(-len(raw) % 8), numpy.float64)


def unpack(packed: Any) -> Any:
    """The tree in one array that `pack` made."""
    raw = packed.tobytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    return _decoded(json.loads(raw[8:end]), raw, [end])


def _encoded(tree: Any, arrays: list[Any], depth: int) -> Any:
    if tree is None or isinstance(tree, (bool, float)):
        return tree if tree is None else bool(tree) if isinstance(tree, bool) else float(tree)
    if isinstance(tree, int):
        return tree if abs(tree) < 2**63 else {"alien": "an integer of more than 64 bits"}
    if isinstance(tree, str):
        return {"text": tree}
    if depth > DEEPEST:
        return {"alien": "a deeply nested value"}
    if isinstance(tree, (list, tuple)):
        return {
            "list" if isinstance(tree, list) else "tuple": [
                _encoded(item, arrays, depth + 1) for item in tree
            ]
        }
    if isinstance(tree, dict):
        return {"dict": [[str(key), _encoded(value, arrays, depth + 1)] for key, value in tree.items()]}
    return _encoded_array(tree, arrays)


def _encoded_array(tree: Any, arrays: list[Any]) -> Any:
    if not hasattr(tree, "__array__"):
        return {"alien": "a " + type(tree).__name__}
    array = numpy.asarray(tree)
    if array.dtype.kind not in "fiub":
        return {"alien": "an array of dtype " + str(array.dtype)}
    if array.nbytes > LARGEST:
        return {"alien": "an array of " + str(array.nbytes >> 20) + " MB"}
    array = array.astype(array.dtype.newbyteorder("="), order="C")
    arrays.append(array)
    return {"array": [array.dtype.str, list(array.shape)]}


def _decoded(tree: Any, raw: bytes, at: list[int]) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "text":
        return content
    if kind == "array":
        return _decoded_array(content, raw, at)
    if kind == "dict":
        return {key: _decoded(value, raw, at) for key, value in content}
    if kind == "alien":
        return Alien(content)
    return {"list": list, "tuple": tuple}[kind](_decoded(item, raw, at) for item in content)


def _decoded_array(content: Any, raw: bytes, at: list[int]) -> Any:
    dtype, count = numpy.dtype(content[0]), 1
    for extent in content[1]:
        count *= extent
    start = at[0]
    at[0] += count * dtype.itemsize
    return numpy.frombuffer(raw[start : at[0]], dtype).reshape(content[1]).copy()


class Alien:
    """Something that cannot cross, by what it is."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


# --- the watch -----------------------------------------------------------------------------------------------------


class Watch:
    """Refuses and notes every attempt to reach the reference: an audit hook, which nothing can take out again."""

    def __init__(self, home: str, names: list[str], guarded: list[str], folder: str) -> None:
        self.home, self.names, self.folder = os.path.realpath(home), names, os.path.realpath(folder)
        self.guarded = [os.path.join(self.home, name) + os.sep for name in guarded]
        self.seen: list[list[str]] = []
        self.file, self.busy = "", False

    def __call__(self, event: str, details: Any) -> None:
        if self.busy or event not in ("import", "open", *STARTERS):
            return
        self.busy = True
        try:
            found = self.found(event, details)
            if found and found not in self.seen:
                self.seen.append(found)
        finally:
            self.busy = False
        if found:
            raise ImportError("clean room: " + found[0] + " " + found[1] + " is not allowed here")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Never finds anything; an import from Python code, which audit hooks do not hear, is refused here."""
        self("import", (name,))

    def found(self, event: str, details: Any) -> Any:
        """[what, of what] for an attempt; None for anything else."""
        if event == "import":
            name = str(details[0]).partition(".")[0]
            return ["import", name] if name in self.names and not self.own(name) else None
        if event == "open":
            path = details[0]
            return ["read", os.path.basename(path)] if isinstance(path, str) and self.inside(path) else None
        return ["start", event]

    def own(self, name: str) -> bool:
        """Whether the learner has a module of that name next to the file: it is theirs, whatever it is called."""
        place = os.path.join(self.folder, name)
        return self.folder != self.home and (os.path.isdir(place) or os.path.isfile(place + ".py"))

    def inside(self, path: str) -> bool:
        real = os.path.realpath(path)
        return any(real.startswith(place) for place in self.guarded)


# --- the room ------------------------------------------------------------------------------------------------------


class Room:
    """Called with one packed request, answers with one packed tree."""

    framework = "numpy"

    def __init__(self, faulty: dict[str, Callable[..., Any]]) -> None:
        self.faulty = faulty

    def __call__(self, packed: Any) -> Any:
        request = unpack(packed)
        answer = self.open(request) if request["operation"] == "open" else self.run(request)
        answer["attempts"] = [list(found) for found in self.watch.seen]
        try:
            return pack(answer)
        except BaseException as error:  # a value may refuse to become an array in any way it likes
            answer.pop("value", None)
            return pack(dict(answer, **failure(error, self.path)))

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Loads the file; what it defines, or how it failed."""
        self.path = request["path"]
        folder = os.path.dirname(self.path)
        self.watch = Watch(request["home"], request["names"], request["guarded"], folder)
        sys.path[:] = [folder, *[place for place in sys.path if place not in ("", folder)]]
        self.module = types.ModuleType("clean_room_submission")
        self.module.__file__ = self.path
        sys.modules[self.module.__name__] = self.module
        with open(self.path, "rb") as file:
            source = file.read()
        sys.addaudithook(self.watch)
        sys.meta_path.insert(0, self.watch)
        code = compile(source, self.path, "exec")
        return guarded(lambda: exec(code, self.module.__dict__), self.path) | self.described()

    def described(self) -> dict[str, Any]:
        """Every function of the file itself: its parameters and docstring; and the sketch."""
        own = {name: value for name, value in vars(self.module).items() if self.is_own(value)}
        functions = {
            name: [parameters(value), str(getattr(value, "__doc__", "") or "")] for name, value in own.items()
        }
        return {
            "functions": functions,
            "sketch": getattr(self.module, "SHAPES", None),
            "neighbours": self.neighbours(),
        }

    def neighbours(self) -> list[str]:
        """Files next to the learner's that were imported with it: what they say counts as the learner's."""
        files = [str(getattr(module, "__file__", "") or "") for module in list(sys.modules.values())]
        folder = os.path.dirname(self.path) + os.sep
        return sorted(
            {file for file in files if file.startswith(folder) and file.endswith(".py")} - {self.path}
        )

    def is_own(self, value: Any) -> bool:
        code = getattr(inspect.unwrap(value), "__code__", None) if inspect.isroutine(value) else None
        return code is not None and code.co_filename == self.path

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """One call, perhaps with one of the learner's functions replaced by a faulty one; `activations` counts it."""
        arguments = [argument(value) for value in request["arguments"]]
        before, count = snapshot(request["arguments"]), [0]
        kept = vars(self.module).get(request["replaced"]) if request["replaced"] else None
        if kept is not None:
            setattr(self.module, request["replaced"], counted(self.faulty[request["fault"]](kept), count))
        try:
            called = vars(self.module)[request["name"]]
            answer = guarded(lambda: called(*arguments), self.path)
        finally:
            if kept is not None:
                setattr(self.module, request["replaced"], kept)
        return dict(answer, activations=count[0], wrote=snapshot(request["arguments"]) != before)


def argument(value: Any) -> Any:
    """The value itself; ("linear", W) stands for the function h -> h W, a branch."""
    if isinstance(value, tuple) and value and value[0] == "linear":
        return lambda h: numpy.asarray(h) @ value[1]
    return value


def snapshot(arguments: Any) -> bytes:
    """Every bit of the arguments: a function that writes into them is found out."""
    packed: bytes = pack(arguments).tobytes()
    return packed


def counted(function: Callable[..., Any], count: list[int]) -> Callable[..., Any]:
    """The function, with its calls counted."""

    def call(*arguments: Any, **named: Any) -> Any:
        count[0] += 1
        return function(*arguments, **named)

    return call


def guarded(action: Callable[[], Any], path: str) -> dict[str, Any]:
    """{"value": ...}, or {"raised": class, "message": text, "line": of the learner's file}."""
    try:
        with numpy.errstate(all="ignore"):
            return {"value": action()}
    except BaseException as error:  # whatever somebody's code raises, SystemExit included, is an answer
        return failure(error, path)


def failure(error: BaseException, path: str) -> dict[str, Any]:
    """What was raised, and in which line of the learner's file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = frames[-1].lineno if frames else getattr(error, "lineno", None)
    text = " ".join(str(error).split())[:LONGEST]
    return {"raised": type(error).__name__, "message": text, "line": line}


def parameters(function: Any) -> list[str]:
    """Names of the parameters that must be given; those with a default carry "="."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    marks: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        marks.get(one.kind, "") + one.name + ("" if one.default is inspect.Parameter.empty else "=")
        for one in found
    ]
