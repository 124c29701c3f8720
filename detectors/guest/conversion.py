"""NumPy arrays to the subject's framework and back."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from .refusal import Refused
from .subjects import modules_behind
from .wire import FRAME_LIMIT, KINDS

RESULTS = ("logits", "last_hidden_state")
"""Names under which a mapping or a model output carries its main result."""


def given(arrays: list[Any], call: Any, kind: str) -> list[Any]:
    """Fresh copies: a subject that writes into its input must not change the next measurement."""
    if kind == "torch":
        return [to_torch(array, call) for array in arrays]
    if kind == "jax":
        numpy_like = sys.modules["jax"].numpy
        return [numpy_like.asarray(array.copy()) for array in arrays]
    return [array.copy() for array in arrays]


def to_torch(array: Any, call: Any) -> Any:
    """A tensor on the device and in the floating-point type of the first parameter behind the call."""
    torch = sys.modules["torch"]
    tensor = torch.from_numpy(array.copy())
    module = next(iter(modules_behind(call)), None)
    first = next(_tensors(module), None) if module is not None else None
    if first is None:
        return tensor
    return tensor.to(device=first.device, dtype=first.dtype if tensor.is_floating_point() else tensor.dtype)


def _tensors(module: Any) -> Iterator[Any]:
    return (value for value in [*module.parameters(), *module.buffers()] if value.is_floating_point())


def chosen(output: Any, which: Any) -> Any:
    """One array out of a tuple, a mapping or a model output; `which` names or counts it, if it must be said."""
    if which is not None and which != "":
        return _item(output, which)
    for name in RESULTS:
        if isinstance(output, Mapping) and name in output:
            return output[name]
        if hasattr(output, name) and not hasattr(output, "shape"):
            return getattr(output, name)
    return output[0] if isinstance(output, (tuple, list)) and output and _shaped(output[0]) else output


def _item(output: Any, which: Any) -> Any:
    try:
        if isinstance(which, int) or isinstance(output, Mapping):
            return output[which]
        return getattr(output, which)
    except (LookupError, AttributeError, TypeError):
        kind = type(output).__name__
        raise Refused(f"the call returned a {kind} without the item {which!r} that --output names") from None


def _shaped(item: Any) -> bool:
    """A list of lists is an array itself; a tuple of arrays is a choice."""
    return hasattr(item, "shape")


def as_array(output: Any) -> Any:
    """Float32 or float64 NumPy numbers, C-contiguous, whatever framework they come from.

    Raises Refused for what is no array of real numbers, and for one that is too large to read.
    """
    import numpy

    if output is None or inspect.isgenerator(output) or inspect.isawaitable(output):
        what = "None" if output is None else f"a {type(output).__name__}"
        raise Refused(f"the call returned {what}; required: an array")
    array = numpy.asarray(_from_torch(output))
    if array.nbytes > FRAME_LIMIT:
        size, most = array.nbytes >> 20, FRAME_LIMIT >> 20
        raise Refused(f"the call returned {size} MB; required: at most {most} MB for an input this small")
    if array.dtype.kind not in KINDS and str(array.dtype) != "bfloat16":
        kind = f"{type(output).__name__} of dtype {array.dtype}"
        raise Refused(f"the call returned a {kind}; required: an array of real numbers")
    wanted = array.dtype if array.dtype.str[1:] in ("f4", "f8") else numpy.dtype("f4")
    return numpy.array(array, wanted.newbyteorder("="), order="C")


def half(output: Any) -> str:
    """The name of a floating-point type of 16 bits or fewer; empty for any other."""
    name = str(getattr(output, "dtype", "")).rpartition(".")[2]
    return name if name in ("bfloat16", "float16") or name.startswith("float8") else ""


def _from_torch(output: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(output, torch.Tensor):
        return output
    output = output.detach().to("cpu")
    output = output.to_dense() if output.layout != torch.strided else output
    if output.is_floating_point() and output.element_size() < 4:
        output = output.float()
    return output.resolve_conj().resolve_neg().numpy()
