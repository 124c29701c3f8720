"""Attention operations followed in JAX: the gain between the projections and the softmax, however it is written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from detectors.guest import jax_sites

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
jnp = jax.numpy

HEADS, HEAD_WIDTH, TOKENS = 2, 4, 5
WIDTH = HEADS * HEAD_WIDTH
ROOT = HEAD_WIDTH**-0.5

Attend = Callable[[Any, Any, Any], Any]


def product(q: Any, k: Any) -> Any:
    return jnp.einsum("bhqc,bhkc->bhqk", q, k)


def hidden(scores: Any) -> Any:
    return jnp.where(jnp.tri(*scores.shape[-2:], dtype=bool), scores, -jnp.inf)


def weighed(score: Callable[[Any, Any], Any], normalise: Any = jax.nn.softmax) -> Attend:
    return lambda q, k, v: normalise(hidden(score(q, k))) @ v


def by_hand(scores: Any) -> Any:
    odds = jnp.exp(scores - scores.max(-1, keepdims=True))
    return odds / odds.sum(-1, keepdims=True)


def keys_first(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.where(jnp.tri(TOKENS, dtype=bool).T, product(k, q) * ROOT, -jnp.inf)
    return jax.nn.softmax(scores, axis=-2).swapaxes(-1, -2) @ v


def tokens_first(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bhqc,bhkc->qkbh", q, k) * ROOT
    scores = jnp.where(jnp.tri(TOKENS, dtype=bool)[:, :, None, None], scores, -jnp.inf)
    return jnp.einsum("qkbh,bhkc->bhqc", jax.nn.softmax(scores, axis=1), v)


def multiplied(q: Any, k: Any, v: Any) -> Any:
    keep = jnp.tri(TOKENS)
    return jax.nn.softmax(keep * (product(q, k) * ROOT) - 1e10 * (1 - keep)) @ v


def for_each_head(q: Any, k: Any, v: Any) -> Any:
    def one(q: Any, k: Any, v: Any) -> Any:
        return by_hand(hidden(q @ k.T * ROOT)) @ v

    return jax.vmap(jax.vmap(one))(q, k, v)


def kernel(q: Any, k: Any, v: Any) -> Any:
    turned = (one.swapaxes(1, 2) for one in (q, k, v))
    return jax.nn.dot_product_attention(*turned, is_causal=True).swapaxes(1, 2)


RIGHT: dict[str, Attend] = {
    "on scores": weighed(lambda q, k: product(q, k) / math.sqrt(HEAD_WIDTH)),
    "on q": weighed(lambda q, k: product(q * ROOT, k)),
    "on both": weighed(lambda q, k: product(q * ROOT**0.5, k * ROOT**0.5)),
    "a root that is computed": weighed(lambda q, k: product(q, k) / jnp.sqrt(jnp.float32(HEAD_WIDTH))),
    "softmax by hand": weighed(lambda q, k: product(q, k) * ROOT, by_hand),
    "log-softmax": weighed(lambda q, k: product(q, k) * ROOT, lambda s: jnp.exp(jax.nn.log_softmax(s))),
    "inside jit": jax.jit(weighed(lambda q, k: product(q, k) * ROOT)),
    "head by head": for_each_head,
    "keys before queries": keys_first,
    "the library's kernel": kernel,
    "queries and keys first": tokens_first,
    "a mask of 0 and 1, multiplied": multiplied,
}
"""Attention with the right scale: gain 1 / sqrt(d_k)."""

WRONG: dict[str, tuple[Attend, float]] = {
    "absent": (weighed(product), 1.0),
    "twice": (weighed(lambda q, k: product(q * ROOT, k) * ROOT), ROOT**2),
    "upside down": (weighed(lambda q, k: product(q, k) / ROOT), 1 / ROOT),
}
"""Attention with another gain, given beside it."""


def sites(attend: Attend, layers: int = 1) -> list[dict[str, Any]]:
    """What is followed from x through projections, attention and an output projection, `layers` times in a loop."""
    draw = np.random.default_rng(2).standard_normal
    x = jnp.asarray(draw((1, TOKENS, WIDTH)), jnp.float32)
    weights = jnp.asarray(draw((layers, 4, WIDTH, WIDTH)) / 3, jnp.float32)

    def layer(x: Any, own: Any) -> Any:
        q, k, v = ((x @ own[at]).reshape(1, TOKENS, HEADS, -1).swapaxes(1, 2) for at in range(3))
        return x + attend(q, k, v).swapaxes(1, 2).reshape(x.shape) @ own[3], None

    return jax_sites.follow(lambda: jax.lax.scan(layer, x, weights)[0], {})


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_scale_is_followed_however_it_is_written(name: str) -> None:
    (site,) = sites(RIGHT[name])
    assert site["gain"] == pytest.approx(ROOT)
    assert (site["head_width"], site["normalised"], site["last_axis"]) == (HEAD_WIDTH, False, True)
    assert site["rows"] == pytest.approx(0, abs=1e-6)
    assert (site["future"], site["own"]) == (0, 0)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_scale_shows_as_the_gain_it_is(name: str) -> None:
    attend, gain = WRONG[name]
    assert [site["gain"] for site in sites(attend)] == [pytest.approx(gain)]


def test_layers_in_a_loop_are_sites_of_their_own() -> None:
    assert len(sites(RIGHT["on scores"], layers=3)) == 3


def test_a_softmax_over_the_queries_is_not_over_the_last_axis() -> None:
    (site,) = sites(lambda q, k, v: jax.nn.softmax(product(q, k) * ROOT, axis=-2) @ v)
    assert not site["last_axis"]


def test_without_a_mask_the_future_has_weight() -> None:
    (site,) = sites(lambda q, k, v: jax.nn.softmax(product(q, k) * ROOT) @ v)
    assert site["future"] > 0.05


def test_normalised_queries_and_keys_are_said_to_be_so() -> None:
    def unit(one: Any) -> Any:
        return one / jnp.sqrt((one**2).sum(-1, keepdims=True))

    (site,) = sites(weighed(lambda q, k: 10 * product(unit(q), unit(k))))
    assert site["normalised"]


def test_a_norm_is_one_whichever_factor_comes_first() -> None:
    def unit(one: Any) -> Any:
        return jax.lax.rsqrt((one**2).mean(-1, keepdims=True)) * one

    (site,) = sites(weighed(lambda q, k: product(unit(q), unit(k))))
    assert site["normalised"]


@pytest.mark.parametrize(
    "softmax", [jax.nn.softmax, by_hand, lambda scores: jnp.exp(jax.nn.log_softmax(scores))]
)
def test_what_was_mixed_is_no_query(softmax: Any) -> None:
    (site,) = sites(lambda q, k, v: jax.nn.softmax(product(softmax(product(q, k) * ROOT) @ v, k)) @ v)
    assert site["gain"] == pytest.approx(ROOT)


@pytest.mark.parametrize("turned", [False, True])
def test_scores_stay_scores_where_a_projection_is_multiplied_with_them(turned: bool) -> None:
    """As a gate does that is made of the input."""

    def gated(q: Any, k: Any, v: Any) -> Any:
        gate, scores = jax.nn.sigmoid(0 * k[..., :1]) * 0 + 1 + 0 * k[..., :1], product(q, k) * ROOT
        return jax.nn.softmax(hidden(gate * scores if turned else scores * gate)) @ v

    (site,) = sites(gated)
    assert (site["gain"], site["future"]) == (pytest.approx(ROOT), 0)


@pytest.mark.parametrize(
    ("value", "masks", "number"),
    [
        (3, False, 3.0),
        (np.full((2, 2), 0.5), False, 0.5),
        (np.array([0.0, 2.0]), True, 2.0),
        (np.array([0.0, 2.0]), False, None),
        (np.zeros(2), True, 0.0),
        (np.array([1.0, 2.0]), True, None),
        (np.zeros(0), False, None),
        (np.array([True, True]), False, None),
        (np.array([1 + 0j]), False, None),
    ],
)
def test_one_number_is_known_where_all_are_equal(value: Any, masks: bool, number: float | None) -> None:
    assert jax_sites._number(value, masks) == number


def test_a_softmax_of_something_else_is_no_site() -> None:
    assert sites(lambda q, k, v: jax.nn.softmax(q) + v) == []


# Carried out, one operation after the other


def running(x: Any) -> Any:
    """The sum of what comes after each row, and the total."""

    def turn(carry: Any, row: Any) -> Any:
        return carry + row, (carry, 2 * row)

    total, (after, twice) = jax.lax.scan(turn, jnp.zeros(x.shape[1:]), x, reverse=True)
    return total, after, twice


def forwards(x: Any) -> Any:
    factor = x[0, 0]
    return jax.lax.scan(lambda carry, row: (carry * factor + row, carry), jnp.ones(x.shape[1:]), x)


def counted(x: Any) -> Any:
    """A loop without rows."""
    return jax.lax.scan(lambda carry, _: (carry + x, carry.sum()), x, None, length=3)


curved = jax.custom_jvp(lambda x: x**2)
curved.defjvps(lambda tangent, _, x: 2 * x * tangent)

CARRIED: dict[str, Callable[[Any], Any]] = {
    "a loop from the end": running,
    "a loop with a constant": forwards,
    "a loop that counts": counted,
    "the first of two branches": lambda x: jax.lax.cond(x[0, 0] > 9, jnp.sin, jnp.cos, x),
    "the second of two branches": lambda x: jax.lax.cond(x[0, 0] < 9, jnp.sin, lambda x: x + x[0], x),
    "the last of three branches": lambda x: jax.lax.switch(7, [jnp.sin, jnp.cos, lambda x: x + x[0]], x),
    "branches of several arguments": lambda x: jax.lax.cond(True, jnp.subtract, jnp.add, x, x[::-1]),
    "an operation with two outputs": lambda x: jax.lax.top_k(x, 2),
    "pieces": lambda x: jnp.split(x, 3, axis=1)[1:],
    "jit inside jit": lambda x: jax.jit(lambda y: jax.jit(jnp.sin)(y) + y)(x),
    "what is computed again": lambda x: jax.checkpoint(lambda y: jnp.sin(y) * 2)(x),
    "a gradient of its own": curved,
    "a constant of the code": lambda x: x + np.arange(3.0, dtype="f4"),
}


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_carried_out_gives_the_numbers_of_the_call_itself(name: str) -> None:
    function = CARRIED[name]
    x = jnp.arange(12.0).reshape(4, 3) / 7 + 1
    closed = jax.make_jaxpr(function)(x)
    found = jax_sites.Book().carried_out(closed.jaxpr, closed.consts, [x])
    expected = jax.tree.leaves(function(x))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_of_branches_the_one_that_is_taken_is_followed() -> None:
    def either(first: bool) -> Attend:
        right, wrong = RIGHT["on scores"], WRONG["absent"][0]
        return lambda q, k, v: jax.lax.cond(first, right, wrong, q, k, v)

    assert [site["gain"] for site in sites(either(True))] == [pytest.approx(ROOT)]
    assert [site["gain"] for site in sites(either(False))] == [pytest.approx(1.0)]


@pytest.mark.parametrize(
    ("scaled", "gain"),
    [
        (lambda s: 2 * s, 2.0),
        (lambda s: s * 2, 2.0),
        (lambda s: s / 4, 0.25),
        (lambda s: s / jnp.full(s.shape, 4.0), 0.25),
        (lambda s: -s, 1.0),
        (lambda s: jnp.tanh(s / 50) * 50, 1.0),
        (lambda s: s.astype("bfloat16").astype("float32"), 1.0),
    ],
)
def test_factors_of_the_scores_are_multiplied(scaled: Any, gain: float) -> None:
    (site,) = sites(weighed(lambda q, k: scaled(product(q, k))))
    assert site["gain"] == pytest.approx(gain)
    assert not site["normalised"]


def test_a_factor_for_each_head_leaves_the_scale_unknown() -> None:
    each = jnp.arange(1.0, HEADS + 1)[:, None, None]
    (site,) = sites(weighed(lambda q, k: product(q, k) * each))
    assert site["normalised"]


def test_a_rotation_of_queries_and_keys_leaves_their_scale() -> None:
    angles = jnp.arange(TOKENS)[:, None] / 10 ** jnp.arange(HEAD_WIDTH // 2)

    def turned(one: Any) -> Any:
        even, odd = one[..., ::2], one[..., 1::2]
        pairs = (
            even * jnp.cos(angles) - odd * jnp.sin(angles),
            even * jnp.sin(angles) + odd * jnp.cos(angles),
        )
        return jnp.stack(pairs, axis=-1).reshape(one.shape)

    (site,) = sites(weighed(lambda q, k: product(turned(q), turned(k)) * ROOT))
    assert site["gain"] == pytest.approx(ROOT)
    assert not site["normalised"]
