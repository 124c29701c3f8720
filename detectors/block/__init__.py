"""Contracts of the whole block: x -> y, some with weights replaced by role. One file each."""
