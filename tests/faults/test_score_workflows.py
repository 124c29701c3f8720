"""The workflows that publish a score say only what the command understands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from faults.commands import score
from faults.mutation import settings

HOME = Path(__file__).parents[2]
FILES = (".github/workflows/mutation.yml", "docs/mutation-workflow.yml")
TITLE = re.compile(r"faults score(.*)")


def workflow(name: str) -> Any:
    path = HOME / name
    if not path.exists():
        pytest.skip(f"{name} is only in the repository")
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_every_option_of_a_workflow_is_one_of_the_command(name: str) -> None:
    steps = [step.get("run", "") for step in workflow(name)["jobs"]["score"]["steps"]]
    (arguments,) = [found for step in steps for found in TITLE.findall(step)]
    options = score.parse(shlex.split(arguments))
    assert options.summary == "$GITHUB_STEP_SUMMARY"
    assert (options.json, options.html) == ("mutation.json", "mutation.html")
    # In CI always the whole, from nothing.
    assert (options.no_run, options.since) == (False, None)


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_is_written_is_kept(name: str) -> None:
    steps = workflow(name)["jobs"]["score"]["steps"]
    command = next(step["run"] for step in steps if "faults score" in step.get("run", ""))
    kept = steps[-1]["with"]["path"].split()
    assert [word for word in shlex.split(command) if word.startswith("mutation.")] == kept
    assert steps[-1]["if"] == "always()"


def test_the_jobs_of_the_project_are_the_whole_score() -> None:
    jobs = workflow(FILES[0])["jobs"]["score"]["strategy"]["matrix"]["include"]
    parts = settings.load(HOME).parts
    assert sorted(job["part"] for job in jobs) == sorted(part.name for part in parts)


def test_the_options_in_the_advice_exist() -> None:
    text = (HOME / FILES[1]).read_text("utf-8") if (HOME / FILES[1]).exists() else ""
    commands = re.findall(r"`faults score ([^`]*)`", text)
    for arguments in [*commands, *re.findall(r"`(--[a-z-]+ [^`]*)`", text)]:
        score.parse(arguments.split())
    assert len(commands) == (2 if text else 0)
