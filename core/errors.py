"""The one error type of the correct block."""

from __future__ import annotations


class CoreError(ValueError):
    """An input the block cannot work with: what was found, what is required, what to do next, in one line."""
