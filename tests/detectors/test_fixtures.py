from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from detectors.errors import DetectorError
from detectors.fixtures import DTYPES, Extents, Fixture, frozen
from tests.detectors import toy

ROLES = {kind + which for kind in "Wb" for which in "qkvo12"} | {"gain1", "shift1", "gain2", "shift2"}


def arrays(fixture: Fixture) -> dict[str, Any]:
    return {"x": fixture.x, **fixture.weights}


def test_shapes_follow_the_declared_extents() -> None:
    found = {name: array.shape for name, array in arrays(Fixture(toy.EXTENTS, 0)).items()}
    # batch 2, tokens 5, width 4 * 3, key/value width 2 * 3, hidden 7
    assert found["x"] == (2, 5, 12)
    assert found["Wq"] == found["Wo"] == (12, 12)
    assert found["Wk"] == found["Wv"] == (12, 6)
    assert found["bk"] == found["bv"] == (6,)
    assert (found["W1"], found["b1"], found["W2"], found["b2"]) == ((12, 7), (7,), (7, 12), (12,))
    assert {found[name] for name in ("bq", "bo", "gain1", "shift1", "gain2", "shift2")} == {(12,)}


def test_without_a_word_a_fixture_is_small_and_its_axes_differ() -> None:
    assert Extents() == Extents(2, 5, 2, 2, 4, 12, "float64", "layer", 1.0, 0)


def test_width_is_heads_times_head_width() -> None:
    assert toy.EXTENTS.width == 12


def test_every_role_is_there_and_rms_norm_has_no_shift() -> None:
    assert set(Fixture(toy.EXTENTS, 0).weights) == ROLES
    assert set(Fixture(replace(toy.EXTENTS, norm_kind="rms"), 0).weights) == ROLES - {"shift1", "shift2"}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_array_has_the_declared_dtype(dtype: str) -> None:
    fixture = Fixture(replace(toy.EXTENTS, dtype=dtype, gain=3.0), 0)
    assert {array.dtype for array in arrays(fixture).values()} == {np.dtype(dtype)}
    assert fixture.draw("more", 2).dtype == np.dtype(dtype)


def test_every_array_is_read_only() -> None:
    fixture = Fixture(toy.EXTENTS, 0)
    assert not any(array.flags.writeable for array in arrays(fixture).values())
    with pytest.raises(ValueError, match="read-only"):
        fixture.x[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        fixture.draw("more", 2)[0] = 0


def test_frozen_hands_back_the_very_array_read_only() -> None:
    array = np.ones(2)
    assert frozen(array) is array
    assert not array.flags.writeable


def test_one_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    first, again, other = (arrays(Fixture(toy.EXTENTS, seed)) for seed in (7, 7, 8))
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert not any(np.array_equal(first[name], other[name]) for name in first)


def test_tokens_are_drawn_by_their_name() -> None:
    fixture = Fixture(toy.EXTENTS, 3)
    assert fixture.x is fixture.draw("x", 2, 5, 12)


def test_draws_depend_on_their_name_and_not_on_the_order_of_asking() -> None:
    one, other = Fixture(toy.EXTENTS, 3), Fixture(toy.EXTENTS, 3)
    here = one.draw("a", 4), one.draw("b", 4)
    there = other.draw("b", 4), other.draw("a", 4)
    assert np.array_equal(here[0], there[1])
    assert np.array_equal(here[1], there[0])
    assert not np.array_equal(here[0], here[1])


def test_no_weight_is_drawn_twice() -> None:
    fixture = Fixture(toy.EXTENTS, 0)
    firsts = [float(array.flat[0]) for array in arrays(fixture).values()]
    assert len(set(firsts)) == len(firsts)


@pytest.mark.parametrize("seed", range(20))
def test_gains_lie_around_one_and_are_never_one(seed: int) -> None:
    fixture = Fixture(toy.EXTENTS, seed)
    for role in ("gain1", "gain2"):
        away = np.abs(fixture.weights[role] - 1)
        assert np.all((away >= 0.1) & (away <= 0.5))


@pytest.mark.parametrize("seed", range(20))
def test_biases_and_shifts_are_never_zero(seed: int) -> None:
    fixture = Fixture(toy.EXTENTS, seed)
    assert all(np.all(array != 0) for role, array in fixture.weights.items() if role[0] in "bs")


def test_no_token_equals_another() -> None:
    tokens = Fixture(replace(toy.EXTENTS, batch=3, tokens=64), 0).x.reshape(-1, 12)
    assert len(np.unique(tokens, axis=0)) == 3 * 64


def test_gain_grows_wq_and_wk_alone() -> None:
    plain, grown = (Fixture(replace(toy.EXTENTS, gain=gain), 5).weights for gain in (1.0, 3.0))
    for role in plain:
        expected = 3.0 if role in ("Wq", "Wk") else 1.0
        np.testing.assert_allclose(grown[role], expected * plain[role], rtol=1e-15)


def test_weights_keep_the_scale_of_what_they_are_applied_to() -> None:
    wide = Fixture(Extents(heads=16, kv_heads=16, head_width=16, hidden=64), 0).weights
    # entries of variance 1 / rows: the standard deviation of 256 * 64 of them is within 3 % of 1 / sqrt(rows)
    assert np.std(wide["W1"]) == pytest.approx(256**-0.5, rel=0.03)
    assert np.std(wide["W2"]) == pytest.approx(64**-0.5, rel=0.03)


@pytest.mark.parametrize("vocab", [5, 9])
def test_no_token_id_comes_twice_in_a_sequence_where_there_are_enough(vocab: int) -> None:
    ids = Fixture(replace(toy.EXTENTS, batch=3, vocab=vocab), 0).x
    assert ids.shape == (3, 5)
    assert not ids.flags.writeable
    for row in ids.tolist():
        assert len(set(row)) == 5
        assert 0 <= min(row) <= max(row) < vocab
    assert len({tuple(row) for row in ids.tolist()}) == 3


def test_every_id_of_a_small_vocabulary_is_drawn_and_no_other() -> None:
    ids = Fixture(replace(toy.EXTENTS, batch=3, tokens=40, vocab=3), 0).x
    assert ids.shape == (3, 40)
    assert sorted(set(ids.flat)) == [0, 1, 2]


@pytest.mark.parametrize("vocab", [3, 9])
def test_token_ids_depend_on_the_seed_alone(vocab: int) -> None:
    first, again, other = (Fixture(replace(toy.EXTENTS, vocab=vocab), seed).x for seed in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_once_makes_a_thing_at_the_first_call_only() -> None:
    fixture = Fixture(toy.EXTENTS, 0)
    made: list[object] = []

    def thing(of: Fixture, *which: str) -> int:
        made.append((of, *which))
        return len(made)

    assert [fixture.once(thing), fixture.once(thing, "b"), fixture.once(thing), fixture.once(thing, "b")] == [
        1,
        2,
        1,
        2,
    ]
    assert made == [(fixture,), (fixture, "b")]


def test_square_has_as_many_tokens_as_heads_and_the_same_weights() -> None:
    fixture = Fixture(toy.EXTENTS, 2)
    square = fixture.square()
    assert square.extents == replace(toy.EXTENTS, tokens=4)
    assert all(np.array_equal(square.weights[role], fixture.weights[role]) for role in ROLES)
    assert fixture.square() is square


def test_square_keeps_the_batch_away_from_the_number_of_heads() -> None:
    square = Fixture(replace(toy.EXTENTS, batch=4), 2).square()
    assert (square.extents.batch, square.extents.tokens) == (5, 4)


@pytest.mark.parametrize("field", ["batch", "tokens", "heads", "kv_heads", "head_width", "hidden"])
@pytest.mark.parametrize("size", [0, -1])
def test_sizes_below_one_are_refused_in_one_line(field: str, size: int) -> None:
    with pytest.raises(DetectorError, match=rf"found .*{size}.*, required: each at least 1") as refused:
        Extents(**{**toy.EXTENTS.as_dict(), field: size})
    assert "\n" not in str(refused.value)


def test_kv_heads_that_do_not_divide_heads_are_refused() -> None:
    with pytest.raises(DetectorError, match="kv_heads: found 3, required: a divisor of heads = 4"):
        Extents(heads=4, kv_heads=3)


@pytest.mark.parametrize(("field", "word"), [("dtype", "float16"), ("norm_kind", "batch")])
def test_unknown_dtype_and_norm_are_refused(field: str, word: str) -> None:
    with pytest.raises(DetectorError, match=f"found .*'{word}'.*, required: one of"):
        Extents(**{**toy.EXTENTS.as_dict(), field: word})


def test_extents_as_dict_builds_the_same_extents() -> None:
    assert Extents(**toy.EXTENTS.as_dict()) == toy.EXTENTS
