"""`faults check`: somebody's own attention, block or model against the contracts."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from faults import language as languages
from faults.commands import VERBS, output
from faults.commands.arguments import Parser
from faults.commands.check_words import FLAGS, HELP
from faults.language import say
from faults.model import UsageError

if TYPE_CHECKING:  # numpy loads only once the command line is known to be sound
    from faults.answers import Answer
    from faults.subjects import Request


def main(argv: list[str]) -> int:
    """Check each subject, print one report; returns the worst exit code."""
    options = parse(argv)
    style, files = output.style(options.format, options.lang), check(options)
    found = _measured(options, declared(options))
    complain(found, options.lang)
    return _deliver(found, options, style, files)


def parse(argv: list[str]) -> argparse.Namespace:
    """The options, with `lang` resolved."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_intermixed_args(argv)
    options.lang = language
    return options


def _parser(language: str) -> Parser:
    words = {name: say(text, language) for name, text in HELP.items()}
    parser = Parser("check", VERBS["check"], language)
    parser.add_argument("subjects", nargs="+", metavar="SUBJECT", help=words["subjects"])
    describing(parser, language)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=words["seed"])
    parser.add_argument("--json", metavar="FILE", help=words["json"])
    parser.add_argument("--junitxml", metavar="FILE", help=words["junitxml"])
    parser.add_argument("--format", metavar="NAME", help=words["format"])
    parser.add_argument("-q", "--quiet", action="store_true", help=words["quiet"])
    parser.add_argument("-v", "--verbose", action="store_true", help=words["verbose"])
    return parser


def describing(parser: argparse.ArgumentParser, language: str) -> None:
    """Adds the options that say how a subject is built, called and judged."""
    words = {name: say(text, language) for name, text in HELP.items()}
    parser.add_argument("--init", metavar="EXPR", default="", help=words["init"])
    parser.add_argument("--python", metavar="EXE", help=words["python"])
    parser.add_argument("--cwd", metavar="DIR", help=words["cwd"])
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help=words["timeout"])
    for flag in FLAGS:
        text = say(flag.help, language)
        if flag.switch:
            action = argparse.BooleanOptionalAction
            parser.add_argument(flag.option, action=action, default=None, help=text)
        else:
            parser.add_argument(
                flag.option, type=flag.kind, choices=flag.choices, metavar=flag.metavar, help=text
            )
    parser.add_argument("--strict", action="store_true", help=words["strict"])


def check(options: argparse.Namespace) -> dict[str, str]:
    """Refuse what cannot be meant, before anything runs; returns option -> file."""
    check_described(options)
    if options.quiet and options.verbose:
        raise _usage(options, "found -q and -v, required is one of them")
    if options.init and len(options.subjects) > 1:
        raise _usage(options, "--init builds one subject, found several; check them one by one")
    return _files(options)


def check_described(options: argparse.Namespace) -> None:
    """UsageError for a time, a seed or a folder that cannot be meant."""
    if not 0 < options.timeout < math.inf:
        raise _usage(options, f"--timeout: found {options.timeout:g}, required is more than 0 seconds")
    if options.seed < 0:
        raise _usage(options, f"--seed: found {options.seed}, required is 0 or more")
    if options.cwd is not None and not os.path.isdir(options.cwd):
        raise _usage(options, f"--cwd: found no folder {options.cwd!r}, required is a folder")


def _files(options: argparse.Namespace) -> dict[str, str]:
    files = {"--json": options.json, "--junitxml": options.junitxml}
    files = {option: name for option, name in files.items() if name is not None}
    for option, name in files.items():
        output.check_file(option, name, options.lang)
    if len(files) > len({output.place(name) for name in files.values()}):
        raise _usage(options, "--json and --junitxml name the same file")
    return files


def declared(options: argparse.Namespace) -> dict[str, Any]:
    """What the flags declare; UsageError where they contradict each other."""
    from detectors.declaration import Declaration, Question

    found = {flag.key: getattr(options, flag.key) for flag in FLAGS}
    found = {key: value for key, value in found.items() if value is not None}
    try:
        Declaration(**found)
    except Question as question:
        raise _usage(options, str(question)) from None
    return found


def _measured(options: argparse.Namespace, given: Mapping[str, Any]) -> list[Answer]:
    from faults.subjects import answers

    show, found = _progress(options), []
    for at, subject in enumerate(options.subjects, start=1):
        show(f"{at}/{len(options.subjects)} {languages.printable(subject)}")
        found += answers(request(options, subject, given))
    show("")
    return found


def request(options: argparse.Namespace, subject: str, given: Mapping[str, Any]) -> Request:
    """One subject as it was described."""
    from faults.subjects import Request

    return Request(subject, options.init, given, options.python, options.cwd, options.timeout, options.seed)


def _progress(options: argparse.Namespace) -> Callable[[str], None]:
    if options.quiet or sys.stderr is None or not sys.stderr.isatty():
        return lambda text: None
    return lambda text: print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def complain(found: Sequence[Answer], language: str) -> None:
    """One line on stderr for each subject that could not be measured."""
    from reports.check_reasons import translated

    for one in found:
        if one.checked is None:
            line = languages.printable(f"{one.subject}: {translated(one.cause, language)}")
            print(f"faults: {line}", file=sys.stderr)


def _deliver(found: Sequence[Answer], options: argparse.Namespace, style: str, files: dict[str, str]) -> int:
    from reports import check as report
    from reports import check_json, check_junit

    writers = {"--json": check_json.to_json, "--junitxml": check_junit.to_junit}
    for option, name in files.items():
        output.write_file(option, name, writers[option](found))
    if any(one.checked is not None for one in found):
        verbosity = int(options.verbose) - int(options.quiet)
        print(report.render(found, options.lang, style, verbosity))
    return max(one.exit_code(options.strict) for one in found)


def _usage(options: argparse.Namespace, english: str) -> UsageError:
    from reports.check_reasons import translated

    return UsageError(translated(english, options.lang))
