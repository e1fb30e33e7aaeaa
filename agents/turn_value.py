"""Choosing whole turns by a learned value: the plan whose afterstate is worth most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.candidates import OPEN, Candidates, Planner, best_of_each, play_plans
from agents.plans import N_DEPTH, N_HI, N_LO, STATE
from agents.value_bins import BIN_OF
from agents.value_model import ValueModel
from thegame_env.engine import Engine, card_words
from thegame_env.layout import LEFT, P_TALK, PLAYING, STATUS, TALK_NONE
from thegame_env.rules import N_PILES, Table
from thegame_env.view import View

Floats = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


LATE = 96
"""Plans that a player by value alone looks at once the deck is empty: the gaps matter less then,
and how many cards are laid more. Of 3,000 development deals, five players won 93.3 % with it and
92.4 % with 40 plans of gaps up to 15; two players 85.1 and 84.8 %."""


@dataclass(slots=True)
class Choice:
    """The valued plans of n turns.

    Attributes:
        plans: The plans.
        chances: float32[total, BINS], how many cards each plan will leave.
        utility: float32[total].
        best: int64[n], index of each turn's best plan.
    """

    plans: Candidates
    chances: Floats
    utility: Floats
    best: Int64


class TurnValue:
    """Values the plans of turns.

    Args:
        p: Parameter row of the table.
        model: The learned value; may be replaced between calls.
        utility: Worth of every bin of cards left, float32[BINS].
        most: Plans valued a turn.
        branch: Plays tried at each afterstate.
        reach: Largest gap laid beyond the minimum.
        late: Plans valued a turn once the deck is empty, whatever their gaps; None: as before.
    """

    def __init__(
        self,
        p: Int64,
        model: ValueModel,
        utility: Floats,
        most: int = 40,
        branch: int = 6,
        reach: int = 15,
        late: int | None = None,
    ) -> None:
        self.planner = Planner(p, most, branch, reach, late)
        self.model, self.utility = model, utility

    def choose(self, rows: Int64) -> Choice:
        """The valued plans of the view rows int64[n, VIEW_ROW]; valid until the next call."""
        plans = self.planner.candidates(rows)
        chances = self.model.predict_plans(rows, plans.starts, plans.states, self.planner.p)
        closed = plans.kinds != OPEN
        chances[closed] = 0.0
        chances[closed, BIN_OF[plans.left[closed]]] = 1.0
        utility = chances @ self.utility
        best = np.empty(len(rows), np.int64)
        best_of_each(utility, plans.starts, best)
        return Choice(plans, chances, utility, best)

    def play(self, table: Table, seeds: npt.NDArray[np.uint64], games: Int64 | int = 0) -> Int64:
        """Cards left, int64[n], of the deals (seed, game) when all seats choose so."""
        engine = Engine(table, len(seeds))
        engine.deal(seeds, games)
        only_first = bool(engine.p[P_TALK] != TALK_NONE)
        views = engine.views()
        while len(running := np.flatnonzero(engine.games[:, STATUS] == PLAYING)):
            views = engine.views()
            choice = self.choose(np.ascontiguousarray(views[running]))
            picked = np.full(len(views), -1)
            picked[running] = choice.best
            plans = choice.plans
            play_plans(
                engine.games, engine.decks, engine.p, picked, plans.lengths, plans.actions,
                only_first,
            )  # fmt: skip
        return engine.games[:, LEFT].copy()


def afterstate_of(view: View, plan: Sequence[int]) -> Int64:
    """Where a plan leaves the acting seat before the refill: int64[STATE], see agents/plans.py."""
    state, hand = np.zeros(STATE, np.int64), set(view.hand)
    state[:N_PILES] = view.tops
    for card, pile in filter(None, map(view.rules.decode, plan)):
        hand.remove(card)
        state[pile] = card
        state[N_DEPTH] += 1
    state[N_LO], state[N_HI] = card_words(hand)
    return state
