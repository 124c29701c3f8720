"""What a loaded subject is: a callable, a torch.nn.Module, or a mapping or object that declares one under `call`."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .refusal import Refused

HALVES = ("torch.bfloat16", "torch.float16")


def field(subject: Any, name: str) -> Any:
    """A declared key of a mapping or object; None where there is none. Modules and functions declare nothing."""
    if isinstance(subject, Mapping):
        return subject.get(name)
    if torch_module(subject) is not None or inspect.isroutine(subject) or inspect.isclass(subject):
        return None
    return getattr(subject, name, None) if hasattr(subject, "call") or hasattr(subject, "kind") else None


def callable_of(subject: Any) -> Any:
    """What is called with x, tokens, or query, key and value. Raises Refused where nothing can be."""
    call = field(subject, "call")
    if call is None and field(subject, "kind") == "attention":
        call = field(subject, "attention")
    call = subject if call is None else call
    if subject is None or not callable(call):
        kind = "None" if call is None else f"a {type(call).__name__}"
        raise Refused(
            f"the subject is {kind}; required: a callable, a torch.nn.Module or a mapping with 'call'"
        )
    return call


def torch_module(subject: Any) -> Any:
    """The subject itself if it is a torch.nn.Module, else None."""
    torch = sys.modules.get("torch")
    module = getattr(getattr(torch, "nn", None), "Module", None)
    return subject if module is not None and isinstance(subject, module) else None


def modules_behind(call: Any) -> list[Any]:
    """The torch modules that a callable surely uses: itself, its owner, its closure, its global names."""
    found = [torch_module(thing) for thing in [call, *_behind(call)]]
    return [module for module in found if module is not None]


def _behind(call: Any) -> Iterator[Any]:
    if isinstance(call, functools.partial):
        yield from (*call.args, *call.keywords.values())
        call = call.func
    yield getattr(call, "__self__", None)
    function = getattr(call, "__func__", call)
    if not inspect.isfunction(function):
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue  # a name that is bound later
    yield from (function.__globals__.get(name) for name in function.__code__.co_names)


def calls(subject: Any) -> list[Any]:
    """Everything of the subject that is called."""
    return [callable_of(subject), field(subject, "attention"), field(subject, "step")]


def prepared(subject: Any) -> list[str]:
    """Eval mode and full precision for every torch module of the subject; one note for each change of numbers."""
    notes: list[str] = []
    for call in calls(subject):
        for module in modules_behind(call):
            module.eval()
            notes += _widened(module)
    return sorted(set(notes))


def restorer(subject: Any) -> Callable[[], None]:
    """A function that undoes what `prepared` will do: training modes, and numbers of another type, bit by bit."""
    modes = [(part, part.training) for part in _parts(subject)]
    kept = [(store, name, value, value.data) for store, name, value in _tensors(subject)]
    grads = [
        (value.grad, value.grad.data) for _, _, value, _ in kept if value.is_leaf and value.grad is not None
    ]

    def restore() -> None:
        for part, training in modes:
            part.training = training
        for store, name, value, data in kept:
            # `float` converts parameters in place, and puts new buffers in the place of the old ones.
            if getattr(store.get(name), "dtype", data.dtype) != data.dtype:
                value.data = data
                store[name] = value
        for grad, data in grads:
            grad.data = data

    return restore


def halves(subject: Any) -> list[Any]:
    """(where it is kept, under which name, its type) of every tensor in 16 bits; `prepared` widens them."""
    return [
        (store, name, value.dtype) for store, name, value in _tensors(subject) if str(value.dtype) in HALVES
    ]


def _tensors(subject: Any) -> list[Any]:
    """(where it is kept, under which name, the tensor) of every parameter and buffer."""
    stores = [store for part in _parts(subject) for store in (part._parameters, part._buffers)]
    return [(store, name, value) for store in stores for name, value in store.items() if value is not None]


def _parts(subject: Any) -> list[Any]:
    """Every module inside those that the subject surely uses."""
    return [part for call in calls(subject) for module in modules_behind(call) for part in module.modules()]


@contextlib.contextmanager
def narrowed(kept: list[Any]) -> Iterator[None]:
    """With these numbers in the 16 bits they came in."""
    for store, name, kind in kept:
        store[name].data = store[name].data.to(kind)
    try:
        yield
    finally:
        for store, name, _ in kept:
            store[name].data = store[name].data.float()


def _widened(module: Any) -> list[str]:
    kinds = {str(value.dtype) for value in [*module.parameters(), *module.buffers()]}
    halves = sorted(kinds & set(HALVES))
    if halves:
        module.float()
    return [f"{kind.split('.')[1]} parameters were examined as float32" for kind in halves]


def framework(subject: Any) -> str:
    """ "torch", "jax" or "numpy": where the callable comes from, or which of them its code names."""
    call, said = callable_of(subject), field(subject, "framework")
    if said:
        return str(said)
    if modules_behind(call):
        return "torch"
    roots = {kind.__module__.partition(".")[0] for kind in type(call).__mro__}
    if roots & {"equinox", "flax", "haiku", "jax", "jaxlib"}:
        return "jax"
    return _named(call)


def _named(call: Any) -> str:
    function = inspect.unwrap(getattr(call, "func", call))
    function = getattr(function, "__func__", function)
    if not inspect.isfunction(function):
        function = vars(type(function)).get("__call__", function)
    names = getattr(function, "__globals__", {})
    direct = [names.get(name) for name in getattr(getattr(function, "__code__", None), "co_names", ())]
    # What the function itself names decides; its whole file only where it names none.
    return _first(direct) or _first(names.values()) or "numpy"


def _first(things: Any) -> str:
    roots = {thing.__name__.partition(".")[0] for thing in things if inspect.ismodule(thing)}
    return next((name for name in ("torch", "jax", "numpy") if name in roots), "")
