"""A clean room in the test's own process: what a learner's file does is asked without a child."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import pytest

from faults.clean_room import driver, faulty


class Here:
    """In place of a guest: the same calls, here. Nobody watches which files are opened."""

    def __init__(self, python: str | None = None, folder: str | None = None, timeout: float = 60.0) -> None:
        self.room = driver.Room(faulty.FAULTY)
        self.path, self.watch = sys.path[:], list[Any]()

    def request(self, header: dict[str, Any], arrays: Sequence[Any] = ()) -> Any:
        """(header, arrays) of the answer."""
        if header["operation"] == "load":
            return {}, []
        before = sys.meta_path[:]
        sys.meta_path[:0] = self.watch
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sys, "addaudithook", lambda watch: None)
                return {}, [self.room(*arrays)]
        finally:
            # What imports of ours are needed between two calls is nobody's business.
            self.watch = [finder for finder in sys.meta_path if finder not in before]
            sys.meta_path[:] = before

    def close(self) -> None:
        """Imports are again what they were."""
        sys.path[:] = self.path
        sys.modules.pop("clean_room_submission", None)
