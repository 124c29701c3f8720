"""Command-line parsing that every verb shares: two languages, no abbreviations, errors as one line."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from faults.language import LANGUAGES, say
from faults.model import Text, UsageError

OWN_WORDS: dict[str, Text] = {
    "usage": {"en": "usage: ", "zh": "用法："},
    "options": {"en": "options", "zh": "选项"},
    "positional": {"en": "positional arguments", "zh": "位置参数"},
    "help": {"en": "show this help and exit", "zh": "显示本帮助并退出"},
    "lang": {
        "en": "language; the default follows LC_ALL, LC_MESSAGES, LANG",
        "zh": "语言；默认取自 LC_ALL、LC_MESSAGES、LANG",
    },
}

ARGPARSE_ERRORS = (
    (r"the following arguments are required: (.*)", r"缺少参数：\1"),
    (r"unrecognized arguments: (.*)", r"不认识的参数：\1"),
    (r"argument (.*): expected one argument", r"参数 \1 需要一个值"),
    (r"argument (.*): expected at least one argument", r"参数 \1 至少需要一个值"),
    (r"argument (.*): ignored explicit argument (.*)", r"参数 \1 不接受值，却得到 \2"),
    (r"argument (.*): invalid int value: (.*)", r"参数 \1 需要整数，却得到 \2"),
    (r"argument (.*): invalid float value: (.*)", r"参数 \1 需要数值，却得到 \2"),
    (r"argument (.*): invalid choice: (.*) \(choose from (.*)\)", r"参数 \1 不能是 \2，可选：\3"),
)
"""What argparse says of a wrong command line, and the same in Chinese."""


class Formatter(argparse.HelpFormatter):
    """Help whose line breaks count Chinese characters as two columns wide."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        from reports.wrap import wrap

        return wrap(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line for line in self._split_lines(text, width))


class Parser(argparse.ArgumentParser):
    """The command line of one verb in one language; a wrong one raises UsageError."""

    def __init__(self, verb: str, summary: Text, language: str) -> None:
        super().__init__(
            prog=f"faults {verb}",
            description=say(summary, language),
            formatter_class=Formatter,
            add_help=False,
            allow_abbrev=False,
        )
        self.language = language
        self.color = False
        self._positionals.title = OWN_WORDS["positional"][language]
        self._optionals.title = OWN_WORDS["options"][language]
        self.add_argument("-h", "--help", action="help", help=OWN_WORDS["help"][language])
        self.add_argument("--lang", choices=LANGUAGES, help=OWN_WORDS["lang"][language])

    def format_help(self) -> str:
        """The help with argparse's own headings in our language."""
        text = super().format_help()
        if self.language == "en":
            return text
        text = text.replace(OWN_WORDS["usage"]["en"], OWN_WORDS["usage"]["zh"], 1)
        return re.sub(r"(?m)^(\w+):$", "\\1：", text)

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse keeps quiet about a stdout that takes no more, and the exit code would be that of success.
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        """Raises UsageError with argparse's message in our language, and what to do next."""
        raise UsageError(self._in_language(message) + self._advice(message))

    def _in_language(self, message: str) -> str:
        for pattern, chinese in ARGPARSE_ERRORS if self.language == "zh" else ():
            if re.fullmatch(pattern, message, re.DOTALL):
                return re.sub(pattern, chinese, message, count=1, flags=re.DOTALL)
        return message

    def _advice(self, message: str) -> str:
        unknown = re.match(r"unrecognized arguments: (-[^\s=]*)", message)
        near = get_close_matches(unknown[1], self._option_string_actions) if unknown else []
        if near:
            return did_you_mean(near[0], self.language)
        more = {"en": "; see '{} --help'", "zh": "；用法见 “{} --help”"}
        return more[self.language].format(self.prog)


def did_you_mean(near: str, language: str) -> str:
    """The end of an error that has a suggestion."""
    return {"en": f"; did you mean {near!r}?", "zh": f"；是不是 {near!r}？"}[language]


def known(kind: Text, names: Sequence[str], choices: Iterable[str], language: str) -> list[str]:
    """The names without repetitions; UsageError for the first that is not among the choices."""
    choices = list(choices)
    for name in names:
        if name not in choices:
            raise UsageError(_unknown(say(kind, language), name, choices, language))
    return list(dict.fromkeys(names))


def _unknown(kind: str, name: str, choices: list[str], language: str) -> str:
    found = {"en": f"unknown {kind} {name!r}", "zh": f"没有名为 {name!r} 的{kind}"}[language]
    near = get_close_matches(name.lower().replace("-", "_"), choices)
    if near:
        return found + did_you_mean(near[0], language)
    listed = ", ".join(choices)
    return found + {"en": f"; required is one of: {listed}", "zh": f"；可选：{listed}"}[language]
