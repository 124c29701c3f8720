"""What the page computes by itself, held against the library: the same numbers to 1e-12."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core import attention, heads, mask, positions, residual, softmax
from faults import registry
from faults.injection import patched
from tests.reports.page.conftest import Visit

Array = NDArray[Any]

CLOSE = 1e-12
FAULTS = ("", *registry.NAMES)


@pytest.fixture
def page(visit: Callable[..., Visit], address: str) -> Any:
    return visit(address).page


def same(found: Any, expected: Array) -> None:
    np.testing.assert_allclose(np.array(found, float), expected, rtol=0, atol=CLOSE)


def sound(x: Array, count: int) -> tuple[Array, Array]:
    """(weights [head, query, key], output [token, channel]) of causal attention with q = k = v = x, and a residual."""
    split = heads.split_heads(x[None], count)
    trace = attention.attend(split, split, split, mask.causal_mask(len(x), len(x)))
    merged = heads.merge_heads(trace.output)
    output = residual.pre_norm(x[None], x[None], lambda h: h, lambda h: merged)
    return trace.weights[0], output[0]


def library(x: Array, count: int, fault: str) -> tuple[Array, Array]:
    if not fault:
        return sound(x, count)
    found: tuple[Array, Array] = patched(registry.load(fault).variants[0], sound, x, count)
    return found


@pytest.mark.parametrize("fault", FAULTS)
def test_attention_in_the_page_is_the_librarys(page: Any, fault: str) -> None:
    generator = np.random.default_rng(11)
    cases = [
        (generator.normal(size=(tokens, 2)) * size, count)
        for tokens in (1, 2, 3, 5, 8, 17, 32)
        for size in (0.3, 1.0, 8.0)
        for count in (1, 2)
    ]
    asked = [[x.tolist(), count, fault] for x, count in cases]
    answers = page.evaluate("(all) => all.map((one) => toyAttention(...one))", asked)
    for (x, count), answer in zip(cases, answers, strict=True):
        weights, output = library(x, count, fault)
        same(answer["weights"], weights)
        same(answer["output"], output)


@pytest.mark.parametrize("fault", registry.NAMES)
def test_every_fault_changes_the_demonstration(page: Any, fault: str) -> None:
    x = [[0.4, 0.0], [0.3, 0.2], [0.2, 0.3]]
    heads_that_show = 2 if fault == "head_seq_swap" else 1
    asked = [[x, heads_that_show, name] for name in ("", fault)]
    healthy, faulty = page.evaluate("(all) => all.map((one) => toyAttention(...one))", asked)
    assert healthy["output"] != faulty["output"]


def test_softmax_in_the_page_is_the_librarys(page: Any) -> None:
    generator = np.random.default_rng(12)
    cases = [
        (generator.normal(size=count) * size, temperature)
        for count in (1, 2, 4, 32)
        for size in (0.1, 3.0, 1000.0)
        for temperature in (0.1, 0.75, 1.0, 5.0)
    ]
    answers = page.evaluate("(all) => all.map((one) => softmax(...one))", [[z.tolist(), t] for z, t in cases])
    for (logits, temperature), answer in zip(cases, answers, strict=True):
        same(answer, softmax.softmax(logits, temperature))


def test_a_row_that_is_masked_throughout_gives_zeros_as_in_the_library(page: Any) -> None:
    found = page.evaluate("() => [softmax([-Infinity, -Infinity]), softmax([-Infinity, 2])]")
    assert found == [[0, 0], [0, 1]]
    same(found[0], softmax.softmax(np.full(2, -np.inf)))


def test_entropy_is_in_bits(page: Any) -> None:
    # By hand: 8 equal weights carry 3 bits, a certain one 0, and 1/2, 1/4, 1/4 carry 1.5.
    found = page.evaluate("() => [Array(8).fill(1 / 8), [0, 1, 0], [0.5, 0.25, 0.25]].map(entropy)")
    assert found == pytest.approx([3, 0, 1.5], abs=CLOSE)


def test_positions_and_their_products_are_the_librarys(page: Any) -> None:
    table = positions.sinusoidal_positional_encoding(64, 32)
    same(page.evaluate("() => PART.positions"), table)
    same(
        page.evaluate("() => Array.from({ length: 32 }, (_, start) => innerProducts(start))"),
        np.array([[table[p] @ table[p + d] for d in range(33)] for p in range(32)]),
    )


def test_toy_vectors_follow_the_rule_that_the_page_states(page: Any) -> None:
    # "dog": 100 + 111 + 103 = 314 = 34 * 9 + 8; 100 + 222 + 309 = 631 = 70 * 9 + 1; "狗" is U+72D7 = 29399.
    words = ["the", "Cat", "sat", "dog", "狗"]
    found = page.evaluate("(all) => all.map(toyVector)", words)
    expected = [[0.4, 0.0], [0.3, 0.2], [0.2, 0.3], [8 / 20, 1 / 20], [29399 % 9 / 20] * 2]
    same(found, np.array(expected))


def test_splitting_and_merging_are_inverse_and_the_swap_is_a_plain_reshape(page: Any) -> None:
    x = np.arange(12.0).reshape(3, 4)
    right, wrong = (page.evaluate("(a) => splitHeads(...a)", [x.tolist(), 2, swap]) for swap in (False, True))
    same(right, heads.split_heads(x[None], 2)[0])
    same(wrong, x.reshape(2, 3, 2))
    for split, swap in ((right, False), (wrong, True)):
        same(page.evaluate("(a) => mergeHeads(...a)", [split, swap]), x)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1, 2, 0.5, 3", [1, 2, 0.5, 3]),
        ("-1，+2 .5 1e2", [-1, 2, 0.5, 100]),
        ("−3", [-3]),
        ("", []),
        ("1,,2", [1, 2]),
    ],
)
def test_numbers_are_read_as_people_write_them(page: Any, text: str, expected: list[float]) -> None:
    assert page.evaluate("parseNumbers", text) == {"numbers": expected}


@pytest.mark.parametrize(
    ("text", "bad"),
    [("1, two", "two"), ("1e999", "1e999"), ("NaN", "NaN"), ("0x10", "0x10"), ("1.2.3", "1.2.3")],
)
def test_what_is_no_number_is_named(page: Any, text: str, bad: str) -> None:
    assert page.evaluate("parseNumbers", text) == {"bad": bad}


def test_figures_are_written_short_and_never_as_zero_when_they_are_not(page: Any) -> None:
    given = [0, 0.5, 0.0285, 12.34, 2.83e-6, 1e-17, "inf", "-inf", "nan", None, -0.25, 123456]
    shown = ["0", "0.5", "0.0285", "12.3", "2.8e−6", "1e−17", "∞", "−∞", "NaN", "–", "−0.25", "1.2e5"]
    assert page.evaluate("(all) => all.map((one) => short(one))", given) == shown
