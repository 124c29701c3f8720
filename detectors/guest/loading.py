"""Finds and builds the subject: "module:attribute" or "path/file.py:attribute", with an expression where needed."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from types import ModuleType
from typing import Any

from .refusal import Refused, worded


class Blocker:
    """Refuses our own packages where a name of theirs would resolve to them: the guest has its own `core` or none."""

    def __init__(self, home: str, names: list[str]) -> None:
        self.home = os.path.realpath(home) + os.sep
        self.names, self.busy = names, False

    def find_spec(self, name: str, *_: Any) -> None:
        """Never finds anything; raises ModuleNotFoundError where the others would find ours."""
        if name not in self.names or self.busy:
            return
        self.busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy = False
        places = [] if spec is None else [spec.origin or "", *(spec.submodule_search_locations or [])]
        if any(os.path.realpath(place).startswith(self.home) for place in places if place):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def load(header: dict[str, Any]) -> Any:
    """The subject, built; what it is made of is decided by `ready`."""
    if header["blocked"]:
        sys.meta_path.insert(0, Blocker(header["home"], header["blocked"]))
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    seed()
    module = _module(header["module"])
    found = _attribute(module, header["module"], header["attribute"])
    seed()
    if header["init"]:
        return _built(header["init"], module)
    return ready(found)


def seed() -> None:
    """Fixed seeds, so that the same command finds the same numbers in a subject that draws its weights."""
    import random

    import numpy

    random.seed(0)
    numpy.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def ready(found: Any) -> Any:
    """Calls a factory or class that needs no argument; leaves a ready object alone."""
    needs = required(found) if inspect.isclass(found) or inspect.isroutine(found) else ["itself"]
    if inspect.isclass(found) and needs:
        listed = ", ".join(needs)
        raise Refused(
            f'{found.__name__} needs arguments ({listed}); say how to build it, --init "{found.__name__}(...)"'
        )
    return found if needs else found()


def required(function: Any) -> list[str]:
    """Names of the parameters without a default; empty where there is no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.kind not in kinds and p.default is inspect.Parameter.empty]


def _built(expression: str, module: ModuleType) -> Any:
    try:
        return eval(expression, vars(module))
    except SyntaxError as error:
        raise Refused(f"--init {expression!r} is not an expression: {worded(error)}") from None


def _attribute(module: ModuleType, name: str, path: str) -> Any:
    found: Any = module
    for part in path.split("."):
        if not hasattr(found, part):
            names = ", ".join(known for known in vars(found) if not known.startswith("_"))[:200]
            raise Refused(f"{name} has no attribute {part!r}; it has: {names or 'none'}")
        found = getattr(found, part)
    return found


def _module(name: str) -> ModuleType:
    """Raises Refused where a file or a module is missing, and says which interpreter it is missing for."""
    try:
        return _from_file(name) if name.endswith(".py") else importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or "?"
        if name == missing or name.startswith(missing + "."):
            raise Refused(f"no module named {missing!r} for {sys.executable} in {os.getcwd()}") from None
        raise Refused(
            f"{os.path.basename(name)} needs the module {missing!r}, which {sys.executable} does not have; "
            "install it there, or name another interpreter with --python"
        ) from None


def _from_file(path: str) -> ModuleType:
    if not os.path.isfile(path):
        raise Refused(f"there is no file {path}")
    folder, stem = os.path.split(os.path.splitext(os.path.realpath(path))[0])
    names = [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        names.insert(0, package)
    sys.path.insert(0, folder)
    # A file in a package is imported as part of it, since it may import its neighbours relatively.
    return importlib.import_module(".".join(names)) if len(names) > 1 else _alone(path, stem)


def _alone(path: str, stem: str) -> ModuleType:
    # A file may be called torch.py or random.py: such a name must not hide the real one.
    taken = stem in sys.modules or stem in getattr(sys, "stdlib_module_names", ())
    spec = importlib.util.spec_from_file_location(f"subject_{stem}" if taken else stem, path)
    if spec is None or spec.loader is None:
        raise Refused(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
