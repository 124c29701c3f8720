"""Settings that the whole suite shares."""

from __future__ import annotations

import os

from hypothesis import Phase, settings

# Before NumPy is imported: the arrays here are tiny, and waking a second thread costs more than it brings.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# Under mutation the same examples must be drawn for every mutant, and a failure needs no smaller example.
settings.register_profile(
    "mutation", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate)
)
if "MUTANT_UNDER_TEST" in os.environ or "FAULTS_MUTATION" in os.environ:
    settings.load_profile("mutation")
