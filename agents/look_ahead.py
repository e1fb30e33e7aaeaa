"""Judging plans by looking ahead: deal the unseen cards, play some turns on, then ask the value.

A plan's worth over one dealing is what the learned value says of the best reply some turns later,
every seat in between taking the plan that it, with what it may know, values most. All plans are
judged over the same dealings (common random numbers), which never read what the seat cannot see.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.candidates import DEAD
from agents.plans import N_DEPTH, N_HI, N_LO
from agents.turn_value import TurnValue
from agents.unseen_deals import deal_unseen, new_pool, unseen_into
from agents.value_bins import BIN_OF, BINS, CENTRES, LOWEST
from thegame_env.compiled import kernel
from thegame_env.engine import view_into
from thegame_env.layout import (
    GAME_ROW,
    HANDS,
    LEFT,
    P_CARDS,
    PLAYED,
    PLAYING,
    PLAYS,
    SEAT,
    STATUS,
    STUCK,
    TOPS,
    VIEW_ROW,
    WON,
)
from thegame_env.moves import end_turn, settle
from thegame_env.rules import N_PILES

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int8 = npt.NDArray[np.int8]


@kernel
def deal_games(row, p, pool, state, games, decks):
    """Deal every game of the batch so that it agrees with the view row; the next stream state."""
    hidden = unseen_into(row, pool)
    for d in range(games.shape[0]):
        state = deal_unseen(row, p, pool, hidden, state, games[d], decks[d])
    return state


@kernel
def leave(game, deck, p, node):
    """Put the acting seat into its afterstate `node` and end its turn."""
    game[LEFT] -= node[N_DEPTH]
    hand = HANDS + 2 * game[SEAT]
    game[PLAYED] |= game[hand] & ~node[N_LO]
    game[PLAYED + 1] |= game[hand + 1] & ~node[N_HI]
    game[hand], game[hand + 1] = node[N_LO], node[N_HI]
    for pile in range(N_PILES):
        game[TOPS + pile] = node[pile]
    game[PLAYS] += node[N_DEPTH]
    if game[LEFT] == 0:
        game[STATUS] = WON
        return
    end_turn(game, deck, p)
    settle(game, p)


@kernel
def leave_each(games, decks, p, states, out_games, out_decks):
    """Every plan's afterstate over every dealing: game m * D + d is plan m over dealing d."""
    deals = games.shape[0]
    for m in range(states.shape[0]):
        for d in range(deals):
            at = m * deals + d
            out_games[at] = games[d]
            out_decks[at] = decks[d]
            leave(out_games[at], out_decks[at], p, states[m])


@kernel
def view_running(games, p, rows, running):
    """Views of the games that still run; their indices into `running`; returns how many."""
    n = 0
    for b in range(games.shape[0]):
        if games[b, STATUS] == PLAYING:
            view_into(games[b], p, games[b, SEAT], rows[n])
            running[n] = b
            n += 1
    return n


@kernel
def leave_picked(games, decks, p, running, picked, states, kinds):
    """End the turn of every running game with its picked plan; a dead one loses what it laid."""
    for i in range(running.shape[0]):
        game, plan = games[running[i]], picked[i]
        if kinds[plan] == DEAD:
            game[LEFT] -= states[plan, N_DEPTH]
            game[STATUS] = STUCK
        else:
            leave(game, decks[running[i]], p, states[plan])


UTILITY, WINS, CARDS_LEFT = 0, 1, 2
"""Columns of an outcome: what play maximises, the chance to win, the cards left to expect."""


class LookAhead:
    """Judges the plans of one seat's turn over dealings of what it cannot see.

    Args:
        value: The learned value, with which all seats choose.
        turns: Turns played on behind the plan before the value of the best reply is taken.
        whole: Whether an outcome is the distribution over the BINS of cards left, in place of the
            three columns.
    """

    def __init__(self, value: TurnValue, turns: int, whole: bool = False) -> None:
        self.value, self.turns = value, turns
        self.p = value.planner.p
        self._pool = new_pool()
        if whole:
            self._worth = np.eye(BINS)
            self._ended = self._worth[BIN_OF]
        else:
            self._worth = np.stack([value.utility, LOWEST == 0, CENTRES], axis=1).astype(np.float64)
            self._ended = self._worth[BIN_OF]
            self._ended[:, CARDS_LEFT] = np.arange(len(BIN_OF))
        self._dealt = self._games = np.zeros((0, GAME_ROW), np.int64), self._decks(0)
        self._rows, self._running = np.zeros((0, VIEW_ROW), np.int64), np.zeros(0, np.int64)

    def judge(
        self, row: Int64, states: Int64, deals: int, state: np.uint64
    ) -> tuple[Floats, np.uint64]:
        """Outcomes of every afterstate over every dealing, and the next stream state.

        Args:
            row: View row of the acting seat.
            states: int64[M, STATE], afterstates of complete plans.
            deals: Dealings D, the same for all plans.
            state: Random stream.

        Returns:
            float64[M, D, 3] (UTILITY, WINS, CARDS_LEFT) or [M, D, BINS], uint64.
        """
        if deals > len(self._dealt[0]):
            self._dealt = np.zeros((deals, GAME_ROW), np.int64), self._decks(deals)
        games, decks = self._dealt[0][:deals], self._dealt[1][:deals]
        state = np.uint64(deal_games(row, self.p, self._pool, state, games, decks))
        return self.outcomes(games, decks, states), state

    def outcomes(self, games: Int64, decks: Int8, states: Int64) -> Floats:
        """Outcomes of every afterstate over given dealings, float64[M, D, 3] or [M, D, BINS].

        Args:
            games: int64[D, GAME_ROW], the acting seat to play; not changed.
            decks: int8[D, N].
            states: int64[M, STATE], afterstates of complete plans.
        """
        deals, total = len(games), len(states) * len(games)
        if total > len(self._running):
            self._games = np.zeros((total, GAME_ROW), np.int64), self._decks(total)
            self._rows = np.zeros((total, VIEW_ROW), np.int64)
            self._running = np.zeros(total, np.int64)
        on_games, on_decks = self._games[0][:total], self._games[1][:total]
        leave_each(games, decks, self.p, states, on_games, on_decks)
        return self._play_on(on_games, on_decks).reshape(len(states), deals, -1)

    def _decks(self, count: int) -> Int8:
        return np.zeros((count, int(self.p[P_CARDS])), np.int8)

    def _play_on(self, games: Int64, decks: Int8) -> Floats:
        for turn in range(self.turns + 1):
            n = view_running(games, self.p, self._rows, self._running)
            if n == 0:
                break
            running, choice = self._running[:n], self.value.choose(self._rows[:n])
            if turn == self.turns:
                outcomes = self._ended[games[:, LEFT]]
                outcomes[running] = choice.chances[choice.best] @ self._worth
                return outcomes
            plans = choice.plans
            leave_picked(games, decks, self.p, running, choice.best, plans.states, plans.kinds)
        return self._ended[games[:, LEFT]]
