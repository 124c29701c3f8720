"""From signals to a verdict: which contracts say something, what is broken, and what it looks like."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from detectors import checking
from detectors.checking import Checked, check, verdict
from detectors.diagnosis import Expected
from detectors.errors import DetectorError
from detectors.fixtures import Fixture
from detectors.host import SubjectRaised
from detectors.subject import CLAIMS, Subject
from detectors.witnesses import holes, smallest
from tests.detectors import toy

FIXTURES = [Fixture(replace(toy.EXTENTS, tokens=tokens), seed=1) for tokens in (3, 6)]
LEAK = Expected("leak", "all", frozenset({"future", "prefix"}), {"block": "full"})
OTHER = Expected("other", "some", frozenset({"reach"}), {})


QUIET = {
    "rows": 0.0, "future": 0.0, "own": 0.0, "gain": 0.5, "head_width": 4, "normalised": False, "last_axis": True,
}  # fmt: skip
"""An attention operation that was followed and has nothing wrong with it."""


def sound(**changes: Any) -> Subject:
    """The sound toy at every level, on weights that fit every fixture."""
    return replace(toy.Toy().subject(FIXTURES[0]), **changes)


def leaky() -> Subject:
    return Subject("leaky", lambda x, weights: x + np.tanh(x.mean(axis=1, keepdims=True)))


def verdicts(found: Checked) -> dict[str, str]:
    return {finding.detector.name: finding.verdict for finding in found.findings}


def test_a_sound_subject_holds_every_contract() -> None:
    found = check(sound(), FIXTURES, [LEAK])
    assert found.verdict == "sound"
    assert set(verdicts(found).values()) == {"holds"}
    assert (found.observed, found.broken, found.named, found.candidates) == (29, (), (), ())
    assert found.finding("slope").reason == "its attention can be called by itself"
    assert found.finding("order").reason == "its weights can be written"
    assert found.finding("future").reason == "it can be called"
    assert found.finding("padding").reason == "it takes a padding mask"
    assert found.finding("cache").reason == "it takes a cache"
    assert found.finding("norm_formula").reason == "its norms can be called by themselves"


def test_a_broken_subject_is_named_after_what_it_looks_like() -> None:
    found = check(leaky(), FIXTURES, [OTHER, LEAK])
    assert (found.verdict, found.named) == ("broken", ("leak",))
    assert [(one.fault, one.distance) for one in found.candidates] == [("leak", 0.0), ("other", 1.0)]
    assert {finding.detector.name for finding in found.broken} == {"future", "prefix"}
    assert {finding.reason for finding in found.broken} == {"it can be called"}
    assert found.patterns == {"block": "full"}


def test_the_value_is_the_worst_over_the_fixtures_and_the_fixture_the_smallest() -> None:
    def call(x: Any, weights: Any) -> Any:
        return x + (x.mean(axis=1, keepdims=True) if x.shape[1] > 4 else 0)

    found = check(Subject("late", call), FIXTURES)
    assert found.finding("future").fixture is FIXTURES[1]
    assert check(leaky(), FIXTURES).finding("future").fixture is FIXTURES[0]
    # one of three tokens, then four of six
    for fixtures in (FIXTURES, FIXTURES[::-1]):
        assert check(nan_at(1, 4, 5, 6), fixtures).finding("finite").value == pytest.approx(4 / 6)
    nan = check(toy.calls(lambda x: x * np.nan), FIXTURES).finding("prefix").value
    assert nan != nan


def test_a_relative_is_named_only_where_it_lies_nearer() -> None:
    near = Expected("near", "one", frozenset({"future", "prefix"}), {"block": "full"})
    assert check(leaky(), FIXTURES, [LEAK], relatives=[near]).named == ("leak",)
    assert check(leaky(), FIXTURES, [OTHER], relatives=[near]).named == ("near",)
    assert check(leaky(), FIXTURES, [], relatives=[near]).named == ("near",)
    both = check(leaky(), FIXTURES, [LEAK], relatives=[near]).candidates
    assert [one.fault for one in both] == ["leak", "near"]


def test_a_contract_that_is_not_claimed_or_not_for_this_kind_does_not_apply() -> None:
    found = check(sound(declares=frozenset(CLAIMS - {"causal", "reference"})), FIXTURES)
    assert verdicts(found)["future"] == "not applicable"
    assert found.finding("future").reason == "it assumes that no token sees the future"
    assert found.finding("heads").reason == "it assumes the weights and layers of the reference block"
    attention = check(toy.attends(toy.Toy().attention), FIXTURES)
    only = replace(attention.subject, kind="attention", call=None)
    assert check(only, FIXTURES).finding("skip").reason == "not for a subject of kind attention"


PADDED = Expected("padded", "one", frozenset({"padding", "padded_reach"}), {})
FAILING = Expected("failing", "one", frozenset({"cache", "shape"}), {})


def mixing(x: Any, keep: Any) -> Any:
    """What does not care which tokens are real, nor what the others are."""
    return x + (x * ~keep[..., None]).sum(axis=1, keepdims=True)


def raising(*given: Any) -> Any:
    raise ValueError("no room")


def test_what_second_calls_show_says_nothing_where_a_single_call_is_wrong() -> None:
    wrong = replace(leaky(), padded=mixing, continued=raising)
    found = check(wrong, FIXTURES, [LEAK], relatives=[PADDED, FAILING])
    assert {"future", "padding", "cache", "shape"} <= {finding.detector.name for finding in found.broken}
    assert found.named == ("leak",)
    assert found.candidates[0].distance == check(leaky(), FIXTURES, [LEAK]).candidates[0].distance == 0
    assert check(sound(padded=mixing), FIXTURES, [LEAK], relatives=[PADDED]).named == ("padded",)


def test_a_single_call_that_fails_besides_counts_where_no_second_one_failed() -> None:
    def failing(x: Any, weights: Any) -> Any:
        if len(x) > 2 and len(x) % 2:
            raise ValueError("no room")
        return x + np.tanh(x.mean(axis=1, keepdims=True))

    wrong = replace(leaky(), call=failing)
    # two of the signs of a leak, a failed call besides, and a pattern: (1 + 0.5 + 1.5) / (3 + 2)
    for padded, distance in ((mixing, 0.4), (raising, 0)):
        found = check(replace(wrong, padded=padded), FIXTURES, [LEAK])
        assert {"future", "padding", "shape"} <= {finding.detector.name for finding in found.broken}
        assert found.candidates[0].distance == pytest.approx(distance)


def test_a_failed_second_call_is_named_by_what_failed() -> None:
    shapes = Expected("shapes", "all", frozenset({"shape"}), {})
    found = check(sound(continued=raising), FIXTURES, [shapes], relatives=[PADDED, FAILING])
    assert (found.named, found.candidates[0].distance) == (("failing",), 0)


def test_what_breaks_at_extremes_alone_does_not_explain_a_second_call() -> None:
    weak = toy.Toy(fill=toy.added(-1e4)).subject(FIXTURES[0])
    found = check(replace(weak, padded=mixing), FIXTURES, relatives=[PADDED])
    assert {"huge_logits", "padding"} <= {finding.detector.name for finding in found.broken}
    assert found.named == ("padded",)


def test_an_open_question_leaves_a_subject_undecided_unless_something_is_broken() -> None:
    asked = {"pre_norm": "pre or post?"}
    declares = frozenset({"causal", "unwindowed"})
    found = check(sound(declares=declares), FIXTURES, questions=asked)
    assert found.verdict == "undecided"
    assert (found.finding("skip").verdict, found.finding("skip").reason) == ("not observable", "pre or post?")
    assert check(replace(leaky(), declares=declares), FIXTURES, questions=asked).verdict == "broken"
    assert check(sound(declares=declares), FIXTURES, questions={"heads": "how many?"}).verdict == "sound"


def test_attention_that_is_neither_called_nor_followed_is_not_observable() -> None:
    found = check(leaky(), FIXTURES)
    reason = "its attention can be neither called nor followed"
    assert (found.finding("slope").verdict, found.finding("slope").reason) == ("not observable", reason)
    followed = replace(leaky(), sites=lambda x: [QUIET])
    finding = check(followed, FIXTURES).finding("slope")
    assert (finding.verdict, finding.reason) == ("holds", "its operations could be followed")
    # only what is about attention
    assert check(followed, FIXTURES).finding("prefix").reason == "it can be called"


def test_what_the_smallest_and_the_largest_show_is_one_examination() -> None:
    def leaks_with(*tokens: int) -> Subject:
        def call(x: Any, weights: Any) -> Any:
            count = x.shape[1]
            seen = np.ones((count, count)) if count in tokens else np.tri(count)
            return np.einsum("ts,bsd->btd", seen / seen.sum(axis=1, keepdims=True), x)

        return Subject("leaks", call)

    for tokens in ((3,), (6,), (3, 6)):
        assert check(leaks_with(*tokens), FIXTURES).patterns == {"block": "full"}
    assert check(leaks_with(), FIXTURES).patterns == {"block": "causal"}


def test_attention_by_itself_has_a_number_of_heads() -> None:
    def attention(query: Any, key: Any, value: Any) -> Any:
        return value if query.shape[1] == query.shape[2] else value[:, :1]

    alone = Subject("square", None, attention=attention, kind="attention", declares=frozenset())
    assert check(alone, FIXTURES).patterns["calls"] == "fail unless square"


def test_where_the_output_changes_from_call_to_call_only_what_expects_that_is_a_candidate() -> None:
    noise = np.random.default_rng(0)
    noisy = Subject("noisy", lambda x, weights: x + noise.standard_normal(x.shape))
    unsteady = Expected("unsteady", "one", frozenset({"repeatability"}), {})
    found = check(noisy, FIXTURES, [LEAK, unsteady], relatives=[OTHER])
    assert [one.fault for one in found.candidates] == ["unsteady"]


def test_a_verdict_needs_no_question() -> None:
    assert verdict(check(sound(), FIXTURES).findings) == "sound"


def test_a_broken_scale_is_told_as_the_most_tokens_show_it() -> None:
    fixtures = [*FIXTURES, Fixture(replace(toy.EXTENTS, tokens=7), seed=1)]
    made = toy.Toy(factor=lambda heads, width: 1.0)

    def attention(query: Any, key: Any, value: Any) -> Any:
        np.exp(np.float64(1e4))  # overflows, which is no failure of the call
        return made.attention(query, key, value)

    unscaled = replace(made.subject(FIXTURES[0]), attention=attention)
    rows = [
        Expected("scale", name, frozenset({"slope", "duplication"}), {}, factor)
        for name, factor in (("half", lambda *_: 0.5), ("absent", lambda *_: 1.0))
    ]
    found = check(unscaled, fixtures, rows)
    assert found.scale is not None
    assert found.scale.factor == pytest.approx(1)
    assert (found.scale.heads, found.scale.head_width, found.scale.keys) == (4, 7, 7)
    assert [one.variant for one in found.candidates] == ["absent"]


def test_a_scale_that_holds_or_cannot_be_told_is_none() -> None:
    assert check(sound(), FIXTURES).scale is None
    # its weights are the same whatever its queries are: no factor is broken, and none can be told
    blind = sound(attention=lambda query, key, value: value * np.nan)
    assert check(blind, FIXTURES).scale is None
    assert Checked(sound(), "sound", (), (), (), {}, ()).scale is None


def test_a_limit_takes_one_contract_away() -> None:
    found = check(sound(), FIXTURES, limits={"slope": "positions"})
    assert (found.finding("slope").verdict, found.finding("slope").reason) == ("not observable", "positions")


def test_sixteen_bits_widen_thresholds_that_are_not_exact() -> None:
    found = check(sound(), FIXTURES, roundoff=2.0**-7)
    assert found.finding("prefix").detector.threshold == 2.0**-4
    assert found.finding("future").detector.threshold == 1e-6
    assert found.finding("attention_branch").reason == "its output has too few bits for it"
    # alone a third of the tokens come out 0.02 smaller
    coarse = Subject("coarse", lambda x, weights: x * (1 + 0.005 * x.shape[1]))
    assert verdicts(check(coarse, FIXTURES))["prefix"] == "broken"
    assert verdicts(check(coarse, FIXTURES, roundoff=2.0**-7))["prefix"] == "holds"


def test_a_subject_broken_only_at_extremes_is_fragile() -> None:
    weak = toy.Toy(fill=toy.added(-1e4))
    found = check(weak.subject(FIXTURES[0]), FIXTURES)
    assert [finding.detector.name for finding in found.broken] == ["huge_logits"]
    assert found.verdict == "fragile"


def test_a_subject_of_which_only_the_plumbing_was_seen_is_undecided() -> None:
    blind = Subject("blind", lambda x, weights: x * 2, declares=frozenset())
    assert check(blind, FIXTURES).verdict == "undecided"


def test_failures_say_what_the_subject_raised() -> None:
    def raises(x: Any, weights: Any) -> Any:
        raise ValueError("boom")

    found = check(Subject("raises", raises), FIXTURES)
    assert found.failures[0] == "ValueError: boom"
    future = found.finding("future")
    assert (future.verdict, future.reason) == ("not observable", "the call failed: ValueError: boom")
    assert found.verdict == "broken"


def test_failures_of_somebodys_code_are_said_without_what_carried_them_here() -> None:
    def raises(x: Any, weights: Any) -> Any:
        raise SubjectRaised("ValueError: boom (mine.py, line 3)")

    found = check(Subject("raises", raises), FIXTURES)
    assert found.failures[0] == "ValueError: boom (mine.py, line 3)"
    assert found.finding("future").reason == "the call failed: ValueError: boom (mine.py, line 3)"


def test_without_a_number_of_heads_no_number_of_tokens_is_special() -> None:
    def call(x: Any, weights: Any) -> Any:
        return x if x.shape[1] == 4 else x[:, :1]

    made = [Fixture(replace(toy.EXTENTS, tokens=3), seed=1)]
    known = Subject("known", call, declares=frozenset({"heads"}))
    assert check(known, made).patterns["calls"] == "fail unless square"
    assert check(replace(known, declares=frozenset()), made).patterns["calls"] == "fail"


def test_the_smallest_witness_has_the_fewest_tokens_and_sequences() -> None:
    finding = check(leaky(), FIXTURES).finding("future")
    found = smallest(leaky(), finding)
    assert found is not None
    assert (found.extents.tokens, found.extents.batch, found.seed) == (2, 1, 1)
    held = check(sound(), FIXTURES).finding("future")
    assert smallest(sound(), held) is None


def nan_at(*tokens: int) -> Subject:
    def call(x: Any, weights: Any) -> Any:
        found = np.array(x)
        found[:, [token - 1 for token in tokens if token <= x.shape[1]]] = np.nan
        return found

    return Subject("holes", call)


def test_a_witness_has_two_tokens_where_one_would_do_too() -> None:
    finding = check(nan_at(1), FIXTURES).finding("finite")
    found = smallest(nan_at(1), finding)
    assert found is not None
    assert (found.extents.tokens, found.extents.batch) == (2, 1)


def test_a_witness_has_one_token_where_only_that_will_do() -> None:
    def call(x: Any, weights: Any) -> Any:
        return x * (np.nan if x.shape[1] == 1 else 1.0)

    lonely = [Fixture(replace(toy.EXTENTS, tokens=1), seed=1)]
    subject = Subject("lonely", call)
    found = smallest(subject, check(subject, lonely).finding("finite"))
    assert found is not None
    assert (found.extents.tokens, found.extents.batch) == (1, 1)


def test_a_witness_is_no_longer_than_what_was_seen() -> None:
    def call(x: Any, weights: Any) -> Any:
        return x * (np.nan if x.shape[1] > 3 or len(x) > 2 else 1.0)

    crowd = [Fixture(replace(toy.EXTENTS, tokens=3, batch=3), seed=1)]
    finding = check(Subject("crowded", call), crowd).finding("finite")
    assert smallest(Subject("crowded", call), finding) is crowd[0]


def test_the_tokens_without_a_finite_output_are_counted_from_one() -> None:
    assert holes(nan_at(1, 3), FIXTURES[0]) == (1, 3)
    assert holes(sound(), FIXTURES[0]) == ()
    assert holes(Subject("fails", lambda x, weights: x[:, :1]), FIXTURES[0]) == ()


def test_a_contract_that_does_not_exist_is_said_so() -> None:
    with pytest.raises(DetectorError, match="no contract is called 'futur'; required: one of finite, "):
        check(leaky(), FIXTURES[:1]).finding("futur")


def test_the_plumbing_and_the_extremes_are_contracts() -> None:
    assert set(checking.NAMES) >= checking.PLUMBING | checking.EXTREMES | checking.AMPLIFIED
    assert set(checking.ASSUMED) == CLAIMS


def of_one_width(*claims: str) -> Subject:
    """Causal attention whose scale is a constant, right for the fixtures' d_k alone."""
    scale = toy.EXTENTS.head_width**-0.5

    def attention(query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.swapaxes(-1, -2) * scale
        queries, keys = scores.shape[-2:]
        seen = np.tri(queries, keys, k=keys - queries, dtype=bool)
        weights = np.exp(np.where(seen, scores - scores.max(axis=-1, keepdims=True), -np.inf))
        return weights / weights.sum(axis=-1, keepdims=True) @ value

    declares = (CLAIMS - {"reference", "any_width"}) | set(claims)
    return Subject("one width", None, attention=attention, kind="attention", declares=frozenset(declares))


def test_a_scale_made_for_the_declared_width_is_sound_and_asked_for_no_other() -> None:
    found = check(of_one_width(), FIXTURES)
    assert verdicts(found)["slope"] == "holds"
    assert verdicts(found)["duplication"] == "not applicable"
    assert found.verdict == "sound"


def test_the_same_scale_is_broken_where_any_width_is_claimed() -> None:
    assert verdicts(check(of_one_width("any_width"), FIXTURES))["slope"] == "broken"


@pytest.mark.parametrize("name", ["rows", "future_weight", "self_weight"])
def test_a_site_without_a_number_does_not_hide_behind_a_quiet_one(name: str) -> None:
    noise = {**QUIET, "rows": float("nan"), "future": float("nan"), "own": float("nan")}
    subject = replace(sound(attention=None), sites=lambda x: [QUIET, noise])
    assert verdicts(check(subject, FIXTURES))[name] == "broken"
