"""Which language the program speaks, and one sentence in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

from faults.model import Text

LANGUAGES = ("en", "zh")
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""In the order POSIX gives them: the first that is set and not empty decides."""


def resolve(option: str | None) -> str:
    """ "en" or "zh": the option if it names one of them, else the environment, else English."""
    if option in LANGUAGES:
        return option
    locale = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), "")
    return "zh" if locale.lower().startswith("zh") else "en"


def asked(arguments: Sequence[str]) -> str | None:
    """The last value of `--lang` on a command line that may be wrong elsewhere; None if there is none."""
    value = None
    for word, following in pairwise([*arguments, ""]):
        if word == "--lang":
            value = following
        elif word.startswith("--lang="):
            value = word.removeprefix("--lang=")
    return value


def say(text: Text | str, language: str) -> str:
    """One sentence in one language; plain text is already a sentence."""
    return text if isinstance(text, str) else text[language]


def printable(text: str) -> str:
    """The text as one line: whatever a terminal would obey is escaped."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
