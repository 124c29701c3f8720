"""What the guest says when a request cannot be met, and how it words what the subject raised."""

from __future__ import annotations

import os
import traceback

LONGEST = 300
OWN = os.path.dirname(__file__)


class Refused(Exception):  # noqa: N818 - an answer, not a mistake of the guest
    """A request that cannot be met; its text is one line for the user."""


def worded(error: BaseException) -> str:
    """An exception of the subject in one line: class, message, and the line of the user's code it came from."""
    text = " ".join(str(error).split())
    text = text[:LONGEST] + ("..." if len(text) > LONGEST else "")
    place = "" if isinstance(error, SyntaxError) else _place(error)
    return f"{type(error).__name__}{': ' if text else ''}{text}{place}"


def _place(error: BaseException) -> str:
    """ " (file.py, line 3)" of the innermost frame that is neither ours nor a library's; empty without one."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _users(frame.filename)]
    return f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""


def _users(file: str) -> bool:
    library = "site-packages" in file or os.sep + "lib" + os.sep + "python" in file
    return os.path.dirname(file) != OWN and not library and not file.startswith("<")
