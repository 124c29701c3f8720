"""Frames on a pipe: one line of JSON with "arrays", a list of [dtype, shape], then the bytes of the arrays."""

from __future__ import annotations

import json
from typing import IO, Any

FRAME_LIMIT = 256 * 1024 * 1024
"""Bytes of one array at most; a subject that gives more is told so, and an announcement of more is not believed."""

HEADER_LIMIT = 16 * 1024 * 1024

KINDS = "fiub"
"""NumPy kinds of numbers that cross: floating point, integers, booleans."""


def read_frame(pipe: IO[bytes]) -> tuple[dict[str, Any], list[Any]] | None:
    """(header, arrays), or None where the other end has hung up. Raises EOFError or ValueError on half a frame."""
    line = pipe.readline(HEADER_LIMIT)
    if not line:
        return None
    if not line.endswith(b"\n"):
        raise EOFError("the header ends early")
    header: dict[str, Any] = json.loads(line)
    return header, [_read_array(pipe, kind, shape) for kind, shape in header.pop("arrays")]


def write_frame(pipe: IO[bytes], header: dict[str, Any], arrays: list[Any]) -> None:
    """Writes one frame of C-contiguous arrays and flushes it."""
    described = [[array.dtype.str, list(array.shape)] for array in arrays]
    pipe.write(json.dumps(dict(header, arrays=described)).encode() + b"\n")
    for array in arrays:
        pipe.write(array.tobytes())
    pipe.flush()


def _read_array(pipe: IO[bytes], kind: str, shape: list[int]) -> Any:
    import numpy

    dtype = numpy.dtype(kind)
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    if dtype.kind not in KINDS or not 0 <= size <= FRAME_LIMIT:
        raise ValueError(f"an array of {size} bytes and dtype {kind} was announced")
    data = pipe.read(size)
    if len(data) != size:
        raise EOFError("an array ends early")
    return numpy.frombuffer(data, dtype).reshape(shape)
