"""Calls of the subject, plain or with some of its weights replaced, and the record of its operations."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import jax_sites, torch_sites
from .conversion import as_array, chosen, given, half, to_torch
from .loading import required
from .refusal import Refused
from .subjects import callable_of, field, torch_module


def called(subject: Any, arrays: list[Any], replaced: dict[str, Any], options: dict[str, Any]) -> Any:
    """(notes about the call, the output as one NumPy array)."""
    call = field(subject, "attention") if options.get("attention") else callable_of(subject)
    inputs = given(arrays, call, options["framework"])
    copies = [as_array(one) for one in inputs[:1]]
    with quiet(), overridden(subject, replaced):
        output = chosen(invoke(call, inputs, subject, replaced, options), options.get("output"))
    array = as_array(output)
    notes = {
        "half": half(output),
        "wrote": bool(differs(copies[0], as_array(inputs[0]))) if copies else False,
    }
    return notes, array


def invoke(
    call: Any, inputs: list[Any], subject: Any, replaced: dict[str, Any], options: dict[str, Any]
) -> Any:
    """The call itself; weights that are passed by value follow the inputs, the last of which may have a name."""
    extra = [by_value(subject, replaced, options)] if passes_weights(subject) else []
    named = {options["keyword"]: inputs[-1]} if options.get("keyword") else {}
    plain = inputs[: len(inputs) - len(named)]
    with undisturbed(options):
        return call(*plain, *extra, **named)


def continued(subject: Any, chunks: list[Any], options: dict[str, Any]) -> list[Any]:
    """The outputs of the declared step, (x, cache) -> (output, cache), for chunk after chunk as NumPy arrays."""
    outputs: list[Any] = []
    step, cache = field(subject, "step"), None
    for chunk in given(chunks, callable_of(subject), options["framework"]):
        with quiet(), undisturbed(options):
            answer = step(chunk, cache)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise Refused(f"the step returned {_named(answer)}; required: (output, cache)")
        cache = answer[1]
        if cache is None and len(outputs) + 1 < len(chunks):
            raise Refused(
                "the step returned None as its cache; required: something else, since None begins another sequence"
            )
        outputs.append(as_array(chosen(answer[0], None)))
    return outputs


def _named(answer: Any) -> str:
    """What came back in place of a pair."""
    several = f" of {len(answer)} items" if isinstance(answer, (tuple, list)) else ""
    return "None" if answer is None else f"a {type(answer).__name__}{several}"


def watched(
    subject: Any, names: list[str], arrays: list[Any], options: dict[str, Any], note: Callable[..., None]
) -> None:
    """One call of the torch model; `note(name, positional, keywords, output)` hears of each call of a named part."""

    def watch(name: str) -> Any:
        def heard(module: Any, positional: Any, keywords: Any, output: Any) -> None:
            note(name, positional, keywords, output)

        return model.get_submodule(name).register_forward_hook(heard, with_kwargs=True)

    model = callable_of(subject)
    handles = [watch(name) for name in names]
    try:
        with quiet():
            invoke(model, given(arrays, model, options["framework"]), subject, {}, options)
    finally:
        for handle in handles:
            handle.remove()


def undisturbed(options: dict[str, Any]) -> Any:
    """Without gradients in torch."""
    return sys.modules["torch"].no_grad() if options["framework"] == "torch" else contextlib.nullcontext()


def differs(before: Any, after: Any) -> bool:
    return bool(((before != after) & ~((before != before) & (after != after))).any())


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without warnings: those of somebody's code are not the verdict."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def sites(subject: Any, arrays: list[Any], options: dict[str, Any]) -> list[dict[str, Any]]:
    """The attention operations that one call runs through, as the framework shows them."""
    call = callable_of(subject)
    follow = {"torch": torch_sites.follow, "jax": getattr(jax_sites, "follow", None)}.get(
        options["framework"]
    )
    if follow is None:
        raise Refused(f"the operations of {options['framework']} code cannot be followed")
    inputs = given(arrays, call, options["framework"])
    with quiet():
        found: list[dict[str, Any]] = follow(
            lambda: invoke(call, inputs, subject, {}, options), options, inputs
        )
    return found


# --- weights by role -------------------------------------------------------------------------------------------


def passes_weights(subject: Any) -> bool:
    """Whether the declared weights are handed to the call as its second argument, as functional code does."""
    call = field(subject, "call")
    if not isinstance(field(subject, "weights"), Mapping) or call is None:
        return False
    return len([name for name in required(call) if name != field(subject, "padding")]) == 2


def by_value(subject: Any, replaced: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The subject's own weights with those replaced that the parent sent, in the subject's framework."""
    own = dict(field(subject, "weights"))
    for name, (_, array) in replaced.items():
        own[name] = given([array], None, options["framework"])[0]
    return own


def writable(subject: Any) -> list[str]:
    """Roles of a declared mapping that can be replaced: by value, or in place in NumPy arrays and tensors."""
    weights = field(subject, "weights")
    if not isinstance(weights, Mapping):
        return []
    if passes_weights(subject):
        return sorted(weights)
    return sorted(role for role, array in weights.items() if _in_place(array))


def _in_place(array: Any) -> bool:
    return hasattr(array, "copy_") or bool(getattr(getattr(array, "flags", None), "writeable", False))


def role_view(subject: Any, place: list[Any]) -> Any:
    """The array behind a role: columns first:last of a parameter that acts on the right, or a declared one."""
    name, transposed, first, last = place
    module = torch_module(callable_of(subject))
    if isinstance(field(subject, "weights"), Mapping) or module is None:
        return field(subject, "weights")[name]
    value = dict(module.named_parameters())[name].data
    value = value.t() if transposed else value
    return value[..., first:last] if last else value


def read_role(subject: Any, place: list[Any]) -> Any:
    """A role's numbers as a NumPy array."""
    return as_array(role_view(subject, place))


@contextlib.contextmanager
def overridden(subject: Any, replaced: dict[str, Any]) -> Iterator[None]:
    """Writes the arrays into the places of the roles, in place, and puts the old numbers back."""
    kept: list[tuple[Any, Any]] = []
    try:
        for place, array in [] if passes_weights(subject) else replaced.values():
            view = role_view(subject, place)
            kept.append((view, view.clone() if hasattr(view, "clone") else view.copy()))
            write(view, array)
        yield
    finally:
        for view, old in reversed(kept):
            write(view, old)


def write(view: Any, array: Any) -> None:
    """New numbers in an old tensor or array."""
    if hasattr(view, "copy_"):
        with contextlib.suppress(AttributeError):
            view = view.detach()
        view.copy_(array if hasattr(array, "copy_") else to_torch(array, None))
    else:
        view[...] = array
