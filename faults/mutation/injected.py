"""A pytest plugin that runs any test suite on a faulty block.

`pytest -p faults.mutation.injected --fault NAME/VARIANT`.

The fault is in force from before the tests are imported until the end. A suite that passes without ever calling a
patched function ends as if no test had been collected: that is no survivor.
"""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from faults import registry
from faults.injection import Injection, inject

OPTION = "--fault"


class Faulty:
    """Holds the injection of one test session."""

    def __init__(self, name: str) -> None:
        fault = registry.load(name.partition("/")[0])
        self.variant = registry.variant(fault, name.partition("/")[2])
        self.stack = ExitStack()
        self.injection: Injection | None = None

    def pytest_sessionstart(self) -> None:
        self.injection = self.stack.enter_context(inject(self.variant))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        reached = self.injection is not None and self.injection.activations
        self.stack.close()
        if exitstatus == pytest.ExitCode.OK and not reached:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that names the fault."""
    parser.addoption(OPTION, metavar="NAME/VARIANT", help="run the tests with this fault injected")


def pytest_configure(config: pytest.Config) -> None:
    """Arms the fault that was named."""
    name = config.getoption(OPTION)
    if name:
        config.pluginmanager.register(Faulty(name), "faults.mutation.faulty")
