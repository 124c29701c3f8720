"""Where results go: the style of stdout, and files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.commands.arguments import known
from faults.model import FaultsError, Text, UsageError

FORMAT = {"en": "table format", "zh": "表格格式"}


def style(asked: str | None, language: str) -> str:
    """A table format of tabulate, our own if none is named; UsageError for a name that is not one."""
    # Imported here: tabulate takes longer to load than the rest of the command line.
    from reports.table import ASCII, FORMATS, LINES

    if asked is not None:
        return known(FORMAT, [asked], FORMATS, language)[0]
    return LINES if _shows_lines() else ASCII


def _shows_lines() -> bool:
    try:
        "┌─┐".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


STREAMS = ("dev", "proc")
"""Folders whose names lead to what is open already, such as /dev/stdout."""


def check_file(option: str, name: str, language: str, inputs: Iterable[str] = ()) -> None:
    """UsageError, before anything is run, where a file of this name could not be written, or must not be.

    It must not be one of the `inputs`, nor any Python file that is there: those are somebody's work.
    """
    found = _obstacle(name) or _precious(name, inputs)
    if found is not None:
        required = {"en": ", required is a file that can be written", "zh": "；需要一个可以写入的文件"}
        between = {"en": ": found ", "zh": "："}
        raise UsageError(f"{option} {name!r}{between[language]}{found[language]}{required[language]}")


def _obstacle(name: str) -> Text | None:
    """Why no file of this name can be written, None if one can."""
    path = Path(name)
    try:
        path.resolve()  # a link that leads to itself raises
        if not name or path.is_dir():
            return {"en": "a folder", "zh": "是文件夹"} if name else {"en": "no name", "zh": "名称为空"}
        if not path.parent.is_dir():
            return {"en": f"no folder {str(path.parent)!r}", "zh": f"文件夹 {str(path.parent)!r} 不存在"}
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            return {"en": "no permission to write there", "zh": "没有写入权限"}
    except (OSError, RuntimeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        return {"en": said, "zh": said}
    return None


def _precious(name: str, inputs: Iterable[str]) -> Text | None:
    """What would be lost if this file were replaced; None where nothing would."""
    path = place(name)
    if path.is_file() and Path(name).absolute().parts[1:2] and Path(name).absolute().parts[1] in STREAMS:
        return {"en": "a stream that is open already", "zh": "已经打开的输出流"}
    if path.is_file() and path.suffix == ".py":
        return {"en": "a Python file, which would be lost", "zh": "Python 文件，写入会使其丢失"}
    if any(path == place(one) for one in inputs):
        return {"en": "the file that is read", "zh": "正要读取的文件"}
    return None


def place(name: str) -> Path:
    """Where a file really is, links followed: two names of one file have one place."""
    return Path(name).resolve()


def write_file(option: str, name: str, text: str) -> None:
    """Write a file whole: an existing one is replaced in one step or, if anything fails, stays as it was."""
    with _readable(option, name):
        content = text.encode("utf-8", "backslashreplace")
        if os.path.exists(name) and not os.path.isfile(name):
            # By its own name: what /dev/fd/3 resolves to, when it is a pipe, cannot be opened.
            Path(name).write_bytes(content)
        else:
            # A link stays a link: what it points to is replaced.
            replace(place(name), content)


def replace(path: Path, content: bytes) -> None:
    """Puts a file of this content there in one step, in place of a file or a link; raises OSError."""
    temporary = path.with_name(f".faults.{os.getpid()}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        if path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _readable(option: str, name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FaultsError(f"{option} {name}: cannot be written ({error.strerror})") from error
