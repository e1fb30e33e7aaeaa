"""`greedy`: the trick first, else the smallest gap; on past the minimum while gaps are small.

The oldest rule of thumb of the game's players. It knows its own hand, the tops and what it owes.
Ties go to the first pile in codec order. Searches play games to their end by it, so here stand its
whole games too.
"""

from __future__ import annotations

import numpy as np

from agents.base import Agent, KernelAgent
from agents.card_sets import NONE_ABOVE, has, nearest_above, nearest_below
from thegame_env.cards import any_legal, bit_hi, bit_lo, count
from thegame_env.compiled import inlined, kernel
from thegame_env.deal import shuffle_into
from thegame_env.layout import (
    DECK_AT,
    GAME_ROW,
    HANDS,
    LEFT,
    OWED,
    P_CARDS,
    P_HAND,
    P_NOBODY,
    P_PLAYERS,
    P_TRICK,
    PLAYING,
    PLAYS,
    SEAT,
    STATUS,
    TOPS,
    V_HAND,
    V_MAY_END,
    V_OWED,
    V_TOPS,
)
from thegame_env.moves import begin, cards_between, owed_by
from thegame_env.rules import N_PILES, Table

TRICKS_ONLY = -10
"""`extra` of plain greedy: beyond the minimum it plays tricks and nothing else."""
NO_GAP = 1_000
"""Stands for "no legal play" where gaps are compared."""


@inlined
def best_up(lo, hi, top, trick):
    """The greedy play on an ascending pile: `(gap, index)`, NO_GAP where there is none."""
    index = nearest_above(lo, hi, top)
    gap = index + 2 - top if index < NONE_ABOVE else NO_GAP
    tricks = has(lo, hi, top - trick - 2) == 1
    return (-trick if tricks else gap), (top - trick - 2 if tricks else index)


@inlined
def best_down(lo, hi, top, trick):
    """The greedy play on a descending pile, as `best_up`."""
    index = nearest_below(lo, hi, top)
    gap = top - index - 2 if index >= 0 else NO_GAP
    tricks = has(lo, hi, top + trick - 2) == 1
    return (-trick if tricks else gap), (top + trick - 2 if tricks else index)


@inlined
def best_play(lo, hi, up1, up2, down1, down2, trick):
    """The greedy play of a hand: `(gap, card index, pile)`; ties go to the first pile."""
    gap, index = best_up(lo, hi, up1, trick)
    pile = 0
    other, card = best_up(lo, hi, up2, trick)
    less = other < gap
    gap, index, pile = (other, card, 1) if less else (gap, index, pile)
    other, card = best_down(lo, hi, down1, trick)
    less = other < gap
    gap, index, pile = (other, card, 2) if less else (gap, index, pile)
    other, card = best_down(lo, hi, down2, trick)
    less = other < gap
    gap, index, pile = (other, card, 3) if less else (gap, index, pile)
    return gap, index, pile


@kernel
def act_greedy(rows, p, streams, actions, extra):
    """Fill `actions` (int64[n]) for the view rows `rows` (int64[n, VIEW_ROW])."""
    for i in range(rows.shape[0]):
        row = rows[i]
        gap, index, pile = best_play(
            row[V_HAND],
            row[V_HAND + 1],
            row[V_TOPS],
            row[V_TOPS + 1],
            row[V_TOPS + 2],
            row[V_TOPS + 3],
            p[P_TRICK],
        )
        ends = row[V_MAY_END] and (gap == NO_GAP or (row[V_OWED] <= 0 and gap > extra))
        actions[i] = (N_PILES if ends else pile) * p[P_CARDS] + (0 if ends else index)


# --- whole games ---------------------------------------------------------------------------------


@kernel
def _another_can(game, seat, up1, up2, down1, down2, p):
    """Whether some other seat holds a card that may be laid now."""
    for other in range(p[P_PLAYERS]):
        lo, hi = game[HANDS + 2 * other], game[HANDS + 2 * other + 1]
        if other != seat and any_legal(lo, hi, up1, up2, down1, down2, p):
            return True
    return False


@kernel
def finish_greedy(game, deck, p, extra):
    """Let every seat play `greedy` to the end of the game; returns the cards left.

    The rules of `engine.act`, on local values: a play costs some 20 ns.

    Args:
        game: Game row; of a running game its hands are used up, nothing else is kept current.
        deck: Deck row.
        p: Parameter row.
        extra: Largest gap that is played beyond the minimum.
    """
    if game[STATUS] != PLAYING:
        return game[LEFT]
    cards, players, trick, full = p[P_CARDS], p[P_PLAYERS], p[P_TRICK], p[P_HAND]
    up1, up2, down1, down2 = game[TOPS], game[TOPS + 1], game[TOPS + 2], game[TOPS + 3]
    owed, left, at = game[OWED] - game[PLAYS], game[LEFT], game[DECK_AT]
    seat = game[SEAT]
    lo, hi = game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1]
    while True:
        gap, index, pile = best_play(lo, hi, up1, up2, down1, down2, trick)
        if gap < NO_GAP and (owed > 0 or gap <= extra):
            lo &= ~bit_lo(index)
            hi &= ~bit_hi(index)
            up1 = index + 2 if pile == 0 else up1
            up2 = index + 2 if pile == 1 else up2
            down1 = index + 2 if pile == 2 else down1
            down2 = index + 2 if pile == 3 else down2
            owed -= 1
            left -= 1
            if lo | hi:
                continue
            if left == 0:
                return 0
        elif owed > 0 and not (p[P_NOBODY] and _another_can(game, seat, up1, up2, down1, down2, p)):
            return left
        game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1] = lo, hi
        drawn = min(full - count(lo, hi), cards - at)
        if drawn > 0:
            more_lo, more_hi = cards_between(deck, at, at + drawn)
            game[HANDS + 2 * seat] |= more_lo
            game[HANDS + 2 * seat + 1] |= more_hi
            at += drawn
        lo, hi = 0, 0
        while not lo | hi:
            seat = seat + 1 if seat + 1 < players else 0
            lo, hi = game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1]
        owed = owed_by(cards - at, count(lo, hi), p)


@kernel
def greedy_games(p, seeds, indices, left, extra):
    """Play the deals (seeds[i], indices[i]) to their ends; `left[i]` receives the cards left."""
    game = np.zeros(GAME_ROW, np.int64)
    deck = np.zeros(p[P_CARDS], np.int8)
    for i in range(seeds.shape[0]):
        shuffle_into(deck, p[P_CARDS], seeds[i], np.uint64(indices[i]))
        begin(game, deck, p)
        left[i] = finish_greedy(game, deck, p, extra)


def make(table: Table, extra: int = TRICKS_ONLY) -> Agent:
    """The agent `greedy`: `extra` is the largest gap that it plays beyond the minimum."""
    if not isinstance(extra, int):
        raise ValueError(f"greedy: extra must be a whole number, not {extra!r}")
    name = "greedy" if extra == TRICKS_ONLY else f"greedy:extra={extra}"
    return KernelAgent(name, act_greedy, extra, games=greedy_games)
