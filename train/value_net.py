"""The network behind the learned afterstate value, in torch."""

from __future__ import annotations

import torch
from torch import nn

from agents.afterstate_features import CARDS, PILE, SHARED
from agents.value_bins import BINS
from thegame_env.rules import N_PILES


class ValueNet(nn.Module):
    """Distribution of the cards that a game will leave, from the features of an afterstate.

    One linear encoder is shared by the four piles, one looks at the cards; both feed a small body.

    Args:
        pile_width: Outputs of the pile encoder.
        card_width: Outputs of the card encoder.
        width: Units of the body's first layer.
        depth_width: Units of its second layer.
    """

    def __init__(
        self, pile_width: int = 64, card_width: int = 64, width: int = 128, depth_width: int = 64
    ) -> None:
        super().__init__()
        self.pile = nn.Linear(PILE, pile_width)
        self.cards = nn.Linear(CARDS, card_width)
        self.body = nn.Linear(N_PILES * pile_width + card_width + SHARED, width)
        self.deep = nn.Linear(width, depth_width)
        self.head = nn.Linear(depth_width, BINS)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Logits over the bins of cards left: float32[n, SIZE] -> float32[n, BINS]."""
        n = features.shape[0]
        piles, cards, shared = features.split([N_PILES * PILE, CARDS, SHARED], dim=1)
        encoded = torch.relu(self.pile(piles.reshape(n * N_PILES, PILE))).reshape(n, -1)
        seen = torch.relu(self.cards(cards))
        hidden = torch.relu(self.body(torch.cat([encoded, seen, shared], dim=1)))
        logits: torch.Tensor = self.head(torch.relu(self.deep(hidden)))
        return logits
