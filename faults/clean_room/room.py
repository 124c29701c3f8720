"""The parent's end of the clean room: one learner's file in one child process, called function by function."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from types import TracebackType
from typing import Any

from detectors.host import HOME, Guest, GuestError, SubjectRaised
from faults.clean_room.driver import pack, unpack

REFERENCES = ("core", "detectors", "faults", "reports", "llm_core")
"""Packages that contain a reference: ours, and the course's."""

GUARDED = ("core", "detectors", "faults", "reports")
NOTHING: dict[str, list[str]] = {"declared": [], "numbers": [], "switches": []}


class Raised(Exception):  # noqa: N818 - what the learner's code did
    """The learner's code raised: class, message and line of the file (None where the line is not in it)."""

    def __init__(self, kind: str, message: str, line: int | None) -> None:
        super().__init__(f"{kind}: {message}".rstrip(": "))
        self.kind, self.line = kind, line


class LostError(GuestError):
    """The child was lost, or could not be read, in one of the learner's functions."""

    def __init__(self, cause: str, function: str) -> None:
        super().__init__(cause)
        self.function = function


class Room:
    """The learner's file, loaded. `mapping` gives their name for ours.

    Raises GuestError where the child is lost, and Raised where the file itself raises while it is loaded.
    """

    def __init__(
        self, path: str, mapping: Mapping[str, str], python: str | None, timeout: float, folder: str
    ) -> None:
        self.mapping = mapping
        self.attempts: list[list[str]] = []
        self.activations, self.wrote = 0, False
        self.raised: Raised | None = None
        self._guest = Guest(python, folder, timeout)
        try:
            self._load()
            self._open(path)
        except BaseException:
            self._guest.close()
            raise

    def __enter__(self) -> Room:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._guest.close()

    def call(self, name: str, *arguments: Any, replaced: str = "", fault: str = "") -> Any:
        """What one function of the interface returns; raises Raised. `replaced`: one that is faulty meanwhile."""
        request = {
            "operation": "run",
            "name": self.theirs(name),
            "arguments": list(arguments),
            "replaced": self.theirs(replaced) if replaced else "",
            "fault": fault,
        }
        try:
            answer = self._ask(request)
        except GuestError as error:
            raise LostError(str(error), name) from None
        self.activations, self.wrote = answer["activations"], answer["wrote"]
        if "raised" in answer:
            raise Raised(answer["raised"], answer["message"], answer["line"])
        return answer["value"]

    def theirs(self, name: str) -> str:
        """The learner's name of a function of the interface."""
        return self.mapping.get(name, name)

    def has(self, name: str) -> bool:
        return self.theirs(name) in self.functions

    def _open(self, path: str) -> None:
        request = {
            "operation": "open",
            "path": path,
            "home": HOME,
            "names": list(REFERENCES),
            "guarded": list(GUARDED),
        }
        answer = self._ask(request)
        self.functions: dict[str, list[Any]] = answer["functions"]
        self.sketch: Any = answer["sketch"]
        self.neighbours: list[str] = answer["neighbours"]
        if "raised" in answer:
            self.raised = Raised(answer["raised"], answer["message"], answer["line"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        header = {"operation": "call", "options": {"framework": "numpy"}}
        try:
            answer: dict[str, Any] = unpack(self._guest.request(header, [pack(request)])[1][0])
        # The child is the learner's: what comes out of it may be anything.
        except (SubjectRaised, ValueError, LookupError, TypeError, AttributeError) as error:
            if isinstance(error, GuestError):
                raise
            raise GuestError(f"the answer cannot be read ({error})") from None
        self.attempts = answer["attempts"]
        return answer

    def _load(self) -> None:
        """The guest builds its subject from an expression: here it is the driver, whose text comes with it."""
        driver, faulty = (_text(name) for name in ("driver.py", "faulty.py"))
        expression = (
            f"(lambda one, other: exec({driver!r}, one) or exec({faulty!r}, other) or one['Room'](other['FAULTY']))"
            "({'__name__': 'clean_room'}, {'__name__': 'clean_room'})"
        )
        header = {
            "operation": "load",
            "module": "types",
            "attribute": "ModuleType",
            "init": expression,
            "home": HOME,
            "blocked": [],
            "wanted": NOTHING,
        }
        self._guest.request(header)


def _text(name: str) -> str:
    return (resources.files("faults.clean_room") / name).read_text(encoding="utf-8")
