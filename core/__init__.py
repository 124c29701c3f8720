"""The correct transformer block in NumPy: one plain function for each named idea, called through its module."""
