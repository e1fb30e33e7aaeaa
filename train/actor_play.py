"""Self-play of seats that do not remember, for an actor that a critic teaches.

Seats that do not remember what was played cannot learn from their own forecasts: once a turn is
over they no longer know which cards a wide step left behind, and so what they forecast later does
not tell what it cost. And the best of what they forecast need not be the best to do, because
positions that look the same to them are many. So the value plays the part of an actor here: plans
are drawn from softmax(utility / temperature), and a critic, which sees what a seat that remembers
would see while these seats play, tells what each of several plans of a decision was worth
(asymmetric actor-critic, Pinto et al. 2017; soft policy iteration, Haarnoja et al. 2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.afterstate_features import SIZE, features_of
from agents.candidates import OPEN
from agents.turn_value import Choice
from agents.value_model import ValueModel
from thegame_env.engine import view_batch
from thegame_env.layout import P_MEMORY, VIEW_ROW
from thegame_env.rules import Table
from train.self_play import Floats, Int64, SelfPlay


@dataclass(slots=True)
class Compared:
    """Plans of some decisions, up to K each; the first of a group was played.

    Attributes:
        own: float32[n, K, SIZE], the features of their afterstates as the seat sees them.
        known: The same as a seat sees them that remembers.
        mask: bool[n, K], which of them there are.
    """

    own: Floats
    known: Floats
    mask: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, n: int, plans: int) -> Compared:
        """Decisions without any plan."""
        own, known = (np.zeros((n, plans, SIZE), np.float32) for _ in range(2))
        return cls(own, known, np.zeros((n, plans), np.bool_))

    def __len__(self) -> int:
        return len(self.mask)

    def __getitem__(self, chosen: Int64 | npt.NDArray[np.bool_]) -> Compared:
        return Compared(self.own[chosen], self.known[chosen], self.mask[chosen])

    def __setitem__(self, at: Int64, groups: Compared) -> None:
        self.own[at], self.known[at], self.mask[at] = groups.own, groups.known, groups.mask


class ActorPlay(SelfPlay):
    """B games of one table, played by plans drawn at random.

    The samples of ended games (see `step`) are the critic's; `taken` hands out what the actor
    learns from.

    Args:
        table: What is played.
        model: The actor; replaced as it learns (see `learned`).
        utility: Worth of every bin, float32[BINS].
        games: B.
        seed: Seed of the deals and of the draws.
        most: Plans valued a turn.
        decay: Lambda of the critic's returns.
        critic: Replaced as it learns.
        temperature: Plans are drawn from softmax(utility / temperature).
        plans: K, plans of a decision that the critic compares.
    """

    def __init__(
        self,
        table: Table,
        model: ValueModel,
        utility: Floats,
        games: int,
        seed: int,
        most: int,
        decay: float,
        critic: ValueModel,
        temperature: float,
        plans: int,
    ) -> None:
        super().__init__(table, model, utility, games, seed, most, decay)
        self.critic, self._temperature, self._compared = critic, temperature, plans
        self._remembering = self.engine.p.copy()
        self._remembering[P_MEMORY] = 1
        self._groups: list[Compared] = []

    def _pick(self, views: Int64, choice: Choice, explore: float) -> Int64:
        """The plan to play in every game; all are drawn at random, so `explore` is of no use."""
        order = self._drawn(choice)
        picked = order[choice.plans.starts[:-1]]
        self._compare(views, choice, order, np.flatnonzero(choice.plans.kinds[picked] == OPEN))
        return picked

    def taken(self) -> list[Compared]:
        """The compared plans of all decisions since the last call."""
        groups, self._groups = self._groups, []
        return groups

    def _drawn(self, choice: Choice) -> Int64:
        """The plans of every turn in the order in which they are drawn, without replacement.

        Draws from a softmax are the order of the logits with Gumbel noise (Gumbel-top-k).
        """
        keys = choice.utility / self._temperature + self.rng.gumbel(size=len(choice.utility))
        return np.lexsort((-keys, _turns(choice)))

    def _compare(self, views: Int64, choice: Choice, order: Int64, turns: Int64) -> None:
        """Remember the plans first drawn in some games, where the game goes on after them."""
        if not len(turns):
            return
        starts, open_ = choice.plans.starts, choice.plans.kinds[order] == OPEN
        group_of = np.full(len(views), -1)
        group_of[turns] = np.arange(len(turns))
        group = group_of[_turns(choice)]
        rank = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts))
        at = np.flatnonzero((group >= 0) & (rank < self._compared) & open_)
        groups = Compared.empty(len(turns), self._compared)
        group, slot, states = group[at], rank[at], choice.plans.states[order[at]]
        rows = np.zeros((len(views), VIEW_ROW), np.int64)
        view_batch(self.engine.games, self._remembering, rows)
        own, known = np.empty((len(at), SIZE), np.float32), np.empty((len(at), SIZE), np.float32)
        features_of(views, turns[group], states, self.engine.p, own)
        features_of(rows, turns[group], states, self._remembering, known)
        groups.own[group, slot], groups.known[group, slot] = own, known
        groups.mask[group, slot] = True
        chances = self.critic.predict(np.ascontiguousarray(groups.known[:, 0]))
        for i, b in enumerate(turns):
            trace = self.traces[b]
            trace.features.append(groups.known[i, 0].copy())
            trace.chosen.append(chances[i])
            trace.best.append(chances[i])
            trace.explored.append(False)
        self._groups.append(groups[groups.mask.sum(axis=1) > 1])


def _turns(choice: Choice) -> Int64:
    """The turn of every plan, int64[total]."""
    starts = choice.plans.starts
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))
