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

import numpy as np
import torch
from torch import nn
from torch.nn.functional import linear

from agents.play_features import AROUND, FACTS, plays_of, sets_of_observations, spread_words
from agents.policy_net import OTHERS
from thegame_env.observation import observation_spec
from thegame_env.rules import N_PILES, Table

SEEN_BY = {"around": ("around",), "facts": ("after", "end_after"), "others": ("others",)}
"""What the action head may see -> the layers that see it."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the networks must know of the table and its `relative` observation.

    Attributes:
        cards: N.
        trick: Distance of the backwards trick.
        pile: Length of a pile's block; the four blocks come first.
        shared: Length of what follows them.
        room: Index, within a pile's block, of the card values beyond the top, over N.
        memory: Index of the number that tells whether unseen cards are known.
        hidden: Length of what a critic may see beyond the observation, at the vector's end.
    """

    cards: int
    trick: int
    pile: int
    shared: int
    room: int
    memory: int
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
        room, memory = spec["up1.room"].start, spec["memory_known"].start
        return Shape(rules.cards, rules.trick, spec.pile_size, shared, room, memory)


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
        *blocks, shared = obs.split([self.shape.pile] * N_PILES + [self.shape.shared], dim=1)
        # Pile by pile, and the context in two parts: no copy of the observations is made.
        codes = torch.relu_(torch.stack([self.pile(block) for block in blocks], dim=1))
        of_piles, of_shared = self.context.weight.split(
            [N_PILES * codes.shape[2], self.shape.shared], dim=1
        )
        context = torch.relu_(linear(codes.flatten(1), of_piles, self.context.bias)
                              + linear(shared, of_shared))  # fmt: skip
        return codes, torch.relu_(self.deep(context))


class PolicyNet(nn.Module):
    """Logits of all actions, not masked.

    A play is scored from the code of its pile, the context, its gap, the cards around the one that
    is laid, as they lie in the pile's direction (what the pile would look like afterwards), how all
    cards would fit then, and the sum of what the plays of all other cards say of themselves.
    END_TURN is scored from the context, how the cards fit now, and the sum of all plays.

    Args:
        shape: Layout of the observation.
        pile: Width of a pile's code.
        context: Width of the context's first layer.
        deep: Width of the context.
        head: Width of the action head's first layer.
        mix: Width of its second layer, and of the third.
        sees: Which of "around", "facts" and "others" count; the weights of the rest are told as 0.
    """

    def __init__(
        self,
        shape: Shape,
        pile: int,
        context: int,
        deep: int,
        head: int,
        mix: int,
        sees: Sequence[str] = ("around", "facts", "others"),
    ) -> None:
        super().__init__()
        self.shape, self.sees = shape, frozenset(sees)
        self.body = Body(shape, pile, context, deep)
        self.head_pile = nn.Linear(pile, head)
        self.head_context = nn.Linear(deep, head, bias=False)
        self.gap = nn.Embedding(shape.cards + 1, head)
        self.around = nn.Linear(2 * AROUND, head, bias=False)
        self.after = nn.Linear(FACTS, head, bias=False)
        self.mix = nn.Linear(head, mix)
        self.compare = nn.Linear(mix, mix)
        self.others = nn.Linear(mix, mix, bias=False)
        self.play = nn.Linear(mix, 1)
        self.end_context = nn.Linear(deep, mix)
        self.end_after = nn.Linear(FACTS, mix, bias=False)
        self.end = nn.Linear(mix, 1)
        initialise(self, small=(self.play, self.end))
        nn.init.normal_(self.gap.weight, std=0.1)

    def forward(self, obs: torch.Tensor) -> torch.Tensor:
        """float32[B, size] -> logits float32[B, A]; plays that are not legal have 0."""
        obs = obs[:, : self.shape.seen]
        codes, context = self.body(obs)
        listed, around, facts, now = self._plays(obs)
        table, card, pile, gap, held = listed.unbind(1)
        hidden = self.head_pile(codes) + self.head_context(context)[:, None]
        hidden = hidden.flatten(0, 1).index_select(0, N_PILES * table + pile)
        hidden = hidden.add_(self.gap(gap))
        if "around" in self.sees:
            near = self.around(around).flatten(0, 1)
            hidden = hidden.add_(near.index_select(0, 2 * held + pile // 2))
        said = self.end_context(context)
        if "facts" in self.sees:
            hidden = torch.addmm(hidden, facts, self.after.weight.t())
            said = torch.addmm(said, now, self.end_after.weight.t())
        told = torch.relu(self.mix(torch.relu_(hidden)))
        compared = self.compare(told)
        if "others" in self.sees:
            total = OTHERS * _sums(told, table, len(obs))
            cards = OTHERS * _sums(told, held, len(around))
            others = total.index_select(0, table) - cards.index_select(0, held)
            compared, said = compared + self.others(others), said + self.others(total)
        scores = self.play(torch.relu(compared))[:, 0]
        plays = N_PILES * self.shape.cards
        at = plays * table + pile * self.shape.cards + card
        logits = codes.new_zeros(len(obs) * plays).scatter(0, at, scores).view(-1, plays)
        return torch.cat([logits, self.end(torch.relu(said))], dim=1)

    def _plays(self, obs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """See `agents.play_features.Plays`: plays, words as numbers, facts after and now."""
        shape, seen = self.shape, np.ascontiguousarray(obs.detach().cpu().numpy())
        sets, tops = np.empty((len(seen), 4), np.int64), np.empty((len(seen), N_PILES), np.int64)
        sets_of_observations(seen, shape.cards, shape.pile, shape.room, shape.memory, sets, tops)
        plays = plays_of(sets, tops, shape.cards, shape.trick)
        around = np.zeros((len(plays.words), 2, 2 * AROUND), np.float32)
        spread_words(plays.words, around)
        arrays = plays.plays, around, plays.facts, plays.now
        return tuple(torch.from_numpy(array).to(obs.device) for array in arrays)

    def sharpen(self, factor: float) -> None:
        """Multiply all logits by `factor` from now on."""
        _scale((self.play, self.end), factor)

    def weights(self) -> dict[str, torch.Tensor]:
        """The parameters under the names that `agents.policy_net.PolicyModel` knows."""
        state = {name.removeprefix("body."): value for name, value in self.state_dict().items()}
        for seen, layers in SEEN_BY.items():
            if seen not in self.sees:
                state |= {f"{name}.weight": torch.zeros_like(state[f"{name}.weight"])
                          for name in layers}  # fmt: skip
        return state


def _sums(x: torch.Tensor, group: torch.Tensor, groups: int) -> torch.Tensor:
    """The sum of the rows of every group: float32[n, m] and int64[n] -> float32[groups, m]."""
    return x.new_zeros(groups, x.shape[1]).index_add(0, group, x)


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
