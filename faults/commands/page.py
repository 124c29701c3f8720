"""`faults page`: one HTML file in which every fault can be seen, and somebody's own code beside them.

With `--subject` the subject is examined first, as `faults check` does; where it cannot be used nothing is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faults import language as languages
from faults.commands import VERBS, check, output
from faults.commands.arguments import Parser
from faults.commands.check_words import FLAGS
from faults.commands.run import progress, with_page
from faults.language import say
from faults.model import FaultsError, Report, Text, UsageError

if TYPE_CHECKING:  # numpy loads only once the command line is known to be sound
    from faults.answers import Answer
    from faults.page_subject import Looks

HELP: dict[str, Text] = {
    "out": {
        "en": "the HTML file to write (default report.html; none with --png or --svg alone)",
        "zh": "要写入的 HTML 文件（默认 report.html；只用 --png 或 --svg 时不写）",
    },
    "from": {
        "en": "draw a report saved by 'faults run --json' instead of running anything",
        "zh": "绘制 “faults run --json” 保存的报告，不再运行",
    },
    "subject": {
        "en": "also examine this attention, block or model, as 'faults check' does, and show it first: "
        "module:attribute or path/file.py:attribute; the options after --svg describe it",
        "zh": "同时按 “faults check” 的方式检查这个 attention、block 或模型，并放在最前面："
        "module:attribute 或 path/file.py:attribute；--svg 之后的选项用来描述它",
    },
    "examples": {
        "en": "fixtures generated per fault (default %(default)s)",
        "zh": "每种故障生成的 fixture 数（默认 %(default)s）",
    },
    "seed": {
        "en": "seed of all fixtures (default %(default)s)",
        "zh": "全部 fixture 的种子（默认 %(default)s）",
    },
    "png": {
        "en": "also draw static pictures as PNG in this folder (needs matplotlib)",
        "zh": "另在此文件夹绘制 PNG 静态图（需要 matplotlib）",
    },
    "svg": {
        "en": "also draw static pictures as SVG in this folder (needs matplotlib)",
        "zh": "另在此文件夹绘制 SVG 静态图（需要 matplotlib）",
    },
    "quiet": {"en": "print nothing", "zh": "不输出任何内容"},
}

DEFAULT_OUT = "report.html"
KINDS = ("png", "svg")
DESCRIBING = ("--init", "--python", "--cwd", "--timeout", "--strict", *(flag.option for flag in FLAGS))

WROTE = {"en": "wrote {name} ({size:.0f} KB)", "zh": "已写入 {name}（{size:.0f} KB）"}
NO_MATPLOTLIB = {
    "en": "--png and --svg: found no matplotlib, required is 3.8 or later; "
    "install it with: pip install 'attention-faults[pictures]'",
    "zh": "--png 与 --svg：没有找到 matplotlib，需要 3.8 或更高版本；安装：pip install 'attention-faults[pictures]'",
}
NO_PART = {
    "en": "--from {name}: found a report without the page's data, required is one that has it; "
    "write it again with 'faults run --all --json FILE'",
    "zh": "--from {name}：报告中没有页面所需的数据；请用 “faults run --all --json 文件” 重新生成",
}
SEVERAL = {
    "en": "--subject: found {count}, required is one; write a page for each",
    "zh": "--subject：得到 {count} 个，只能有一个；请各生成一页",
}
NO_SUBJECT = {
    "en": "{option} describes a subject, found none; name it with --subject module:attribute",
    "zh": "{option} 描述的对象没有给出；请用 --subject module:attribute 指定",
}


def main(argv: list[str]) -> int:
    """Write the page and the pictures asked for; returns the verdict of a fresh run and of the subject, if any."""
    spoken = languages.asked(argv)
    options = _parser(languages.resolve(spoken)).parse_args(argv)
    options.lang = languages.resolve(spoken)
    _check(options, options.lang)
    given = _described(options)
    found, looks = _examined(options, given)
    if found and found[0].checked is None:
        return found[0].exit_code(options.strict)
    report, code = _saved(options, options.lang) if options.saved is not None else _fresh(options)
    subject = _tree(found, looks)
    lines = _write_page(report, subject, options, spoken) + _write_pictures(report, options, options.lang)
    if not options.quiet:
        print("\n".join(lines))
    return max([code, *(one.exit_code(options.strict) for one in found)])


def _parser(language: str) -> Parser:
    words = {name: say(text, language) for name, text in HELP.items()}
    parser = Parser("page", VERBS["page"], language)
    parser.add_argument("--out", metavar="FILE", help=words["out"])
    parser.add_argument("--from", dest="saved", metavar="FILE", help=words["from"])
    parser.add_argument(
        "--subject", dest="subjects", action="append", metavar="SUBJECT", help=words["subject"]
    )
    parser.add_argument("--examples", type=int, default=100, metavar="N", help=words["examples"])
    parser.add_argument("--seed", type=int, default=0, metavar="S", help=words["seed"])
    parser.add_argument("--png", metavar="DIR", help=words["png"])
    parser.add_argument("--svg", metavar="DIR", help=words["svg"])
    parser.add_argument("-q", "--quiet", action="store_true", help=words["quiet"])
    check.describing(parser, language)
    return parser


def _check(options: argparse.Namespace, language: str) -> None:
    """UsageError, before anything runs, for numbers, files and folders that cannot be meant."""
    for option, least in (("examples", 1), ("seed", 0)):
        found = getattr(options, option)
        if found < least:
            raise UsageError({
                "en": f"--{option}: found {found}, required is {least} or more",
                "zh": f"--{option}：得到 {found}，需要 {least} 或更大的整数",
            }[language])  # fmt: skip
    folders = [(kind, getattr(options, kind)) for kind in KINDS if getattr(options, kind) is not None]
    if options.out is None and (not folders or options.subjects):
        options.out = DEFAULT_OUT
    if options.out is not None:
        output.check_file("--out", options.out, language, inputs=[options.saved] if options.saved else [])
    for kind, name in folders:
        _check_folder(f"--{kind}", name, language)


def _described(options: argparse.Namespace) -> dict[str, Any]:
    """What the flags declare of the subject; UsageError for several subjects, or for flags without one."""
    if not options.subjects:
        _no_description(options)
        return {}
    if len(options.subjects) > 1:
        raise UsageError(SEVERAL[options.lang].format(count=len(options.subjects)))
    check.check_described(options)
    return check.declared(options)


def _no_description(options: argparse.Namespace) -> None:
    """UsageError for the first option that describes a subject and was given."""
    bare = vars(_parser(options.lang).parse_args([]))
    for option in DESCRIBING:
        name = option[2:].replace("-", "_")
        if getattr(options, name) != bare[name]:
            raise UsageError(NO_SUBJECT[options.lang].format(option=option))


def _examined(options: argparse.Namespace, given: Mapping[str, Any]) -> tuple[list[Answer], Looks]:
    """The answers for the subject and its blocks, with one line on stderr for each that could not be measured."""
    if not options.subjects:
        return [], {}
    from faults.page_subject import examined

    found, looks = examined(check.request(options, options.subjects[0], given))
    check.complain(found, options.lang)
    return found, looks


def _tree(found: list[Answer], looks: Looks) -> dict[str, Any] | None:
    if not found:
        return None
    from reports.page.subject import tree

    return tree(found, looks)


def _check_folder(option: str, name: str, language: str) -> None:
    if find_spec("matplotlib") is None:
        raise UsageError(NO_MATPLOTLIB[language])
    path = Path(name)
    if not name or (path.exists() and not path.is_dir()) or not path.absolute().parent.is_dir():
        raise UsageError({
            "en": f"{option} {name!r}: found no folder, required is a folder or a new name in one",
            "zh": f"{option} {name!r}：不是文件夹；需要一个文件夹，或某个文件夹中的新名称",
        }[language])  # fmt: skip


def _saved(options: argparse.Namespace, language: str) -> tuple[Report, int]:
    from reports.json_report import from_json

    try:
        text = Path(options.saved).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise UsageError({
            "en": f"--from {options.saved}: cannot be read ({reason}), required is a saved report",
            "zh": f"--from {options.saved}：无法读取（{reason}），需要一份保存的报告",
        }[language]) from None  # fmt: skip
    report = from_json(text)
    if report.page is None:
        raise FaultsError(NO_PART[language].format(name=options.saved))
    return report, 0


def _fresh(options: argparse.Namespace) -> tuple[Report, int]:
    # Imported here: numpy and hypothesis load only once the command line is known to be sound.
    from faults import campaign, registry, verdict

    show = None if options.quiet else progress()
    report = campaign.run(registry.all_faults(), examples=options.examples, seed=options.seed, progress=show)
    if show is not None:
        show("")
    if report.interrupted:
        raise KeyboardInterrupt
    return with_page(report), verdict.exit_code(report)


def _write_page(
    report: Report, subject: Mapping[str, Any] | None, options: argparse.Namespace, spoken: str | None
) -> list[str]:
    if options.out is None:
        return []
    from reports.page.document import render

    page = render(report, spoken or "", subject)
    output.write_file("--out", options.out, page)
    return [WROTE[options.lang].format(name=options.out, size=len(page.encode()) / 1000)]


def _write_pictures(report: Report, options: argparse.Namespace, language: str) -> list[str]:
    lines: list[str] = []
    for kind in KINDS:
        folder = getattr(options, kind)
        if folder is not None:
            from reports import pictures

            drawn = pictures.draw(report, kind, language)
            lines += [_write_picture(Path(folder) / name, drawn[name], language) for name in drawn]
    return lines


def _write_picture(path: Path, content: bytes, language: str) -> str:
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise FaultsError(f"{path}: cannot be written ({error.strerror})") from error
    return WROTE[language].format(name=path, size=len(content) / 1000)
