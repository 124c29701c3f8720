"""The code that holds somebody's subject: loads it, describes it, calls it, in whatever framework it is written.

The parent sends the text of these files to the child's interpreter, which may be another one, with another
environment and without this package. So they run on Python 3.9, import each other relatively, use the standard
library alone, NumPy only inside functions, and PyTorch or JAX only as found in `sys.modules`, where the user's own
object brought them. In a test suite the same files hold the subject inside the test's own process.
"""
