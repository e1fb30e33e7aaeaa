"""The PPO networks in torch: a pile encoder and an action head, both shared by the four piles.

The policy looks at each pile through the same encoder, mixes what it saw with the facts of the
whole table, and lets the same head score, for each pile, every gap that a card may have there. The
scores of gaps then become the scores of the cards that lie at these gaps (`gap_table`). The value
has a body of its own. `agents/policy_net.py` computes the policy without torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from agents.policy_net import gap_table
from thegame_env.observation import observation_spec
from thegame_env.rules import N_PILES, Table


@dataclass(frozen=True, slots=True)
class Shape:
    """What the networks must know of a `relative` observation.

    Attributes:
        cards: N.
        pile: Length of a pile's block; the four blocks come first.
        shared: Length of what follows them.
        room: Index, within a pile's block, of the room beyond the top over N.
    """

    cards: int
    pile: int
    shared: int
    room: int

    @staticmethod
    def of(table: Table) -> Shape:
        """The shape at a table."""
        spec = observation_spec("relative", table)
        shared = spec.size - N_PILES * spec.pile_size
        return Shape(table.rules.cards, spec.pile_size, shared, spec["up1.room"].start)


class PileBody(nn.Module):
    """Reads an observation: a code for each pile, and a context of the whole table.

    Args:
        shape: Layout of the observation.
        pile: Width of a pile's code.
        context: Width of the context.
    """

    def __init__(self, shape: Shape, pile: int, context: int) -> None:
        super().__init__()
        self.shape = shape
        self.encoder = nn.Linear(shape.pile, pile)
        self.context = nn.Linear(N_PILES * pile + shape.shared, context)

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """float32[B, size] -> codes float32[B, K, pile] and context float32[B, context]."""
        blocks, shared = obs.split([N_PILES * self.shape.pile, self.shape.shared], dim=1)
        codes = torch.relu(self.encoder(blocks.reshape(-1, N_PILES, self.shape.pile)))
        context = torch.relu(self.context(torch.cat([codes.flatten(1), shared], dim=1)))
        return codes, context


class PolicyNet(nn.Module):
    """Logits of all actions, not yet masked.

    Args:
        shape: Layout of the observation.
        pile: Width of a pile's code.
        context: Width of the context.
        head: Width of the action head's hidden layer.
    """

    def __init__(self, shape: Shape, pile: int, context: int, head: int) -> None:
        super().__init__()
        self.shape = shape
        self.body = PileBody(shape, pile, context)
        self.head_pile = nn.Linear(pile, head)
        self.head_context = nn.Linear(context, head, bias=False)
        self.gaps = nn.Linear(head, shape.cards + 1)
        self.end = nn.Linear(context, 1)
        table = torch.from_numpy(gap_table(shape.cards, shape.trick))
        self.register_buffer("gap_of", table, persistent=False)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """float32[B, size] -> logits float32[B, A]."""
        codes, context = self.body(obs)
        hidden = torch.relu(self.head_pile(codes) + self.head_context(context)[:, None])
        scores = self.gaps(hidden)
        plays = scores.gather(2, self.gap_indices(obs))
        return torch.cat([plays.flatten(1), self.end(context)], dim=1)
