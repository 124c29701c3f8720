"""Inputs for the proofs of equivalence: each function yields tuples of arguments, 10,000 or more, from a seed."""

from __future__ import annotations
