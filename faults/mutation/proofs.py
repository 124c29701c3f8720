"""Has the equivalents proved: reads the list, asks the prover, marks what held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from faults.model import Text
from faults.mutation import equivalents, own, processes
from faults.mutation.model import Mutant
from faults.mutation.settings import Settings

PROVER = Path(__file__).with_name("prover.py")


def proved(
    project: Path, config: Settings, mutants: Sequence[Mutant], texts: Mapping[str, str], partial: bool
) -> tuple[tuple[Mutant, ...], tuple[Text, ...]]:
    """The mutants with proved equivalents marked, and what is wrong with the list of them.

    `texts` has the changed file of every mutant that is not in mutmut's own folder, by key.
    """
    if not config.equivalents:
        return tuple(mutants), ()
    path = project / config.equivalents
    entries = equivalents.read(config.equivalents, path.read_bytes().decode() if path.exists() else "")
    tasks = [
        _proof(project, config, entry, mutant, texts.get(mutant.key) or own.mutated_text(project, mutant))
        for entry, mutant in equivalents.wanted(entries, mutants)
    ]
    variables = processes.environment(PYTHONPATH=str(project))
    found = processes.ask(["-P", str(PROVER)], tasks, project, variables) if tasks else {}
    return equivalents.settled(entries, mutants, found, partial)


def _proof(
    project: Path, config: Settings, entry: equivalents.Entry, mutant: Mutant, text: str
) -> dict[str, Any]:
    path = mutant.change.path
    return {
        "key": mutant.key,
        "path": path,
        "module": mutant.module,
        "function": mutant.change.function,
        "source": (project / path).read_bytes().decode(),
        "mutated": text,
        "proof": entry.proof,
        "proofs": str(project / config.proofs),
        "inputs": entry.inputs,
        "extremes": entry.extremes,
    }
