"""`faults clean-room`: write the interface, check it, or check a learner's whole work."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from faults import language as languages
from faults.commands import VERBS, evidence, output
from faults.commands.arguments import Parser
from faults.language import say
from faults.model import FaultsError, Text, UsageError

if TYPE_CHECKING:
    from faults.clean_room.model import CleanRoom
    from faults.clean_room.room import Room
    from faults.clean_room.source import Source
    from faults.clean_room.work import Work

VERB = "clean-room"
TIMEOUT = 60.0
DEFAULT = "clean_room/transformer_block.py"
OUT = "clean_room/evidence"

HELP: dict[str, Text] = {
    "file": {"en": "the learner's file", "zh": "学习者的文件"},
    "new": {
        "en": f"write the interface, nothing solved, to PATH (default {DEFAULT}); never overwrites",
        "zh": f"把未解答的接口写到 PATH（默认 {DEFAULT}）；从不覆盖已有文件",
    },
    "contract": {
        "en": "check the interface alone: names, parameters, shapes",
        "zh": "只检查接口：名字、参数、shape",
    },
    "map": {
        "en": "use the function `theirs` where the interface says `ours`; may be repeated",
        "zh": "把文件里的 theirs 当作接口的 ours；可重复",
    },
    "python": {
        "en": "the interpreter that runs the file (default: this one)",
        "zh": "运行该文件的解释器（默认当前解释器）",
    },
    "timeout": {
        "en": f"seconds that one call may take (default {TIMEOUT:g})",
        "zh": f"单次调用的时限，秒（默认 {TIMEOUT:g}）",
    },
    "out": {"en": f"folder for the evidence (default {OUT})", "zh": f"存放 evidence 的文件夹（默认 {OUT}）"},
    "json": {"en": "also write the result as JSON", "zh": "另存结果为 JSON"},
}

CHINESE_CAUSES = (
    (
        r"the subject did not answer within (.*) seconds; a longer --timeout may help",
        r"\1 秒内没有返回；可用 --timeout 放宽时限",
    ),
    (r"the subject's process died of signal (.*)", r"子进程被信号 \1 终止"),
    (
        r"(.*) ended with exit code (.*) before it answered; required: Python 3.9 or later",
        r"\1 尚未应答就以退出码 \2 结束；需要 Python 3.9 或更新版本",
    ),
    (r"the subject ended its process with exit code (.*)", r"代码以退出码 \1 结束了进程"),
    (r"the subject ended the program: (.*)", r"代码结束了程序：\1"),
    (r"NumPy is required in (.*), which does not have it; install it", r"\1 中没有 NumPy，请先安装"),
    (
        r"(.*) cannot be used: (.*); required: a Python interpreter",
        r"无法使用 \1：\2；需要一个 Python 解释器",
    ),
)
"""What is said of a child that is lost, and the same in Chinese."""


def main(argv: list[str]) -> int:
    """0 done, 1 not yet, 2 usage, 3 could not be run."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_args(argv)
    options.lang = language
    _untangle(options)
    _refuse_mixture(options)
    return _new(options) if options.new is not None else _check(options)


def _parser(language: str) -> Parser:
    words = {name: say(text, language) for name, text in HELP.items()}
    parser = Parser(VERB, VERBS[VERB], language)
    parser.add_argument("file", metavar="FILE", nargs="?", help=words["file"])
    parser.add_argument("--new", metavar="PATH", nargs="?", const=DEFAULT, help=words["new"])
    parser.add_argument("--contract", metavar="FILE", help=words["contract"])
    parser.add_argument(
        "--map", metavar="theirs=ours", action="append", nargs="+", default=[], help=words["map"]
    )
    parser.add_argument("--python", metavar="EXE", help=words["python"])
    parser.add_argument("--timeout", metavar="S", type=float, default=TIMEOUT, help=words["timeout"])
    parser.add_argument("--out", metavar="DIR", help=words["out"])
    parser.add_argument("--json", metavar="FILE", help=words["json"])
    return parser


def _untangle(options: argparse.Namespace) -> None:
    """One list of mappings; the last word behind --map is the FILE where it is no mapping and FILE is missing."""
    options.map = [entry for group in options.map for entry in group]
    if options.map and "=" not in options.map[-1] and options.file is options.contract is options.new is None:
        options.file = options.map.pop()


def _refuse_mixture(options: argparse.Namespace) -> None:
    """Exactly one of FILE, --new and --contract; and only what goes with it."""
    given = [name for name in (options.file, options.new, options.contract) if name is not None]
    if len(given) != 1:
        raise _usage(
            options,
            "required is exactly one of FILE, --new [PATH] and --contract FILE",
            "FILE、--new [PATH]、--contract FILE 三者必须且只能有一个",
        )
    if options.out is not None and options.file is None:
        raise _usage(options, "--out is for checking the whole work", "--out 只用于完整检查")
    idle = [name for name in ("map", "python", "json") if getattr(options, name)]
    if idle and options.new is not None:
        raise _usage(options, f"--{idle[0]} is for checking a file", f"--{idle[0]} 只用于检查文件")
    if not (math.isfinite(options.timeout) and options.timeout > 0):
        found = options.timeout
        raise _usage(
            options, f"--timeout: found {found}, required is above 0", f"--timeout：得到 {found}，应大于 0"
        )


def _new(options: argparse.Namespace) -> int:
    from faults.clean_room.template import write_new

    path = write_new(options.new, options.lang)
    more = {
        "en": f"wrote {path}: fill it in, then run: python -m faults clean-room {path}",
        "zh": f"已写入 {path}：填好后运行 python -m faults clean-room {path}",
    }
    print(more[options.lang])
    return 0


def _check(options: argparse.Namespace) -> int:
    from detectors.host import GuestError
    from faults.clean_room import mapping, source

    given = mapping.parse(options.map, options.lang)
    text = source.read(options.file or options.contract, options.lang)
    when, folder = evidence.when(options), _folder(options)
    if options.json is not None:
        output.check_file("--json", options.json, options.lang)
        _refuse_evidence(options, folder)
    try:
        return _in_room(options, text, given, folder, when)
    except GuestError as error:
        raise FaultsError(_lost(options, str(error), getattr(error, "function", ""))) from error


def _in_room(
    options: argparse.Namespace, text: Source, given: Mapping[str, str], folder: Path, when: str
) -> int:
    from faults.clean_room.room import Room
    from faults.clean_room.work import Work

    with Room(str(text.path), given, options.python, options.timeout, str(text.path.parent)) as room:
        work = Work(text, room, given)
        _refuse_unloaded(options, room, work)
        found = work.interface() if options.file is None else work.whole()
        written, why = ([], None) if options.file is None else _evidence(options, work, found, folder, when)
    return _deliver(options, found, written, why)


def _refuse_unloaded(options: argparse.Namespace, room: Room, work: Work) -> None:
    """A file that raises while it is loaded cannot be run, unless it is the watch that stopped it."""
    if room.raised is None or room.attempts:
        return
    name, line = options.file or options.contract, room.raised.line
    where = {"en": f", line {line}" if line else "", "zh": f" 第 {line} 行" if line else ""}[options.lang]
    words = {
        "en": f"{name}{where}: cannot be loaded ({room.raised}); correct it first",
        "zh": f"{name}{where}：无法加载（{room.raised}）；请先改正",
    }
    raise FaultsError(words[options.lang])


def _refuse_evidence(options: argparse.Namespace, folder: Path) -> None:
    """UsageError where the result as JSON would take the place of a file of the evidence."""
    from faults.clean_room.evidence import NAMES

    if options.file is not None and output.place(options.json) in {
        output.place(str(folder / name)) for name in NAMES
    }:
        raise _usage(options, "--json names one of the files in --out", "--json 与 --out 中的文件相同")


def _folder(options: argparse.Namespace) -> Path:
    """UsageError, before anything is run, where the evidence could not or must not be written."""
    from faults.clean_room.evidence import foreign

    folder = Path(OUT if options.out is None else options.out)
    if options.file is None:
        return folder
    if os.path.lexists(folder) and not folder.is_dir():
        raise _usage(
            options,
            f"--out {str(folder)!r}: found a file, required is a folder",
            f"--out {str(folder)!r}：是文件；需要文件夹",
        )
    strangers = foreign(folder)
    if strangers:
        name = str(folder / strangers[0])
        raise _usage(
            options,
            f"{name!r}: found something this verb did not write, or changed since; move it or name another --out",
            f"{name!r}：不是本命令写的，或写后已被改动；请移走，或用 --out 另选文件夹",
        )
    return folder


def _evidence(
    options: argparse.Namespace, work: Work, found: CleanRoom, folder: Path, when: str
) -> tuple[list[str], Text | None]:
    """Paths of the files written, or why none was."""
    from faults.clean_room.evidence import files, measure

    if found.traces:
        return [], {"en": "the file reaches the reference", "zh": "文件接触了参考实现"}
    measured = measure(work.room, work.inputs)
    if measured is None:
        return [], {
            "en": "not all five metrics can be measured on your code: block must run and call your own functions",
            "zh": "五项指标中有的无法在你的代码上测量：block 必须能运行，并调用你自己的函数",
        }
    made = files(measured, found.repairs, work.source.path, folder, when)
    evidence.write(options, folder, made)
    return [str(folder / name) for name in made], None


def _deliver(options: argparse.Namespace, found: CleanRoom, written: list[str], why: Text | None) -> int:
    from reports import clean_room

    if options.json is not None:
        output.write_file("--json", options.json, clean_room.to_json(found, written))
    print(clean_room.render(found, written, why, options.lang))
    return 0 if found.done else 1


def _lost(options: argparse.Namespace, cause: str, function: str) -> str:
    name = options.file or options.contract
    name = f"{name}, {function}" if function else name
    if options.lang == "zh":
        for pattern, chinese in CHINESE_CAUSES:
            cause = re.sub(f"^{pattern}$", chinese, cause)
        return f"{name}：无法运行（{cause}）"
    return f"{name}: could not be run ({cause})"


def _usage(options: argparse.Namespace, english: str, chinese: str) -> UsageError:
    return UsageError({"en": english, "zh": chinese}[options.lang])
