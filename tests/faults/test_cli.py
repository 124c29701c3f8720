"""The command line in-process: what a person types, what stands on stdout and stderr, the exit code."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from xml.etree import ElementTree

import pytest

import faults
from detectors.examination import Examination
from detectors.fixtures import Fixture
from faults import campaign, mutants
from faults.__main__ import main
from faults.commands import VERBS
from faults.model import FaultsError, Report, Status
from faults.registry import NAMES
from tests.reports.made_report import made_report


@pytest.fixture(autouse=True)
def _english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.delenv("FAULTS_TRACEBACK", raising=False)


def answer(monkeypatch: pytest.MonkeyPatch, report: Report) -> list[dict[str, Any]]:
    """Make every campaign end with this report at once; returns the calls that were made."""
    calls: list[dict[str, Any]] = []

    def run(chosen: Any, **options: Any) -> Report:
        calls.append({"names": [fault.name for fault in chosen], **options})
        return report

    monkeypatch.setattr(campaign, "run", run)
    return calls


def fail(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def run(*arguments: Any, **options: Any) -> NoReturn:
        raise error

    monkeypatch.setattr(campaign, "run", run)


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr; nothing else may be said."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("faults: ")
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("faults: ").rstrip("\n")


# The program


def test_without_a_verb_the_help_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: faults")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_lists_every_verb(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    text = capsys.readouterr().out
    for verb, summary in VERBS.items():
        assert f"  {verb} " in text
        assert summary["en"] in text


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"faults {faults.__version__}\n"


def test_a_misspelt_verb_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rnu"]) == 2
    assert error_line(capsys) == "unknown verb 'rnu'; did you mean 'run'?"


def test_an_option_before_the_verb_is_called_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-z", "run"]) == 2
    assert "unknown option '-z' before the verb" in error_line(capsys)


@pytest.mark.parametrize("verb", list(VERBS))
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_verb_explains_itself_in_both_languages(
    verb: str, lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([verb, "--lang", lang, "--help"]) == 0
    text = capsys.readouterr().out
    assert " ".join(text.split()).startswith(
        {"en": f"usage: faults {verb}", "zh": f"用法：faults {verb}"}[lang]
    )
    assert VERBS[verb][lang][:20] in text
    assert ("options:" in text) is (lang == "en")


# Languages


@pytest.mark.parametrize(
    "arguments",
    [["--lang", "zh", "rnu"], ["--lang=zh", "rnu"], ["rnu", "--lang", "zh"], ["rnu", "--lang=zh"]],
)
def test_the_language_may_stand_before_or_after_the_verb(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert error_line(capsys) == "没有 'rnu' 这个命令；是不是 'run'？"


def test_the_verb_gets_the_language_that_stands_before_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--lang", "zh", "list"]) == 0
    assert "故障" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("variables", "chinese"),
    [
        ({"LC_ALL": "zh_CN.UTF-8"}, True),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, False),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW", "LANG": "en_US"}, True),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh"}, True),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "de_DE"}, False),
    ],
)
def test_the_environment_decides_by_the_first_variable_that_is_set(
    variables: dict[str, str],
    chinese: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    main(["rnu"])
    assert ("命令" in error_line(capsys)) is chinese


def test_the_option_beats_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    main(["--lang", "en", "rnu"])
    assert "unknown verb" in error_line(capsys)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--seed"], "参数 --seed 需要一个值；用法见 “faults run --help”"),
        (["--seed", "x"], "参数 --seed 需要整数，却得到 'x'；用法见 “faults run --help”"),
        (["--fail-under", "x"], "参数 --fail-under 需要数值，却得到 'x'；用法见 “faults run --help”"),
        (["--sed", "1"], "不认识的参数：--sed；是不是 '--seed'？"),
        (["--all=1"], "参数 --all 不接受值，却得到 '1'；用法见 “faults run --help”"),
    ],
)
def test_errors_of_the_option_parser_are_chinese_too(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--lang", "zh", "run", *arguments]) == 2
    assert error_line(capsys) == line


def test_an_unknown_language_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--lang", "fr"]) == 2
    assert "invalid choice: 'fr'" in error_line(capsys)


# run: what is refused before anything runs


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "no fault selected, required is --all or names among: residual_shape"),
        (["--all", "missing_scale"], "found --all and names, required is one of them"),
        (["mising_scale"], "unknown fault 'mising_scale'; did you mean 'missing_scale'?"),
        (["MISSING-SCALE"], "unknown fault 'MISSING-SCALE'; did you mean 'missing_scale'?"),
        (["zzz"], "unknown fault 'zzz'; required is one of: residual_shape, "),
        (["--all", "--examples", "0"], "--examples: found 0, required is 1 or more"),
        (["--all", "--examples", "1.5"], "argument --examples: invalid int value: '1.5'"),
        (["--all", "--seed", "-1"], "--seed: found -1, required is 0 or more"),
        (["--all", "--fail-under", "-0.1"], "--fail-under: found -0.1, required is 0 to 100"),
        (["--all", "--fail-under", "100.1"], "--fail-under: found 100.1, required is 0 to 100"),
        (["--all", "--fail-under", "nan"], "--fail-under: found nan, required is 0 to 100"),
        (["--all", "--format", "githab"], "unknown table format 'githab'; did you mean 'github'?"),
        (["--all", "-q", "-v"], "found -q and -v, required is one of them"),
        (["--all", "--exmaples", "3"], "unrecognized arguments: --exmaples; did you mean '--examples'?"),
        (["--al"], "unrecognized arguments: --al; did you mean '--all'?"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_nothing_runs(
    arguments: list[str],
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    calls = answer(monkeypatch, made_report())
    assert main(["run", *arguments]) == 2
    assert error_line(capsys).startswith(line)
    assert calls == []


def test_a_line_end_in_a_name_does_not_make_a_second_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run\n\x1b[31m"]) == 2
    assert "\x1b" not in error_line(capsys)


# run: what is run


def test_all_runs_the_whole_registry_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = answer(monkeypatch, made_report())
    assert main(["run", "--all"]) == 0
    assert calls[0]["names"] == list(NAMES)
    assert (calls[0]["examples"], calls[0]["seed"]) == (100, 0)


def test_names_are_run_once_each_with_options_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = answer(monkeypatch, made_report())
    arguments = ["missing_scale", "--seed", "7", "head_seq_swap", "missing_scale", "--examples", "3"]
    assert main(["run", *arguments]) == 0
    assert calls == [
        {"names": ["missing_scale", "head_seq_swap"], "examples": 3, "seed": 7, "progress": None}
    ]


def test_quiet_prints_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answer(monkeypatch, made_report())
    assert main(["run", "--all", "-q"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "PASS: variants killed 3/3, false alarms 0, every fix restored.\n"
    assert captured.err == ""


def test_verbose_adds_the_kill_matrix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch, made_report())
    main(["run", "--all"])
    assert "Kill matrix" not in capsys.readouterr().out
    main(["run", "--all", "-v"])
    assert "Kill matrix: missing_scale" in capsys.readouterr().out


def test_the_format_is_that_of_the_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch, made_report())
    main(["run", "--all", "--format", "html"])
    assert capsys.readouterr().out.startswith("<!doctype html>")


def survivor() -> Report:
    report = made_report()
    first = report.faults[0]
    variants = (replace(first.variants[0], status=Status.SURVIVED), *first.variants[1:])
    return replace(report, faults=(replace(first, variants=variants), *report.faults[1:]))


def test_a_survivor_within_the_bar_is_a_pass_in_every_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answer(monkeypatch, survivor())
    for bar, last, failures in (("60", "PASS", "1"), ("70", "FAIL", "3")):
        main(["run", "--all", "--fail-under", bar, "--junitxml", str(tmp_path / "run.xml")])
        assert capsys.readouterr().out.splitlines()[-1].startswith(last)
        root = ElementTree.parse(tmp_path / "run.xml").getroot()
        assert root.get("failures") == failures


@pytest.mark.parametrize(
    ("report", "options", "code"),
    [
        (made_report(), [], 0),
        (survivor(), [], 1),
        (survivor(), ["--fail-under", "60"], 0),
        (survivor(), ["--fail-under", "70"], 1),
        (replace(made_report(), faults=()), [], 5),
        (replace(made_report(), interrupted=True), [], 130),
        (replace(survivor(), interrupted=True), [], 130),
    ],
)
def test_the_exit_code_is_that_of_the_verdict(
    report: Report, options: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, report)
    assert main(["run", "--all", *options]) == code


def test_an_interrupted_run_still_prints_what_it_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch, replace(made_report(), interrupted=True))
    main(["run", "--all"])
    assert "mask_adds_zero" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (FaultsError("the fixture is lost"), 3, "the fixture is lost"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (
            RuntimeError("odd\nthing"),
            3,
            "internal error: RuntimeError: odd\\nthing (FAULTS_TRACEBACK=1 shows where)",
        ),
        (MemoryError(), 3, "internal error: MemoryError:  (FAULTS_TRACEBACK=1 shows where)"),
    ],
)
def test_every_error_is_one_line_without_a_traceback(
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fail(monkeypatch, error)
    assert main(["run", "--all"]) == code
    assert error_line(capsys) == line


def test_the_traceback_is_there_for_whoever_asks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAULTS_TRACEBACK", "1")
    fail(monkeypatch, RuntimeError("odd"))
    assert main(["run", "--all"]) == 3
    assert "Traceback (most recent call last)" in capsys.readouterr().err


# run: progress and the real thing


@pytest.mark.parametrize(("terminal", "shown"), [(True, True), (False, False)])
def test_progress_is_for_terminals_only(terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = answer(monkeypatch, made_report())
    monkeypatch.setattr(
        sys, "stderr", SimpleNamespace(isatty=lambda: terminal, write=len, flush=lambda: None)
    )
    main(["run", "--all"])
    assert (calls[0]["progress"] is not None) is shown


def test_quiet_has_no_progress_even_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = answer(monkeypatch, made_report())
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True, write=len, flush=lambda: None))
    main(["run", "--all", "-q"])
    assert calls[0]["progress"] is None


def test_a_real_run_catches_its_fault_and_repeats_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "flipped_triangle", "--examples", "12", "-v"]) == 0
    first = capsys.readouterr()
    assert main(["run", "flipped_triangle", "--examples", "12", "-v"]) == 0
    assert capsys.readouterr().out == first.out
    assert first.err == ""


# list and show


def test_list_names_the_five_and_lists_variants_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--format", "tsv"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[3:8]] == list(NAMES)
    assert main(["list", "-v", "--format", "tsv"]) == 0
    assert "mask_adds_zero/weak" in capsys.readouterr().out


def test_show_explains_the_first_variant_unless_another_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "mask_adds_zero"]) == 0
    assert "Variant zero, on " in capsys.readouterr().out
    assert main(["show", "mask_adds_zero", "--variant", "weak"]) == 0
    assert "Variant weak, on " in capsys.readouterr().out


def test_show_takes_several_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "missing_scale", "head_seq_swap", "--lang", "zh"]) == 0
    text = capsys.readouterr().out
    assert text.index("missing_scale：") < text.index("head_seq_swap：")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "no fault named, required is one of: residual_shape, missing_scale"),
        (["mask"], "unknown fault 'mask'; required is one of: residual_shape"),
        (
            ["mask_adds_zero", "--variant", "weka"],
            "unknown variant of mask_adds_zero 'weka'; did you mean 'weak'?",
        ),
        (["mask_adds_zero", "--format", "x"], "unknown table format 'x'; required is one of: asciidoc"),
    ],
)
def test_show_refuses_what_it_does_not_know(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", *arguments]) == 2
    assert error_line(capsys).startswith(line)


def test_a_false_alarm_on_the_correct_block_exits_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    examined = mutants.examined

    def alarmed(fixture: Fixture) -> Examination:
        found = examined(fixture)
        return replace(found, signals=(replace(found.signals[0], value=float("nan")), *found.signals[1:]))

    monkeypatch.setattr(mutants, "examined", alarmed)
    assert main(["run", "--all", "--examples", "2", "-q"]) == 3
    assert "nothing was injected" in capsys.readouterr().out
