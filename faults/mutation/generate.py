"""Makes mutmut's mutants of files that mutmut itself must leave as they are. Runs by itself, in a project's folder.

Some files are read as text and run elsewhere, where mutmut's own additions to a file would be in the way. For those,
reads a JSON list of paths from stdin and writes {path: text with every mutant as a function of its own} to stdout.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mutmut.mutation.file_mutation import mutate_file_contents


def main() -> None:
    """Answer for every path of stdin."""
    paths = json.load(sys.stdin)
    texts = {path: mutate_file_contents(path, Path(path).read_bytes().decode()).code for path in paths}
    json.dump(texts, sys.stdout)


if __name__ == "__main__":
    main()
