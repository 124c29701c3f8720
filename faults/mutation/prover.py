"""Proves that a changed function is the same function. Runs by itself, in a process of its own.

Reads a JSON list of proofs from stdin and writes {key: why the proof failed, "" where it held} to stdout. A proof
by `bytecode` compares what the compiler makes of both; one by `inputs` calls both with 10,000 inputs or more and
compares every bit of what comes back, of what is raised, and of the arguments afterwards.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib
import importlib.util
import json
import math
import struct
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

INPUTS = 10_000
SEED = 0

CODE = (
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
    "co_flags",
    "co_exceptiontable",
    "co_name",
)
"""What makes two code objects run alike, next to their constants; not the line numbers."""


def main() -> None:
    """Prove everything that stdin asks for."""
    tasks = json.load(sys.stdin)
    results = {task["key"]: prove(task) for task in tasks}
    json.dump(results, sys.stdout)


def prove(task: Mapping[str, Any]) -> str:
    """Why a proof failed; "" where it held."""
    try:
        if task["proof"] == "bytecode":
            return by_bytecode(task)
        return by_inputs(task)
    except Exception as error:  # whatever keeps a proof from being given is a reason not to believe it
        return f"{type(error).__name__}: {error}"


def by_bytecode(task: Mapping[str, Any]) -> str:
    """Compares the code objects of both modules, nested ones included, without line numbers."""
    before, after = (compiled(task, name) for name in ("source", "mutated"))
    return "" if same_code(before, after) else "the bytecode differs"


def compiled(task: Mapping[str, Any], version: str) -> types.CodeType:
    """One version of the module, without the `__future__` imports of this file."""
    return compile(task[version], task["path"], "exec", dont_inherit=True)


def same_code(first: types.CodeType, second: types.CodeType) -> bool:
    """Whether two code objects run alike: instructions, names, constants, arguments, exceptions they handle."""
    if any(getattr(first, name) != getattr(second, name) for name in CODE):
        return False
    same_length = len(first.co_consts) == len(second.co_consts)
    return same_length and all(map(same_constant, first.co_consts, second.co_consts))


def same_constant(first: object, second: object) -> bool:
    """Whether two constants are the same, 0.0 and -0.0 or 1 and True being different."""
    if isinstance(first, types.CodeType) and isinstance(second, types.CodeType):
        return same_code(first, second)
    return repr(first) == repr(second) and type(first) is type(second)


def by_inputs(task: Mapping[str, Any]) -> str:
    """Calls both functions with every input; says which one tells them apart, or what is missing among them."""
    original, changed = function(task, "source"), function(task, "mutated")
    extremes: set[str] = set()
    count = 0
    for count, arguments in enumerate(inputs(task), 1):
        extremes |= set(extremes_in(arguments))
        if not alike(outcome(original, arguments), outcome(changed, arguments)):
            return f"input {count} tells them apart: {arguments!r:.200}"
    lacking = [name for name in task["extremes"] if name not in extremes]
    if count < INPUTS or lacking:
        return (
            f"{count} inputs without {lacking}; at least {INPUTS} with {list(task['extremes'])} are required"
        )
    return ""


def function(task: Mapping[str, Any], version: str) -> Callable[..., Any]:
    """The function of one version of the module, run under the module's own name but not registered."""
    spec = importlib.util.find_spec(task["module"])
    if spec is None:
        raise ImportError(f"no module {task['module']}")
    module = importlib.util.module_from_spec(spec)
    registered = sys.modules.get(task["module"])
    sys.modules[task["module"]] = module  # dataclasses look their module up while they are made
    try:
        exec(compiled(task, version), vars(module))
    finally:
        restore(task["module"], registered)
    found: Any = module
    for name in task["function"].split("."):
        found = getattr(found, name)
    return found  # type: ignore[no-any-return]  # looked up by name


def restore(name: str, module: types.ModuleType | None) -> None:
    """Puts a module back where it was registered."""
    if module is None:
        del sys.modules[name]
    else:
        sys.modules[name] = module


def inputs(task: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    """The inputs of a proof: what the named function of the file of proofs yields, from a fixed seed."""
    spec = importlib.util.spec_from_file_location("proofs", task["proofs"])
    if spec is None or spec.loader is None:
        raise ImportError(f"no file {task['proofs']}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Iterable[tuple[Any, ...]] = getattr(module, task["inputs"])(SEED)
    return iter(made)


def outcome(called: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call gives or raises, and its arguments afterwards."""
    own = copy.deepcopy(arguments)
    try:
        given = called(*own)
        result = list(given) if isinstance(given, types.GeneratorType) else given
        return ("gives", result, own)
    except Exception as error:  # an exception is an outcome like any other
        return ("raises", type(error).__qualname__, str(error), own)


def alike(first: Any, second: Any) -> bool:
    """Whether two results are the same in every bit."""
    if type(first).__qualname__ != type(second).__qualname__:
        return False
    if isinstance(first, float):
        return struct.pack("<d", first) == struct.pack("<d", second)
    if hasattr(first, "tobytes"):
        return (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes())
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, dict):
        return alike(list(first.items()), list(second.items()))
    if dataclasses.is_dataclass(first):
        return alike(vars(first), vars(second))
    return bool(first == second)


def extremes_in(value: Any) -> Iterator[str]:
    """The names of the extremes among the numbers of an argument, arrays and containers included."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from extremes_in(item)
    elif isinstance(value, dict):
        yield from extremes_in(list(value.values()))
    elif hasattr(value, "tobytes") and getattr(value.dtype, "kind", "") == "f":
        yield from ("empty",) if value.size == 0 else ()
        limits = importlib.import_module("numpy").finfo(value.dtype)
        for number in value.ravel().tolist():
            yield from extreme(number, float(limits.max), float(limits.tiny))
    elif isinstance(value, float):
        yield from extreme(value, sys.float_info.max, sys.float_info.min)


def extreme(number: float, largest: float, smallest: float) -> Iterator[str]:
    """The names that fit one number."""
    if number == 0:
        yield "negative zero" if math.copysign(1, number) < 0 else "zero"
    elif abs(number) < smallest:
        yield "subnormal"
    if abs(number) == largest:
        yield "largest"
    if math.isnan(number):
        yield "nan"
    if math.isinf(number):
        yield "infinity"


if __name__ == "__main__":
    main()
