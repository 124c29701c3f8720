"""Follows the scalar gain from the projections to every softmax of one PyTorch call, and looks at the weights there.

A TorchDispatchMode sees every aten op, whatever the Python code around it is called. A tensor is followed from a
matrix product with a weight (gain 1) through views, RoPE, scalar factors and masks; the product of two followed
tensors is a score. Where it reaches a softmax, or the two reach a fused kernel, that is a site.
"""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from .origins import Origins, memory
from .places import looked_at, numbered, oriented


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


VIEWS = _names("""
    view _unsafe_view reshape _reshape_alias view_as flatten transpose t permute movedim expand clone contiguous
    unsqueeze squeeze select slice split split_with_sizes chunk unbind unsafe_split unsafe_chunk cat stack _to_copy
    alias detach copy_ neg repeat repeat_interleave index_select index gather view_as_complex view_as_real _conj
    as_strided lift_fresh index_put_ slice_scatter roll flip tanh
""")
"""Ops that keep the gain; tanh too, which a soft cap puts around scores that are small beside it."""

STILL = _names("_to_copy clone contiguous alias detach neg lift_fresh tanh copy_")
"""Those of them that move no entry."""

MASKS = _names("add add_ sub sub_ rsub masked_fill masked_fill_ where maximum clamp clamp_min amax index_put")
STATISTICS = _names("pow mean rsqrt sqrt linalg_vector_norm norm sum var var_mean square reciprocal amax max")
SCALES = _names("mul mul_ div div_ true_divide")
PROJECTIONS = _names("linear conv1d convolution addmm _addmm_activation")
PRODUCTS = _names("mm bmm baddbmm")
NORMS = _names("native_layer_norm rms_norm _fused_rms_norm layer_norm")
SOFTMAXES = _names("_softmax _safe_softmax _log_softmax")
WRITES = _names("copy_ index_put_ slice_scatter")
FUSED = "scaled_dot_product"


@dataclass(frozen=True)
class Known:
    """The gain of a tensor, and what it is: a projection, a score, an exponential, weights, a statistic.

    places: (numbers, columns) of a score, see `places`; None where it is not known where its entries went.
    context: whether a score's keys, and not its queries, come from elsewhere than the input.
    """

    what: str
    gain: float = 1.0
    head_width: int = 0
    normalised: bool = False
    places: Any = field(default=None, compare=False)
    context: bool = False


def follow(run: Any, options: dict[str, Any], inputs: Any = ()) -> list[dict[str, Any]]:
    """The sites of one run, in the order in which they were reached. inputs: the tensors that it is given."""
    torch = sys.modules["torch"]
    mode = importlib.import_module("torch.utils._python_dispatch").TorchDispatchMode
    book = Book(torch, inputs)

    class Follow(mode):  # type: ignore[misc, valid-type]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            output = function(*args, **(kwargs or {}))
            book.origins.note([*args, *(kwargs or {}).values()], output)
            book.note(function.overloadpacket.__name__, function, args, kwargs or {}, output)
            return output

    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with Follow():
            run()
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)
    return book.sites


class Book:
    """Notes what is known of each tensor. The tensors are kept, so that an id means one of them only."""

    def __init__(self, torch: Any, inputs: Any = ()) -> None:
        self.torch = torch
        self.origins = Origins(torch, inputs)
        self.sites: list[dict[str, Any]] = []
        self._known: dict[int, Known] = {}
        self._filled: dict[int, Known] = {}
        self._kept: list[Any] = []

    def of(self, value: Any) -> Known | None:
        """What is known of a tensor itself, or of what was written into the memory it shares."""
        if not isinstance(value, self.torch.Tensor):
            return None
        known = self._known.get(id(value))
        return known if known is not None else self._filled.get(memory(value))

    def tell(self, output: Any, known: Known | None, written: bool = False) -> None:
        """Notes what is known of the outputs; `written`: into memory that was there before."""
        if known is None:
            return
        for tensor in output if isinstance(output, (tuple, list)) else (output,):
            if isinstance(tensor, self.torch.Tensor):
                self._known[id(tensor)] = known
                self._kept.append(tensor)
                if written:
                    self._filled[memory(tensor)] = known

    def note(self, name: str, function: Any, args: Any, kwargs: Any, output: Any) -> None:
        """One aten op."""
        if FUSED in name:
            self._fused(function, args, kwargs)
            self.tell(output[0] if isinstance(output, tuple) else output, Known("mixed"))
        elif name in PROJECTIONS:
            self.tell(output, Known("projection", float(kwargs.get("alpha", 1))))
        elif name in PRODUCTS:
            self.tell(output, self._product(args[-2:], float(kwargs.get("alpha", 1)), output))
        elif name in NORMS:
            inside = self.of(args[0])
            again = inside is not None and inside.what == "projection"
            self.tell(output, Known("projection", normalised=again))
        elif name in SOFTMAXES:
            self._softmax(name, args, output)
        else:
            known = self._elementwise(name, args, kwargs, output)
            if known is not None and known.places is not None:
                known = replace(known, places=self._moved(known.places, name, function, args, kwargs, output))
            self.tell(output, known, written=name in WRITES)

    def _moved(
        self, places: Any, name: str, function: Any, args: Any, kwargs: Any, output: Any
    ) -> tuple[Any, int] | None:
        """The numbers after the same operation; None where it is none that they can go through."""
        numbers, columns = places
        try:
            if name in VIEWS and name not in STILL:
                numbers = function(*map(self._numbers, args), **kwargs)
            return numbers.expand(output.shape), columns
        except (RuntimeError, TypeError, AttributeError):
            return None

    def _numbers(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(map(self._numbers, value))
        known = self.of(value)
        return value if known is None or known.places is None else known.places[0]

    def _product(self, pair: Any, alpha: float, output: Any) -> Known:
        """Two projections make a score, weights mix values; anything else is a projection by some weight."""
        known = [self.of(tensor) for tensor in pair]
        kinds = [found.what if found is not None else "" for found in known]
        if "weights" in kinds:
            return Known("mixed")
        if kinds != ["projection", "projection"] or any(map(self._is_weight, pair)):
            return Known("projection", alpha)
        left, right = (found for found in known if found is not None)
        gain = left.gain * right.gain * alpha
        rows, columns = output.shape[-2:]
        numbers = self.torch.from_numpy(numbered(rows, columns)).to(output.device).expand(output.shape)
        normalised = left.normalised or right.normalised
        return Known("score", gain, pair[0].shape[-1], normalised, (numbers, columns), self._context(*pair))

    def _context(self, query: Any, key: Any) -> bool:
        """Whether one of the two, which is then the key, is not made of the input."""
        return self.origins.inside(query) != self.origins.inside(key)

    def _is_weight(self, tensor: Any) -> bool:
        return isinstance(tensor, self.torch.nn.Parameter)

    def _elementwise(self, name: str, args: Any, kwargs: Any, output: Any) -> Known | None:
        values = list(args[0]) if args and isinstance(args[0], (tuple, list)) else list(args)
        known = [found for found in map(self.of, values) if found is not None]
        if not known:
            return None
        if name in SCALES:
            return self._scaled(name.rstrip("_"), values, output)
        if name == "exp":  # of a score, or of the logarithms of weights
            kind = {"score": "exponential", "weights": "weights"}.get(known[0].what)
            return replace(known[0], what=kind) if kind is not None else None
        if name in STATISTICS and known[0].what in ("projection", "statistic", "exponential"):
            return replace(known[0], what="statistic" if known[0].what != "exponential" else "total")
        if name in MASKS and len(values) > 1 and self.of(values[1]) is not None:
            known[-1] = replace(known[-1], gain=known[-1].gain * float(kwargs.get("alpha", 1)))
        if name in VIEWS or name in MASKS:
            return max(known, key=lambda found: (found.what == "score", abs(found.gain)))
        return None

    def _scaled(self, name: str, values: Any, output: Any) -> Known | None:
        first, second = self.of(values[0]), self.of(values[1])
        known = first or second
        if known is None:
            return None
        if first is not None and second is not None:
            if first.what == "exponential" and second.what in ("total", "exponential"):
                self._site(first, output, -1)
                return Known("weights")
            if "statistic" in (first.what, second.what):
                return replace(first if first.what != "statistic" else second, normalised=True)
            return first
        other = values[1] if first is not None else values[0]
        number = self._number(other[other != 0] if known.what == "score" and self._mixed(other) else other)
        if number is None:
            # On a projection that is RoPE; on a score a factor of its own for each head.
            return replace(known, normalised=known.normalised or known.what == "score")
        factor = number if name == "mul" else 1 / number if number else math.inf
        return replace(known, gain=known.gain * factor)

    def _mixed(self, value: Any) -> bool:
        """Whether some entries are 0: a mask that is multiplied, as in `scores * keep - 1e10 * (1 - keep)`."""
        return isinstance(value, self.torch.Tensor) and bool((value == 0).any() and (value != 0).any())

    def _number(self, value: Any) -> float | None:
        """A Python number or a tensor of equal ones; None for any other tensor, such as RoPE's cosines."""
        if not isinstance(value, self.torch.Tensor):
            return float(value) if isinstance(value, (int, float)) else None
        if not value.numel() or value.is_complex():
            return None
        first = value.flatten()[0]
        return float(first) if bool((value == first).all()) else None

    def _softmax(self, name: str, args: Any, output: Any) -> None:
        known, axis = self.of(args[0]), args[1]
        weights = output.exp() if name == "_log_softmax" else output
        if known is not None and known.what == "score":
            self._site(known, weights, axis)
        self.tell(output, Known("weights"))

    def _fused(self, function: Any, args: Any, kwargs: Any) -> None:
        names = [argument.name for argument in function._schema.arguments]
        given = {**dict(zip(names, args)), **kwargs}
        query, key = given["query"], given["key"]
        known = [self.of(side) or Known("projection") for side in (query, key)]
        scale = given.get("scale")
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        gain = known[0].gain * known[1].gain * scale
        scores = query.float() @ _spread(key, query).float().transpose(-1, -2) * scale
        weights = self._masked(scores, given).softmax(-1)
        normalised = known[0].normalised or known[1].normalised
        score = Known("score", gain, query.shape[-1], normalised, context=self._context(query, key))
        self._site(score, weights, -1, fused=True)

    def _masked(self, scores: Any, given: dict[str, Any]) -> Any:
        mask = given.get("attn_mask", given.get("attn_bias"))
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == self.torch.bool else scores + mask
        if given.get("is_causal"):
            seen = self.torch.ones(scores.shape[-2:], dtype=self.torch.bool, device=scores.device).tril()
            scores = scores.masked_fill(~seen, -math.inf)
        return scores

    def _site(self, known: Known, weights: Any, axis: int, fused: bool = False) -> None:
        places = known.places and (known.places[0].cpu().numpy(), known.places[1])
        axis = axis % weights.dim() - weights.dim()
        found, last = oriented(weights.detach().double().cpu().numpy(), places, axis)
        self.sites.append(
            {
                "gain": known.gain,
                "head_width": known.head_width,
                "normalised": known.normalised,
                "last_axis": last,
                "fused": fused,
                **looked_at(found),
                # In a context from elsewhere nothing is the future, and no token is its own.
                **({"future": 0.0, "own": 0.0} if known.context else {}),
            }
        )


def _spread(key: Any, query: Any) -> Any:
    """Keys repeated for grouped queries, where the kernel does that itself."""
    return key.repeat_interleave(query.shape[-3] // key.shape[-3], -3) if query.dim() > 3 else key
