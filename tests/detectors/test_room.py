"""The room's own rule: numpy and the standard library, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json, sys
import detectors, detectors.diagnosis, detectors.examination
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def test_importing_detectors_pulls_in_numpy_and_the_standard_library_only() -> None:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-c", "import json, sys, numpy\nprint(json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    before = {name.partition(".")[0] for name in json.loads(bare.stdout)}
    extra = set(json.loads(run.stdout)) - before - set(sys.stdlib_module_names)
    assert extra == {"detectors"}
