"""Which tensors of a PyTorch call are made of its input: keys that are not belong to a context from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Origins:
    """Follows the memory of the inputs through every operation; without inputs everything is made of them."""

    def __init__(self, torch: Any, inputs: Any) -> None:
        self._torch = torch
        self._kept: list[Any] = list(inputs)  # kept, so that an address means one memory only
        self._made = {memory(tensor) for tensor in self._tensors(self._kept)}

    def note(self, given: Any, output: Any) -> None:
        """One operation: what is made of the input goes on in its outputs."""
        if self._made and any(memory(tensor) in self._made for tensor in self._tensors(given)):
            self._kept.append(output)
            self._made.update(memory(tensor) for tensor in self._tensors([output]))

    def inside(self, tensor: Any) -> bool:
        """Whether the tensor is made of the input."""
        return not self._made or memory(tensor) in self._made

    def _tensors(self, values: Any) -> Iterator[Any]:
        for value in values:
            if isinstance(value, self._torch.Tensor):
                yield value
            elif isinstance(value, (tuple, list)):
                yield from self._tensors(value)


def memory(tensor: Any) -> int:
    """The address of a tensor's storage, which its views share."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):  # a tensor without storage of its own
        return id(tensor)
