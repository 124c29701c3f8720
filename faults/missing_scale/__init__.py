"""Fault `missing_scale`: attention scores are not divided by sqrt(d_k), or not once, or not there."""
