"""Artifacts of an evidence record: do they exist inside the repository, and do they hold the intermediates?

The files are a stranger's. Paths are never followed out of the root, arrays are read without pickle, and no
more is allocated than the bytes that are there can fill.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from faults.evidence_model import INTERMEDIATES, said
from faults.model import Text

Array: TypeAlias = npt.NDArray[np.float64]
Arrays: TypeAlias = dict[str, Array]

SIZE_LIMIT = 64 * 2**20
JSON_LIMIT = 8 * 2**20
ELEMENT_LIMIT = 4 * 2**20


class RefusedError(Exception):
    """An artifact that cannot be accepted; `why` says what was found and what is required."""

    def __init__(self, why: Text) -> None:
        super().__init__(why["en"])
        self.why = why


def repository(file: Path) -> Path | None:
    """Top level of the Git work tree that holds `file`: the nearest folder above with a `.git`; or None."""
    folders = file.resolve().parents
    return next((folder for folder in folders if (folder / ".git").exists()), None)


def locate(entry: str, root: Path, record: Path) -> Path:
    """The file that `entry` names inside `root`; raises RefusedError. `record` cannot be its own artifact."""
    _refuse_form(entry)
    try:
        top, found = root.resolve(), (root / entry).resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise RefusedError(said("does not exist in the repository", "在仓库中不存在")) from error
    if not found.is_relative_to(top) or ".git" in found.relative_to(top).parts:
        raise RefusedError(
            said("is a link that leads out of the repository's files", "是指向仓库文件之外的链接")
        )
    _refuse_kind(found)
    if found == record.resolve():
        raise RefusedError(
            said("is this record itself, which proves nothing", "就是本记录自己，不能作为证据")
        )
    return found


def _refuse_form(entry: str) -> None:
    posix, windows = PurePosixPath(entry), PureWindowsPath(entry)
    if posix.is_absolute() or windows.drive or entry.startswith("~"):
        raise RefusedError(
            said("is absolute: give a path relative to the repository", "是绝对路径：请写仓库相对路径")
        )
    if "\\" in entry:
        raise RefusedError(said("has a backslash: separate folders with /", "含反斜杠：请用 / 分隔目录"))
    if ".." in posix.parts:
        raise RefusedError(said('contains "..": name the file itself', "含 “..”：请直接写出文件路径"))
    if ".git" in (part.lower() for part in posix.parts):
        raise RefusedError(
            said("lies in .git, which is no part of a submission", "位于 .git 中，不属于提交内容")
        )


def _refuse_kind(found: Path) -> None:
    if not found.is_file():
        raise RefusedError(said("is not a regular file", "不是普通文件"))
    if found.stat().st_size == 0:
        raise RefusedError(said("is empty", "是空文件"))


def read_arrays(path: Path) -> Arrays:
    """The named intermediates in a .npz, .json or .npy file; a .npy gives one, named as the file is.

    Other arrays in the file are left alone. Raises RefusedError for whatever cannot be read.
    """
    try:
        return _READERS[path.suffix.lower()](path)
    except RefusedError:
        raise
    # Hostile bytes make the parsers of zip, NumPy and JSON raise almost anything: one answer to all of it.
    except Exception as error:
        reason = type(error).__name__
        raise RefusedError(
            said(f"cannot be read as {path.suffix} ({reason})", f"无法按 {path.suffix} 读取（{reason}）")
        ) from error


def may_hold_arrays(path: Path) -> bool:
    """True for the kinds of file that `read_arrays` reads."""
    return path.suffix.lower() in _READERS


def _from_npz(path: Path) -> Arrays:
    _refuse_size(path.stat().st_size, SIZE_LIMIT)
    with zipfile.ZipFile(path) as archive:
        present = set(archive.namelist())
        members = {name: archive.getinfo(f"{name}.npy") for name in INTERMEDIATES if f"{name}.npy" in present}
        _refuse_size(sum(member.file_size for member in members.values()), SIZE_LIMIT)
        return {name: _array(_unpacked(archive, member)) for name, member in members.items()}


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    # Only these two unpack to a given length; the others would first unpack all that a bomb holds.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise RefusedError(said("is not packed as numpy.savez packs", "不是 numpy.savez 的压缩方式"))
    with archive.open(member) as stream:
        return stream.read(member.file_size)


def _from_npy(path: Path) -> Arrays:
    if path.stem not in INTERMEDIATES:
        return {}
    _refuse_size(path.stat().st_size, SIZE_LIMIT)
    return {path.stem: _array(path.read_bytes())}


def _from_json(path: Path) -> Arrays:
    _refuse_size(path.stat().st_size, JSON_LIMIT)
    content = json.loads(path.read_bytes())
    found = content if isinstance(content, Mapping) else {}
    return {name: np.asarray(found[name], dtype=np.float64) for name in INTERMEDIATES if name in found}


_READERS = {".npz": _from_npz, ".json": _from_json, ".npy": _from_npy}


def _refuse_size(size: int, limit: int) -> None:
    if size > limit:
        allowed = f"{limit // 2**20} MiB"
        raise RefusedError(
            said(f"is larger than {allowed}: use a smaller fixture", f"大于 {allowed}：请用更小的 fixture")
        )


def _array(raw: bytes) -> Array:
    """One array of the .npy format, read by its header: only as much as the bytes really hold."""
    stream = io.BytesIO(raw)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[np.lib.format.read_magic(stream)]
    shape, fortran, dtype = read_header(stream)
    return _shaped(raw[stream.tell() :], shape, fortran, dtype)


def _shaped(raw: bytes, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]) -> Array:
    count = math.prod(shape)
    if dtype.kind not in ("f", "i", "u") or count < 0:
        raise RefusedError(said("holds an array that is not of numbers", "含有不是数值的数组"))
    if count > ELEMENT_LIMIT:
        raise RefusedError(
            said(
                "holds an array that is too large: use a smaller fixture",
                "含有过大的数组：请用更小的 fixture",
            )
        )
    flat = np.frombuffer(raw, dtype=dtype, count=count)
    array = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    return np.asarray(array, dtype=np.float64)


def gather(paths: Iterable[Path]) -> dict[Path, Arrays | RefusedError]:
    """Each set of intermediates by where it is, or why it cannot be read.

    A set is a .npz or .json file, or the .npy files of one folder. Files with none of the five are left out.
    """
    sets: dict[Path, Arrays | RefusedError] = {}
    for path in filter(may_hold_arrays, paths):
        together = path.parent if path.suffix.lower() == ".npy" else path
        sets[together] = _joined(sets.get(together, {}), path)
    return {place: found for place, found in sets.items() if found}


def _joined(before: Arrays | RefusedError, path: Path) -> Arrays | RefusedError:
    if isinstance(before, RefusedError):
        return before
    try:
        return before | read_arrays(path)
    except RefusedError as refused:
        return refused
