"""Our own `core`, `detectors` and `reports`, whatever else is called so.

The names are generic, and `python -m faults` puts the current folder first on the path: a repository with
its own `core/` or `reports.py` would be imported instead of ours. So the three names are looked up by
location, in the folder that holds this package, before any other finder is asked. Submodules need nothing:
they are searched in the package that was found.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

NAMES = ("core", "detectors", "reports")
HOME = str(Path(__file__).resolve().parent.parent)


class SiblingFinder:
    """Meta-path finder for exactly the names in `NAMES`; leaves every other import alone."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a sibling package is, or None for any other module."""
        return PathFinder.find_spec(name, [HOME]) if name in NAMES else None


def install() -> None:
    """Ask `SiblingFinder` before all other finders; a second call changes nothing."""
    if SiblingFinder not in sys.meta_path:
        sys.meta_path.insert(0, SiblingFinder)


def pin() -> None:
    """Install the finder and refuse, in one line, a package of the same name that was imported before.

    Raises FaultsError: that package cannot be taken back without breaking whoever imported it.
    """
    install()
    for name in NAMES:
        found = location(sys.modules.get(name))
        if found is not None and not is_ours(name, found):
            raise _foreign(name, found)


def location(module: ModuleType | None) -> str | None:
    """The file or folder a module was read from; None if it is not loaded or has no place on disk."""
    if module is None:
        return None
    folders = list(getattr(module, "__path__", []))
    return getattr(module, "__file__", None) or (folders[0] if folders else "an unknown place")


def is_ours(name: str, found: str) -> bool:
    """Whether a location lies in the folder of that name next to this package."""
    ours = Path(HOME, name)
    place = Path(found).resolve()
    return ours in (place, *place.parents)


def _foreign(name: str, found: str) -> Exception:
    # Imported here: an ordinary start never needs it.
    from faults.model import FaultsError

    return FaultsError(
        f"package {name!r} is already imported from {found}, required is {Path(HOME, name)}; "
        "start `faults` in a process of its own, or install it in an environment of its own"
    )
