"""Who sees whom in somebody's own subject, checked against what can be said of it by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from faults.answers import Answer
from faults.page_model import Look
from faults.page_subject import examined, looks
from faults.subjects import Request, answers
from tests.faults.check_subjects import SOUND
from tests.faults.made_blocks import Block, Flipped, Joined, Leaky, Raising, answered, weak

TRIANGLE = np.tril(np.ones((8, 8), bool))


def seen(answer: Answer) -> dict[str, Look]:
    return {look.probe: look for look in looks(answer, 0)}


def alive(look: Look) -> Any:
    return np.array(look.matrix) > 0


@pytest.mark.parametrize(
    ("block", "expected", "word"),
    [
        (Block, TRIANGLE, "causal"),
        (Leaky, np.ones((8, 8), bool), "full"),
        # The skip connection fills the diagonal, which the flipped triangle has too.
        (Flipped, TRIANGLE.T, "triangle"),
    ],
)
def test_the_matrix_has_the_shape_of_the_mask_and_its_name(block: Any, expected: Any, word: str) -> None:
    look = seen(answered(block))["block"]
    np.testing.assert_array_equal(alive(look), expected)
    assert look.pattern == word


def test_attention_by_itself_has_its_weights_and_what_a_huge_logit_shows_of_a_weak_mask() -> None:
    found = seen(answered(weak, kind="attention"))
    assert set(found) == {"attention", "huge"}
    np.testing.assert_array_equal(alive(found["attention"]), TRIANGLE)
    np.testing.assert_allclose(np.array(found["attention"].matrix).sum(axis=1), 1, atol=1e-5)
    assert (found["attention"].pattern, found["huge"].pattern) == ("causal", "full")


def test_last_queries_alone_are_shown_of_those_who_claim_to_take_them() -> None:
    look = seen(answered(weak, kind="attention", cached=True))["short"]
    np.testing.assert_array_equal(alive(look), TRIANGLE[4:])


def test_weights_out_of_reach_have_a_reason_instead_of_a_picture() -> None:
    look = seen(answered(Block()))["attention"]
    assert look.matrix is None
    assert look.reason == "its attention can be neither called nor followed"


def test_a_block_that_raises_is_looked_at_with_as_many_tokens_as_heads() -> None:
    look = seen(answered(Joined))["block"]
    assert np.array(look.matrix).shape == (2, 2)


def test_a_block_that_always_raises_has_what_it_said_for_a_reason() -> None:
    look = seen(answered(Raising))["block"]
    assert look.matrix is None
    assert look.reason.startswith("the call failed: ValueError: </script>")


@pytest.mark.parametrize("given", [{"causal": False}, {"window": 3}])
def test_no_pattern_is_named_where_other_tokens_are_meant_to_be_seen(given: dict[str, Any]) -> None:
    assert {look.pattern for look in seen(answered(Leaky, **given)).values()} == {""}


def test_no_more_tokens_are_asked_than_it_takes() -> None:
    look = seen(answered(Block, max_length=3))["block"]
    np.testing.assert_array_equal(alive(look), TRIANGLE[:3, :3])


def test_followed_weights_are_the_mean_of_a_blocks_sites_and_the_first_of_a_models() -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Two(torch.nn.Module):  # type: ignore[misc]
        """Two heads one by one: the first attends to all that is earlier, the second to the token itself."""

        def __init__(self) -> None:
            super().__init__()
            self.project = torch.nn.Linear(8, 8)

        def forward(self, x: Any) -> Any:
            y, past = self.project(x), torch.ones(x.shape[1], x.shape[1]).tril() > 0
            own, scores = torch.eye(x.shape[1]) > 0, y @ y.mT / 8**0.5
            heads = [scores.masked_fill(~seen, -torch.inf).softmax(-1) @ x for seen in (past, own)]
            return heads[0] + heads[1]

    found = seen(answered(Two(), kind="self_attention", width=8))["attention"]
    weights = np.array(found.matrix)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(weights > 0, TRIANGLE)
    assert weights.diagonal().min() > 0.5


def test_the_looks_change_nothing_of_what_check_finds(tmp_path: Any) -> None:
    path = tmp_path / "mine.py"
    # Every call is counted, and the count leaves a mark on the output.
    path.write_text(
        SOUND
        + """
class Counting(Block):
    calls = 0
    def call(self, x):
        Counting.calls += 1
        return super().call(x) + np.float32(1e-9 * Counting.calls)
"""
    )
    request = Request(f"{path}:Counting")
    (checked,), (shown,) = answers(request), examined(request)[0]
    assert checked.checked is not None
    assert shown.checked is not None
    assert [(one.detector.name, one.value, one.verdict) for one in checked.checked.findings] == [
        (one.detector.name, one.value, one.verdict) for one in shown.checked.findings
    ]


def test_a_subject_that_cannot_be_used_has_no_looks() -> None:
    found, taken = examined(Request("no_such_module_at_all:Block"))
    assert [one.checked for one in found] == [None]
    assert taken == {}
