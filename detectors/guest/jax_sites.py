"""Follows the scalar gain from the projections to every softmax of one JAX call, and looks at the weights there.

`make_jaxpr` lists the call's operations, whatever the Python code around them is called; they are carried out one by
one, with their numbers. An array is followed from a matrix product with a weight (gain 1) through views, RoPE, scalar
factors and masks; the product of two followed arrays is a score. Where exp(score) is divided by its sum is a site.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .places import looked_at, numbered, oriented
from .torch_sites import Known


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VIEWS = _names("""
    reshape transpose squeeze stack unstack broadcast_in_dim expand_dims slice dynamic_slice concatenate gather split
    rev pad neg convert_element_type copy copy_p reduce_precision tanh stop_gradient dynamic_update_slice scatter tile
    optimization_barrier device_put sharding_constraint real imag complex
""")
"""Operations that keep the gain; tanh too, which a soft cap puts around scores that are small beside it."""

STILL = _names("neg convert_element_type copy copy_p reduce_precision tanh stop_gradient device_put")
"""Those of them that move no entry."""

MASKS = _names("add add_any sub select_n max min clamp")
STATISTICS = _names("""
    reduce_sum reduce_max reduce_min rsqrt sqrt log integer_pow square pow argmax cumsum cumlogsumexp
""")
LOOPS = ("scan", "cond")
WHAT = ("score", "logweights", "exponential", "weights")
"""Kinds that win over a mask, a statistic or a projection that is added to them."""


def follow(run: Any, options: dict[str, Any], inputs: Any = ()) -> list[dict[str, Any]]:
    """The sites of one run, in the order in which they were reached."""
    closed = sys.modules["jax"].make_jaxpr(run)()
    book = Book()
    book.carried_out(closed.jaxpr, closed.consts, [])
    return book.sites


class Book:
    """Carries out jaxprs and notes what is known of each array; `axes` of the sums that a division needs."""

    def __init__(self) -> None:
        self.sites: list[dict[str, Any]] = []
        self._numpy = sys.modules["jax"].numpy
        self._axes: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._known: dict[int, Known] = {}

    def carried_out(self, jaxpr: Any, consts: Any, inputs: Any) -> list[Any]:
        """The outputs of one jaxpr, all its equations noted."""
        values = dict(zip(jaxpr.constvars, consts))
        values.update(zip(jaxpr.invars, inputs))
        for equation in jaxpr.eqns:
            given = [_value(atom, values) for atom in equation.invars]
            values.update(zip(equation.outvars, self._step(equation, given)))
        return [_value(atom, values) for atom in jaxpr.outvars]

    def _step(self, equation: Any, given: list[Any]) -> list[Any]:
        name = equation.primitive.name
        if name in LOOPS:
            return self._scanned(equation, given) if name == "scan" else self._chosen(equation, given)
        inner = _inner(equation)
        if inner is not None:
            jaxpr, consts = inner
            return self.carried_out(jaxpr, consts, given)
        found = equation.primitive.bind(*given, **equation.params)
        outputs = list(found) if equation.primitive.multiple_results else [found]
        self._note(equation, given, outputs)
        return outputs

    def _chosen(self, equation: Any, given: list[Any]) -> list[Any]:
        branch = equation.params["branches"][int(given[0])]
        return self.carried_out(branch.jaxpr, branch.consts, given[1:])

    def _scanned(self, equation: Any, given: list[Any]) -> list[Any]:
        """A loop over the first axis, such as over the layers of a model, one turn after the other."""
        params = equation.params
        fixed, state = params["num_consts"], params["num_carry"]
        consts, carry, rows = given[:fixed], given[fixed : fixed + state], given[fixed + state :]
        turns, body = [], params["jaxpr"]
        order = range(params["length"])
        for at in reversed(order) if params["reverse"] else order:
            found = self.carried_out(body.jaxpr, body.consts, [*consts, *carry, *(row[at] for row in rows)])
            carry = found[:state]
            turns.append(found[state:])
        stacked = [self._numpy.stack(parts) for parts in zip(*(turns[::-1] if params["reverse"] else turns))]
        return [*carry, *stacked]

    # --- what is known ---------------------------------------------------------------------------------------------

    def _note(self, equation: Any, given: list[Any], outputs: list[Any]) -> None:
        name, params = equation.primitive.name, equation.params
        known = [self._known.get(id(value)) for value in given]
        if name == "dot_general":
            self._tell(outputs, self._product(known, given, params, outputs[0]))
        elif any(found is not None for found in known):
            found = self._elementwise(name, known, given, outputs)
            if found is not None and found.places is not None:
                found = replace(found, places=self._moved(found.places, equation, known, given, outputs))
            self._tell(outputs, found)
            self._axes.update({id(outputs[0]): axes for axes in self._summed(name, params, given)})

    def _product(self, known: Any, given: Any, params: Any, output: Any) -> Known:
        """Two projections make a score, weights mix values; anything else is a projection by some weight."""
        kinds = [found.what if found is not None else "" for found in known]
        if "weights" in kinds:
            return Known("mixed")
        if kinds != ["projection", "projection"]:
            return Known("projection")
        (contracted, _), (together, _) = params["dimension_numbers"]
        width = math.prod(given[0].shape[axis] for axis in contracted)
        own = output.shape[len(together) :]
        columns = math.prod(own[given[0].ndim - len(contracted) - len(together) :])
        numbers = numbered(math.prod(own) // max(columns, 1), columns).reshape(own)
        left, right = known
        places = self._numpy.broadcast_to(self._numpy.asarray(numbers), output.shape), columns
        return Known("score", left.gain * right.gain, width, left.normalised or right.normalised, places)

    def _moved(
        self, places: Any, equation: Any, known: list[Known | None], given: list[Any], outputs: list[Any]
    ) -> tuple[Any, int] | None:
        """The numbers after the same operation; None where it is none that they can go through."""
        numbers, columns = places
        name = equation.primitive.name
        try:
            if name in VIEWS and name not in STILL:
                moved = [
                    value if found is None or found.places is None else found.places[0]
                    for found, value in zip(known, given)
                ]
                numbers = equation.primitive.bind(*moved, **equation.params)
            return self._numpy.broadcast_to(numbers, outputs[0].shape), columns
        except Exception:  # JAX has many ways to refuse an operation on whole numbers
            return None

    def _tell(self, outputs: list[Any], known: Known | None) -> None:
        self._kept += outputs  # kept, so that an id means one of them only
        if known is not None:
            self._known.update({id(output): known for output in outputs})

    def _summed(self, name: str, params: Any, given: list[Any]) -> Iterator[Any]:
        """The axes behind a sum or what was made of it; the place of the keys, counted from the end."""
        if name == "reduce_sum":
            yield tuple(axis - given[0].ndim for axis in params["axes"])
        elif name in VIEWS or name in STATISTICS or name in MASKS:
            yield from (self._axes[id(value)] for value in given if id(value) in self._axes)

    def _elementwise(
        self, name: str, known: list[Known | None], given: list[Any], outputs: list[Any]
    ) -> Known | None:
        there: list[Known] = [found for found in known if found is not None]
        if name in ("mul", "div"):
            return self._scaled(name, known, given, outputs[0])
        if name in ("exp", "exp2"):
            return self._exponential(there[0], given[0], outputs[0])
        if name in STATISTICS:
            return _statistic(name, there[0])
        if name == "sub" and known[0] is not None and known[1] is not None and known[1].what == "total":
            return replace(known[0], what="logweights") if known[0].what == "score" else known[0]
        if name in VIEWS or name in MASKS:
            return max(there, key=lambda found: (found.what in WHAT, abs(found.gain)))
        return None

    def _exponential(self, known: Known, logits: Any, output: Any) -> Known | None:
        if known.what == "logweights":
            self._site(known, output, self._axes.get(id(logits)))
            return Known("weights")
        return replace(known, what="exponential") if known.what == "score" else None

    def _scaled(self, name: str, known: list[Known | None], given: list[Any], output: Any) -> Known | None:
        first, second = known
        if first is not None and second is not None:
            if first.what == "exponential" and second.what == "total":
                self._site(first, output, self._axes.get(id(given[1])))
                return Known("weights")
            if "statistic" in (first.what, second.what):
                return replace(first if first.what != "statistic" else second, normalised=True)
            return first if first.what in WHAT else second
        found = first or second
        if found is None:
            return None
        other = given[1] if first is not None else given[0]
        number = _number(other, found.what == "score")
        if number is None:
            # On a projection that is RoPE; on a score a factor of its own for each head.
            return replace(found, normalised=found.normalised or found.what == "score")
        factor = number if name == "mul" else 1 / number if number else math.inf
        return replace(found, gain=found.gain * factor)

    def _site(self, known: Known, weights: Any, axes: Any) -> None:
        # 0 stands for several: no numbers tell then which axes are the queries and the keys.
        axis = axes[0] if axes is not None and len(axes) == 1 else -1 if axes is None else 0
        found, last = oriented(
            sys.modules["numpy"].asarray(weights).astype("f8"), known.places if axis else None, axis
        )
        self.sites.append(
            {
                "gain": known.gain,
                "head_width": known.head_width,
                "normalised": known.normalised,
                "last_axis": last,
                "fused": False,
                **looked_at(found),
            }
        )


def _value(atom: Any, values: dict[Any, Any]) -> Any:
    return atom.val if hasattr(atom, "val") else values[atom]


def _inner(equation: Any) -> Any:
    """(jaxpr, constants) inside a call, such as one of jit, custom_jvp or remat; None for a plain operation."""
    for name in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
        inner = equation.params.get(name)
        if hasattr(inner, "jaxpr"):
            return inner.jaxpr, inner.consts
        if hasattr(inner, "eqns"):
            return inner, ()
    return None


def _statistic(name: str, known: Known) -> Known | None:
    if known.what in ("exponential", "total"):
        return replace(known, what="total")
    return replace(known, what="statistic") if known.what in ("projection", "statistic") else None


def _number(value: Any, masks: bool) -> float | None:
    """A number or an array of equal ones; None for any other array, such as RoPE's cosines.

    masks: whether zeros beside them are a mask that is multiplied, as in `scores * keep - 1e10 * (1 - keep)`.
    """
    array = sys.modules["numpy"].asarray(value)
    if masks and array.any():
        array = array[array != 0]
    if not array.size or array.dtype.kind not in "fiu":
        return None
    first = array.flat[0]
    return float(first) if bool((array == first).all()) else None
