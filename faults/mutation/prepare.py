"""Makes mutmut generate its mutants, and stop where it would start the tests. Runs by itself, in a project's folder.

Reads the files that are to have mutants as a JSON list from stdin; all have where none is named.
"""

from __future__ import annotations

import json
import sys

from mutmut import __main__ as mutmut
from mutmut.configuration import config


def main() -> None:
    """mutmut's own command, cut short."""
    config().only_mutate = config().only_mutate or json.load(sys.stdin)
    vars(mutmut)["get_mutant_runner"] = lambda max_children: sys.exit()
    mutmut.cli(["run"])


if __name__ == "__main__":
    main()
