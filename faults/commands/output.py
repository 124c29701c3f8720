"""Where results go: the style of stdout, and files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.commands.arguments import known
from faults.model import FaultsError, UsageError

STYLE = "simple_grid"
PLAIN_STYLE = "grid"
"""The same in ASCII, for a stdout that cannot show line-drawing characters."""

FORMAT = {"en": "table format", "zh": "表格格式"}


def style(asked: str | None, language: str) -> str:
    """A table format of tabulate; UsageError with the nearest one for any other name."""
    # Imported here: tabulate takes longer to load than the rest of the command line.
    from reports.table import FORMATS

    if asked is not None:
        return known(FORMAT, [asked], FORMATS, language)[0]
    return STYLE if _shows_lines() else PLAIN_STYLE


def _shows_lines() -> bool:
    try:
        "┌─┐".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def check_file(option: str, name: str, language: str) -> None:
    """UsageError, before anything is run, where a file of this name could not be written."""
    path = Path(name)
    folder = path.parent
    if not name or path.is_dir():
        raise _refused(
            option, name, "a folder" if name else "no name", "文件夹" if name else "空名称", language
        )
    if not folder.is_dir():
        lost = str(folder)
        raise _refused(option, name, f"no folder {lost!r}", f"文件夹 {lost!r} 不存在", language)
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise _refused(option, name, "no permission to write there", "没有写入权限", language)


def place(name: str) -> Path:
    """Where a file really is, links followed: two names of one file have one place."""
    return Path(name).resolve()


def write_file(option: str, name: str, text: str) -> None:
    """Write a file whole: an existing one is replaced in one step or, if anything fails, stays as it was."""
    with _readable(option, name):
        # A link stays a link: what it points to is replaced.
        path = place(name)
        content = text.encode("utf-8", "backslashreplace")
        if path.exists() and not path.is_file():
            path.write_bytes(content)
        else:
            _replace(path, content)


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
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


def _refused(option: str, name: str, english: str, chinese: str, language: str) -> UsageError:
    return UsageError(
        {
            "en": f"{option} {name!r}: found {english}, required is a file that can be written",
            "zh": f"{option} {name!r}：{chinese}；需要一个可以写入的文件",
        }[language]
    )
