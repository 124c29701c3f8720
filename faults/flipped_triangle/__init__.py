"""Fault `flipped_triangle`: the causal triangle is turned over or displaced."""
