"""What `faults check` prints: per subject one table, the diagnosis, the smallest witness."""

from __future__ import annotations

from collections.abc import Sequence

from detectors.checking import BROKEN, INAPPLICABLE, SOUND, UNSEEN, Checked, Finding
from detectors.diagnosis import TIE
from detectors.precision import CONVERTED
from faults.answers import PART, Answer, Coverage, Named
from faults.language import printable
from reports import figures
from reports.check_reasons import translated
from reports.check_words import (
    BROKEN_CONTRACT,
    COVERED,
    MEANING,
    PATTERNS,
    VERDICTS,
    access,
    say,
)
from reports.document import Block, Facts, Grid, Heading, Lines, draw
from reports.wrap import cut, width


def render(answers: Sequence[Answer], language: str, style: str, verbosity: int = 0) -> str:
    """The report in one of the table styles; -1 for one line per subject, 1 with what each contract says."""
    if verbosity < 0:
        return _shown(draw([Lines([headline(answer, language) for answer in answers], 0)], style, language))
    blocks = [block for answer in answers for block in _blocks(answer, language, verbosity)]
    if len(answers) > 1:
        blocks += [
            Heading(say("summary", language)),
            Lines([headline(answer, language) for answer in answers], 0),
        ]
    return _shown(draw(blocks, style, language))


def _shown(text: str) -> str:
    """The text without what a terminal would obey: somebody's code wrote some of it."""
    return "".join(letter if letter in "\n\t" else printable(letter) for letter in text)


def headline(answer: Answer, language: str) -> str:
    """ "BROKEN my_gpt.py:Block: missing_scale/absent"."""
    names = say("list", language).join(f"{named.fault}/{named.variant}" for named in answer.nearest)
    said = names or printable(translated(answer.cause, language)) or meaning(answer, language)
    return say("about", language, subject=title(answer, language), said=said)


def title(answer: Answer, language: str) -> str:
    """ "BROKEN my_gpt.py:Block", on one line whatever the subject is called."""
    return f"{VERDICTS[answer.verdict][language]} {printable(answer.subject)}"


def meaning(answer: Answer, language: str) -> str:
    """The verdict in words, with the faults that were not looked for, or only in part."""
    if answer.unseen:
        said = say("as far as seen", language, faults=_faults(answer.unseen, language))
        return said + _converted(answer, language)
    partly = [one for one in answer.covered if one.state == PART]
    more = say("in part", language, faults=_faults(partly, language)) if partly else ""
    more = more if answer.verdict == SOUND else ""
    return MEANING[answer.verdict][language] + more + _converted(answer, language)


def _converted(answer: Answer, language: str) -> str:
    """That the verdict is about other numbers than the subject came with."""
    notes = [translated(note, language) for note in answer.notes if note.endswith(CONVERTED)]
    return say("converted", language, notes=say("separator", language).join(notes)) if notes else ""


def _faults(covered: Sequence[Coverage], language: str) -> str:
    return say("list", language).join(one.fault for one in covered)


def _blocks(answer: Answer, language: str, verbosity: int) -> list[Block]:
    heading = Heading(title(answer, language))
    if answer.checked is None:
        return [heading, Lines([printable(translated(answer.cause, language))])]
    measured = Lines([counts(answer.checked, language)])
    facts = Facts([*diagnosis(answer, language), *remarks(answer, language)])
    return [heading, _table(answer.checked, language, verbosity), measured, facts]


WHY = 58
"""Columns of the reasons in the table."""


def _table(checked: Checked, language: str, verbosity: int) -> Grid:
    headers = [say(name, language) for name in ("contract", "value", "threshold", "verdict", "why")]
    rows = [_row(finding, language, verbosity) for finding in checked.findings]
    return Grid(headers, rows, (20, 9, 9, 14, WHY), "lrrll")


def _row(finding: Finding, language: str, verbosity: int) -> list[str]:
    reason = why(finding, language)
    # One cell of two lines would draw a rule under every row; the whole reason follows the table.
    shown = f"{reason}\n{finding.detector.law[language]}" if verbosity > 0 else cut(reason, WHY)
    return [
        finding.detector.name,
        figures.value(finding.value),
        figures.value(finding.detector.threshold),
        contract_verdict(finding, language),
        shown,
    ]


def contract_verdict(finding: Finding, language: str) -> str:
    """The verdict on one contract in words."""
    return (BROKEN_CONTRACT if finding.verdict == BROKEN else VERDICTS[finding.verdict])[language]


def why(finding: Finding, language: str) -> str:
    """Why a contract applies, could not be observed, or says nothing here."""
    reason = translated(finding.reason, language)
    return reason if finding.verdict in (UNSEEN, INAPPLICABLE) else say("applies", language, reason=reason)


def counts(checked: Checked, language: str) -> str:
    """How many contracts were measured, are broken, and were not asked."""
    verdicts = [finding.verdict for finding in checked.findings]
    return say(
        "counts",
        language,
        observed=checked.observed,
        broken=len(checked.broken),
        unseen=verdicts.count(UNSEEN),
        inapplicable=verdicts.count(INAPPLICABLE),
    )


def diagnosis(answer: Answer, language: str) -> list[tuple[str, str]]:
    """(label, text): the defects named, the next one, the evidence, the repair, the smallest witness."""
    checked = answer.checked
    if checked is None or not checked.broken:
        return [(say("verdict", language), meaning(answer, language)), *covered(answer, language)]
    pairs = [_named(named, checked, language) for named in answer.nearest]
    pairs = pairs or [(say("fault", language), say("unknown", language))]
    if answer.runner_up is not None:
        pairs.append((say("runner-up", language), _short(answer.runner_up, language)))
    pairs += [
        (say("evidence", language), _evidence(finding, checked, language)) for finding in checked.broken
    ]
    pairs += _patterns(checked, language) + _holes(answer, language) + _failure(checked, language)
    pairs += [(say("repair", language), named.repair[language]) for named in answer.nearest]
    return pairs + _witness(answer, language) + covered(answer, language)


def covered(answer: Answer, language: str) -> list[tuple[str, str]]:
    """(fault, how far it was looked for, why not further, what to give to see it) for each of the five."""
    told: set[str] = set()
    pairs = []
    for one in answer.covered:
        advice = access(one.reason, language)
        said = (
            [_covered(one, language), advice] if advice and advice not in told else [_covered(one, language)]
        )
        told.add(advice)
        pairs.append((one.fault, say("separator", language).join(said)))
    return pairs


def _covered(one: Coverage, language: str) -> str:
    variants = say("list", language).join(one.variants)
    return COVERED[one.state][language].format(reason=translated(one.reason, language), variants=variants)


def _named(named: Named, checked: Checked, language: str) -> tuple[str, str]:
    label = say("fault" if named.own else "relative", language)
    said = [_short(named, language), named.wrong[language], *_tied(named, checked, language)]
    return label, say("separator", language).join(said)


def _tied(named: Named, checked: Checked, language: str) -> list[str]:
    """What lies as near as the defect that is named."""
    others = [
        f"{found.fault}/{found.variant}"
        for found in checked.candidates
        if found.fault != named.fault and abs(found.distance - named.distance) <= TIE
    ]
    return [say("tie", language, others=say("list", language).join(others))] if others else []


def _short(named: Named, language: str) -> str:
    apart = say("distance", language, distance=named.distance)
    return say("list", language).join([f"{named.fault}/{named.variant}", apart])


def _evidence(finding: Finding, checked: Checked, language: str) -> str:
    measured, scale = _measured(finding, language), checked.scale
    if finding.detector.name != "slope" or scale is None or not scale.single:
        return measured
    told = say(
        "scale",
        language,
        factor=figures.value(scale.factor),
        required=figures.value(scale.required),
        head_width=scale.head_width,
    )
    return say("separator", language).join([measured, told])


def _measured(finding: Finding, language: str) -> str:
    return say(
        "measured",
        language,
        name=finding.detector.name,
        value=figures.value(finding.value),
        threshold=figures.value(finding.detector.threshold),
        law=finding.detector.law[language],
    )


def _patterns(checked: Checked, language: str) -> list[tuple[str, str]]:
    """The visibility patterns that are not as they should be."""
    said = [
        say("about", language, subject=PATTERNS[probe][language], said=PATTERNS[word][language])
        for probe, word in checked.patterns.items()
        if word != "causal"
    ]
    return [(say("patterns", language), say("separator", language).join(said))] if said else []


def _holes(answer: Answer, language: str) -> list[tuple[str, str]]:
    if answer.holes is None:
        return []
    if len(answer.holes.tokens) == answer.holes.all:
        return [(say("not finite", language), say("all tokens", language))]
    tokens = say("list", language).join(map(str, answer.holes.tokens))
    return [(say("not finite", language), say("holes", language, tokens=tokens, all=answer.holes.all))]


def _failure(checked: Checked, language: str) -> list[tuple[str, str]]:
    return [(say("failure", language), translated(line, language)) for line in checked.failures[:1]]


SHIFTED = ("attention_branch", "feed_forward_branch")
"""Contracts whose inputs depend on the kind of norm."""


def _witness(answer: Answer, language: str) -> list[tuple[str, str]]:
    if answer.witness is None:
        return []
    finding, fixture = answer.witness.finding, answer.witness.fixture
    left_out = ("hidden", "gain") if finding.detector.name in SHIFTED else ("hidden", "gain", "norm_kind")
    sizes = {name: size for name, size in fixture.extents.as_dict().items() if name not in left_out}
    said = say(
        "at",
        language,
        extents=figures.extents(sizes),
        seed=fixture.seed,
        name=finding.detector.name,
        value=figures.value(finding.value),
    )
    return [(say("witness", language), said)]


def remarks(answer: Answer, language: str) -> list[tuple[str, str]]:
    """What was declared or read, what would make it right, and what was done to the subject."""
    pairs = [(say("examined", language), _examined(answer, language)), *_long(answer.checked, language)]
    advice = say("list", language).join(
        say("declare", language, flags=say("or", language).join(flags.split(", "))) for flags in answer.advice
    )
    pairs += [(say("advice", language), advice)] if advice else []
    pairs += [(say("question", language), translated(question, language)) for question in answer.questions]
    return pairs + [(say("note", language), translated(note, language)) for note in answer.notes]


def _long(checked: Checked | None, language: str) -> list[tuple[str, str]]:
    """The reasons that the table has no room for, with the contracts they are about."""
    about: dict[str, list[str]] = {}
    for finding in checked.findings if checked is not None else ():
        reason = why(finding, language)
        if width(reason) > WHY:
            about.setdefault(reason, []).append(finding.detector.name)
    names = say("list", language)
    return [
        (say("why", language), say("about", language, subject=names.join(contracts), said=reason))
        for reason, contracts in about.items()
    ]


def _examined(answer: Answer, language: str) -> str:
    declared = answer.declared
    if declared is None:
        return "-"
    causal = {None: "causal assumed", True: "causal", False: "bidirectional"}[declared.causal]
    shown = ("norm", "heads", "kv_heads", "width", "vocab", "max_length", "framework", "dtype")
    told = [f"{name}={getattr(declared, name)}" for name in shown if getattr(declared, name) is not None]
    return say("list", language).join([str(declared.kind), say(causal, language), *told])
