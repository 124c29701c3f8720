"""Parameters: arrays under role names, frozen."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core import arrays
from core.arrays import FloatArray
from core.errors import CoreError


class Parameters(Mapping[str, FloatArray]):
    """A frozen mapping from a role, such as "Wq", to a read-only array; roles keep their order.

    Block roles: Wq bq Wk bk Wv bv Wo bo W1 b1 W2 b2 gain1 shift1 gain2 shift2. Weights act on the right,
    y = x W + b, W `[in, out]`. Biases and shifts are optional: an absent role is none. `shapes` lists them.
    An array that anybody could still write is copied, so that a later write does not change it.
    Two are equal when roles, dtypes and every number are. Raises CoreError for an unknown role.
    """

    __slots__ = ("_arrays", "shapes")

    _arrays: dict[str, FloatArray]
    shapes: Mapping[str, tuple[int, ...]]

    def __init__(self, values: Mapping[str, ArrayLike]) -> None:
        frozen = {role: _read_only(value, role) for role, value in values.items()}
        object.__setattr__(self, "_arrays", frozen)
        shapes = {role: array.shape for role, array in frozen.items()}
        object.__setattr__(self, "shapes", MappingProxyType(shapes))

    def __setattr__(self, name: str, value: object) -> None:
        raise CoreError(
            f"Parameters are frozen, {name} cannot be set; with_(role=array) returns a changed copy"
        )

    def __reduce__(self) -> tuple[type[Parameters], tuple[dict[str, FloatArray]]]:
        # A frozen object cannot be filled attribute by attribute, as pickle would do.
        return Parameters, (self._arrays,)

    def __getitem__(self, role: str) -> FloatArray:
        try:
            return self._arrays[role]
        except KeyError:
            raise CoreError(self._unknown(role)) from None

    def get(self, role: str, default: Any = None, /) -> FloatArray | Any:
        """Return the array of `role`, or `default`."""
        return self._arrays.get(role, default)

    def __contains__(self, role: object) -> bool:
        return role in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameters):
            return NotImplemented
        return self._arrays.keys() == other._arrays.keys() and all(
            array.dtype == other[role].dtype and np.array_equal(array, other[role])
            for role, array in self._arrays.items()
        )

    def __repr__(self) -> str:
        return f"Parameters({self._listing()})"

    def with_(self, **values: ArrayLike) -> Parameters:
        """Return a copy with some roles replaced, in their old dtype.

        Raises CoreError, with a listing, for an unknown role or another shape.
        """
        changed = dict(self._arrays)
        for role, value in values.items():
            old = self[role]
            changed[role] = self._fitting(role, arrays.floats(value, role)).astype(old.dtype)
        return Parameters(changed)

    def without(self, *roles: str) -> Parameters:
        """Return a copy that lacks some roles, such as the biases. Raises CoreError for an unknown role."""
        for role in roles:
            self[role]
        return Parameters({role: array for role, array in self._arrays.items() if role not in roles})

    def under(self, prefix: str) -> Parameters:
        """Return the roles that start with `prefix`, without it: under("blocks.0.") holds "Wq"."""
        return Parameters(
            {role.removeprefix(prefix): a for role, a in self._arrays.items() if role.startswith(prefix)}
        )

    def map(self, function: Callable[[FloatArray], ArrayLike]) -> Parameters:
        """Return function(array) under every role."""
        return Parameters({role: function(array) for role, array in self._arrays.items()})

    def combine(self, function: Callable[..., ArrayLike], *others: Mapping[str, FloatArray]) -> Parameters:
        """Return function(array, the others' arrays of that role...) under every role: an optimizer's step.

        Raises CoreError, with a listing, when roles or shapes differ.
        """
        for other in others:
            self._check_same_roles(other)
        return Parameters({role: function(a, *(o[role] for o in others)) for role, a in self._arrays.items()})

    def save(self, path: str | PathLike[str]) -> None:
        """Write an .npz file, one array under each role."""
        named: dict[str, Any] = dict(self._arrays)
        np.savez(path, **named)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Parameters:
        """Return what `save` wrote. Raises CoreError when the file is missing or not such a file."""
        try:
            with np.load(path) as stored:
                return cls({role: stored[role] for role in stored.files})
        except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:
            raise CoreError(
                f"{path} cannot be read ({error}); a file written by Parameters.save is required"
            ) from error

    def _check_same_roles(self, other: Mapping[str, FloatArray]) -> None:
        for role in self._arrays.keys() ^ set(other):
            raise CoreError(
                f"role {role} is in one set of parameters only; equal roles are required: {self._listing()}"
            )
        for role in self._arrays:
            self._fitting(role, other[role])

    def _fitting(self, role: str, array: FloatArray) -> FloatArray:
        if array.shape != self.shapes[role]:
            raise CoreError(
                f"{role} has shape {array.shape}, {self.shapes[role]} is required; roles: {self._listing()}"
            )
        return array

    def _unknown(self, role: str) -> str:
        return f"no role {role!r}; use one of {self._listing()}"

    def _listing(self) -> str:
        return ", ".join(f"{role} {shape}" for role, shape in self.shapes.items())


def _read_only(value: Any, role: str) -> FloatArray:
    array = arrays.floats(value, role)
    if _writeable(array):
        array = array.copy()
        array.setflags(write=False)
    return array


def _writeable(array: Any) -> bool:
    """Whether the array, or one that it is a view of, can be written; what is no array is the owner's affair."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return False
