from __future__ import annotations

import numpy as np
import pytest

from core import attention, block, self_attention
from core.arrays import FloatArray
from core.attention import AttentionTrace
from core.block import BlockConfig

HEAD_BYTES = 4 * 5 * 8  # scores of one head: 4 queries, 5 keys, float64


def drawn(seed: int, *shape: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal(shape)


QUERY, KEY, VALUE = drawn(1, 3, 6, 4, 2), drawn(2, 3, 6, 5, 2), drawn(3, 3, 6, 5, 7)
MASKS = {
    "none": None,
    "query, key": drawn(4, 4, 5),
    "head, query, key": drawn(4, 6, 4, 5),
    "one head": drawn(4, 1, 4, 5),
    "batch": drawn(4, 3, 1, 1, 5),
    "one batch": drawn(4, 1, 6, 4, 1),
    "batch and head": drawn(4, 3, 6, 1, 5),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize(
    ("heads_that_fit", "calls"), [(0.5, 18), (1, 18), (2, 9), (4, 6), (6, 3), (12, 2), (17, 2), (18, 1)]
)
def test_parts_give_what_one_call_gives(
    monkeypatch: pytest.MonkeyPatch, mask: FloatArray | None, heads_that_fit: float, calls: int
) -> None:
    whole, counted = attention.attend(QUERY, KEY, VALUE, mask).output, []
    attend = attention.attend

    def counting(
        query: FloatArray, key: FloatArray, value: FloatArray, part_of_mask: FloatArray | None
    ) -> AttentionTrace:
        counted.append(query.shape)
        return attend(query, key, value, part_of_mask)

    monkeypatch.setattr(attention, "attend", counting)
    monkeypatch.setattr(self_attention, "SLICE_BYTES", int(heads_that_fit * HEAD_BYTES))
    assert self_attention.attend_in_slices(QUERY, KEY, VALUE, mask) == pytest.approx(
        whole, rel=1e-13, abs=1e-15
    )
    assert len(counted) == calls
    assert sum(batch * head for batch, head, *_ in counted) == 18  # each head of each batch element once


def test_what_fits_is_handed_on_without_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = attention.attend(QUERY, KEY, VALUE, None)
    monkeypatch.setattr(attention, "attend", lambda *_: trace)
    monkeypatch.setattr(self_attention, "SLICE_BYTES", 18 * HEAD_BYTES)
    assert self_attention.attend_in_slices(QUERY, KEY, VALUE, None) is trace.output


def test_a_block_whose_scores_do_not_fit_in_one_part_equals_its_trace() -> None:
    config = BlockConfig(2, kv_heads=1)
    parameters, x = block.init_block(4, config), drawn(5, 3, 200, 4)
    assert self_attention.SLICE_BYTES == 2**19 < 3 * 2 * 200 * 200 * 8
    mask = np.zeros((3, 1, 1, 200))
    mask[1, ..., 0] = -np.inf
    y = block.block(x, parameters, config, mask)
    assert y == pytest.approx(block.block_trace(x, parameters, config, mask).y, rel=1e-11, abs=1e-13)


def test_parts_keep_the_dtype(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_attention, "SLICE_BYTES", 1)
    narrow = [array.astype(np.float32) for array in (QUERY, KEY, VALUE)]
    assert self_attention.attend_in_slices(narrow[0], narrow[1], narrow[2], None).dtype == np.float32


def test_projections_follow_their_weights_and_shared_heads_their_groups() -> None:
    parameters, x = block.init_block(8, BlockConfig(4, kv_heads=2)), drawn(6, 2, 3, 8)
    query, key, value = self_attention.project(x, parameters, 4, 2)
    # Head 3 owns channels 6 and 7 of the queries and shares key/value head 1, channels 2 and 3.
    assert query[:, 3] == pytest.approx(x @ parameters["Wq"][:, 6:] + parameters["bq"][6:], rel=1e-12)
    assert key[:, 3] == pytest.approx(x @ parameters["Wk"][:, 2:] + parameters["bk"][2:], rel=1e-12)
    assert value[:, 3] == pytest.approx(x @ parameters["Wv"][:, 2:] + parameters["bv"][2:], rel=1e-12)
