"""Fault-injection mutation testing for transformer code: five silent faults, injected, caught and repaired.

Importing this package is cheap (standard library only) and makes `core`, `detectors` and `reports` mean the
packages installed next to it, also in a folder that has its own.
"""

from __future__ import annotations

from faults import siblings

__version__ = "0.1.0"

siblings.install()
