"""Child processes of the score: what they may assume about their surroundings, and how to ask one for an answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from faults.model import FaultsError

VARIABLES = {
    # Bytecode of another program of the same size and second would be taken for this one's.
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "FAULTS_MUTATION": "1",
    # Where the score itself is being mutated, its children are not.
    "MUTANT_UNDER_TEST": "",
}


def environment(**more: str) -> dict[str, str]:
    """The variables of this process with those that every child of the score gets."""
    return {**os.environ, **VARIABLES, **more}


def ask(arguments: Sequence[str], message: Any, folder: Path, variables: Mapping[str, str]) -> Any:
    """What a Python child answers to a message, both in JSON. Raises FaultsError if it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        input=json.dumps(message).encode(),
        cwd=folder,
        env=variables,
        capture_output=True,
    )
    if done.returncode:
        last = b" ".join(done.stderr.splitlines()[-1:]).decode(errors="replace")
        raise FaultsError(f"{' '.join(arguments)}: ended with {done.returncode} ({last}); required is 0")
    return json.loads(done.stdout)
