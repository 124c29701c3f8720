"""The child process in which somebody's code runs.

The files here are never imported by the parent: it sends their text to the child's interpreter, which may be another
one, with another environment. So they use the standard library alone, NumPy where the child has it, and PyTorch or
JAX only as found in `sys.modules`, where the user's own object brought them.
"""
