"""PyTorch code that nobody adapted: models with their blocks inside, library layers, odd precisions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from detectors import foreign
from detectors.foreign import Foreign
from detectors.testing import NO_TARGET, Here, check_subject
from faults.answers import Answer
from faults.subjects import Request, answers, examined
from reports import check, check_json

torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed")

MODELS = '''
import math
import torch
from torch import nn
from torch.nn import functional as F

class Config:
    block_size, vocab_size, n_layer, n_head, n_embd, n_kv_head = 12, 30, 2, 4, 16, 4

class Attention(nn.Module):
    scale, dropout, mask = None, 0.0, True
    def __init__(self, config):
        super().__init__()
        self.n_head, self.n_embd = config.n_head, config.n_embd
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.proj = nn.Linear(config.n_embd, config.n_embd)
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (part.view(B, T, self.n_head, -1).transpose(1, 2) for part in self.qkv(x).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.mask, scale=self.scale)
        return self.proj(F.dropout(y.transpose(1, 2).reshape(B, T, C), self.dropout))

class Interleaved(Attention):
    """q, k and v of one head side by side in the fused weight."""
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, self.n_head, 3, -1).permute(3, 0, 2, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))

class Block(nn.Module):
    def __init__(self, config, attention=Attention):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(config.n_embd), nn.LayerNorm(config.n_embd)
        self.attn = attention(config)
        self.mlp = nn.Sequential(nn.Linear(config.n_embd, 40), nn.GELU(), nn.Linear(40, config.n_embd), nn.Dropout(0.5))
    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))

class GPT(nn.Module):
    """Answers for the last token alone, in a tuple."""
    def __init__(self, config=Config, attention=Attention):
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.h = nn.ModuleList([Block(config, attention) for _ in range(config.n_layer)])
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        for block in self.h:
            x = block(x)
        return self.head(x[:, [-1], :]), None

def with_(**changes):
    class Changed(Attention):
        pass
    for name, value in changes.items():
        setattr(Changed, name, value)
    return Changed

def unscaled(): return GPT(Config, with_(scale=1.0))
def dropping(): return Block(Config, with_(dropout=0.2))
def open_(): return Block(Config, with_(mask=False))
def halved(): return Block(Config).bfloat16()
class Filled(Attention):
    fill = -1e9
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (part.view(B, T, self.n_head, -1).transpose(1, 2) for part in self.qkv(x).split(C, 2))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
        y = scores.masked_fill(hidden, self.fill).softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C))

class Large(Attention):
    def forward(self, x):
        return super().forward(x) * 60000.0 * 60000.0

class Lacking(Attention):
    def forward(self, x):
        if x.dtype == torch.float16:
            raise RuntimeError("addmm_impl_cpu_ not implemented for Half")
        return super().forward(x)

def filled(): return Filled(Config).half()
def large(): return Large(Config).half()
def lacking(): return Lacking(Config).half()
def interleaved(): return Block(Config, Interleaved)

class Casting(Block):
    def forward(self, x):
        return super().forward(x).to(torch.bfloat16)
def casting(): return Casting(Config)

class Library(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(30, 16)
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 30)
    def forward(self, idx):
        mask = nn.Transformer.generate_square_subsequent_mask(idx.shape[1])
        return self.head(self.enc(self.emb(idx), mask=mask, is_causal=True))

class Repeated(Library):
    """Its first block runs twice, with a mask and without one."""
    def forward(self, idx):
        mask = nn.Transformer.generate_square_subsequent_mask(idx.shape[1])
        first = self.enc.layers[0]
        return self.head(first(first(self.emb(idx), mask)))

def post(): return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)

class Listed(GPT):
    """Its blocks are spread over lists of their parts."""
    def __init__(self, config=Config):
        super().__init__()
        width = config.n_embd
        self.attentions = nn.ModuleList([Attention(config) for _ in self.h])
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in self.h])
        self.mlps = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in self.h])
        del self.h
    def forward(self, idx):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        for attention, norm, mlp in zip(self.attentions, self.norms, self.mlps):
            x = x + attention(norm(x))
            x = x + mlp(x)
        return self.head(x)

class Edged(Listed):
    """One list of each, of different lengths: none is beside another that could be its other part."""
    def __init__(self, config=Config):
        super().__init__(config)
        self.norms.append(nn.LayerNorm(config.n_embd))
        self.mlps.extend([self.mlps[0], self.mlps[0]])

class Untransposed(Attention):
    """Heads attend to each other: no token matters to another one."""
    def forward(self, x):
        q, k, v = (part.view(*x.shape[:2], self.n_head, -1) for part in self.qkv(x).split(x.shape[2], 2))
        return self.proj(F.scaled_dot_product_attention(q, k, v).reshape(x.shape))

def apart(): return GPT(Config, Untransposed)

class Reading(nn.Module):
    """A part in which either end of the tokens can be heard, or neither, or where nothing is a number."""
    def __init__(self, source, hole=0.0):
        super().__init__()
        self.source, self.hole, self.own = source, hole, nn.Linear(16, 16)
    def forward(self, x):
        heard = 0 if self.source is None else x[:, [self.source]]
        return self.own(x + heard + self.hole), None

class Heard(GPT):
    def __init__(self, *given):
        super().__init__()
        self.h = nn.ModuleList([Reading(*given)])
    def forward(self, idx):
        return self.head(self.h[0](self.wte(idx))[0])

class Deaf(GPT):
    """Takes a padding mask and ignores it."""
    def forward(self, idx, attention_mask=None):
        return super().forward(idx)

class Stepping:
    kind, vocab, heads, max_length, framework = "model", 30, 4, 12, "torch"
    def __init__(self):
        self.call = Deaf()
    def step(self, idx, cache):
        """What came before is forgotten."""
        return super(Deaf, self.call).forward(idx)[0].repeat(1, idx.shape[1], 1), idx
'''

NAMESPACE: dict[str, Any] = {}
exec(MODELS, NAMESPACE)


def here(name: str, **declared: Any) -> tuple[Foreign, Answer]:
    torch.manual_seed(0)
    made = NAMESPACE[name]
    host = Here(made() if name != "Block" else made(NAMESPACE["Config"]))
    subject = Foreign(host, foreign.load(host, NO_TARGET), declared)
    return subject, examined(subject, name, 0)


def verdict(answer: Answer, contract: str) -> str:
    assert answer.checked is not None
    return answer.checked.finding(contract).verdict


def test_a_block_is_examined_down_to_its_weights_and_operations() -> None:
    subject, answer = here("Block")
    assert answer.verdict == "sound"
    for contract in ("slope", "isolation", "order", "attention_branch", "future_weight", "repeatability"):
        assert verdict(answer, contract) == "holds"
    assert (subject.declared.heads, subject.declared.width, subject.declared.kind) == (4, 16, "block")


def test_a_model_and_the_first_of_its_blocks_are_examined_in_a_child_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(MODELS)
    found = answers(Request(f"{file}:unscaled", python=sys.executable))
    assert [answer.subject for answer in found] == [f"{file}:unscaled", f"{file}:unscaled.h.0"]
    for answer in found:
        assert [(named.fault, named.variant) for named in answer.nearest] == [("missing_scale", "absent")]
    assert verdict(found[0], "future") == "not observable"  # it answers for the last token alone
    assert verdict(found[1], "future") == "holds"
    assert verdict(found[1], "isolation") == "holds"


def test_second_calls_are_made_in_the_child_and_not_of_the_blocks(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(MODELS)
    given = {"padding": "attention_mask", "padding_form": "ones"}
    whole, block = answers(Request(f"{file}:Deaf", given=given, python=sys.executable))
    assert [(named.fault, named.variant) for named in whole.nearest] == [("padding_ignored", "ignored")]
    assert (verdict(block, "padding"), block.verdict) == ("not observable", "sound")
    stepping, _ = answers(Request(f"{file}:Stepping", python=sys.executable))
    assert [named.fault for named in stepping.nearest] == ["cache_differs"]


def test_blocks_that_a_model_hands_a_mask_are_not_examined_without_it() -> None:
    subject, answer = here("Library")
    assert (answer.verdict, [one.fault for one in answer.unseen]) == ("undecided", ["residual_shape"])
    assert subject.blocks() == []
    assert subject.notes == [
        "none of its repeated parts is a block that takes x alone; none was examined by itself"
    ]
    assert here("GPT")[0].blocks() == ["h.0"]


def test_a_block_that_one_call_of_several_hands_a_mask_is_not_examined_without_it() -> None:
    host = Here(NAMESPACE["Repeated"]())
    subject = Foreign(host, foreign.load(host, NO_TARGET), {})
    assert subject.described["blocks"] == ["enc.layers.0"]
    assert subject.blocks() == []


def test_lists_of_the_parts_of_blocks_hold_no_blocks() -> None:
    subject, answer = here("Listed")
    assert answer.verdict == "undecided"
    assert (subject.described["blocks"], subject.notes) == ([], [])
    subject, _ = here("Edged")
    assert subject.described["blocks"] == ["attentions.0", "norms.0", "mlps.0"]
    assert subject.blocks() == ["attentions.0"]
    assert here("apart")[0].blocks() == ["h.0"]


@pytest.mark.parametrize(
    ("given", "found"), [((0,), True), ((-1,), True), ((None,), False), ((None, float("nan")), True)]
)
def test_a_part_in_which_no_token_matters_to_another_is_no_block(given: Any, found: bool) -> None:
    host = Here(NAMESPACE["Heard"](*given))
    subject = Foreign(host, foreign.load(host, NO_TARGET), {})
    assert subject.blocks() == (["h.0"] if found else [])


def test_faults_that_a_model_hides_are_looked_for_in_its_block(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(MODELS)
    model, block = answers(Request(f"{file}:GPT", python=sys.executable))
    assert (model.verdict, block.verdict) == ("sound", "sound")
    assert "residual_shape" in [one.fault for one in here("GPT")[1].unseen]
    assert [one.state for one in model.covered] == [one.state for one in block.covered]


def test_a_missing_mask_is_seen_from_outside_and_inside() -> None:
    _, answer = here("open_")
    assert [named.fault for named in answer.nearest] == ["mask_adds_zero"]
    assert (verdict(answer, "future"), verdict(answer, "future_weight")) == ("broken", "broken")


def test_dropout_that_ignores_eval_mode_is_reported_and_that_which_does_not_is_off() -> None:
    assert [named.fault for named in here("dropping")[1].nearest] == ["not_repeatable"]
    assert verdict(here("Block")[1], "repeatability") == "holds"


def test_half_precision_is_examined_as_float32_and_said_so() -> None:
    subject, answer = here("halved")
    assert (answer.verdict, subject.roundoff) == ("sound", 0.0)
    converted = "bfloat16 parameters were examined as float32"
    assert answer.notes == (converted, "one call in bfloat16 itself gave finite numbers")
    assert check.headline(answer, "en").endswith(f"; {converted}")
    (tree,) = json.loads(check_json.to_json([answer]))["subjects"]
    assert tree["notes"][0] == converted


def test_what_goes_wrong_only_in_16_bits_is_broken() -> None:
    _, filled = here("filled", kind="self_attention", width=16)
    assert (filled.verdict, verdict(filled, "shape"), verdict(filled, "future")) == (
        "broken",
        "broken",
        "holds",
    )
    assert filled.checked is not None
    assert filled.checked.failures[0].startswith("float16: RuntimeError: value cannot be converted to ")
    _, large = here("large", kind="self_attention", width=16)
    assert (large.verdict, verdict(large, "finite")) == ("broken", "broken")
    assert large.checked is not None
    assert large.checked.finding("finite").reason == "in its own float16"
    assert [named.fault for named in large.nearest] == ["not_finite"]


def test_a_machine_that_cannot_calculate_in_16_bits_says_nothing_about_the_subject() -> None:
    _, answer = here("lacking", kind="self_attention", width=16)
    assert answer.verdict == "sound"
    assert "this machine cannot run it in float16" in answer.notes


def test_numbers_are_wide_again_after_the_call_in_16_bits_and_narrow_after_the_examination() -> None:
    made = NAMESPACE["halved"]()
    table = torch.full((2,), 1.1, dtype=torch.bfloat16)
    made.register_buffer("table", table)
    made.attn.register_buffer("again", table)
    wide = torch.nn.LayerNorm(16)
    made.ln_2 = wide
    assert check_subject(made, width=16, heads=4, kind="block").verdict == "sound"
    assert {value.dtype for value in made.attn.parameters()} == {torch.bfloat16}
    assert wide.weight.dtype == torch.float32
    assert made.table is made.attn.again is table
    assert table.dtype == torch.bfloat16
    assert bool((table == torch.full((2,), 1.1, dtype=torch.bfloat16)).all())


def test_what_lies_beside_numbers_in_16_bits_comes_back_too() -> None:
    made = NAMESPACE["halved"]()
    exact = torch.full((2,), 1 + 2.0**-40, dtype=torch.float64)
    made.register_buffer("exact", exact)
    made.long = torch.nn.Parameter(exact.clone())
    weight = made.attn.qkv.weight
    weight.grad = torch.ones_like(weight)
    before = dict(made.named_parameters())
    check_subject(made, width=16, heads=4, kind="block")
    assert made.exact is exact
    assert made.long.tolist() == exact.tolist() == [1 + 2.0**-40] * 2
    assert all(value is before[name] for name, value in made.named_parameters())
    assert weight.grad.dtype == weight.dtype == torch.bfloat16


def test_numbers_that_a_call_sets_are_left_as_it_set_them() -> None:
    class Counts(torch.nn.Module):  # type: ignore[misc]
        calls: Any

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))
            self.register_buffer("gone", torch.zeros(1, dtype=torch.bfloat16))

        def forward(self, x: Any) -> Any:
            self.calls, self.gone = self.calls + 1, None
            return 2 * x

    made = Counts()
    check_subject(made, width=16, heads=4, kind="block", norm="pre")
    assert made.calls.item() > 1
    assert made.gone is None


def test_the_blocks_of_a_model_in_16_bits_are_said_to_be_converted_too(tmp_path: Path) -> None:
    file = tmp_path / "models.py"
    file.write_text(MODELS + "def narrow(): return GPT().bfloat16()\n")
    for answer in answers(Request(f"{file}:narrow", python=sys.executable)):
        assert "bfloat16 parameters were examined as float32" in answer.notes


def test_code_that_casts_by_itself_is_given_wider_thresholds() -> None:
    subject, answer = here("casting")
    assert (answer.verdict, subject.roundoff) == ("sound", 2.0**-7)
    assert verdict(answer, "attention_branch") == "not observable"


def test_a_fused_weight_in_another_order_is_no_false_alarm() -> None:
    subject, answer = here("interleaved")
    assert answer.verdict == "sound"
    assert verdict(answer, "isolation") == "not observable"
    assert "Wv" not in (subject.subject("it").weights or {})


def test_a_library_layer_says_itself_where_its_norms_are_and_is_open_unless_it_is_handed_a_mask() -> None:
    subject, answer = here("post", width=16, causal=False)
    assert subject.declared.norm == "post"
    assert (answer.verdict, verdict(answer, "skip")) == ("undecided", "not applicable")
    unseen = {one.fault: one.reason for one in answer.unseen}
    assert unseen["residual_shape"] == "it assumes a norm before each branch and a plain skip"
    assert [named.fault for named in here("post", width=16)[1].nearest] == ["mask_adds_zero"]
