"""The ratchet: the survivors a project has today, so that tomorrow's new ones fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from faults.model import FaultsError
from faults.mutation.model import Mutant, missed

VERSION = 1


def written(mutants: Iterable[Mutant]) -> str:
    """The baseline file of a run: JSON, each survivor's identity with the number of mutants that share it."""
    counts = Counter(mutant.identity for mutant in mutants if missed(mutant))
    content = {"schema_version": VERSION, "survivors": dict(sorted(counts.items()))}
    return json.dumps(content, indent=2) + "\n"


def read(name: str, text: str) -> Mapping[str, int]:
    """The identities in a baseline file. Raises FaultsError where the text is not one."""
    with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
        content = json.loads(text)
        survivors = content["survivors"]
        if content["schema_version"] == VERSION and all(map(_count, survivors.values())):
            return dict(survivors)
    raise FaultsError(
        f"{name}: found no baseline of version {VERSION}, required is a file from `faults score --write-baseline`"
    )


def _count(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number > 0
