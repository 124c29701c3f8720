"""`faults run`: inject faults into the correct block and report what catches them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

from faults import language as languages
from faults.commands import VERBS, output
from faults.commands.arguments import Parser, known
from faults.language import say
from faults.model import Report, Text, UsageError

NOTHING_SELECTED = 5
INTERRUPTED = 130

HELP: dict[str, Text] = {
    "names": {"en": "faults to inject, see 'faults list'", "zh": "要注入的故障，见 “faults list”"},
    "all": {"en": "inject all of them", "zh": "注入全部故障"},
    "examples": {
        "en": "fixtures generated per fault (default %(default)s)",
        "zh": "每种故障生成的 fixture 数（默认 %(default)s）",
    },
    "seed": {
        "en": "seed of all fixtures (default %(default)s)",
        "zh": "全部 fixture 的种子（默认 %(default)s）",
    },
    "fail_under": {
        "en": "exit 1 if the score is below X percent (0 to 100)",
        "zh": "变异得分低于百分之 X（0 到 100）时以 1 退出",
    },
    "json": {"en": "also write the report as JSON", "zh": "另存报告为 JSON"},
    "junitxml": {"en": "also write the report as JUnit XML", "zh": "另存报告为 JUnit XML"},
    "format": {
        "en": "table format of tabulate, such as github, html, grid (default: drawn for a terminal)",
        "zh": "tabulate 的表格格式，如 github、html、grid（默认按终端绘制）",
    },
    "quiet": {"en": "print the verdict only", "zh": "只输出结论"},
    "verbose": {
        "en": "also print every variant, the kill matrix and the detectors",
        "zh": "另外输出各变体、杀伤矩阵和检测器",
    },
}

KIND = {"en": "fault", "zh": "故障"}


def main(argv: list[str]) -> int:
    """Run a campaign and print its report; returns the exit code of the verdict."""
    options = parse(argv)
    names, style = selected(options), output.style(options.format, options.lang)
    files = check(options)
    report = _measure(names, options)
    return _deliver(report, options, style, files)


def parse(argv: list[str]) -> argparse.Namespace:
    """The options, with `lang` resolved."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_intermixed_args(argv)
    options.lang = language
    return options


def _parser(language: str) -> Parser:
    words = {name: say(text, language) for name, text in HELP.items()}
    parser = Parser("run", VERBS["run"], language)
    parser.add_argument("names", nargs="*", metavar="NAME", help=words["names"])
    parser.add_argument("--all", action="store_true", help=words["all"])
    parser.add_argument("--examples", type=int, default=100, metavar="N", help=words["examples"])
    parser.add_argument("--seed", type=int, default=0, metavar="S", help=words["seed"])
    parser.add_argument("--fail-under", type=float, metavar="X", help=words["fail_under"])
    parser.add_argument("--json", metavar="FILE", help=words["json"])
    parser.add_argument("--junitxml", metavar="FILE", help=words["junitxml"])
    parser.add_argument("--format", metavar="NAME", help=words["format"])
    parser.add_argument("-q", "--quiet", action="store_true", help=words["quiet"])
    parser.add_argument("-v", "--verbose", action="store_true", help=words["verbose"])
    return parser


def selected(options: argparse.Namespace) -> list[str]:
    """The names of the faults to run; UsageError where the command line does not say which."""
    from faults.registry import NAMES

    if options.all and options.names:
        raise _usage(options, "found --all and names, required is one of them", "--all 与名称只能选一种")
    if options.all:
        return list(NAMES)
    if not options.names:
        raise _usage(
            options,
            f"no fault selected, required is --all or names among: {', '.join(NAMES)}",
            f"没有选择故障；请用 --all，或给出名称：{', '.join(NAMES)}",
        )
    return known(KIND, options.names, NAMES, options.lang)


def check(options: argparse.Namespace) -> dict[str, str]:
    """Refuse numbers and files that cannot be meant, before anything runs; returns option -> file."""
    if options.examples < 1:
        raise _range(options, "--examples", options.examples, "1 or more", "1 或更大的整数")
    if options.seed < 0:
        raise _range(options, "--seed", options.seed, "0 or more", "0 或更大的整数")
    if options.fail_under is not None and not 0 <= options.fail_under <= 100:
        raise _range(options, "--fail-under", options.fail_under, "0 to 100", "0 到 100")
    if options.quiet and options.verbose:
        raise _usage(options, "found -q and -v, required is one of them", "-q 与 -v 只能选一个")
    files = {"--json": options.json, "--junitxml": options.junitxml}
    files = {option: name for option, name in files.items() if name is not None}
    for option, name in files.items():
        output.check_file(option, name, options.lang)
    if len(files) > len({output.place(name) for name in files.values()}):
        raise _usage(options, "--json and --junitxml name the same file", "--json 与 --junitxml 是同一个文件")
    return files


def _measure(names: list[str], options: argparse.Namespace) -> Report:
    # Imported here: numpy and hypothesis load only once the command line is known to be sound.
    from faults import campaign, registry

    faults = tuple(registry.load(name) for name in names)
    show = None if options.quiet else progress()
    report = campaign.run(faults, examples=options.examples, seed=options.seed, progress=show)
    if show is not None:
        show("")
    return report


def _deliver(report: Report, options: argparse.Namespace, style: str, files: dict[str, str]) -> int:
    from faults import verdict
    from reports import campaign, json_report, junit

    problems = verdict.problems(report, options.fail_under)
    writers = {
        "--json": lambda: json_report.to_json(with_page(report)),
        "--junitxml": lambda: junit.to_junit(report, problems),
    }
    for option, name in files.items():
        output.write_file(option, name, writers[option]())
    verbosity = int(options.verbose) - int(options.quiet)
    print(campaign.render(report, problems, options.lang, style, verbosity))
    return verdict.exit_code(report, options.fail_under)


def with_page(report: Report) -> Report:
    """The report with what `faults page` draws beyond it, so that the file needs nothing else later."""
    from faults import page_data

    # After an interrupt nothing more is injected.
    return report if report.interrupted else replace(report, page=page_data.part(report))


def progress() -> Callable[[str], None] | None:
    """Shows one line on stderr, each over the one before; None where stderr is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _range(options: argparse.Namespace, option: str, found: float, english: str, chinese: str) -> UsageError:
    return _usage(
        options,
        f"{option}: found {found}, required is {english}",
        f"{option}：得到 {found}，需要 {chinese}",
    )


def _usage(options: argparse.Namespace, english: str, chinese: str) -> UsageError:
    return UsageError({"en": english, "zh": chinese}[options.lang])
