"""The ways a measurement ends without a value."""

from __future__ import annotations


class DetectorError(ValueError):
    """Base of this package's errors: a fixture or subject that was declared wrongly."""


class NotObservable(DetectorError):  # noqa: N818 - a verdict, not a mistake
    """A measurement that could not be made; the message says why. Never a signal."""


class SecondCallFailed(NotObservable):
    """A call with padding or a cache that failed where the plain one did not: its contract is broken."""
