"""Fault `head_seq_swap`: the head axis and the sequence axis are confused in split or merge."""
