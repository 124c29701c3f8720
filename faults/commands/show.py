"""`faults show`: faults explained, with numbers that can be followed by hand."""

from __future__ import annotations

import argparse

from faults import language as languages
from faults.commands import VERBS, output
from faults.commands.arguments import Parser, known
from faults.language import say
from faults.model import Fault, Text, UsageError, Variant

HELP: dict[str, Text] = {
    "names": {"en": "faults to explain, see 'faults list'", "zh": "要讲解的故障，见 “faults list”"},
    "variant": {
        "en": "the variant whose numbers are shown (default: the first)",
        "zh": "展示哪个变体的数值（默认第一个）",
    },
    "format": {
        "en": "table format of tabulate, such as github, html, grid (default: drawn for a terminal)",
        "zh": "tabulate 的表格格式，如 github、html、grid（默认按终端绘制）",
    },
}

FAULT = {"en": "fault", "zh": "故障"}


def main(argv: list[str]) -> int:
    """Print the explanation of each fault named; returns 0."""
    language = languages.resolve(languages.asked(argv))
    options = _parser(language).parse_intermixed_args(argv)
    style = output.style(options.format, language)
    chosen = [_chosen(fault, options.variant, language) for fault in _faults(options, language)]
    # Imported here, for a command line that is known to be sound.
    from faults.demonstration import demonstrate
    from reports import explanation

    shown = [(fault, demonstrate(fault, variant)) for fault, variant in chosen]
    print(explanation.render(shown, language, style))
    return 0


def _parser(language: str) -> Parser:
    words = {name: say(text, language) for name, text in HELP.items()}
    parser = Parser("show", VERBS["show"], language)
    parser.add_argument("names", nargs="*", metavar="NAME", help=words["names"])
    parser.add_argument("--variant", metavar="V", help=words["variant"])
    parser.add_argument("--format", metavar="NAME", help=words["format"])
    return parser


def _faults(options: argparse.Namespace, language: str) -> list[Fault]:
    from faults.registry import NAMES, load

    if not options.names:
        listed = ", ".join(NAMES)
        message = {
            "en": f"no fault named, required is one of: {listed}",
            "zh": f"没有给出故障名称；可选：{listed}",
        }
        raise UsageError(message[language])
    return [load(name) for name in known(FAULT, options.names, NAMES, language)]


def _chosen(fault: Fault, name: str | None, language: str) -> tuple[Fault, Variant]:
    """The fault with the variant of that name; its first one when none is named."""
    variants = {variant.name: variant for variant in fault.variants}
    if name is None:
        return fault, fault.variants[0]
    kind = {"en": f"variant of {fault.name}", "zh": f"{fault.name} 变体"}
    return fault, variants[known(kind, [name], variants, language)[0]]
