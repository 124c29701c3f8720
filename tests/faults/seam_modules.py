"""Modules that hold a seam and copies of it, and a variant that patches it."""

from __future__ import annotations

import importlib
import threading
from typing import Any

from faults.injection import InjectionError, inject
from faults.model import Function, Seam
from tests.faults import samples

HOME = Seam("seam_home", "double")
OTHER = Seam("seam_home", "triple")
SOURCES = {
    "seam_home": "def double(x):\n    return 2 * x\n\ndef triple(x):\n    return 3 * x\n",
    "seam_user": "import seam_home\nfrom seam_home import double\nfrom seam_home import double as twice\n",
    "seam_latecomer": "from seam_home import double\n",
}


def tenfold(original: Function) -> Function:
    return lambda x: 10 * original(x)


TENFOLD = samples.variant({HOME: tenfold}, "tenfold")


def module(name: str) -> Any:
    return importlib.import_module(name)


def refusals_elsewhere() -> list[InjectionError]:
    """What another thread gets when it tries to inject now."""
    refused: list[InjectionError] = []

    def attempt() -> None:
        try:
            with inject(TENFOLD):
                pass
        except InjectionError as error:
            refused.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    return refused
