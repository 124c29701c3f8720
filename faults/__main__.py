"""`python -m faults VERB ...`, and the console script `faults`."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":

    def interrupted(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        """Answers an interrupt while the rest is still being loaded, when nobody else does yet."""
        if kind is KeyboardInterrupt:
            os.write(2, b"faults: interrupted\n")
            os._exit(130)
        sys.__excepthook__(kind, error, trace)

    sys.excepthook = interrupted

import errno
import signal
import traceback
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from faults import __version__, language, siblings
from faults.commands import VERBS, program
from faults.model import FaultsError, UsageError

INTERNAL_ERROR = 3
INTERRUPTED = 130
NO_ROOM = (errno.ENOSPC, errno.EIO, errno.EBADF, errno.EFBIG)
"""What a stdout that takes no more answers."""

BROKEN_PIPE = 141
"""128 + SIGPIPE, what a shell reports for a program that wrote to a pipe nobody reads: never a pass."""

ENDING = ("SIGTERM", "SIGHUP")
"""Signals on which everything is put back and every child ended before this process does."""


def entry() -> None:
    """Run the command line of this process and end it with the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets "?", not a UnicodeEncodeError.
        getattr(stream, "reconfigure", lambda **_: None)(errors="replace")
    for name in ENDING:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores one
            signal.signal(number, leave)
    sys.exit(main(sys.argv[1:]))


def leave(number: int, frame: Any) -> NoReturn:
    """End with 128 + the number of the signal, by way of every `finally`."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str]) -> int:
    """Exit code of one command line; every error becomes one line on stderr."""
    try:
        code = finished(list(arguments))
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except (Exception, KeyboardInterrupt) as error:
        return report(error, language.resolve(language.asked(arguments)))


def finished(arguments: list[str]) -> int:
    """The exit code, also of what ends the program by itself, as help does."""
    try:
        siblings.pin()
        return dispatch(arguments)
    except SystemExit as stop:
        return complain(stop.code, 1) if isinstance(stop.code, str) else int(stop.code or 0)


def dispatch(arguments: list[str]) -> int:
    """Answer the options that stand before the verb, then hand the rest to the verb."""
    shared, rest = split(arguments)
    spoken = language.resolve(language.asked(arguments))
    if not rest:
        print(program.help_text(spoken), file=sys.stderr)
        return UsageError.exit_code
    if rest[0] in ("-h", "--help", "--version"):
        print(f"faults {__version__}" if rest[0] == "--version" else program.help_text(spoken))
        return 0
    verb = known(rest[0], spoken)
    run: Callable[[list[str]], int] = import_module(f"faults.commands.{module(verb)}").main
    return run(shared + rest[1:])


def module(verb: str) -> str:
    """The name of a verb's module: a verb may have a dash, a module may not."""
    return verb.replace("-", "_")


def split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """`--lang` and its value before the verb, and everything from the verb on."""
    count = 0
    while count < len(arguments) and arguments[count].startswith("--lang"):
        count += 1 if "=" in arguments[count] else 2
    return arguments[:count], arguments[count:]


def known(verb: str, spoken: str) -> str:
    """The verb itself; UsageError with the nearest one if there is no such verb."""
    if verb in VERBS:
        return verb
    near = get_close_matches(verb, VERBS)
    advice = {
        "en": f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(VERBS)}",
        "zh": f"是不是 {near[0]!r}？" if near else f"可用的有：{'、'.join(VERBS)}",
    }
    kind = {"en": f"unknown verb {verb!r}; ", "zh": f"没有 {verb!r} 这个命令；"}
    if verb.startswith("-"):
        kind = {"en": f"unknown option {verb!r} before the verb; ", "zh": f"命令之前不认识选项 {verb!r}；"}
    raise UsageError(kind[spoken] + advice[spoken])


def report(error: BaseException, spoken: str) -> int:
    """One line on stderr for an error, and its exit code."""
    if isinstance(error, BrokenPipeError):
        return hang_up(BROKEN_PIPE)
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        # No file was being opened: it is stdout that would not take any more.
        text = {
            "en": f"stdout cannot be written ({error.strerror})",
            "zh": f"标准输出无法写入（{error.strerror}）",
        }
        return hang_up(complain(text[spoken], INTERNAL_ERROR))
    if isinstance(error, KeyboardInterrupt):
        return complain({"en": "interrupted", "zh": "已中断"}[spoken], INTERRUPTED)
    if isinstance(error, FaultsError):
        return complain(str(error), error.exit_code)
    if isinstance(error, FileNotFoundError) and not here():
        text = {
            "en": "the current folder is gone; change to one that exists",
            "zh": "当前文件夹已不存在；请换到一个存在的文件夹",
        }
        return complain(text[spoken], INTERNAL_ERROR)
    if isinstance(error, PermissionError) and error.filename is not None:
        text = {
            "en": f"{error.filename}: no permission; required is a path that this user may use",
            "zh": f"{error.filename}：没有权限；需要当前用户可以访问的路径",
        }
        return complain(text[spoken], INTERNAL_ERROR)
    if os.environ.get("FAULTS_TRACEBACK") == "1":
        traceback.print_exception(error)
    kind = {"en": "internal error", "zh": "内部错误"}[spoken]
    more = {"en": " (FAULTS_TRACEBACK=1 shows where)", "zh": "（FAULTS_TRACEBACK=1 可查看出错位置）"}[spoken]
    return complain(f"{kind}: {type(error).__name__}: {error}{more}", INTERNAL_ERROR)


def here() -> bool:
    """Whether there is a current folder: the one a process was started in can be taken away."""
    try:
        return os.path.isdir(os.getcwd())
    except OSError:
        return False


def complain(message: str, code: int) -> int:
    """Print a message as one line without control characters; returns the code."""
    print(f"faults: {language.printable(message)}", file=sys.stderr)
    return code


def hang_up(code: int) -> int:
    """Write no more to stdout, which would not take it; returns the code."""
    # The interpreter flushes stdout once more at the end; let that go nowhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


if __name__ == "__main__":
    entry()
