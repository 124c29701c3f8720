"""What the two READMEs claim: their tables against a run, their commands against the programs, their examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from faults import campaign, registry, verdict
from faults.__main__ import main
from faults.commands import VERBS
from faults.model import Report
from reports import campaign as drawn

ROOT = Path(__file__).parents[1]
READMES = {"en": "README.md", "zh": "README.zh-CN.md"}

WITNESSING = re.compile(r"(\d+)/(\d+)/100")
COMMAND = re.compile(r"(?:python -m faults|`faults) ([a-z][a-z-]*)((?: +[^`\n]+)?)")
MACHINE = re.compile(
    r"(?<![\w.])(?:/(?:work|tmp|root|home|Users|mnt|opt|var)\b|~/|[A-Za-z]:\\|localhost|\d+\.\d+\.\d+\.\d+)"
)


def text(language: str) -> str:
    return (ROOT / READMES[language]).read_text(encoding="utf-8")


def tables(source: str) -> list[list[list[str]]]:
    """Every table of a Markdown text: its rows, each a list of cells."""
    found = re.findall(r"(?:^\|.*\n)+", source, re.M)
    return [[_cells(line) for line in table.splitlines() if set(line) - set("|-: ")] for table in found]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@pytest.fixture(scope="module")
def report() -> Report:
    return campaign.run(registry.all_faults(), examples=100, seed=0)


def measured(report: Report, language: str) -> tuple[list[list[str]], list[list[str]]]:
    """The report's table of faults, and what other tests alone would have caught."""
    faults, _, alone = tables(drawn.render(report, verdict.problems(report, None), language, "github"))
    return faults, alone


@pytest.mark.parametrize("language", READMES)
def test_the_table_of_faults_is_that_of_a_run(report: Report, language: str) -> None:
    claimed, found = tables(text(language))[0], measured(report, language)[0]
    assert len(found) == 6
    assert [row[:4] + row[5:] for row in claimed] == [row[:4] + row[5:] for row in found]
    assert claimed[0] == found[0]


@pytest.mark.parametrize("language", READMES)
def test_the_counts_are_of_100_fixtures_all_caught_and_at_least_90_witnessing(
    report: Report, language: str
) -> None:
    for table in (tables(text(language))[0], measured(report, language)[0]):
        for row in table[1:]:
            counts = WITNESSING.fullmatch(row[4])
            assert counts is not None, row[4]
            assert counts[1] == counts[2]
            assert 90 <= int(counts[2]) <= 100


@pytest.mark.parametrize("language", READMES)
def test_what_other_tests_alone_catch_is_what_a_run_says(report: Report, language: str) -> None:
    assert tables(text(language))[1] == measured(report, language)[1]


@pytest.mark.parametrize("language", READMES)
def test_every_verb_is_in_the_table_of_verbs(language: str) -> None:
    rows = tables(text(language))[3][1:]
    assert {verb for row in rows for verb in re.findall(r"`([a-z-]+)", row[0])} == set(VERBS)


def commands(language: str) -> list[tuple[str, list[str]]]:
    """(verb, options) of every command line in the text and in the table of verbs."""
    source = text(language)
    found = [*COMMAND.findall(source)]
    found += [(verb, rest) for verb, rest in re.findall(r"`([a-z-]+)( [^`]*)?`", source) if verb in VERBS]
    return [(verb, re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) for verb, rest in found]


@pytest.mark.parametrize("language", READMES)
def test_every_command_is_one_that_the_program_takes(
    language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = commands(language)
    assert {verb for verb, _ in lines} == set(VERBS)
    for verb, options in lines:
        assert main([verb, "--help"]) == 0
        known = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", capsys.readouterr().out))
        assert set(options) <= known, (verb, options)


@pytest.mark.parametrize("language", READMES)
def test_every_benchmark_is_there_with_its_options(language: str) -> None:
    named = re.findall(r"python -m benchmarks\.(\w+)((?: --[a-z-]+)*)", text(language))
    assert len(named) == 3
    for module, options in named:
        source = (ROOT / "benchmarks" / f"{module}.py").read_text(encoding="utf-8")
        assert all(f'"{option}"' in source for option in options.split())


@pytest.mark.parametrize("language", READMES)
def test_no_path_or_host_of_a_machine_stands_in_it(language: str) -> None:
    assert MACHINE.findall(text(language)) == []


def example(language: str, name: str) -> str:
    """The indented source that begins with a comment of this name."""
    found = re.search(rf"^    # {re.escape(name)}\n((?:    .*\n|\n)+)", text(language), re.M)
    assert found is not None
    return "\n".join(line.removeprefix("    ") for line in found[1].splitlines())


def squeezed(written: str) -> str:
    return " ".join(written.split())


def quoted(language: str, start: str) -> str:
    """The indented lines from the one that begins so, as one line."""
    found = re.search(rf"^    {re.escape(start)}.*\n(?:    .*\n)*", text(language), re.M)
    assert found is not None
    return squeezed(found[0])


@pytest.mark.parametrize(("language", "start"), [("en", "Expected: 0"), ("zh", "若各分量独立")])
def test_the_quoted_answer_is_that_of_the_quiz(
    language: str, start: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quiz", "--lang", language, "--format", "github"]) == 0
    said = squeezed(capsys.readouterr().out.replace("\\", ""))
    assert "6.38" in quoted(language, start)
    assert quoted(language, start).replace(" ", "") in said.replace(" ", "")


@pytest.mark.parametrize(("language", "start"), [("en", "fault  "), ("zh", "故障  ")])
def test_the_example_of_check_gives_what_is_quoted(
    language: str,
    start: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "my_attention.py").write_text(example(language, "my_attention.py"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    declared = ["--kind", "self_attention", "--heads", "4", "--width", "32"]
    assert main(["check", "my_attention.py:SelfAttention", *declared, "--lang", language]) == 1
    assert quoted(language, start) in squeezed(capsys.readouterr().out)


@pytest.mark.parametrize("language", READMES)
def test_the_example_of_evidence_gives_what_is_quoted(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["evidence", "--lang", language]) == 0
    assert quoted(language, "future_token_invariance") in squeezed(capsys.readouterr().out)


@pytest.mark.parametrize("language", READMES)
def test_every_verdict_of_check_is_explained_with_its_exit_code(language: str) -> None:
    rows = re.findall(r"^- `(\w+)`(?:（.*?）)?.*?(?:exit|退出码) (\d)", text(language), re.M)
    assert dict(rows) == {"sound": "0", "undecided": "0", "fragile": "0", "broken": "1"}
    assert set(re.findall(r"`(unusable)`.*?(?:exit|退出码) 3", text(language))) == {"unusable"}
    assert {"--strict", "--norm pre", "--norm post"} <= set(
        re.findall(r"`(--[a-z]+(?: [a-z]+)?)`", text(language))
    )


@pytest.mark.parametrize("language", READMES)
def test_the_example_of_a_test_suite_fails_with_what_is_quoted(language: str) -> None:
    pytest.importorskip("jax")
    space: dict[str, object] = {}
    exec(compile(example(language, "test_attention.py"), "test_attention.py", "exec"), space)
    from detectors.testing import check_subject

    found = check_subject(space["attention"], kind="attention")
    broken = {one.detector.name: one.value for one in found.findings if one.verdict == "broken"}
    for name in re.findall(r"^    (\w+): .*found [\d.]+ \w+, required", text(language), re.M):
        assert f"{name}: {broken[name]:.3g}" == f"{name}: {_claimed(language, name)}"


def _claimed(language: str, name: str) -> str:
    found = re.search(rf"^    {name}: .*found ([\d.]+)", text(language), re.M)
    assert found is not None
    return found[1]
