"""What `faults check` prints: per subject one table, the diagnosis, the smallest witness."""

from __future__ import annotations

from collections.abc import Sequence

from detectors.checking import BROKEN, INAPPLICABLE, UNSEEN, Checked, Finding
from faults.answers import Answer, Named
from reports import figures
from reports.check_words import BROKEN_CONTRACT, MEANING, PATTERNS, VERDICTS, say, translated
from reports.document import Block, Facts, Grid, Heading, Lines, draw


def render(answers: Sequence[Answer], language: str, style: str, verbosity: int = 0) -> str:
    """The report in one of the table styles; -1 for one line per subject, 1 with what each contract says."""
    if verbosity < 0:
        return draw([Lines([headline(answer, language) for answer in answers], 0)], style, language)
    blocks = [block for answer in answers for block in _blocks(answer, language, verbosity)]
    if len(answers) > 1:
        blocks += [
            Heading(say("summary", language)),
            Lines([headline(answer, language) for answer in answers], 0),
        ]
    return draw(blocks, style, language)


def headline(answer: Answer, language: str) -> str:
    """ "BROKEN my_gpt.py:Block: missing_scale/absent"."""
    names = say("list", language).join(f"{named.fault}/{named.variant}" for named in answer.nearest)
    said = names or translated(answer.cause, language) or MEANING[answer.verdict][language]
    return f"{VERDICTS[answer.verdict][language]} {answer.subject}: {said}"


def _blocks(answer: Answer, language: str, verbosity: int) -> list[Block]:
    title = Heading(f"{VERDICTS[answer.verdict][language]} {answer.subject}")
    if answer.checked is None:
        return [title, Lines([translated(answer.cause, language)])]
    measured = Lines([counts(answer.checked, language)])
    facts = Facts([*diagnosis(answer, language), *remarks(answer, language)])
    return [title, _table(answer.checked, language, verbosity), measured, facts]


def _table(checked: Checked, language: str, verbosity: int) -> Grid:
    headers = [say(name, language) for name in ("contract", "value", "threshold", "verdict", "why")]
    rows = [_row(finding, language, verbosity) for finding in checked.findings]
    return Grid(headers, rows, (20, 9, 9, 14, 58), "lrrll")


def _row(finding: Finding, language: str, verbosity: int) -> list[str]:
    law = f"\n{finding.detector.law[language]}" if verbosity > 0 else ""
    return [
        finding.detector.name,
        figures.value(finding.value),
        figures.value(finding.detector.threshold),
        contract_verdict(finding, language),
        why(finding, language) + law,
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
        return [(say("verdict", language), MEANING[answer.verdict][language])]
    pairs = [_named(named, language) for named in answer.nearest]
    pairs = pairs or [(say("fault", language), say("unknown", language))]
    if answer.runner_up is not None:
        pairs.append((say("runner-up", language), _short(answer.runner_up, language)))
    pairs += [(say("evidence", language), _measured(finding, language)) for finding in checked.broken]
    pairs += _patterns(checked, language) + _failure(checked, language)
    pairs += [(say("repair", language), named.repair[language]) for named in answer.nearest]
    return pairs + _witness(answer, language)


def _named(named: Named, language: str) -> tuple[str, str]:
    label = say("fault" if named.own else "relative", language)
    return label, f"{_short(named, language)}{say('separator', language)}{named.wrong[language]}"


def _short(named: Named, language: str) -> str:
    apart = say("distance", language, distance=named.distance)
    return say("list", language).join([f"{named.fault}/{named.variant}", apart])


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
        f"{PATTERNS[probe][language]}: {PATTERNS[word][language]}"
        for probe, word in checked.patterns.items()
        if word != "causal"
    ]
    return [(say("patterns", language), say("separator", language).join(said))] if said else []


def _failure(checked: Checked, language: str) -> list[tuple[str, str]]:
    return [(say("failure", language), translated(line, language)) for line in checked.failures[:1]]


def _witness(answer: Answer, language: str) -> list[tuple[str, str]]:
    if answer.witness is None:
        return []
    finding, fixture = answer.witness.finding, answer.witness.fixture
    sizes = {name: size for name, size in fixture.extents.as_dict().items() if name not in ("hidden", "gain")}
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
    pairs = [(say("examined", language), _examined(answer, language))]
    advice = say("list", language).join(say("declare", language, flags=flags) for flags in answer.advice)
    pairs += [(say("advice", language), advice)] if advice else []
    pairs += [(say("question", language), translated(question, language)) for question in answer.questions]
    return pairs + [(say("note", language), translated(note, language)) for note in answer.notes]


def _examined(answer: Answer, language: str) -> str:
    declared = answer.declared
    if declared is None:
        return "-"
    causal = {None: "causal assumed", True: "causal", False: "bidirectional"}[declared.causal]
    shown = ("norm", "heads", "kv_heads", "width", "vocab", "max_length", "framework", "dtype")
    told = [f"{name}={getattr(declared, name)}" for name in shown if getattr(declared, name) is not None]
    return say("list", language).join([str(declared.kind), say(causal, language), *told])
