"""The page as a file: what is in it, what is not, and that nothing a subject says can leave its place."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.model import Report
from reports.json_report import to_json
from reports.page import document
from tests.reports.made_report import made_report

HERE = Path(document.__file__).parent
VENDOR = Path(__file__).parent.parent / "vendor"

HOSTILE = "</script><script>stolen = 1</script>&amp;<!--\u2028\ud800"

ALLOWED_REFERENCES = re.compile(r"#[a-z]+")


class Elements(html.parser.HTMLParser):
    """Every start tag with its attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] in ("script", "style") and data.strip():
            self.raw.append((self.tags[-1][0], data))


@pytest.fixture(scope="session", params=["alone", "with a subject"])
def page(request: pytest.FixtureRequest, saved: Report, own: dict[str, Any]) -> str:
    return document.render(saved, subject=own if request.param == "with a subject" else None)


def embedded_in(page: str) -> dict[str, Any]:
    text = page.partition('<script type="application/json" id="data">')[2].partition("</script>")[0]
    tree: dict[str, Any] = json.loads(text)
    return tree


def whole(tree: dict[str, Any]) -> dict[str, Any]:
    """The report with each matrix in its place again, and each count that is 0."""

    def put_back(branch: Any) -> Any:
        if isinstance(branch, list):
            return [put_back(inner) for inner in branch]
        if not isinstance(branch, dict):
            return branch
        if set(branch) == {"pooled"}:
            return tree["matrices"][branch["pooled"]]
        return {name: put_back(inner) for name, inner in branch.items()}

    found: dict[str, Any] = put_back(tree["report"])
    none = {detector["name"]: 0 for detector in found["detectors"]}
    for row in (row for fault in found["faults"] for row in fault["variants"]):
        row |= {name: none | row[name] for name in ("kills", "observed")}
    return found


def test_the_page_is_under_400_kilobytes(page: str) -> None:
    assert len(page.encode("utf-8")) < 400_000


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    for tag, attributes in Elements(page).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert "href" not in attributes or ALLOWED_REFERENCES.fullmatch(attributes["href"] or "")
    assert "url(" not in page
    assert "@import" not in page


def test_there_is_no_inline_handler_and_no_inline_style(page: str) -> None:
    for _, attributes in Elements(page).tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_the_policy_names_the_one_script_and_the_one_style_by_hash_and_nothing_else(page: str) -> None:
    found = Elements(page)
    policy = next(a["content"] for tag, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in (policy or "").split(";"))
    script = [text for tag, text in found.raw if tag == "script"][-1]
    style = next(text for tag, text in found.raw if tag == "style")
    digests = [base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in (script, style)]
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'sha256-{digests[0]}'"
    assert rules["style-src"] == f"'sha256-{digests[1]}'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in (policy or "")


def test_the_policy_stands_before_anything_it_governs(page: str) -> None:
    assert page.index("Content-Security-Policy") < page.index("<style>") < page.index("<script")


def test_the_script_builds_no_markup_from_text() -> None:
    script = "\n".join(map(document.read, document.SCRIPTS))
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert way not in script


def test_every_file_of_the_script_is_used() -> None:
    assert sorted(path.name for path in HERE.glob("*.js")) == sorted(document.SCRIPTS)


def test_every_data_file_is_named_in_the_package_data() -> None:
    settings = (HERE.parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.search(r"^reports = \[(.*)\]$", settings, re.MULTILINE)
    assert declared is not None
    for path in HERE.iterdir():
        if path.suffix not in (".py", "") and path.name != "__pycache__":
            assert f'"page/*{path.suffix}"' in declared[1]


def test_the_report_comes_through_the_page_unchanged(saved: Report, page: str) -> None:
    found = whole(embedded_in(page))
    for demonstration in found["page"]["demonstrations"]:
        for stage in demonstration["stages"]:
            stage |= {run: stage["before"] for run in ("after", "repaired") if stage[run] == "same"}
    assert found == json.loads(to_json(saved))


def test_a_hostile_name_cannot_end_the_data(saved: Report) -> None:
    plain = document.render(saved)
    faults = (replace(saved.faults[0], name=HOSTILE, title={"en": HOSTILE, "zh": HOSTILE}), *saved.faults[1:])
    page = document.render(replace(saved, faults=faults))
    assert page.count("<script") == plain.count("<script") == 2
    assert embedded_in(page)["report"]["faults"][0]["name"] == HOSTILE
    page.encode("utf-8")


@pytest.mark.parametrize("letter", ["<", ">", "&", "\u2028", "\u2029"])
def test_letters_with_a_meaning_in_markup_never_stand_in_the_data(letter: str) -> None:
    text = document.embedded({"name": f"a{letter}b"})
    assert letter not in text
    assert json.loads(text) == {"name": f"a{letter}b"}


def test_what_is_put_into_the_template_is_not_looked_at_again() -> None:
    assert document.filled("{{a}}-{{b}}", {"a": "{{b}}", "b": "2"}) == "{{b}}-2"


@pytest.mark.parametrize("language", ["en", "zh", ""])
def test_the_language_asked_for_stands_in_the_page(language: str) -> None:
    page = document.render(made_report(), language)
    assert f'<html lang="{language or "en"}" data-language="{language}">' in page


def test_both_languages_have_the_same_words_with_the_same_places() -> None:
    english, chinese = (document.words()[language] for language in document.LANGUAGES)
    assert list(english) == list(chinese)
    for key, text in english.items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", chinese[key])), key
        assert text.strip()
        assert chinese[key].strip()


def test_every_word_asked_for_exists_and_every_word_is_asked_for() -> None:
    script = "\n".join(map(document.read, document.SCRIPTS))
    template = document.read("page.html") + document.read("subject.html") + document.LINK
    asked = set(re.findall(r'data-say(?:-label)?="([^"]+)"', template)) | set(
        re.findall(r'say\("([^"]+)"', script)
    )
    known = set(document.words()["en"])
    assert asked <= known
    families = re.findall(r"(?:say\(`|named\(\")([a-z ]+)(?:\.\$|\")", script)
    started = {key for key in known if key.split(".")[0] in {*families, "bridges", "analogies"}}
    choices = {"attention.no residual", "attention.residual", "stage.axes", "stage.same"}
    assert known - asked - started - choices == set()


def test_the_accessibility_checker_is_the_published_one() -> None:
    # sha256 of axe.min.js 4.14.1, as its own sri-history.json states it.
    digest = hashlib.sha256((VENDOR / "axe.min.js").read_bytes()).digest()
    assert base64.b64encode(digest).decode() == "KTSJmUUM3yhJqOcLeRL8LahahJ2jnA0NU5T1HUqe2Vw="
    assert "Mozilla Public License" in (VENDOR / "axe-core.LICENSE").read_text(encoding="utf-8")
