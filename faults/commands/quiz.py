"""`faults quiz`: the self-test, with answers that are computed when they are asked for."""

from __future__ import annotations

from faults import language as languages
from faults.commands import VERBS, output
from faults.commands.arguments import Parser
from faults.language import say
from faults.model import Text

HELP: dict[str, Text] = {
    "questions": {"en": "print the questions without the answers", "zh": "只输出题目，不输出答案"},
    "format": {
        "en": "table format of tabulate, such as github, html, grid (default: drawn for a terminal)",
        "zh": "tabulate 的表格格式，如 github、html、grid（默认按终端绘制）",
    },
}


def main(argv: list[str]) -> int:
    """Print the questions and their answers; returns 0."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_args(argv)
    style = output.style(options.format, language)
    # Imported here, for a command line that is known to be sound.
    from faults.quiz.questions import questions
    from reports import quiz

    print(quiz.render(questions(), language, style, not options.questions))
    return 0


def _parser(language: str) -> Parser:
    parser = Parser("quiz", VERBS["quiz"], language)
    parser.add_argument("--questions", action="store_true", help=say(HELP["questions"], language))
    parser.add_argument("--format", metavar="NAME", help=say(HELP["format"], language))
    return parser
