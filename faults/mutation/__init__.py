"""The mutation score: which changes of the source the tests miss, read from a finished run and judged."""
