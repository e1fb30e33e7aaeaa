"""Judging the plans of a turn: each is played on over the same dealings of the unseen cards.

`Judge` is all that hints and reviews know of it, so that a better judge can take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from agents.play_on import PLANS, deal_many, play_plans_on
from agents.sequence import penalties_for, weights_for
from agents.turn_search import MARGIN
from agents.unseen_deals import new_pool, unseen_into
from agents.weight_files import shipped_for
from thegame_env.deal import as_seed, stream
from thegame_env.engine import parameters
from thegame_env.layout import GAME_ROW
from thegame_env.rules import MAX_SEATS, unknown
from thegame_env.view import View

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Actions = Sequence[int]
Partners = Literal["expert", "casual"]

LEARNED = "afterstate"
"""Kind of the weights of a learned value."""
CASUAL_EXTRA = 4
"""Largest gap that casual partners lay beyond the minimum."""
CHUNK = 256
"""Dealings that are made at a time."""


class Judge(Protocol):
    """What an opinion on plans is made of.

    Attributes:
        own: Specification of the agent that the acting seat is taken to play on by.
        partners: The same for the other seats.
        learned: Whether its figures are estimates of a learned value, and not results of games.
    """

    own: str
    partners: str
    learned: bool

    def judge(self, plans: Sequence[Actions], start: int, stop: int) -> tuple[Floats, Floats]:
        """Expected cards left, and chance to win, of every plan over dealings start..stop-1.

        Dealing number d is the same for every plan and in every call: float64[plans, stop - start]
        both.
        """
        ...


def judge_for(view: View, partners: Partners, seed: int) -> Judge:
    """The judge of a position: the one place that knows which kind of judge there is.

    Where everybody else plans as well as the acting seat, and a value was learned for the table,
    that value judges; else every dealing is played to its end.
    """
    playouts = Playouts(view, partners, seed)
    if partners == "casual" and view.table.players > 1:
        return playouts
    weights = shipped_for(LEARNED, view.table)
    if weights is None:
        return playouts
    from thegame_app.value_judge import ValueJudge  # kernels that most hints do without

    return ValueJudge(view, weights, playouts)


class Playouts:
    """The judge that plays every dealing to its end.

    Args:
        view: The acting seat's view; nothing else is known of the game.
        partners: "expert" (they plan like the acting seat) or "casual" (they play greedily).
        seed: Of the dealings.
    """

    def __init__(self, view: View, partners: Partners, seed: int) -> None:
        if partners not in get_args(Partners):
            raise ValueError(unknown("partners", partners, get_args(Partners)))
        self._row, self._p, self._pool = view.row(), parameters(view.table), new_pool()
        self._hidden = unseen_into(self._row, self._pool)
        self._state = np.uint64(stream(as_seed(seed), np.uint64(0)))
        self._games = np.zeros((0, GAME_ROW), np.int64)
        self._decks = np.zeros((0, view.rules.cards), np.int8)
        self._weights, self._penalties = weights_for(view.table), penalties_for(view.table)
        self._extras = np.full(MAX_SEATS, PLANS, np.int64)
        self.learned = False
        self.own = self.partners = "signals" if self._penalties.any() else "sequence"
        if partners == "casual":
            self._extras[1:] = CASUAL_EXTRA
            self.partners = f"greedy:extra={CASUAL_EXTRA}"

    def judge(self, plans: Sequence[Actions], start: int, stop: int) -> tuple[Floats, Floats]:
        """See Judge."""
        left = self.cards_left(plans, start, stop)
        return left.astype(np.float64), (left == 0).astype(np.float64)

    def cards_left(self, plans: Sequence[Actions], start: int, stop: int) -> Int64:
        """Cards left of every plan over dealings start..stop-1: int64[plans, stop - start]."""
        games, decks = self.dealings(stop)
        lengths = np.array([len(plan) for plan in plans], np.int64)
        actions = np.zeros((len(plans), max(int(lengths.max()), 1)), np.int64)
        for m, plan in enumerate(plans):
            actions[m, : len(plan)] = plan
        left = np.zeros((len(plans), stop - start), np.int64)
        play_plans_on(
            games[start:stop], decks[start:stop], self._p[None], actions, lengths,
            self._extras, self._weights, self._penalties, MARGIN, left,
        )  # fmt: skip
        return left

    def dealings(self, count: int) -> tuple[Int64, npt.NDArray[np.int8]]:
        """The first `count` dealings (or more): game rows, the acting seat being seat 0, decks."""
        while len(self._games) < count:
            games = np.zeros((CHUNK, GAME_ROW), np.int64)
            decks = np.zeros((CHUNK, self._decks.shape[1]), np.int8)
            self._state = np.uint64(
                deal_many(self._row, self._p, self._pool, self._hidden, self._state, games, decks)
            )
            self._games = np.concatenate([self._games, games])
            self._decks = np.concatenate([self._decks, decks])
        return self._games, self._decks
