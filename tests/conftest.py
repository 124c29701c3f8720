"""Settings that the whole suite shares."""

from __future__ import annotations

import os

from hypothesis import Phase, settings

# Under mutation the same examples must be drawn for every mutant, and a failure needs no smaller example.
settings.register_profile(
    "mutation", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate)
)
if "MUTANT_UNDER_TEST" in os.environ or "FAULTS_MUTATION" in os.environ:
    settings.load_profile("mutation")
