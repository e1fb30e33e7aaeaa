"""The PPO networks in torch: a pile encoder and an action head, both shared by the four piles.

The policy looks at each pile through the same encoder, mixes what it saw with the facts of the
whole table, and lets the same head score, for each pile, every gap that a card may have there. The
scores of gaps then become the scores of the cards that lie at these gaps (`gap_table`). The value
has a body of its own. `PlainNet` is the ordinary network that it is compared with.
`agents/policy_net.py` computes both policies without torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import nn

from agents.policy_net import gap_table
from thegame_env.observation import observation_spec
from thegame_env.rules import N_PILES, Table


@dataclass(frozen=True, slots=True)
class Shape:
    """What the networks must know of the table and its `relative` observation.

    Attributes:
        cards: N.
        trick: Distance of the backwards trick.
        pile: Length of a pile's block; the four blocks come first.
        shared: Length of what follows them.
        room: Index, within a pile's block, of the card values beyond the top, over N.
        hidden: Length of what a critic may see beyond the observation, at the vector's end.
    """

    cards: int
    trick: int
    pile: int
    shared: int
    room: int
    hidden: int = 0

    @property
    def seen(self) -> int:
        """Length of the observation itself."""
        return N_PILES * self.pile + self.shared

    @property
    def all_seeing(self) -> Shape:
        """The same, with the hidden part as a part of the observation."""
        return replace(self, shared=self.shared + self.hidden, hidden=0)

    @staticmethod
    def of(table: Table) -> Shape:
        """The shape at a table."""
        spec, rules = observation_spec("relative", table), table.rules
        shared = spec.size - N_PILES * spec.pile_size
        return Shape(rules.cards, rules.trick, spec.pile_size, shared, spec["up1.room"].start)


class Body(nn.Module):
    """Reads an observation: a code for each pile, and a context of the whole table.

    Args:
        shape: Layout of the observation.
        pile: Width of a pile's code.
        context: Width of the context's first layer.
        deep: Width of the context.
    """

    def __init__(self, shape: Shape, pile: int, context: int, deep: int) -> None:
        super().__init__()
        self.shape = shape
        self.pile = nn.Linear(shape.pile, pile)
        self.context = nn.Linear(N_PILES * pile + shape.shared, context)
        self.deep = nn.Linear(context, deep)

    def forward(self, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """float32[B, size] -> codes float32[B, K, pile] and context float32[B, deep]."""
        blocks, shared = obs.split([N_PILES * self.shape.pile, self.shape.shared], dim=1)
        codes = torch.relu(self.pile(blocks.reshape(-1, N_PILES, self.shape.pile)))
        context = torch.relu(self.context(torch.cat([codes.flatten(1), shared], dim=1)))
        return codes, torch.relu(self.deep(context))


class PolicyNet(nn.Module):
    """Logits of all actions, not masked.

    Args:
        shape: Layout of the observation.
        pile: Width of a pile's code.
        context: Width of the context's first layer.
        deep: Width of the context.
        head: Width of the action head's hidden layer.
    """

    gap_of: torch.Tensor
    first_row: torch.Tensor

    def __init__(self, shape: Shape, pile: int, context: int, deep: int, head: int) -> None:
        super().__init__()
        self.shape = shape
        self.body = Body(shape, pile, context, deep)
        self.head_pile = nn.Linear(pile, head)
        self.head_context = nn.Linear(deep, head, bias=False)
        self.gaps = nn.Linear(head, shape.cards + 1)
        self.end = nn.Linear(deep, 1)
        initialise(self, small=(self.gaps, self.end))
        table = torch.from_numpy(gap_table(shape.cards, shape.trick)).flatten(0, 1)
        descending = shape.cards + 1
        self.register_buffer("gap_of", table, persistent=False)
        self.register_buffer(
            "first_row", torch.tensor([0, 0, descending, descending]), persistent=False
        )

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """float32[B, size] -> logits float32[B, A]."""
        codes, context = self.body(obs[:, : self.shape.seen])
        hidden = torch.relu(self.head_pile(codes) + self.head_context(context)[:, None])
        plays = self.gaps(hidden).gather(2, self.gap_of[self._rows(obs)])
        return torch.cat([plays.flatten(1), self.end(context)], dim=1)

    def _rows(self, obs: torch.Tensor) -> torch.Tensor:
        """The row of the gap table that speaks of each pile as it lies, int64[B, K]."""
        shape = self.shape
        room = obs[:, shape.room : N_PILES * shape.pile : shape.pile]
        return torch.round(room * shape.cards).long() + self.first_row

    def sharpen(self, factor: float) -> None:
        """Multiply all logits by `factor` from now on."""
        _scale((self.gaps, self.end), factor)

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters under the names that `agents.policy_net.PolicyModel` knows."""
        return {name.removeprefix("body."): value for name, value in self.state_dict().items()}


class ValueNet(nn.Module):
    """What a position is worth: for the acting seat's knowledge of it, and the hidden part's.

    Args:
        shape: Layout of the observation.
        pile: Width of a pile's code.
        context: Width of the context's first layer.
        deep: Width of the context.
        hidden: Width of the last hidden layer.
    """

    def __init__(self, shape: Shape, pile: int, context: int, deep: int, hidden: int) -> None:
        super().__init__()
        self.body = Body(shape.all_seeing, pile, context, deep)
        self.hidden = nn.Linear(deep, hidden)
        self.out = nn.Linear(hidden, 1)
        initialise(self)
        nn.init.orthogonal_(self.out.weight, 1.0)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """float32[B, size] -> float32[B, 1]."""
        value: torch.Tensor = self.out(torch.relu(self.hidden(self.body(obs)[1])))
        return value


class PlainNet(nn.Module):
    """An ordinary network over a whole observation.

    Args:
        inputs: Length of what it reads, the beginning of the vector.
        widths: Of its hidden layers.
        outputs: Actions, or 1 for a value.
        small: Whether the outputs begin near 0.
    """

    def __init__(self, inputs: int, widths: Sequence[int], outputs: int, small: bool) -> None:
        super().__init__()
        self.inputs = inputs
        sizes = [inputs, *widths, outputs]
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in pairwise(sizes))
        initialise(self, small=(self._last,) if small else ())

    @property
    def _last(self) -> nn.Linear:
        layer = self.layers[-1]
        assert isinstance(layer, nn.Linear)
        return layer

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """float32[B, size] -> float32[B, outputs]."""
        x = self.layers[0](obs[:, : self.inputs])
        for layer in list(self.layers)[1:]:
            x = layer(torch.relu(x))
        out: torch.Tensor = x
        return out

    def sharpen(self, factor: float) -> None:
        """Multiply all outputs by `factor` from now on."""
        _scale((self._last,), factor)

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters under the names that `agents.policy_net.PlainModel` knows."""
        state = enumerate(self.layers)
        return {
            f"layer{i}.{name}": value
            for i, one in state
            for name, value in one.state_dict().items()
        }


def _scale(layers: tuple[nn.Linear, ...], factor: float) -> None:
    with torch.no_grad():
        for layer in layers:
            layer.weight.mul_(factor)
            layer.bias.mul_(factor)


def initialise(module: nn.Module, small: tuple[nn.Linear, ...] = ()) -> None:
    """Orthogonal weights and no biases; the layers `small` begin near 0 (an even policy)."""
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            nn.init.orthogonal_(layer.weight, 0.01 if layer in small else math.sqrt(2.0))
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
