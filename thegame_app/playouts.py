"""Playing a position on: every plan over the same dealings, everybody then playing greedily."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.greedy import finish_greedy
from thegame_env.compiled import kernel
from thegame_env.engine import Engine, act
from thegame_env.layout import PLAYING, STATUS
from thegame_env.unseen import complete
from thegame_env.view import View

Int64 = npt.NDArray[np.int64]

SOLO_EXTRA, TEAM_EXTRA = 0, 4
"""Largest gap that the players lay beyond the minimum, alone and in a team."""


@kernel
def play_plans_on(games, decks, p, actions, lengths, extra, left):
    """Cards left of every plan over every dealing.

    Args:
        games: int64[D, GAME_ROW], the dealings; not changed.
        decks: int8[D, N].
        p: Parameter row.
        actions: int64[M, longest], the plans.
        lengths: int64[M], their actions.
        extra: Of the greedy players that play on.
        left: Out, int64[M, D].
    """
    for d in range(games.shape[0]):
        for m in range(actions.shape[0]):
            game = games[d].copy()
            for i in range(lengths[m]):
                if game[STATUS] == PLAYING:  # by small-hands it may end where a seat would pass
                    act(game, decks[d], p, actions[m, i])
            left[m, d] = finish_greedy(game, decks[d], p, extra)


class Dealings:
    """Dealings of what a view does not show, the same for every plan that is judged on them.

    Args:
        view: The acting seat's view; nothing else is known of the game.
        seed: Of the dealings; dealing number d is the same whatever else is asked for.
    """

    def __init__(self, view: View, seed: int) -> None:
        self.view, self._seeds = view, np.random.SeedSequence(seed)
        self.extra = SOLO_EXTRA if view.table.players == 1 else TEAM_EXTRA

    @property
    def player(self) -> str:
        """The specification of the agent that plays on."""
        return f"greedy:extra={self.extra}"

    def cards_left(self, plans: Sequence[Sequence[int]], count: int) -> Int64:
        """Cards left of every plan (its actions) over dealings 0..count-1: int64[M, count]."""
        engine = Engine(self.view.table, count)
        keys = self._seeds.generate_state(count, np.uint64)
        for d, key in enumerate(keys.tolist()):
            engine.put(d, complete(self.view, key))
        lengths = np.array([len(plan) for plan in plans], np.int64)
        actions = np.zeros((len(plans), max(int(lengths.max()), 1)), np.int64)
        for m, plan in enumerate(plans):
            actions[m, : len(plan)] = plan
        left = np.zeros((len(plans), count), np.int64)
        play_plans_on(engine.games, engine.decks, engine.p, actions, lengths, self.extra, left)
        return left
