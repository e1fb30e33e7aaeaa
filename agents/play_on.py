"""Playing a given position on to its end, each seat in its own way: by whole turns, or greedily.

Hints and reviews judge plans with it. A seat that plans takes its turns by the search of `sequence`
(with talk by the penalties of `signals`; the turn is planned once, where the agent plans anew after
each card); the others play as `greedy` does with their `extra`.
"""

from __future__ import annotations

import numpy as np

from agents.greedy import NO_GAP, best_play
from agents.sequence import listen
from agents.turn_score import FLOATS, weigh
from agents.turn_search import PLAN_AT, WORK, search_turn
from agents.unseen_deals import deal_unseen
from thegame_env.compiled import hold, inlined, kernel, row_of
from thegame_env.layout import (
    GAME_ROW,
    HANDS,
    LEFT,
    OWED,
    P_CARDS,
    P_TRICK,
    PLAYING,
    PLAYS,
    SEAT,
    STATUS,
    TOPS,
    TURNS,
    VIEW_ROW,
)
from thegame_env.moves import act
from thegame_env.rules import N_PILES
from thegame_env.sight import view_into

PLANS = -1_000
"""Stands in `extras` for a seat that plans its turns."""


@inlined
def _act_greedily(game, deck, p, extra):
    """One action of a seat that plays `greedy`."""
    hand = HANDS + 2 * game[SEAT]
    gap, index, pile = best_play(
        game[hand],
        game[hand + 1],
        game[TOPS],
        game[TOPS + 1],
        game[TOPS + 2],
        game[TOPS + 3],
        p[P_TRICK],
    )
    lays = gap < NO_GAP and (game[PLAYS] < game[OWED] or gap <= extra)
    act(game, deck, p, pile * p[P_CARDS] + index if lays else N_PILES * p[P_CARDS])


@inlined
def _take_turn(game, deck, p, laid, ints):
    """Lay the plan that the search has left in `ints`, and end the turn if it has not ended."""
    turn = game[TURNS]
    for k in range(laid):
        if game[STATUS] == PLAYING:
            act(game, deck, p, ints[PLAN_AT + k])
    if game[STATUS] == PLAYING and game[TURNS] == turn:
        act(game, deck, p, N_PILES * p[P_CARDS])


@kernel
def play_plans_on(
    games, decks, parameters, actions, lengths, extras, weights, penalties, margin, left
):
    """Cards left of every plan over every dealing.

    Args:
        games: int64[D, GAME_ROW], the dealings; not changed.
        decks: int8[D, N].
        parameters: int64[1, PARAMETER_ROW].
        actions: int64[M, longest], the plans.
        lengths: int64[M], their actions.
        extras: int64[MAX_SEATS], by seat: `extra` of a greedy one, or PLANS.
        weights: Of the score by which the others plan, see `sequence`.
        penalties: See there.
        margin: See there.
        left: Out, int64[M, D].
    """
    scratch, rows = np.zeros((1, GAME_ROW), np.int64), np.zeros((1, VIEW_ROW), np.int64)
    work, tables, wishes = (
        np.zeros((1, WORK), np.int64),
        np.zeros((1, FLOATS)),
        np.zeros((1, N_PILES)),
    )
    game, row, p = row_of(scratch, 0), row_of(rows, 0), row_of(parameters, 0)
    ints, floats, asked = row_of(work, 0), row_of(tables, 0), row_of(wishes, 0)
    for d in range(games.shape[0]):
        deck = row_of(decks, d)
        for m in range(actions.shape[0]):
            scratch[0, :] = games[d]
            for i in range(lengths[m]):
                if game[STATUS] == PLAYING:  # by small-hands it may end where a seat would pass
                    act(game, deck, p, actions[m, i])
            while game[STATUS] == PLAYING:
                extra = extras[game[SEAT]]
                if extra != PLANS:
                    _act_greedily(game, deck, p, extra)
                    continue
                view_into(game, p, game[SEAT], row)
                listen(row, penalties, asked)
                weigh(row, p, weights, floats)
                laid = search_turn(row, p, asked, margin, ints, floats)
                _take_turn(game, deck, p, laid, ints)
            left[m, d] = game[LEFT]
    hold((scratch, rows, work, tables, wishes))


@kernel
def deal_many(row, p, pool, hidden, state, games, decks):
    """Fill `games` and `decks` with dealings of the unseen cards; returns the stream's next state.

    Args:
        row: View row.
        p: Parameter row.
        pool: Workspace that `unseen_into` has filled.
        hidden: Number of cards in it.
        state: Random stream.
        games: Out, int64[D, GAME_ROW].
        decks: Out, int8[D, N].
    """
    for d in range(games.shape[0]):
        state = deal_unseen(row, p, pool, hidden, state, games[d], decks[d])
    return state
