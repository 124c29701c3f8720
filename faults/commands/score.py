"""`faults score`: run mutmut and our own mutants, or read a finished run, and judge what the tests missed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from faults import language as languages
from faults.commands import VERBS, output
from faults.commands.arguments import Parser
from faults.language import say
from faults.model import FaultsError, Text, UsageError
from faults.mutation.model import ScoreReport

HELP: dict[str, Text] = {
    "no_run": {
        "en": "read the finished run in the folder mutants instead of starting one",
        "zh": "读取 mutants 文件夹里已完成的运行，不重新运行",
    },
    "project": {
        "en": "folder of the project, yours or another (default: the current one)",
        "zh": "项目所在的文件夹，自己的或别的（默认为当前文件夹）",
    },
    "since": {
        "en": "run only mutants in functions changed since REV or reached by tests changed since; partial",
        "zh": "只运行自 REV 以来改动过的函数中的、或改动过的测试所到达的变异体；结果不完整",
    },
    "part": {
        "en": "run and judge only this part of [tool.faults.score] in pyproject.toml; partial",
        "zh": "只运行并判定 pyproject.toml 中 [tool.faults.score] 的这一部分；结果不完整",
    },
    "fail_under": {
        "en": "exit 1 if the score is below X percent (0 to 100); without it nothing may survive",
        "zh": "得分低于百分之 X（0 到 100）时以 1 退出；不给出时不允许任何存活",
    },
    "baseline": {
        "en": "survivors listed in FILE are known: exit 1 on new ones only",
        "zh": "FILE 中列出的存活者视为已知：只有出现新的存活者才以 1 退出",
    },
    "write_baseline": {"en": "write today's survivors to FILE", "zh": "把当前的存活者写入 FILE"},
    "json": {
        "en": "also write Stryker's mutation-testing-report JSON",
        "zh": "另存为 Stryker 的 mutation-testing-report JSON",
    },
    "html": {"en": "also write one page that opens from disk", "zh": "另存为可直接打开的单个网页"},
    "junitxml": {"en": "also write the report as JUnit XML", "zh": "另存报告为 JUnit XML"},
    "summary": {
        "en": "append Markdown for a GitHub job summary to FILE",
        "zh": "把用于 GitHub job summary 的 Markdown 追加到 FILE",
    },
    "badge": {
        "en": "also write a badge: a picture (*.svg), or JSON for an endpoint badge",
        "zh": "另存徽章：图片（*.svg），或 endpoint 徽章的 JSON",
    },
    "quiet": {"en": "print the verdict only", "zh": "只输出结论"},
    "verbose": {"en": "name every test that reached a survivor", "zh": "列出到达存活者的每个测试"},
}

FILES = ("json", "html", "junitxml", "summary", "badge", "write_baseline")


def main(argv: list[str]) -> int:
    """Run or read, print the report, write the files; returns the exit code of the judgement."""
    options = parse(argv)
    check(options)
    report = _measured(options)
    _write(options, report)
    from reports.mutation import terminal

    verbosity = int(options.verbose) - int(options.quiet)
    print(terminal.render(report, options.lang, output.style(None, options.lang), verbosity))
    return report.judgement.exit_code


def parse(argv: list[str]) -> argparse.Namespace:
    """The options, with `lang` resolved."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_args(argv)
    options.lang = language
    return options


def _parser(language: str) -> Parser:
    words = {name: say(text, language) for name, text in HELP.items()}
    parser = Parser("score", VERBS["score"], language)
    parser.add_argument("--no-run", action="store_true", help=words["no_run"])
    parser.add_argument("--project", metavar="DIR", default=".", help=words["project"])
    parser.add_argument("--since", metavar="REV", help=words["since"])
    parser.add_argument("--part", metavar="NAME", help=words["part"])
    parser.add_argument("--fail-under", type=float, metavar="X", help=words["fail_under"])
    parser.add_argument("--baseline", metavar="FILE", help=words["baseline"])
    for name in FILES[-1:] + FILES[:-1]:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="FILE", help=words[name])
    parser.add_argument("-q", "--quiet", action="store_true", help=words["quiet"])
    parser.add_argument("-v", "--verbose", action="store_true", help=words["verbose"])
    return parser


def check(options: argparse.Namespace) -> None:
    """Refuse what cannot be meant before anything runs."""
    if options.fail_under is not None and not 0 <= options.fail_under <= 100:
        raise _usage(
            options,
            f"--fail-under: found {options.fail_under}, required is 0 to 100",
            f"--fail-under：得到 {options.fail_under}，需要 0 到 100",
        )
    if options.quiet and options.verbose:
        raise _usage(options, "found -q and -v, required is one of them", "-q 与 -v 只能选一个")
    if options.no_run and options.since is not None:
        raise _usage(
            options,
            "--since chooses what to run, --no-run runs nothing; required is one of them",
            "--since 决定运行什么，--no-run 什么也不运行；只能选一个",
        )
    _check_places(options)


def _check_places(options: argparse.Namespace) -> None:
    if not Path(options.project).is_dir():
        raise _usage(
            options,
            f"--project {options.project!r}: found no such folder, required is that of a project",
            f"--project {options.project!r}：没有这个文件夹；需要项目所在的文件夹",
        )
    named = {name: getattr(options, name) for name in FILES if getattr(options, name) is not None}
    for name, file in named.items():
        output.check_file(_option(name), file, options.lang)
    if len({output.place(file) for file in named.values()}) < len(named):
        raise _usage(options, "two options name the same file", "有两个选项指向同一个文件")


def _measured(options: argparse.Namespace) -> ScoreReport:
    """The run, judged by what the command line and the project ask for."""
    # Imported here, for a command line that is known to be sound.
    from faults.mutation import gate, runs, settings

    project = Path(options.project)
    config = settings.load(project)
    _check_part(options, [part.name for part in config.parts])
    bars = gate.Bars(options.fail_under, config.parts, _known(options), config.equivalents_at_most)
    if not options.no_run:
        runs.fresh(project, config, options.since or "", options.part or "", _progress(options))
    return gate.report(runs.read(project, config, options.part or ""), bars)


def _check_part(options: argparse.Namespace, names: list[str]) -> None:
    if options.part is not None and options.part not in names:
        known = ", ".join(names) or "none"
        raise _usage(
            options,
            f"--part {options.part!r}: found no such part, required is one in pyproject.toml: {known}",
            f"--part {options.part!r}：没有这一部分；需要 pyproject.toml 中的一个：{known}",
        )


def _known(options: argparse.Namespace) -> dict[str, int] | None:
    from faults.mutation import baseline

    if options.baseline is None:
        return None
    try:
        text = Path(options.baseline).read_bytes().decode()
    except (OSError, ValueError) as error:
        raise FaultsError(f"--baseline {options.baseline}: cannot be read ({error})") from error
    return dict(baseline.read(options.baseline, text))


def _progress(options: argparse.Namespace) -> Callable[[str], None]:
    """Shows one line on stderr, each over the one before; nothing where stderr is not a terminal."""
    if options.quiet or sys.stderr is None or not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _write(options: argparse.Namespace, report: ScoreReport) -> None:
    for name, text in _texts(options, report).items():
        output.write_file(_option(name), getattr(options, name), text())


def _texts(options: argparse.Namespace, report: ScoreReport) -> dict[str, Callable[[], str]]:
    """What goes into each file that was asked for."""
    from faults.mutation import baseline
    from reports.mutation import badge, junit, page, stryker

    picture = str(options.badge).endswith(".svg")
    texts: dict[str, Callable[[], str]] = {
        "json": lambda: stryker.to_json(report),
        "html": lambda: page.to_html(report, options.lang),
        "junitxml": lambda: junit.to_junit(report),
        "summary": lambda: _summary(options, report),
        "badge": lambda: (badge.to_svg if picture else badge.to_json)(report, options.lang),
        "write_baseline": lambda: baseline.written(report.run.mutants),
    }
    return {name: text for name, text in texts.items() if getattr(options, name) is not None}


def _summary(options: argparse.Namespace, report: ScoreReport) -> str:
    """What stands in the file, and the summary below it: other steps write there too."""
    from reports.mutation import summary

    path = Path(options.summary)
    try:
        before = path.read_bytes().decode() if path.is_file() else ""
    except (OSError, ValueError) as error:
        raise FaultsError(f"--summary {path}: cannot be read ({error}), required is UTF-8 text") from error
    return before + summary.to_summary(report, options.lang, len(before.encode()))


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _usage(options: argparse.Namespace, english: str, chinese: str) -> UsageError:
    return UsageError({"en": english, "zh": chinese}[options.lang])
