"""The correct transformer block in NumPy: one plain function per named idea, called through its module."""
