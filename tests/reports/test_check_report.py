"""The report of `faults check`, drawn from answers made by hand."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from detectors import checking, declaration, foreign, looked_for, norm_formula
from detectors.attention.slope import Scale
from detectors.catalogue import BY_NAME
from detectors.checking import ACCESS, ASSUMED, UNREACHED, Checked, Finding
from detectors.declaration import Declaration
from detectors.diagnosis import Candidate
from detectors.fixtures import Extents, Fixture
from detectors.looked_for import FAILED
from detectors.subject import Subject
from faults import subjects
from faults.answers import ABSENT, CHECKED, HIDDEN, PART, Answer, Coverage, Holes, Named, Witness
from faults.coverage import SIZES
from reports import check, check_json, check_junit, check_words
from reports.check_reasons import REASONS, translated
from reports.check_words import COVERED, MEANING, PATTERNS, VERDICTS, WORDS

FIXTURE = Fixture(Extents(batch=1, tokens=2, heads=2, kv_heads=2, head_width=3), seed=7)


def finding(name: str, value: float | None, verdict: str, reason: str = "it can be called") -> Finding:
    return Finding(BY_NAME[name], value, verdict, reason, FIXTURE if verdict == "broken" else None)


FINDINGS = (
    finding("finite", 0.0, "holds"),
    finding("future", 0.5, "broken"),
    finding("skip", math.nan, "broken"),
    finding("slope", None, "not observable", UNREACHED),
    finding("heads", None, "not applicable", ASSUMED["reference"]),
)


COVERAGE = (
    Coverage("residual_shape", ABSENT, "a subject of kind attention has no residual"),
    Coverage("missing_scale", HIDDEN, UNREACHED, ("absent", "twice")),
    Coverage("mask_adds_zero", CHECKED),
    Coverage("flipped_triangle", PART, UNREACHED, ("diagonal_lost",)),
)


def answer(**changes: Any) -> Answer:
    candidates = (Candidate("mask_adds_zero", "zero", 0.25), Candidate("rows_interact", "mixed", 0.5))
    checked = Checked(
        Subject("it", None), "broken", FINDINGS, candidates, ("mask_adds_zero",), {"block": "full"}, ("A: b",)
    )
    five = Named("mask_adds_zero", "zero", 0.25, both("leaks"), both("fill with -inf"), own=True)
    other = Named("rows_interact", "mixed", 0.5, both("rows mix"), both("batch_first"), own=False)
    made = Answer(
        subject="my.py:Block",
        checked=checked,
        declared=Declaration(kind="block", heads=2, width=6),
        notes=("bfloat16 parameters were examined as float32",),
        nearest=(five,),
        runner_up=other,
        witness=Witness(FINDINGS[1], FIXTURE),
        advice=("--no-causal",),
        questions=(foreign.HEADS,),
        covered=COVERAGE,
        holes=Holes((1, 3), 5),
    )
    return replace(made, **changes)


def both(text: str) -> dict[str, str]:
    return {"en": f"it {text}", "zh": f"它 {text}"}


UNUSABLE = Answer("gone.py:f", cause="there is no file gone.py", code=3)


def rendered(language: str = "en", verbosity: int = 0, *answers: Answer) -> str:
    return check.render(answers or (answer(),), language, "plain", verbosity)


@pytest.mark.parametrize(
    "line",
    [
        "BROKEN my.py:Block",
        "5 contracts",
        "mask_adds_zero/zero, distance 0.25; it leaks",
        "rows_interact/mixed, distance 0.50",
        "future = 0.5 (threshold 1e-6): moving a later token changes no earlier output",
        "skip = nan (threshold 0.01)",
        "through the whole: everything sees everything",
        "A: b",
        "it fill with -inf",
        "B=1 T=2 H=2 Hkv=2 d_k=3 float64 seed=7: future = 0.5",
        "mask_adds_zero    checked",
        "missing_scale     not observable: its attention can be neither called nor followed; to see it, give",
        "flipped_triangle  checked, but not for diagonal_lost: its attention can be neither called nor followed",
        "residual_shape    does not apply: a subject of kind attention has no residual",
        "not finite         the output of token 1, 3 of 5: look at what its row of the mask hides",
        "block, causal (assumed), heads=2, width=6, dtype=float32",
        "declare --no-causal",
        "bfloat16 parameters were examined as float32",
        "how many heads are there? say --heads N",
    ],
)
def test_everything_that_was_found_is_said(line: str) -> None:
    if line == "5 contracts":
        line = "3 contracts measured, 2 of them broken; 1 could not be observed, 1 do not apply"
    assert " ".join(line.split()) in " ".join(rendered().split())


def with_scale(scale: Scale | None, *findings: Finding) -> Answer:
    return answer(checked=replace(answer().checked or NOTHING, findings=findings, scale=scale))


SLOPE = finding("slope", 1.04, "broken")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            "slope = 1.04 (threshold 0.05): logits are q·k / sqrt(d_k); "
            "scores are multiplied by 0.125; required 1/sqrt(d_k) = 0.354 at d_k = 8",
        ),
        (
            "zh",
            "slope = 1.04（阈值 0.05）：logits 等于 q·k / sqrt(d_k)；"
            "分数乘以了 0.125；应乘以 1/sqrt(d_k) = 0.354（d_k = 8）",
        ),
    ],
)
def test_the_scale_that_was_found_stands_beside_the_slope(language: str, said: str) -> None:
    made = with_scale(Scale(0.125, 4, 8, 9), FINDINGS[1], SLOPE)
    assert [text for _, text in check.diagnosis(made, language)][2:4] == [
        check.diagnosis(answer(), language)[2][1],
        said,
    ]


@pytest.mark.parametrize("scale", [None, Scale(0.125, 4, 8, 9, single=False)])
def test_a_scale_that_is_not_one_number_is_not_shown(scale: Scale | None) -> None:
    assert (
        "evidence",
        "slope = 1.04 (threshold 0.05): logits are q·k / sqrt(d_k)",
    ) in check.diagnosis(with_scale(scale, SLOPE), "en")


def tied(*distances: float) -> tuple[str, str]:
    names = (("mask_adds_zero", "zero"), ("rows_interact", "mixed"), ("softmax_axis", "over_all"))
    near = tuple(Candidate(*name, apart) for name, apart in zip(names, distances, strict=True))
    checked = replace(answer().checked or NOTHING, candidates=near)
    return check.diagnosis(answer(checked=checked), "en")[0][1], check.diagnosis(
        answer(checked=checked), "zh"
    )[0][1]


def test_what_lies_as_near_as_the_defect_named_is_said_to_be_not_told_apart() -> None:
    plain = ("mask_adds_zero/zero, distance 0.25; it leaks", "mask_adds_zero/zero、距离 0.25；它 leaks")
    assert tied(0.25, 0.5, 0.5) == tied(0.25, 0.25 + 1e-8, 0.5) == tied(0.25, 0.5, 0.0) == plain
    assert tied(0.25, 0.25 + 5e-10, 0.25) == (
        f"{plain[0]}; not told apart from rows_interact/mixed, softmax_axis/over_all",
        f"{plain[1]}；无法与 rows_interact/mixed、softmax_axis/over_all 区分",
    )


def test_a_defect_outside_the_five_is_called_so() -> None:
    relative = answer().runner_up
    assert relative is not None
    text = rendered("en", 0, answer(nearest=(relative,)))
    assert "not one of the five  rows_interact/mixed" in text
    assert "none of the known defects looks like this" in rendered(
        "en", 0, answer(nearest=(), runner_up=None)
    )


def test_laws_are_shown_where_they_are_asked_for() -> None:
    assert "the skip path carries x unchanged" in rendered("en", 1)
    assert "logits are q·k / sqrt(d_k)" not in rendered("en", 0)


def test_quiet_output_is_one_line_for_each_subject() -> None:
    sound = replace(answer(), nearest=(), checked=replace(answer().checked or NOTHING, verdict="sound"))
    assert rendered("en", -1, answer(), UNUSABLE, sound).splitlines() == [
        "BROKEN my.py:Block: mask_adds_zero/zero",
        "UNUSABLE gone.py:f: there is no file gone.py",
        "UNDECIDED my.py:Block: sound as far as seen; not observable: missing_scale; "
        "bfloat16 parameters were examined as float32",
    ]


def test_sound_means_that_each_of_the_five_was_looked_for() -> None:
    made = replace(answer().checked or NOTHING, verdict="sound")
    seen = replace(answer(), nearest=(), checked=made, covered=(COVERAGE[0], COVERAGE[2]), notes=())
    words = "each of the five that applies was looked for, and every contract that could be observed holds"
    assert check.headline(seen, "en") == f"SOUND my.py:Block: {words}"
    partly = replace(seen, covered=COVERAGE[2:])
    assert check.headline(partly, "en") == f"SOUND my.py:Block: {words}; in part: flipped_triangle"
    assert [one.exit_code(strict=True) for one in (seen, partly, replace(seen, covered=COVERAGE))] == [
        0,
        0,
        1,
    ]
    assert replace(seen, covered=COVERAGE).exit_code(strict=False) == 0


def test_what_to_give_is_said_once() -> None:
    assert rendered().count('{"call": block, "attention": f}') == 1


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (UNREACHED, '{"call": block, "attention": f}'),
        ("the subject's weights cannot be written", '"weights": {"Wo": Wo, "W2": W2, ...}'),
        (
            "the subject's Wo, W2 could not be found among its weights",
            '"weights": {"Wo": layer.weight.data.T, ...}',
        ),
        (FAILED, ""),
    ],
)
def test_what_was_not_observed_comes_with_what_to_give(reason: str, advice: str) -> None:
    for language in ("en", "zh"):
        assert advice in check_words.access(reason, language)
    assert bool(check_words.access(reason, "en")) == bool(advice)


def test_a_long_reason_does_not_make_every_row_higher() -> None:
    reason = "the call failed: ValueError: " + "long " * 30
    made = replace(
        answer().checked or NOTHING, findings=(finding("finite", None, "not observable", reason),) * 2
    )
    text = check.render([answer(checked=made)], "en", "lines")
    assert "├" in text
    assert text.count("├") == 1
    assert "the call failed: ValueError: long long long long long l..." in text
    assert f"finite, finite: {' '.join(reason.split())}" in " ".join(text.split())


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert "a\\nb.py:f\\x1b[31m" in rendered("en", 0, answer(subject="a\nb.py:f\x1b[31m"))
    made = replace(answer().checked or NOTHING, failures=("ValueError: \x1b[2J",))
    assert "ValueError: \\x1b[2J" in rendered("en", 0, answer(checked=made))


def test_the_kind_of_norm_is_named_where_the_witness_depends_on_it() -> None:
    leading = finding("attention_branch", 0.5, "broken")
    assert "float64 norm=layer seed=7" in rendered("en", 0, answer(witness=Witness(leading, FIXTURE)))


NOTHING = Checked(Subject("it", None), "sound", (), (), (), {}, ())


def test_several_subjects_end_in_a_summary() -> None:
    text = rendered("en", 0, answer(), UNUSABLE)
    assert text.endswith(
        "summary\nBROKEN my.py:Block: mask_adds_zero/zero\nUNUSABLE gone.py:f: there is no file gone.py"
    )


def test_json_holds_every_number_and_says_what_is_none() -> None:
    tree = json.loads(check_json.to_json([answer(), UNUSABLE]))
    first, second = tree["subjects"]
    assert tree["schema_version"] == 1
    assert first == {
        "subject": "my.py:Block",
        "verdict": "broken",
        "diagnosis": [
            {"fault": "mask_adds_zero", "variant": "zero", "distance": 0.25},
            {"fault": "rows_interact", "variant": "mixed", "distance": 0.5},
        ],
        "scale": None,
        "faults": [
            {
                "fault": "residual_shape",
                "seen": "does not apply",
                "reason": "a subject of kind attention has no residual",
                "variants": [],
            },
            {
                "fault": "missing_scale",
                "seen": "not observable",
                "reason": UNREACHED,
                "variants": ["absent", "twice"],
            },
            {"fault": "mask_adds_zero", "seen": "checked", "reason": "", "variants": []},
            {
                "fault": "flipped_triangle",
                "seen": "checked in part",
                "reason": UNREACHED,
                "variants": ["diagonal_lost"],
            },
        ],
        "unseen": ["missing_scale"],
        "notes": ["bfloat16 parameters were examined as float32"],
        "contracts": [
            {
                "name": "finite",
                "value": 0.0,
                "threshold": 0.0,
                "verdict": "holds",
                "reason": "it can be called",
            },
            {
                "name": "future",
                "value": 0.5,
                "threshold": 1e-6,
                "verdict": "broken",
                "reason": "it can be called",
            },
            {
                "name": "skip",
                "value": "nan",
                "threshold": 0.01,
                "verdict": "broken",
                "reason": "it can be called",
            },
            {
                "name": "slope",
                "value": None,
                "threshold": 0.05,
                "verdict": "not observable",
                "reason": UNREACHED,
            },
            {
                "name": "heads",
                "value": None,
                "threshold": 1e-3,
                "verdict": "not applicable",
                "reason": ASSUMED["reference"],
            },
        ],
    }
    assert second == {
        "subject": "gone.py:f",
        "verdict": "unusable",
        "diagnosis": [],
        "scale": None,
        "faults": [],
        "unseen": [],
        "notes": [],
        "contracts": [],
        "reason": "there is no file gone.py",
    }


@pytest.mark.parametrize(("factor", "written"), [(0.5, 0.5), (math.nan, "nan")])
def test_json_holds_the_scale_that_was_found(factor: float, written: float | str) -> None:
    tree = json.loads(check_json.to_json([with_scale(Scale(factor, 3, 16, 9), SLOPE)]))
    assert tree["subjects"][0]["scale"] == {
        "factor": written,
        "required": 0.25,
        "heads": 3,
        "head_width": 16,
        "keys": 9,
        "single": True,
    }


def test_junit_has_a_suite_for_each_subject_and_a_case_for_each_contract() -> None:
    root = ElementTree.fromstring(check_junit.to_junit([answer(), UNUSABLE]))
    assert (root.get("tests"), root.get("failures"), root.get("errors"), root.get("skipped")) == (
        "6",
        "2",
        "1",
        "2",
    )
    suite, other = root
    first, second = suite.findall("testcase"), other.findall("testcase")
    assert suite.get("tests") == "5"
    assert {one.get("name"): one.get("value") for one in suite.iter("property")} == {
        "verdict": "broken",
        "unseen": "missing_scale",
    }
    assert [case.get("name") for case in first] == ["finite", "future", "skip", "slope", "heads"]
    failure, skipped = first[1].find("failure"), first[3].find("skipped")
    assert failure is not None
    assert skipped is not None
    assert failure.get("message") == (
        "moving a later token changes no earlier output: found 0.5 relative change, threshold 1e-6"
    )
    assert skipped.get("message") == UNREACHED
    error = second[0].find("error")
    assert error is not None
    assert error.get("message") == "there is no file gone.py"


def test_the_junit_document_of_a_subject_that_cannot_be_used() -> None:
    assert (
        check_junit.to_junit([replace(UNUSABLE, subject="gone.py:f")])
        == """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="faults check" tests="1" failures="0" errors="1" skipped="0">
  <testsuite name="gone.py:f" tests="1" failures="0" errors="1" skipped="0">
    <properties>
      <property name="verdict" value="unusable" />
      <property name="unseen" value="" />
    </properties>
    <testcase classname="gone.py:f" name="subject">
      <error message="there is no file gone.py" />
    </testcase>
  </testsuite>
</testsuites>
"""
    )


def test_in_junit_a_contract_that_holds_is_empty_and_what_is_unseen_is_listed() -> None:
    (hidden,) = answer().unseen
    covered = tuple(replace(hidden, fault=name) for name in ("one", "two"))
    made = replace(answer(), covered=covered)
    suite = ElementTree.fromstring(check_junit.to_junit([made]))[0]
    assert [one.get("value") for one in suite.iter("property")] == ["broken", "one two"]
    assert list(suite.findall("testcase")[0]) == []


def test_json_is_strict_and_in_the_readers_own_letters() -> None:
    text = check_json.to_json([replace(answer(), subject="我的.py:块")])
    assert "我的.py:块" in text
    assert text.startswith('{\n  "')
    assert text.endswith("\n}\n")


def test_junit_survives_what_xml_does_not_allow() -> None:
    root = ElementTree.fromstring(check_junit.to_junit([replace(UNUSABLE, cause="bell \x07")]))
    error = root.find("testsuite/testcase/error")
    assert error is not None
    assert error.get("message") == "bell \ufffd"


SENTENCES = [
    *ASSUMED.values(),
    *ACCESS.values(),
    UNREACHED,
    foreign.NORM,
    foreign.HEADS,
    declaration.ROTATED,
    declaration.DRAINED,
    declaration.NORMED,
    "its output has too few bits for it",
    norm_formula.NONE,
    norm_formula.SILENT,
    norm_formula.UNLIKE,
    FAILED,
    SIZES,
    *looked_for.ELSEWHERE.values(),
    subjects.MEMORY,
    "this machine cannot run it in float16",
    "one call in float16 itself gave finite numbers",
    "in its own float16",
    "width: found 0, required: a whole number of at least 2",
    "heads: found 1025, required: a whole number of at most 1024",
    *(
        f"{name}: found 1, required: a whole number of at least 2; {why}"
        for name, why in declaration.LONELY.items()
    ),
    "the call failed: ValueError: boom",
    "no padding mask is declared; say --padding NAME",
    "no cache is declared; give 'step' beside 'call'",
    "one token: there is nothing to pad",
    "one token: there is nothing to continue with",
    "too few tokens: behind padding there is no past",
    "padding: found 1, required: the name of an argument, such as attention_mask",
    "the step returned a list; required: (output, cache)",
    f"after a step the call fails: ValueError: no mask; {foreign.APART}",
    "the step returned a list of 1 items; required: (output, cache)",
    "the step returned None as its cache; required: something else, since None begins another sequence",
    "its step failed on several tokens at once and was given one at a time: ValueError: x",
    "its step cannot be called: TypeError: x; required: a function (x or ids, cache) -> (output, cache)",
    "it cannot be called with pad: TypeError: x; required: the name of an argument for a padding mask [batch, token]",
    "it takes no padding mask of the form keep: TypeError: x; required: --padding-form ones",
    "it takes no padding mask of the form ones: TypeError: x; required: --padding-form keep or hide",
    "'step' has the type int; required: a function (x or ids, cache) -> (output, cache)",
    "'norms' has the type list; required: a mapping of names to functions of x",
    "the norm 'a' has the type int; required: a function x -> y",
    "its norm a cannot be called by itself: ValueError: x",
    "norm a: the call returned None; required: an array",
    "norm a: the call returned a str of dtype <U1; required: an array of real numbers",
    "the call returned None; required: an array",
    "the subject did not answer within 2 seconds; a longer --timeout may help",
    "no module named 'x' for /bin/python in /home",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_reason_has_a_chinese_sentence(sentence: str) -> None:
    assert translated(sentence, "en") == sentence
    assert any("\u4e00" <= letter <= "\u9fff" for letter in translated(sentence, "zh"))


def test_what_somebodys_code_says_stays_as_it_is() -> None:
    assert translated("RuntimeError: no idea", "zh") == "RuntimeError: no idea"
    assert translated("the call failed: ValueError: boom", "zh") == "调用失败：ValueError: boom"


def test_no_reason_is_hidden_behind_an_earlier_one() -> None:
    for at, (pattern, _) in enumerate(REASONS):
        plain = pattern.replace("\\", "")
        if not set("(.*+[") & set(pattern):
            first = next(place for place, (earlier, _) in enumerate(REASONS) if matches(earlier, plain))
            assert first == at, pattern


def matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text) is not None


def test_every_word_is_there_in_both_languages() -> None:
    for words in (WORDS, VERDICTS, MEANING, PATTERNS, COVERED):
        assert all(set(text) == {"en", "zh"} for text in words.values())
    for verdict in ("sound", "fragile", "broken", "undecided", "unusable"):
        assert verdict in MEANING
        assert verdict in VERDICTS
    assert {checking.HOLDS, checking.UNSEEN, checking.INAPPLICABLE} <= set(VERDICTS)


HALF = re.compile(
    r"[\u4e00-\u9fff] ?[,;:!?(]|[,;:!?)] ?[\u4e00-\u9fff]|[\u4e00-\u9fff]\\.(?:\\s|$)|[，。；：、（）] "
)


@pytest.mark.parametrize("verbosity", [-1, 0, 1])
def test_chinese_is_punctuated_as_chinese(verbosity: int) -> None:
    text = check.render([answer(advice=("--norm post, --design scaled",)), UNUSABLE], "zh", "tsv", verbosity)
    assert HALF.findall(text) == []
    assert "有故障 my.py:Block：mask_adds_zero/zero" in text


def test_chinese_words_are_punctuated_as_chinese() -> None:
    for words in (WORDS, VERDICTS, MEANING, PATTERNS, COVERED):
        assert [HALF.findall(text["zh"]) for text in words.values() if HALF.search(text["zh"])] == []
    assert [chinese for _, chinese in REASONS if HALF.search(chinese)] == []
