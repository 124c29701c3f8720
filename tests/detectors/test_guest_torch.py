"""One attention operation per layer, however it is written in PyTorch: the gain it has is known by construction."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from detectors.guest import conversion, places, subjects, torch_sites

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

HEADS, HEAD_WIDTH, TOKENS = 3, 4, 5
WIDTH = HEADS * HEAD_WIDTH
ROOT = HEAD_WIDTH**-0.5

Attend = Callable[[Any, Any, Any], Any]
Score = Callable[[Any, Any], Any]


def past(tokens: int = TOKENS) -> Any:
    """[query, key]: True for what may be seen."""
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def hidden(scores: Any) -> Any:
    return scores.masked_fill(~past(scores.shape[-1]), -math.inf)


def fused(**options: Any) -> Attend:
    kernel = torch.nn.functional.scaled_dot_product_attention
    return lambda q, k, v: kernel(q, k, v, **options)


def weighed(score: Score, softmax: Callable[[Any], Any] = lambda scores: scores.softmax(-1)) -> Attend:
    return lambda q, k, v: softmax(hidden(score(q, k))) @ v


def product(q: Any, k: Any) -> Any:
    return q @ k.transpose(-1, -2)


def flat_product(q: Any, k: Any, alpha: float) -> Any:
    flat = [side.reshape(-1, TOKENS, HEAD_WIDTH) for side in (q, k)]
    found = torch.baddbmm(torch.zeros(1, 1, 1), flat[0], flat[1].transpose(1, 2), beta=0, alpha=alpha)
    return found.view(*q.shape[:3], TOKENS)


def by_hand(scores: Any) -> Any:
    odds = torch.exp(scores - scores.amax(-1, keepdim=True))
    return odds / odds.sum(-1, keepdim=True)


def angles() -> Any:
    return torch.arange(TOKENS)[:, None] / 100 ** (torch.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH)


def turned(x: Any) -> Any:
    """RoPE on halves, in real numbers."""
    first, second = x.chunk(2, -1)
    cosine, sine = angles().cos().repeat(1, 2), angles().sin().repeat(1, 2)
    return x * cosine + torch.cat([-second, first], -1) * sine


def turned_pairs(x: Any) -> Any:
    """RoPE on neighbours, written into an empty tensor."""
    first, second, made = x[..., ::2], x[..., 1::2], torch.empty_like(x)
    made[..., ::2] = first * angles().cos() - second * angles().sin()
    made[..., 1::2] = first * angles().sin() + second * angles().cos()
    return made


def turned_complex(x: Any) -> Any:
    """RoPE as a product of complex numbers."""
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles()), angles())).flatten(3)


def keys_first(q: Any, k: Any, v: Any) -> Any:
    scores = (product(k, q) * ROOT).masked_fill(~past().T, -math.inf)
    return scores.softmax(-2).transpose(-1, -2) @ v


def grouped(q: Any, k: Any, v: Any) -> Any:
    wider = torch.cat([q, q[:, :1]], 1)
    return fused(is_causal=True, enable_gqa=True)(wider, k[:, :2], v[:, :2])[:, :HEADS]


def multiplied(q: Any, k: Any, v: Any) -> Any:
    keep = past().float()
    return (keep * (product(q, k) * ROOT) - 1e10 * (1 - keep)).softmax(-1) @ v


FLOAT_MASK = torch.zeros(TOKENS, TOKENS).masked_fill(~past(), -math.inf)
LARGE_MASK = torch.triu(torch.full((TOKENS, TOKENS), -1e9), 1)

RIGHT: dict[str, Attend] = {
    "fused, is_causal": fused(is_causal=True),
    "fused, boolean mask": fused(attn_mask=past()),
    "fused, float mask": fused(attn_mask=FLOAT_MASK),
    "fused, scale said": fused(is_causal=True, scale=ROOT),
    "fused, scale on q": lambda q, k, v: fused(is_causal=True, scale=1.0)(q * ROOT, k, v),
    "fused, RoPE": lambda q, k, v: fused(is_causal=True)(turned(q), turned(k), v),
    "fused, grouped queries": grouped,
    "on scores": weighed(lambda q, k: product(q, k) / math.sqrt(HEAD_WIDTH)),
    "on q": weighed(lambda q, k: product(q * ROOT, k)),
    "on both": weighed(lambda q, k: product(q * ROOT**0.5, k * ROOT**0.5)),
    "tensor of no axes": weighed(lambda q, k: product(q, k) / torch.sqrt(torch.tensor(float(HEAD_WIDTH)))),
    "tensor of one number": weighed(lambda q, k: product(q, k) * torch.tensor([ROOT])),
    "in place, times": weighed(lambda q, k: product(q, k).mul_(ROOT)),
    "in place, over": weighed(lambda q, k: product(q, k).div_(HEAD_WIDTH**0.5)),
    "in place, on a view": weighed(lambda q, k: product(q.mul_(ROOT), k)),
    "einsum": weighed(lambda q, k: torch.einsum("bhtc,bhsc->bhts", q, k) * ROOT),
    "baddbmm": weighed(lambda q, k: flat_product(q, k, ROOT)),
    "added with alpha": lambda q, k, v: torch.add(LARGE_MASK, product(q, k), alpha=ROOT).softmax(-1) @ v,
    "softmax by hand": weighed(lambda q, k: product(q, k) * ROOT, by_hand),
    "log-softmax": weighed(lambda q, k: product(q, k) * ROOT, lambda s: s.log_softmax(-1).exp()),
    "where, -1e9": lambda q, k, v: (
        torch.where(past(), product(q, k) * ROOT, torch.tensor(-1e9)).softmax(-1) @ v
    ),
    "soft cap": weighed(lambda q, k: 50 * torch.tanh(product(q, k) * ROOT / 50)),
    "RoPE, halves": weighed(lambda q, k: product(turned(q), turned(k)) * ROOT),
    "RoPE, pairs": weighed(lambda q, k: product(turned_pairs(q), turned_pairs(k)) * ROOT),
    "RoPE, complex": weighed(lambda q, k: product(turned_complex(q), turned_complex(k)) * ROOT),
    "keys before queries": keys_first,
    "a mask of 0 and 1, multiplied": multiplied,
}
"""Attention with the right scale: gain 1 / sqrt(d_k)."""

WRONG: dict[str, tuple[Attend, float]] = {
    "absent": (weighed(product), 1.0),
    "by the model's width": (weighed(lambda q, k: product(q, k) * WIDTH**-0.5), WIDTH**-0.5),
    "twice": (weighed(lambda q, k: product(q * ROOT, k) * ROOT), ROOT**2),
    "twice, fused": (lambda q, k, v: fused(is_causal=True)(q * ROOT, k, v), ROOT**2),
    "absent, fused": (fused(is_causal=True, scale=1.0), 1.0),
    "absent, baddbmm": (weighed(lambda q, k: flat_product(q, k, 1.0)), 1.0),
    "absent, RoPE": (weighed(lambda q, k: product(turned(q), turned(k))), 1.0),
    "upside down": (weighed(lambda q, k: product(q, k) * HEAD_WIDTH**0.5), HEAD_WIDTH**0.5),
    "behind the softmax": (weighed(product, lambda s: s.softmax(-1) * ROOT), 1.0),
}
"""Attention with another gain, given beside it."""


def l2(x: Any) -> Any:
    return torch.nn.functional.normalize(x, dim=-1)


def rms(x: Any) -> Any:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


def unit(x: Any) -> Any:
    return torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * x


def layer(x: Any) -> Any:
    return torch.nn.functional.layer_norm(x, (HEAD_WIDTH,))


OTHER: dict[str, Attend] = {
    "L2 norm of q and k": weighed(lambda q, k: 10 * product(l2(q), l2(k))),
    "RMS norm of q and k": lambda q, k, v: fused(is_causal=True)(rms(q), rms(k), v),
    "LayerNorm of q and k": weighed(lambda q, k: product(layer(q), layer(k)) * ROOT),
    "RMS norm, its factor first": weighed(lambda q, k: product(unit(q), unit(k))),
    "a factor for each head": weighed(lambda q, k: product(q, k) * torch.rand(HEADS, 1, 1)),
}
"""Attention whose scale is a matter of its own."""


def followed(attend: Attend) -> list[dict[str, Any]]:
    """The sites of a self-attention layer around this attention."""
    torch.manual_seed(0)
    inward, outward = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)
    x = torch.randn(2, TOKENS, WIDTH)

    def run() -> Any:
        shape = (2, TOKENS, HEADS, HEAD_WIDTH)
        q, k, v = (part.view(shape).transpose(1, 2) for part in inward(x).split(WIDTH, -1))
        return outward(attend(q, k, v).transpose(1, 2).reshape(2, TOKENS, WIDTH))

    with torch.no_grad():
        return torch_sites.follow(run, {})


@pytest.mark.parametrize("name", RIGHT)
def test_right_attention_is_one_site_with_gain_one_over_the_root_of_d_k(name: str) -> None:
    (site,) = followed(RIGHT[name])
    assert site["gain"] == pytest.approx(ROOT)
    assert (site["head_width"], site["normalised"], site["last_axis"]) == (HEAD_WIDTH, False, True)
    assert (site["future"], site["own"]) == (0, 0)
    assert site["rows"] < 1e-6


@pytest.mark.parametrize("name", WRONG)
def test_another_scale_is_seen_as_what_it_is(name: str) -> None:
    attend, gain = WRONG[name]
    (site,) = followed(attend)
    assert site["gain"] == pytest.approx(gain)
    assert not site["normalised"]


@pytest.mark.parametrize("name", OTHER)
def test_a_scale_that_no_number_gives_is_said_to_be_another_matter(name: str) -> None:
    (site,) = followed(OTHER[name])
    assert site["normalised"]


def tokens_first(axis: int) -> Attend:
    """Scores kept as [query, key, batch, head], with the softmax over this axis of them."""

    def attend(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (side.permute(2, 0, 1, 3) for side in (q, k, v))
        scores = torch.einsum("ibhd,jbhd->ijbh", q, k) * ROOT
        scores = scores.masked_fill(~past()[:, :, None, None], -1e9)
        return torch.einsum("ijbh,jbhd->ibhd", scores.softmax(axis), v).permute(1, 2, 0, 3)

    return attend


def test_queries_and_keys_are_found_wherever_the_scores_keep_them() -> None:
    (site,) = followed(tokens_first(1))
    assert (site["last_axis"], site["future"], site["own"]) == (True, 0, 0)
    assert site["shape"] == [2, HEADS, TOKENS, TOKENS]
    (heads,) = followed(tokens_first(3))
    assert not heads["last_axis"]
    assert heads["rows"] > 0.1


def test_one_token_that_comes_first_is_whole() -> None:
    weights, axis = places.laid(np.ones((1, 1, 2, 3)), np.zeros((1, 1, 2, 3)), 1, 1)
    assert (weights.shape, axis) == ((2, 3, 1, 1), -1)


def test_numbers_of_another_shape_move_nothing() -> None:
    weights, axis = places.laid(np.ones((4, 2, 2)), places.numbered(2, 2), 2, 1)
    assert (weights.shape, axis) == ((4, 2, 2), -2)


def test_weights_are_looked_at_where_the_softmax_is() -> None:
    (open_,) = followed(lambda q, k, v: (product(q, k) * ROOT).softmax(-1) @ v)
    assert open_["future"] > 0.1
    (columns,) = followed(weighed(product, lambda scores: scores.softmax(-2)))
    assert not columns["last_axis"]
    assert columns["rows"] > 0.1
    before = past().tril(-1)
    before[0, 0] = True
    (late,) = followed(fused(attn_mask=before))
    assert late["own"] == pytest.approx(1 - 1 / TOKENS)


def test_weights_of_a_kernel_are_said_to_be_computed_anew() -> None:
    (inside,), (seen,) = followed(RIGHT["fused, is_causal"]), followed(RIGHT["on scores"])
    assert (inside["fused"], seen["fused"]) == (True, False)


def test_few_weights_are_handed_back_as_their_mean_over_heads_and_many_are_not() -> None:
    weights = np.array([[[1.0, 0.0], [0.25, 0.75]], [[1.0, 0.0], [0.75, 0.25]]])
    assert places.looked_at(weights)["mean"] == [[1.0, 0.0], [0.5, 0.5]]
    assert places.looked_at(np.full((1, 17, 17), 1 / 17))["mean"] is None


def test_a_context_from_elsewhere_has_no_future_and_no_own_token() -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerDecoderLayer(WIDTH, HEADS, 24, batch_first=True).eval()
    context, x = torch.randn(1, TOKENS + 2, WIDTH), torch.randn(1, TOKENS, WIDTH)

    def run() -> Any:
        return layer(x, context, tgt_mask=~past())

    with torch.no_grad():
        own, cross = torch_sites.follow(run, {}, [x])
        assert own["future"] == cross["future"] == cross["own"] == 0
        assert cross["shape"][-2:] == [TOKENS, TOKENS + 2]
        assert torch_sites.follow(run, {})[1]["future"] > 0
        assert torch_sites.follow(lambda: layer(x, context), {}, [x])[0]["future"] > 0


def test_keys_that_a_cache_was_filled_with_are_made_of_the_input() -> None:
    cache, weight, x = torch.zeros(1, 2 * TOKENS, WIDTH), torch.eye(WIDTH), torch.randn(1, TOKENS, WIDTH)

    def run() -> Any:
        cache[:, :TOKENS] = x @ weight
        return ((x @ weight) @ cache[:, :TOKENS].mT).softmax(-1) @ x

    (site,) = torch_sites.follow(run, {}, [x])
    assert site["future"] > 0


def test_heads_one_by_one_are_a_site_each() -> None:
    def attend(q: Any, k: Any, v: Any) -> Any:
        each = [hidden(product(q[:, at], k[:, at]) * ROOT).softmax(-1) @ v[:, at] for at in range(HEADS)]
        return torch.stack(each, 1)

    assert [site["gain"] for site in followed(attend)] == pytest.approx([ROOT] * HEADS)


@pytest.mark.parametrize("softmax", [lambda s: s.softmax(-1), by_hand, lambda s: s.log_softmax(-1).exp()])
def test_what_was_mixed_is_no_query(softmax: Any) -> None:
    (site,) = followed(lambda q, k, v: product(softmax(product(q, k) * ROOT) @ v, k).softmax(-1) @ v)
    assert site["gain"] == pytest.approx(ROOT)


@pytest.mark.parametrize(
    ("factor", "gain"),
    [
        (lambda s: s * torch.zeros(s.shape), 0.0),
        (lambda s: s * torch.full(s.shape, 2.0), 2.0),
        (lambda s: s * (2.0 * past()), 2.0),
        (lambda s: s / torch.zeros(()), math.inf),
        (lambda s: s / 4, 0.25),
        (lambda s: 3 * s, 3.0),
    ],
)
def test_factors_of_the_scores_are_multiplied(factor: Any, gain: float) -> None:
    (site,) = followed(lambda q, k, v: factor(product(q, k)).softmax(-1) @ v)
    assert (site["gain"], site["normalised"]) == (pytest.approx(gain), False)


def test_a_softmax_that_is_no_attention_is_no_site() -> None:
    assert followed(lambda q, k, v: v * q.softmax(-1)) == []


EVEN = 4
"""Heads of the library's layers: an odd number of them keeps off the fast path anyway."""

EVEN_ROOT = (WIDTH / EVEN) ** -0.5


@pytest.mark.parametrize("weights", [True, False])
def test_multihead_attention_is_followed_off_its_fast_path(weights: bool) -> None:
    torch.manual_seed(0)
    layer, x = (
        torch.nn.MultiheadAttention(WIDTH, EVEN, batch_first=True).eval(),
        torch.randn(2, TOKENS, WIDTH),
    )
    with torch.no_grad():
        (site,) = torch_sites.follow(lambda: layer(x, x, x, attn_mask=~past(), need_weights=weights), {})
    assert (site["gain"], site["future"]) == (pytest.approx(EVEN_ROOT), 0)
    assert torch.backends.mha.get_fastpath_enabled()


@pytest.mark.parametrize("first", [True, False])
def test_an_encoder_layer_is_followed_off_its_fast_path(first: bool) -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, EVEN, 24, batch_first=True, norm_first=first).eval()
    mask, x = torch.nn.Transformer.generate_square_subsequent_mask(TOKENS), torch.randn(2, TOKENS, WIDTH)
    with torch.no_grad():
        (site,) = torch_sites.follow(lambda: layer(x, src_mask=mask, is_causal=True), {})
    assert (site["gain"], site["head_width"], site["future"]) == (pytest.approx(EVEN_ROOT), WIDTH // EVEN, 0)


# --- conversion ------------------------------------------------------------------------------------------------


def test_arrays_become_tensors_of_the_modules_type_and_ids_stay_integers() -> None:
    module = torch.nn.Linear(3, 3).double()
    assert conversion.to_torch(np.ones((2, 3), "f4"), module).dtype == torch.float64
    assert conversion.to_torch(np.ones((2, 3), "i8"), module).dtype == torch.int64


def test_tensors_of_any_kind_become_plain_numbers() -> None:
    tensor = torch.tensor([[1.5, -2.0]], requires_grad=True)
    assert conversion.as_array(tensor).tolist() == [[1.5, -2.0]]
    assert conversion.as_array(tensor.bfloat16()).dtype == np.float32
    assert conversion.as_array(tensor.double()).dtype == np.float64
    assert conversion.as_array(tensor.T).flags.c_contiguous
    assert conversion.as_array(torch.tensor([[3, 4]])).tolist() == [[3.0, 4.0]]
    assert conversion.half(tensor.bfloat16()) == "bfloat16"
    assert conversion.half(tensor) == ""


def test_modules_are_put_into_eval_mode_and_full_precision_wherever_the_call_keeps_them() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5)).bfloat16()
    notes = subjects.prepared({"call": lambda x: module(x)})
    assert notes == ["bfloat16 parameters were examined as float32"]
    assert not module.training
    assert not module[1].training
    assert module[0].weight.dtype == torch.float32
    assert subjects.prepared(module.forward) == []
