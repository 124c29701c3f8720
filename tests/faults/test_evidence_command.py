"""`faults evidence` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from faults import __main__, reference
from faults.commands.evidence import main
from faults.evidence_yaml import parse
from faults.model import UsageError

TEMPLATE = """\
schema: learn-llm.evidence.v1
module: 07-attention-transformer
commit: <learner-commit-sha>
verified_at: <iso-date>
environment: <sanitized-python-device>
seed: 5
commands:
  - PYTHONPATH=python python -m pytest python/tests/test_attention_gpt.py -q
  - PYTHONPATH=python python -m pytest python/tests/test_transformer_contract.py -q
  - PYTHONPATH=python python -m pytest python/tests/test_attention_ablation.py -q
metrics:
  - name: future_token_invariance
    expected: <versioned-tolerance>
    actual: <recorded-value>
  - name: reference_output_max_error
    expected: <versioned-tolerance>
    actual: <recorded-value>
  - name: no_mask_future_prefix_influence
    expected: >1e-5
    actual: <recorded-value>
  - name: scale_ablation_max_weight_delta
    expected: >0.01
    actual: <recorded-value>
  - name: residual_ablation_max_output_delta
    expected: >1e-5
    actual: <recorded-value>
artifacts:
  - <learner-repo-relative-artifact-path>
cost:
  gross_usd: 0
  credit_usd: 0
licenses:
  - source: <source>
    version: <version>
    license: <license>
    attribution: <attribution>
    redistribution: <redistribution>
known_failures:
  - <sanitized-failure-or-none>
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Git repository with one commit, which is the current folder."""
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"]
    for words in (["init", "-q"], commit):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.setenv("LC_ALL", "C")
    return tmp_path


def refused(*argv: str) -> str:
    with pytest.raises(UsageError) as error:
        main(list(argv))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_our_own_record_is_complete_evidence(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", "a/b"]) == 0
    assert "all five metrics hold" in capsys.readouterr().out
    assert sorted(path.name for path in (repository / "a/b").iterdir()) == [
        "evidence.json",
        "evidence.yaml",
        "intermediates.npz",
    ]
    assert main(["--check", "a/b/evidence.yaml"]) == 0
    assert "complete: every field is filled" in capsys.readouterr().out


def test_two_runs_write_and_print_the_same_bytes(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []
    for _ in range(2):
        assert main([]) == 0
        files = sorted((repository / "evidence").iterdir())
        seen.append((capsys.readouterr().out, [path.read_bytes() for path in files]))
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("argv", "seed"), [([], 5), (["--seed", "0"], 0), (["--seed", str(2**63 - 1)], 2**63 - 1)]
)
def test_the_seed_is_the_chapters_or_the_one_that_is_named(
    repository: Path, argv: list[str], seed: int
) -> None:
    assert main(argv) == 0
    assert json.loads(Path("evidence/evidence.json").read_text())["seed"] == seed
    text = Path("evidence/evidence.yaml").read_text()
    assert f"\nseed: {seed}\n" in text
    assert f"- python -m faults evidence --seed {seed}\n" in text


def test_the_record_says_nothing_of_the_folder_it_was_made_in(repository: Path) -> None:
    assert main(["--out", str(repository / "out")]) == 0
    for name in ("evidence.yaml", "evidence.json"):
        assert str(repository) not in (repository / "out" / name).read_text()


def test_outside_a_repository_the_record_says_that_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "no commit: faults evidence --check will refuse this record; write it in a Git repository" in out
    assert main(["--check", "evidence/evidence.yaml", "--root", "evidence"]) == 1
    out = capsys.readouterr().out
    assert "problems (1)" in out
    assert "commit: found 'none: this record was not written in a Git repository" in out


def test_the_commit_is_that_of_the_repository_the_record_is_written_in(
    repository: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(elsewhere))
    out = repository / "not" / "yet"
    assert main(["--out", str(out)]) == 0
    assert "no commit" not in capsys.readouterr().out
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert f'commit: "{head.stdout.strip()}"\n' in (out / "evidence.yaml").read_text()
    assert main(["--check", str(out / "evidence.yaml")]) == 0


def test_the_template_of_the_chapter_gives_one_line_per_placeholder_and_one_for_yaml(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("template.yaml").write_text(TEMPLATE)
    assert main(["--check", "template.yaml"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert TEMPLATE.count("<") == 17
    assert sum("is not filled in" in line for line in lines) == 17
    assert sum("not valid YAML" in line for line in lines) == 1
    assert "problems (18)" in lines
    assert sum(line.startswith("  [missing] ") for line in lines) == 4
    assert lines[-1] == "incomplete: 18 problem(s), 4 of 4 parts missing"


def test_the_template_with_its_bounds_in_quotes_has_its_placeholders_left(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quoted = TEMPLATE.replace(">1e-5", '">1e-5"').replace(">0.01", '">0.01"')
    Path("template.yaml").write_text(quoted)
    assert main(["--check", "template.yaml", "--lang", "zh"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert sum("尚未填写" in line for line in lines) == 17
    assert "问题（17 个）" in lines


def test_a_figure_out_of_bounds_ends_with_1(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = reference.Example.expected
    monkeypatch.setattr(reference.Example, "expected", lambda self: expected(self) + 1)
    assert main([]) == 1
    assert "1 of 5 metrics out of bounds" in capsys.readouterr().out
    assert main(["--check", "evidence/evidence.yaml"]) == 1


@pytest.mark.parametrize("name", ["evidence.yaml", "evidence.json", "intermediates.npz"])
def test_a_file_of_somebody_else_is_left_alone_unless_forced(repository: Path, name: str) -> None:
    folder = repository / "evidence"
    folder.mkdir()
    (folder / name).write_text("precious")
    assert "did not write" in refused()
    assert (folder / name).read_text() == "precious"
    assert [path.name for path in folder.iterdir()] == [name]
    assert main(["--force"]) == 0
    assert (folder / name).read_bytes() != b"precious"


def test_a_record_that_was_edited_is_left_alone(repository: Path) -> None:
    assert main([]) == 0
    record = repository / "evidence" / "evidence.yaml"
    record.write_text(record.read_text() + "# my note\n")
    assert "changed since" in refused()
    assert record.read_text().endswith("# my note\n")


def test_a_link_is_replaced_and_not_what_it_points_to(repository: Path) -> None:
    (repository / "evidence").mkdir()
    (repository / "precious").write_text("precious")
    (repository / "evidence" / "evidence.yaml").symlink_to("../precious")
    assert "did not write" in refused()
    assert main(["--force"]) == 0
    assert (repository / "precious").read_text() == "precious"


def test_the_result_is_also_written_as_json(repository: Path) -> None:
    assert main(["--json", "run.json"]) == 0
    assert Path("run.json").read_bytes() == Path("evidence/evidence.json").read_bytes()
    Path("template.yaml").write_text(TEMPLATE)
    assert main(["--check", "template.yaml", "--json", "check.json"]) == 1
    found = json.loads(Path("check.json").read_text())
    assert found["complete"] is False
    assert len(found["problems"]) == 18
    assert [part["present"] for part in found["gate"]] == [False] * 4


@pytest.mark.parametrize(
    ("argv", "required"),
    [
        (["--check", "nowhere.yaml"], "no such file"),
        (["--check", "a\0b"], "no such file"),
        (["--check", "x" * 5000], "no such file"),
        (["--check", "."], "not a regular file"),
        (["--check", "pipe"], "not a regular file"),
        (["--check", "file", "--root", "nowhere"], "no such folder"),
        (["--check", "file", "--root", "file"], "no such folder"),
        (["--check", "file", "--out", "x"], "--out is for measuring"),
        (["--check", "file", "--seed", "5"], "--seed is for measuring"),
        (["--check", "file", "--force"], "--force is for measuring"),
        (["--check", "file", "--json", "file"], "--json names the file to check"),
        (["--check"], "expected one argument"),
        (["--root", "."], "--root needs --check"),
        (["--seed", "-1"], "required is 0 to"),
        (["--seed", str(2**63)], "required is 0 to"),
        (["--seed", "five"], "invalid int value"),
        (["--out", "file"], "found a file, required is a folder"),
        (["--out", "file/x"], "cannot be written"),
        (["--json", "nowhere/x"], "no folder"),
        (["--json", "evidence/evidence.yaml"], "no folder"),
        (["--out", ".", "--json", "evidence.yaml"], "one of the files in --out"),
        (["file"], "unrecognized arguments"),
    ],
)
def test_a_command_line_that_cannot_be_meant_is_refused(
    repository: Path, argv: list[str], required: str
) -> None:
    (repository / "file").write_text("precious")
    os.mkfifo(repository / "pipe")
    assert required in refused(*argv)
    assert (repository / "file").read_text() == "precious"
    assert sorted(path.name for path in repository.iterdir()) == [".git", "file", "pipe"]


@pytest.mark.parametrize("epoch", ["yesterday", "1e9", "9" * 30])
def test_a_fixed_time_that_is_no_time_is_refused(
    repository: Path, monkeypatch: pytest.MonkeyPatch, epoch: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert "whole seconds since 1970" in refused()


def test_a_folder_in_the_place_of_a_file_is_refused_even_by_force(repository: Path) -> None:
    (repository / "evidence" / "evidence.yaml").mkdir(parents=True)
    assert "evidence.yaml" in refused("--force")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read_ends_with_3(repository: Path) -> None:
    (repository / "secret").write_text("x")
    (repository / "secret").chmod(0)
    assert __main__.main(["evidence", "--check", "secret"]) == 3


def test_a_file_that_fails_while_it_is_read_ends_with_3(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    Path("record.yaml").write_text(TEMPLATE)
    monkeypatch.setattr(Path, "open", fail)
    assert __main__.main(["evidence", "--check", "record.yaml"]) == 3
    assert capsys.readouterr().err == "faults: record.yaml: cannot be read (Permission denied)\n"


def test_errors_are_one_line_with_exit_code_2_in_both_languages(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert __main__.main(["evidence", "--check", "nowhere.yaml"]) == 2
    assert __main__.main(["evidence", "--check", "nowhere.yaml", "--lang", "zh"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "faults: --check 'nowhere.yaml': found no such file, required is a file of evidence",
        "faults: --check 'nowhere.yaml'：文件不存在；需要一份 evidence 文件",
    ]


def test_the_commit_of_the_record_is_in_quotes(repository: Path) -> None:
    assert main([]) == 0
    text = Path("evidence/evidence.yaml").read_text()
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert f'commit: "{head}"\n' in text
    tree = parse(text).tree
    assert isinstance(tree, dict)
    assert tree["verified_at"] == "1970-01-02T00:00:00Z"
