"""The PPO networks in torch: a pile encoder and an action head, both shared by the four piles.

The policy looks at each pile through the same encoder, mixes what it saw with the facts of the
whole table, and lets the same head score every legal play on each pile. The value has a body of its
own. `PlainNet` is the ordinary network that it is compared with.
`agents/policy_net.py` computes both policies without torch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import nn

from agents.policy_net import AFTER, AROUND, BEHIND, OTHERS, SHARE, gap_table
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

    A play is scored from the code of its pile, the context, its gap, the cards around the one that
    is laid, as they lie in the pile's direction (what the pile would look like afterwards), the
    cards that no pile could take any more, and the sum of what the plays of all other cards say of
    themselves. END_TURN is scored from the context and the sum of all plays.

    Args:
        shape: Layout of the observation.
        pile: Width of a pile's code.
        context: Width of the context's first layer.
        deep: Width of the context.
        head: Width of the action head's first layer.
        mix: Width of its second layer, and of the third.
    """

    gap_of: torch.Tensor
    first_row: torch.Tensor

    def __init__(
        self, shape: Shape, pile: int, context: int, deep: int, head: int, mix: int
    ) -> None:
        super().__init__()
        self.shape = shape
        self.body = Body(shape, pile, context, deep)
        self.head_pile = nn.Linear(pile, head)
        self.head_context = nn.Linear(deep, head, bias=False)
        self.gap = nn.Embedding(shape.cards + 1, head)
        self.around = nn.Linear(2 * AROUND, head, bias=False)
        self.after = nn.Linear(AFTER, head, bias=False)
        self.mix = nn.Linear(head, mix)
        self.compare = nn.Linear(mix, mix)
        self.others = nn.Linear(mix, mix, bias=False)
        self.play = nn.Linear(mix, 1)
        self.end_context = nn.Linear(deep, mix)
        self.end_after = nn.Linear(AFTER, mix, bias=False)
        self.end = nn.Linear(mix, 1)
        initialise(self, small=(self.play, self.end))
        nn.init.normal_(self.gap.weight, std=0.1)
        table = torch.from_numpy(gap_table(shape.cards, shape.trick)).flatten()
        descending = shape.cards + 1
        self.register_buffer("gap_of", table, persistent=False)
        self.register_buffer(
            "first_row", torch.tensor([0, 0, descending, descending]), persistent=False
        )

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """float32[B, size] -> logits float32[B, A]; plays that are not legal have 0."""
        obs = obs[:, : self.shape.seen]
        codes, context = self.body(obs)
        table, card, pile, gap, around, held = self._legal(obs)
        hidden = (self.head_pile(codes) + self.head_context(context)[:, None])[table, pile]
        now, after = self._stranded(obs, table, card, pile)
        hidden = torch.relu(hidden + self.gap(gap) + around[held, pile // 2] + self.after(after))
        told = torch.relu(self.mix(hidden))
        total = OTHERS * _sums(told, table, len(obs))
        cards = OTHERS * _sums(told, held, len(around))
        others = self.others(total[table] - cards[held])
        scores = self.play(torch.relu(self.compare(told) + others))[:, 0]
        plays = codes.new_zeros(len(obs), N_PILES * self.shape.cards)
        plays = plays.index_put((table, pile * self.shape.cards + card), scores)
        said = self.end_context(context) + self.end_after(now) + self.others(total)
        end = self.end(torch.relu(said))
        return torch.cat([plays, end], dim=1)

    def _legal(self, obs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The legal plays of all observations.

        Returns:
            Table, card, pile and gap, int64[n]; what lies around each held card in both directions,
            float32[m, 2, head]; and which of the held cards is played, int64[n].
        """
        cards = self.shape.cards
        at = N_PILES * self.shape.pile
        own, unseen = obs[:, at : at + cards], obs[:, at + cards : at + 2 * cards]
        table, card = (own > 0.5).nonzero(as_tuple=True)
        gaps = self.gap_of[self._rows(obs)[table] * cards + card[:, None]]
        held, pile = (gaps <= cards).nonzero(as_tuple=True)
        both = torch.stack([own, unseen], dim=1)
        up, down = (
            _windows(facing)[table, :, at]
            for facing, at in ((both, card), (both.flip(2), cards - 1 - card))
        )
        around = self.around(torch.stack([up, down], dim=1).flatten(2))
        return table[held], card[held], pile, gaps[held, pile], around, held

    def _stranded(
        self, obs: torch.Tensor, table: torch.Tensor, card: torch.Tensor, pile: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`agents.policy_net.stranded` now, float32[B, AFTER], and after each play, [n, AFTER]."""
        cards, at = self.shape.cards, N_PILES * self.shape.pile
        both = obs[:, at : at + 2 * cards].unflatten(1, (2, cards))
        sums = nn.functional.pad(both.cumsum(2), (1, 0))
        room = self._room(obs)
        tops = torch.cat([cards + 1 - room[:, :2], room[:, 2:] + 2], dim=1)
        now, _, _ = _between(tops, sums, torch.arange(len(obs)), cards)
        tops = tops[table].scatter(1, pile[:, None], card[:, None] + 2)
        after, start, stop = _between(tops, sums, table, cards)
        laid = (card >= start) & (card < stop)
        return now, torch.cat([after[:, :1] - SHARE * laid[:, None], after[:, 1:]], dim=1)

    def _room(self, obs: torch.Tensor) -> torch.Tensor:
        """Card values beyond each top, int64[B, K]."""
        shape = self.shape
        room = obs[:, shape.room : N_PILES * shape.pile : shape.pile]
        return torch.round(room * shape.cards).long()

    def _rows(self, obs: torch.Tensor) -> torch.Tensor:
        """The row of the gap table that speaks of each pile as it lies, int64[B, K]."""
        return self._room(obs) + self.first_row

    def sharpen(self, factor: float) -> None:
        """Multiply all logits by `factor` from now on."""
        _scale((self.play, self.end), factor)

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters under the names that `agents.policy_net.PolicyModel` knows."""
        return {name.removeprefix("body."): value for name, value in self.state_dict().items()}


def _sums(x: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """The sum of the rows of every group: float32[n, m] and int64[n] -> float32[groups, m]."""
    return x.new_zeros(groups, x.shape[1]).index_add(0, group, x)


def _between(
    tops: torch.Tensor, sums: torch.Tensor, table: torch.Tensor, cards: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`agents.policy_net.stranded` for tops, and where the cards between the tops start and stop.

    Args:
        tops: int64[n, K].
        sums: float32[B, 2, N + 1], own and unseen cards below each index.
        table: int64[n], to which of the B tables the tops belong.
        cards: N.

    Returns:
        float32[n, AFTER], and indices int64[n] and int64[n].
    """
    start = tops[:, 2:].amax(1) - 2
    high = tops[:, :2].amin(1) - 2
    stop = torch.maximum(high + 1, start)
    counts = SHARE * (sums[table, :, stop] - sums[table, :, start])
    places = torch.stack([start, high, stop - start], dim=1) / cards
    return torch.cat([counts, places], dim=1), start, stop


def _windows(cards: torch.Tensor) -> torch.Tensor:
    """The stretch around every card: float32[B, 2, N] -> a view float32[B, 2, N, AROUND]."""
    return nn.functional.pad(cards, (BEHIND, AROUND - 1 - BEHIND)).unfold(2, AROUND, 1)


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
