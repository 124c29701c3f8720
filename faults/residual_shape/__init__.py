"""Fault `residual_shape`: the residual branch has the wrong shape or the wrong order."""
