"""The gradient of a faulty block is the faulty forward pass's own gradient, by central differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from detectors.fixtures import Extents, Fixture
from faults import reference
from faults.injection import inject
from faults.model import Fault, Seam, Variant
from tests.faults import samples

Array = NDArray[Any]
Gradients = Mapping[str, Array]

STEP = 1e-5
TOLERANCE = 1e-6
APART = 1e-3
"""Least difference between the faulty and the healthy gradient, over the largest healthy one."""

DIRECTIONS = 2
COORDINATES = 3

# Grouped heads, and extents that all differ.
WITNESS = Extents(batch=2, tokens=5, heads=4, kv_heads=2, head_width=3, hidden=7)
SPECIAL = {
    # Elsewhere the batch and the tokens do not fit each other, and the block raises.
    "residual_shape/sequence_first": replace(WITNESS, batch=5),
    # Elsewhere the mask does not fit the scores, and the block raises.
    "head_seq_swap/untransposed": replace(WITNESS, tokens=4),
}

COMPARED = [(f, v) for f, v in samples.CASES if not v.no_gradient]
EXEMPT = {f"{f.name}/{v.name}": v for f, v in samples.CASES if v.no_gradient}

every_comparison = pytest.mark.parametrize(
    ("fault", "variant"), COMPARED, ids=[f"{fault.name}/{variant.name}" for fault, variant in COMPARED]
)
norms = pytest.mark.parametrize("norm_kind", ["layer", "rms"])


def witness(fault: Fault, variant: Variant, norm_kind: str) -> Fixture:
    extents = SPECIAL.get(f"{fault.name}/{variant.name}", WITNESS)
    assert variant.witnesses(extents)
    return Fixture(replace(extents, norm_kind=norm_kind), seed=3)


def upstream(fixture: Fixture) -> Array:
    return fixture.draw("upstream", *fixture.x.shape)


def loss(fixture: Fixture, changed: Mapping[str, Array]) -> float:
    """sum(upstream * y) with x or some weights replaced."""
    weights = {role: array for role, array in changed.items() if role != "x"}
    call = reference.subject(fixture).call
    assert call is not None
    output = call(changed.get("x", fixture.x), weights)
    return float((upstream(fixture) * output).sum())


def exact(fixture: Fixture) -> Gradients:
    """What the backward pass gives, for x and for every weight."""
    grad_x, by_role = reference.gradients(fixture, upstream(fixture))
    assert set(by_role) == set(fixture.weights)
    return {"x": grad_x, **by_role}


def moves(role: str, shape: tuple[int, ...]) -> Iterator[Array]:
    """Random directions, and single coordinates, that one array is moved in."""
    random = np.random.default_rng([7, *role.encode()])
    yield from random.standard_normal((DIRECTIONS, *shape))
    for flat in random.choice(int(np.prod(shape)), COORDINATES):
        one = np.zeros(shape)
        one.flat[flat] = 1.0
        yield one


def slope(fixture: Fixture, role: str, array: Array, move: Array) -> float:
    """The loss's slope along one move, by a central difference."""
    above, below = (loss(fixture, {role: array + sign * STEP * move}) for sign in (1, -1))
    return (above - below) / (2 * STEP)


def worst(fixture: Fixture, gradients: Gradients) -> dict[str, float]:
    """Largest error along the moves of each array, over its largest slope."""
    errors = {}
    for role, array in {"x": fixture.x, **fixture.weights}.items():
        found = [
            (slope(fixture, role, array, m), float((gradients[role] * m).sum()))
            for m in moves(role, array.shape)
        ]
        largest = max(abs(numeric) for numeric, _ in found)
        errors[role] = max(abs(numeric - claimed) for numeric, claimed in found) / max(largest, 1e-3)
    return errors


def apart(one: Gradients, other: Gradients) -> float:
    """Largest difference of two sets of gradients, over the largest element of the second."""
    largest = max(float(np.abs(array).max()) for array in other.values())
    return max(float(np.abs(one[role] - other[role]).max()) for role in other) / largest


@norms
def test_the_healthy_gradient_agrees_with_central_differences(norm_kind: str) -> None:
    fixture = Fixture(replace(WITNESS, norm_kind=norm_kind), seed=3)
    errors = worst(fixture, exact(fixture))
    assert max(errors.values()) <= TOLERANCE, errors


def test_a_gradient_that_is_off_in_its_sixth_digit_is_noticed() -> None:
    fixture = Fixture(WITNESS, seed=3)
    off = {role: array * (1 + 3e-6) for role, array in exact(fixture).items()}
    assert all(error > TOLERANCE for role, error in worst(fixture, off).items() if role != "bk")


@norms
@every_comparison
def test_a_faulty_gradient_agrees_with_central_differences_of_the_faulty_forward_pass(
    fault: Fault, variant: Variant, norm_kind: str
) -> None:
    fixture = witness(fault, variant, norm_kind)
    with inject(variant):
        errors = worst(fixture, exact(fixture))
    assert max(errors.values()) <= TOLERANCE, errors


@norms
@every_comparison
def test_a_faulty_gradient_differs_from_the_healthy_one(
    fault: Fault, variant: Variant, norm_kind: str
) -> None:
    fixture = witness(fault, variant, norm_kind)
    healthy = exact(fixture)
    with inject(variant):
        faulty = exact(fixture)
    assert apart(faulty, healthy) > APART
    assert apart(exact(fixture), healthy) == 0.0


def softmax(scaled: Array) -> Array:
    """Over the keys of one head; exact for large numbers too."""
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    normalised: Array = powers / powers.sum(axis=1, keepdims=True)
    return normalised


@pytest.mark.parametrize("size", [1.0, 40.0])
def test_a_mask_after_the_softmax_has_its_gradient_for_one_head_alone_and_for_large_scores(
    size: float,
) -> None:
    # At size 40 the rows of the scores are about 800 and -800: their exponentials are no numbers.
    query, key = np.array([[size], [-size]]), np.array([[size / 2], [size / 2 + 0.01]])
    value, grad, keep = np.array([[1.0], [3.0]]), np.array([[1.0], [2.0]]), np.array([[1, 0], [1, 1]])

    def loss(query: Array, key: Array, value: Array) -> float:
        return float((grad * ((softmax(query @ key.T) * keep) @ value)).sum())

    variant = samples.declared("mask_adds_zero/after_softmax")
    attend_backward = variant.patches[Seam("core.attention", "attend_backward")](len)
    mask, scaled = np.where(keep, 0, -np.inf), query @ key.T
    trace = SimpleNamespace(scaled=scaled[None], weights=(softmax(scaled) * keep)[None])
    found = attend_backward(grad[None], query[None], key[None], value[None], mask, trace)
    arrays = (query, key, value)
    for at, gradient in enumerate(found):
        for row in range(2):
            move = np.zeros((2, 1))
            move[row] = STEP
            above, below = (
                loss(*[array + sign * move * (at == other) for other, array in enumerate(arrays)])
                for sign in (1, -1)
            )
            assert gradient[0, row, 0] == pytest.approx((above - below) / (2 * STEP), rel=1e-4, abs=1e-9)


def test_a_scale_after_the_softmax_leaves_the_mask_to_the_sound_gradient() -> None:
    def sound(*given: Any) -> tuple[Any, ...]:
        assert given[4] == "mask"
        return given[1], given[2], given[3]

    backward = samples.declared("missing_scale/after_softmax").patches[
        Seam("core.attention", "attend_backward")
    ]
    # d_k = 4: the query is doubled, and its gradient again.
    trace = reference.example(5).trace()
    found = backward(sound)(np.ones((1, 4)), np.ones((1, 4)), 3.0, 5.0, "mask", trace)
    assert found[0].tolist() == [[4.0] * 4]
    assert found[1:] == (3.0, 5.0)


def test_just_these_variants_have_no_gradient_to_compare() -> None:
    assert set(EXEMPT) == {"residual_shape/joined", "mask_adds_zero/weak", "flipped_triangle/wrong_corner"}


@pytest.mark.parametrize("extents", [WITNESS, Extents(1, 1, 1, 1, 1, 1), Extents(3, 3, 3, 3, 3, 9)])
@norms
def test_a_joined_branch_raises_at_any_extents_as_its_reason_says(extents: Extents, norm_kind: str) -> None:
    fixture = Fixture(replace(extents, norm_kind=norm_kind), seed=3)
    width = 2 * extents.width
    assert EXEMPT["residual_shape/joined"].no_gradient == "the block raises: the next norm finds 2D channels"
    with inject(EXEMPT["residual_shape/joined"]), pytest.raises(ValueError, match=rf"\({width},\) channels"):
        exact(fixture)


@pytest.mark.parametrize("gain", [0.1, 1.0, 3.0])
def test_a_weak_mask_has_the_healthy_gradient_at_moderate_logits_as_its_reason_says(gain: float) -> None:
    weak = EXEMPT["mask_adds_zero/weak"]
    fixture = Fixture(replace(WITNESS, gain=gain), seed=3)
    healthy = exact(fixture)
    with inject(weak):
        faulty = exact(fixture)
    assert "exactly 0" in weak.no_gradient
    assert np.exp(-1e4) == 0.0
    assert apart(faulty, healthy) == 0.0


def test_as_many_queries_as_keys_have_one_corner_as_the_reason_says() -> None:
    corner = EXEMPT["flipped_triangle/wrong_corner"]
    fixture = Fixture(WITNESS, seed=3)
    healthy = exact(fixture)
    with inject(corner):
        faulty = exact(fixture)
    assert "as many queries as keys" in corner.no_gradient
    assert apart(faulty, healthy) == 0.0
