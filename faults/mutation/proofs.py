"""Has the equivalents proved: reads the list, asks the prover, marks what held."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faults.model import Text
from faults.mutation import edits, equivalents, own, processes
from faults.mutation.model import Mutant, Origin
from faults.mutation.settings import Settings

PROVER = Path(__file__).with_name("prover.py")


def proved(
    project: Path, config: Settings, mutants: Sequence[Mutant], partial: bool
) -> tuple[tuple[Mutant, ...], tuple[Text, ...]]:
    """The mutants with proved equivalents marked, and what is wrong with the list of them."""
    if not config.equivalents:
        return tuple(mutants), ()
    path = project / config.equivalents
    entries = equivalents.read(config.equivalents, path.read_bytes().decode() if path.exists() else "")
    tasks = [_proof(project, config, *pair) for pair in equivalents.wanted(entries, mutants)]
    variables = processes.environment(PYTHONPATH=str(project))
    found = processes.ask(["-P", str(PROVER)], tasks, project, variables) if tasks else {}
    return equivalents.settled(entries, mutants, found, partial)


def _proof(project: Path, config: Settings, entry: equivalents.Entry, mutant: Mutant) -> dict[str, Any]:
    path = mutant.change.path
    return {
        "key": mutant.key,
        "path": path,
        "module": mutant.module,
        "function": mutant.change.function,
        "source": (project / path).read_bytes().decode(),
        "mutated": changed_text(project, mutant),
        "proof": entry.proof,
        "proofs": str(project / config.proofs),
        "inputs": entry.inputs,
        "extremes": entry.extremes,
    }


def changed_text(project: Path, mutant: Mutant) -> str:
    """The text of a mutant's file with the change in it."""
    if mutant.origin is Origin.MUTMUT:
        return own.mutated_text(project, mutant)
    path = mutant.change.path
    source = (project / path).read_bytes().decode()
    made = (*edits.constants(path, source), *edits.decorated(path, source))
    return next(edits.applied(source, edit) for edit in made if edits.change(source, edit) == mutant.change)
