"""The torch model that the cost of `check` is measured on: imported only where torch is installed."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

WIDTH, HEADS, VOCAB, LONGEST = 64, 4, 100, 64


class Model(nn.Module):  # type: ignore[misc] # torch has no types here
    """Token ids -> logits: learned positions and causal pre-norm layers of torch's own."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.embedding, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, norm_first=True, batch_first=True)
            for _ in range(layers)
        )
        self.head = nn.Linear(WIDTH, VOCAB)

    def forward(self, tokens: Any) -> Any:
        count = tokens.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(count)
        x = self.embedding(tokens) + self.places.weight[:count]
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.head(x)
