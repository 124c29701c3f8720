"""`faults page --subject` in-process: somebody's own code in the page, verdicts and codes as `faults check` gives."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults import campaign
from faults.__main__ import main
from faults.model import Report, Status
from reports.page import document
from tests.faults.check_subjects import FAULTY, SOUND
from tests.reports.made_report import made_report

FILE = (
    SOUND
    + FAULTY
    + """
import time

class Hangs(Block):
    def call(self, x):
        time.sleep(1000)
"""
)


pytestmark = pytest.mark.usefixtures("english")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mine") / "mine.py"
    made.write_text(FILE)
    return made


def subject_of(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8").partition('<script type="application/json" id="data">')[2]
    tree: dict[str, Any] = json.loads(text.partition("</script>")[0])
    found: dict[str, Any] = tree["subject"]
    return found


@pytest.mark.parametrize(
    ("name", "more", "code"),
    [
        ("sound", (), 0),
        ("Leaky", (), 1),
        ("Leaky", ("--no-causal",), 0),
        ("Weak", ("--seed", "3"), 0),
        ("Weak", ("--strict",), 1),
    ],
)
def test_verdict_numbers_and_code_are_those_of_check(
    name: str, more: tuple[str, ...], code: int, file: Path, saved: str, tmp_path: Path
) -> None:
    out, found = tmp_path / "page.html", tmp_path / "check.json"
    assert (
        main(["page", "--from", saved, "--subject", f"{file}:{name}", "--out", str(out), "-q", *more]) == code
    )
    assert main(["check", f"{file}:{name}", "--json", str(found), "-q", *more]) == code
    (checked,) = json.loads(found.read_text(encoding="utf-8"))["subjects"]
    (part,) = subject_of(out)["parts"]
    assert (part["name"], part["verdict"]) == (checked["subject"], checked["verdict"])
    texts = subject_of(out)["texts"]
    for shown, contract in zip(part["contracts"], checked["contracts"], strict=True):
        assert {**shown, "reason": ""} == {**contract, "reason": ""}
        assert contract["reason"] in texts[shown["reason"]]["en"]
    named = [{key: one[key] for key in ("fault", "variant", "distance")} for one in part["nearest"]]
    assert named == checked["diagnosis"][: len(named)]
    assert bool(named) == (checked["verdict"] in ("broken", "fragile"))


def test_a_saved_report_and_a_fresh_look_stand_in_one_page(file: Path, saved: str, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    main(["page", "--from", saved, "--subject", f"{file}:Leaky", "--out", str(out), "-q"])
    text = out.read_text(encoding="utf-8")
    assert text.index('<section id="subject"') < text.index('<section id="faults"')
    assert '"seed":5' in text
    block = next(look for look in subject_of(out)["parts"][0]["looks"] if look["probe"] == "block")
    assert all(share > 0 for row in block["matrix"] for share in row)


def test_without_a_subject_nothing_of_it_is_in_the_page(
    saved: str, page_report: Report, tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    assert main(["page", "--from", saved, "--out", str(out), "-q"]) == 0
    text = out.read_text(encoding="utf-8")
    assert text == document.render(page_report)
    assert "subject-" not in text
    assert '"subject' not in text


@pytest.mark.parametrize(("status", "code"), [(Status.KILLED, 1), (Status.ERROR, 3)])
def test_the_worse_code_of_the_run_and_of_the_subject_counts(
    status: Status, code: int, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made_report().faults[0]
    rows = (replace(first.variants[0], status=status), *first.variants[1:])
    fresh = replace(made_report(), faults=(replace(first, variants=rows), *made_report().faults[1:]))
    monkeypatch.setattr(campaign, "run", lambda *faults, **options: fresh)
    out = tmp_path / "page.html"
    assert main(["page", "--subject", f"{file}:Leaky", "--out", str(out), "-q"]) == code
    assert out.exists()


@pytest.mark.parametrize(
    ("name", "more", "code", "said"),
    [
        ("nothing", (), 3, "has no attribute 'nothing'"),
        ("Hangs", ("--timeout", "1"), 3, "did not answer within 1 seconds"),
        ("bare", (), 2, "what is it? say --kind"),
    ],
)
def test_a_subject_that_cannot_be_used_is_one_line_and_no_page_is_written_over(
    name: str,
    more: tuple[str, ...],
    code: int,
    said: str,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(campaign, "run", lambda *faults, **options: pytest.fail("nothing is to be run"))
    out = tmp_path / "page.html"
    out.write_text("what was there", encoding="utf-8")
    assert main(["page", "--subject", f"{file}:{name}", "--out", str(out), *more]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert out.read_text(encoding="utf-8") == "what was there"
    assert main(["check", f"{file}:{name}", *more]) == code
    assert capsys.readouterr().err == shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--subject", "a:b", "--subject", "c:d"], "--subject: found 2, required is one"),
        (["--heads", "4"], "--heads describes a subject, found none; name it with --subject"),
        (["--no-causal"], "--causal describes a subject"),
        (["--window", "0"], "--window describes a subject"),
        (["--timeout", "5"], "--timeout describes a subject"),
        (["--strict"], "--strict describes a subject"),
        (["--subject", "a:b", "--timeout", "0"], "--timeout: found 0, required is more than 0 seconds"),
        (["--subject", "a:b", "--cwd", "/no/such/folder"], "--cwd: found no folder"),
        (["--subject", "a:b", "--heads", "4", "--kv-heads", "3"], "required: a divisor of heads = 4"),
    ],
)
def test_a_subject_that_cannot_be_meant_is_refused_before_anything_runs(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(campaign, "run", lambda *faults, **options: pytest.fail("nothing is to be run"))
    monkeypatch.chdir(tmp_path)
    assert main(["page", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--subject", "a:b", "--subject", "c:d"], "只能有一个"),
        (["--heads", "4"], "--heads 描述的对象没有给出"),
    ],
)
def test_refusals_are_chinese_where_chinese_is_asked_for(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["page", "--lang", "zh", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_the_page_is_written_beside_pictures_where_a_subject_is_named(
    file: Path, saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["page", "--from", saved, "--subject", f"{file}:sound", "--svg", "drawn", "-q"]) == 0
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "drawn").is_dir()
