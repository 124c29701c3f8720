"""`faults list`: the faults that can be injected."""

from __future__ import annotations

from faults import language as languages
from faults.commands import VERBS, output
from faults.commands.arguments import Parser
from faults.language import say
from faults.model import Text

HELP: dict[str, Text] = {
    "verbose": {"en": "also list every variant", "zh": "另外列出每个变体"},
    "format": {
        "en": "table format of tabulate, such as github, html, grid (default: drawn for a terminal)",
        "zh": "tabulate 的表格格式，如 github、html、grid（默认按终端绘制）",
    },
}


def main(argv: list[str]) -> int:
    """Print the registry; returns 0."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_args(argv)
    style = output.style(options.format, language)
    # Imported here, for a command line that is known to be sound.
    from faults import registry
    from reports import listing

    print(listing.render(registry.all_faults(), language, style, int(options.verbose)))
    return 0


def _parser(language: str) -> Parser:
    parser = Parser("list", VERBS["list"], language)
    parser.add_argument("--format", metavar="NAME", help=say(HELP["format"], language))
    parser.add_argument("-v", "--verbose", action="store_true", help=say(HELP["verbose"], language))
    return parser
