"""Contracts as tests in somebody's own suite: one id each, skips with reasons, expected failures that must fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from detectors import testing
from detectors.errors import DetectorError
from detectors.testing import check_subject, contracts, parametrize_with_contracts
from tests.faults.check_subjects import SOUND

SUITE = (
    SOUND
    + """
from detectors.testing import check_subject, parametrize_with_contracts

class Leaky(Block):
    def mask(self, scores):
        return scores

EXPECTED = {"future": "it is a bidirectional draft", "prefix": "the same", "reach": "a wrong guess", "slope": "unseen"}

@parametrize_with_contracts({"sound": Block, "leaky": Leaky})
def test_plain(contract):
    contract.check()

@parametrize_with_contracts({"leaky": Leaky}, expected_failures=EXPECTED)
def test_expected(contract):
    contract.check()
"""
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("suite")
    (folder / "test_mine.py").write_text(SUITE)
    home = Path(testing.__file__).resolve().parents[1]
    options = ["-p", "no:cacheprovider", "-v", "-rA", "--rootdir", str(folder)]
    command = [sys.executable, "-m", "pytest", *options, "test_mine.py"]
    environment = {"PYTHONPATH": str(home), "COLUMNS": "250", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout


@pytest.mark.parametrize(
    "line",
    [
        "test_plain[sound-future] PASSED",
        "test_plain[sound-order] PASSED",
        "test_plain[sound-heads] SKIPPED (not applicable: it assumes the weights and layers of the reference block)",
        "test_plain[sound-slope] SKIPPED (not observable: its attention can be neither called nor followed)",
        "test_plain[leaky-future] FAILED",
        "test_plain[leaky-reach] PASSED",
        "test_expected[leaky-future] XFAIL (it is a bidirectional draft)",
        "test_expected[leaky-reach] FAILED",
        "test_expected[leaky-slope] FAILED",
        "reach: found holds, required: broken, since a wrong guess",
        "slope: found not observable, required: broken, since unseen",
        "relative change, required: at most 1e-06",
    ],
)
def test_a_suite_has_one_test_for_each_contract(line: str, outcome: str) -> None:
    assert line in outcome


def test_nothing_of_pytest_is_imported_before_it_is_asked_for() -> None:
    program = "import sys, detectors.testing; sys.exit('pytest' in sys.modules)"
    home = Path(testing.__file__).resolve().parents[1]
    assert subprocess.run([sys.executable, "-c", program], cwd=home, check=False).returncode == 0


def test_a_wrong_expectation_is_refused_when_the_tests_are_made() -> None:
    with pytest.raises(DetectorError, match="no contract is called 'futur'"):
        contracts({"it": object}, {"futur": "why"})
    with pytest.raises(DetectorError, match="expected failure 'future': found no reason"):
        contracts({"it": object}, {"future": ""})
    with pytest.raises(DetectorError, match="subjects: required: a mapping"):
        parametrize_with_contracts({"it": 3})  # type: ignore[dict-item] # what a user may write


def test_a_subject_is_built_once_and_not_before_its_first_contract() -> None:
    built: list[int] = []

    def make() -> Any:
        built.append(1)
        return {"kind": "block", "width": 4, "call": lambda x: 2 * x - x}

    made = contracts({"it": make})
    assert built == []
    for contract in made[:3]:
        contract.check()
    assert built == [1]


def test_one_examination_can_be_had_without_pytest() -> None:
    found = check_subject(lambda x: x + x.mean(axis=1, keepdims=True), kind="block", width=6)
    assert (found.verdict, found.finding("future").verdict) == ("broken", "broken")
    assert found.named == ()


def test_a_subject_that_cannot_be_used_raises_and_an_interrupt_goes_through() -> None:
    with pytest.raises(DetectorError, match="the call returned None; required: an array"):
        check_subject(lambda x: None, kind="block", width=6)
    with pytest.raises(DetectorError, match="the subject is None"):
        check_subject(None)
    with pytest.raises(DetectorError, match="say --kind"):
        check_subject(lambda x: x)

    def interrupts(x: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_subject(interrupts, kind="block", width=6)


def test_a_torch_module_gets_its_mode_and_its_precision_back() -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")
    module = torch.nn.Sequential(
        torch.nn.LayerNorm(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 4)
    ).bfloat16()
    before = module[2].weight.clone()
    found = check_subject(module, kind="self_attention", width=4)
    assert found.finding("repeatability").verdict == "holds"
    assert module.training
    assert module[1].training
    assert module[2].weight.dtype == torch.bfloat16
    assert bool((module[2].weight == before).all())
