"""Contracts as tests in somebody's own suite: one id each, skips with reasons, expected failures that must fail."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from detectors import foreign, precision, testing
from detectors.checking import NAMES, Checked
from detectors.diagnosis import Expected
from detectors.errors import DetectorError
from detectors.guest import subjects
from detectors.precision import Narrow
from detectors.testing import Contract, Here, check_subject, contracts, parametrize_with_contracts
from tests.detectors import toy
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


def leaky(x: Any) -> Any:
    """Each token gets a fifth of the others' sum where there are five: a move of one shows in all."""
    return x + x.mean(axis=1, keepdims=True)


BLOCK: Mapping[str, Any] = {"kind": "block", "width": 6}
GUESSES = {"future": "it is a draft", "batch": "a wrong guess", "slope": "unseen"}


def ended(contract: Contract) -> tuple[str, str]:
    """How a test of this contract ends, and the line it shows."""
    try:
        contract.check()
    except (pytest.fail.Exception, pytest.skip.Exception) as error:
        return type(error).__name__, str(error)
    return "passed", ""


@pytest.mark.parametrize(
    ("guesses", "name", "end"),
    [
        ({}, "batch", ("passed", "")),
        (
            {},
            "future",
            (
                "Failed",
                # what one token moves elsewhere is a fifth, and by itself six fifths
                "future: moving a later token changes no earlier output: "
                "found 0.167 relative change, required: at most 1e-06",
            ),
        ),
        (
            {},
            "heads",
            ("Skipped", "not applicable: it assumes the weights and layers of the reference block"),
        ),
        ({}, "slope", ("Skipped", "not observable: its attention can be neither called nor followed")),
        (GUESSES, "future", ("XFailed", "it is a draft")),
        (GUESSES, "batch", ("Failed", "batch: found holds, required: broken, since a wrong guess")),
        (GUESSES, "slope", ("Failed", "slope: found not observable, required: broken, since unseen")),
        (GUESSES, "repeatability", ("passed", "")),
    ],
)
def test_a_contract_passes_fails_or_is_skipped_in_one_line(
    guesses: Mapping[str, str], name: str, end: tuple[str, str]
) -> None:
    made = {one.name: one for one in contracts({"it": lambda: leaky}, guesses, **BLOCK)}
    assert ended(made[name]) == end


@pytest.mark.parametrize(("guesses", "name"), [({}, "future"), (GUESSES, "batch")])
def test_a_failure_shows_no_traceback_of_ours(guesses: Mapping[str, str], name: str) -> None:
    made = {one.name: one for one in contracts({"it": lambda: leaky}, guesses, **BLOCK)}
    with pytest.raises(pytest.fail.Exception) as raised:
        made[name].check()
    assert raised.value.pytrace is False


def test_every_contract_of_every_subject_is_a_test_with_an_id_of_its_own() -> None:
    twice = {"a": lambda: leaky, "b": lambda: leaky}
    mark = parametrize_with_contracts(twice, {"future": "why"}, **BLOCK)
    argument, made = mark.args
    assert (mark.name, argument) == ("parametrize", "contract")
    assert mark.kwargs == {"ids": [f"{subject}-{name}" for subject in "ab" for name in NAMES]}
    assert [(one.subject.name, one.name) for one in made] == [(s, name) for s in "ab" for name in NAMES]
    assert {(one.name == "future", one.expected) for one in made} == {(True, "why"), (False, "")}
    assert ended(made[0]) == ("passed", "")
    assert not any(one.expected for one in parametrize_with_contracts({"it": lambda: leaky}).args[1])


@pytest.mark.parametrize(
    ("named", "guesses", "line"),
    [
        (
            {"it": object},
            {"prefix": "why", "futur": "why"},
            f"no contract is called 'futur'; required: some of {', '.join(NAMES)}",
        ),
        (
            {"it": object},
            {"future": "", "prefix": "why"},
            "expected failure 'future': found no reason, required: a sentence that says why",
        ),
        ({"it": 3}, None, "subjects: required: a mapping from names to functions that make a subject"),
        ({}, None, "subjects: required: a mapping from names to functions that make a subject"),
    ],
)
def test_what_is_wrong_is_refused_when_the_tests_are_made(
    named: Any, guesses: Mapping[str, str] | None, line: str
) -> None:
    with pytest.raises(DetectorError) as raised:
        parametrize_with_contracts(named, guesses)
    assert str(raised.value) == line


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
    found = check_subject(leaky, **BLOCK)
    assert (found.verdict, found.finding("future").verdict) == ("broken", "broken")
    assert (found.subject.name, found.named) == ("subject", ())


def seed_of(found: Checked) -> int:
    """Of the smallest fixture on which the future leaks."""
    fixture = found.finding("future").fixture
    assert fixture is not None
    return fixture.seed


def test_an_examination_can_be_had_of_other_numbers() -> None:
    assert seed_of(check_subject(leaky, **BLOCK)) == 0
    assert seed_of(check_subject(leaky, seed=3, **BLOCK)) == 3


def test_what_is_broken_is_named_after_the_signature_that_is_nearest() -> None:
    leak = Expected("leak", "all", frozenset({"future", "prefix"}), {"block": "full"})
    assert check_subject(leaky, expected=[leak], **BLOCK).named == ("leak",)


def test_what_is_asked_limited_or_coarse_is_taken_into_account() -> None:
    asked = check_subject(np.tanh, framework="numpy", **BLOCK).finding("skip")
    assert (asked.verdict, asked.reason) == ("not observable", foreign.NORM)
    rotated = check_subject(toy.Toy().attention, kind="attention", positions="rope").finding("slope")
    assert rotated.verdict == "not observable"
    coarse = check_subject(lambda x: x.astype("f2"), **BLOCK).finding("prefix")
    assert coarse.detector.threshold == 8 * 2.0**-10


def test_numbers_lost_in_16_bits_break_what_is_sound_in_32(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = Narrow("float16", lost=0.5)
    monkeypatch.setattr(precision, "narrowed", lambda notes, call: (narrow, ""))
    found = check_subject(lambda x: 2 * x, **BLOCK)
    assert (found.verdict, found.finding("finite").value) == ("broken", 0.5)


def test_the_subject_gets_back_what_was_changed_whatever_comes_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    undone: list[Any] = []
    monkeypatch.setattr(subjects, "restorer", lambda subject: lambda: undone.append(subject))
    check_subject(leaky, **BLOCK)
    with pytest.raises(DetectorError):
        check_subject(np.tanh, colour="red")
    assert undone == [leaky, np.tanh]


def test_what_the_subject_raises_is_a_finding_in_its_own_words() -> None:
    def short(x: Any) -> Any:
        if x.shape[1] < 5:
            raise ValueError("too short")
        return x

    (line,) = set(check_subject(short, **BLOCK).failures)
    assert re.fullmatch(r"ValueError: too short \(test_checking_in_tests.py, line \d+\)", line)


def test_a_subject_is_handed_arrays_in_rows() -> None:
    rows: list[bool] = []

    def looks(x: Any) -> Any:
        rows.append(x.flags.c_contiguous)
        return x

    header = {"operation": "call", "options": {"framework": "numpy"}}
    _, (found,) = Here(looks).request(header, [np.arange(6.0).reshape(1, 2, 3).swapaxes(1, 2)])
    assert rows == [True]
    assert found.tolist() == [[[0, 3], [1, 4], [2, 5]]]


def test_a_subject_that_cannot_be_used_raises_and_an_interrupt_goes_through() -> None:
    with pytest.raises(DetectorError, match="the call returned None; required: an array"):
        check_subject(lambda x: None, kind="block", width=6)
    with pytest.raises(DetectorError, match="the subject is None"):
        check_subject(None)
    with pytest.raises(DetectorError, match="the call returned None; required: an array"):
        check_subject(lambda x: x if len(x) > 1 else None, **BLOCK)
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
