"""What the declared extents of a fixture say about it before anything runs."""

from __future__ import annotations

from typing import Any


def several_tokens(extents: Any) -> bool:
    """Whether any token has a past or a future."""
    return bool(extents.tokens > 1)
