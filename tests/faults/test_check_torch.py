"""PyTorch code that nobody adapted: models with their blocks inside, library layers, odd precisions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from detectors import foreign
from detectors.foreign import Foreign
from detectors.testing import NO_TARGET, Here
from faults.answers import Answer
from faults.subjects import Request, answers, examined

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

def post(): return nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
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
    assert verdict(found[0], "future") == "holds"
    assert verdict(found[1], "isolation") == "holds"


def test_blocks_that_a_model_hands_a_mask_are_not_examined_without_it() -> None:
    subject, answer = here("Library")
    assert (answer.verdict, [one.fault for one in answer.unseen]) == ("undecided", ["residual_shape"])
    assert subject.blocks() == []
    assert subject.notes == ["its blocks are handed more than x; they were not examined by themselves"]
    assert here("GPT")[0].blocks() == ["h.0"]


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
    assert answer.notes == ("bfloat16 parameters were examined as float32",)


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
