"""The moves of the fast game: legality, plays, turns and the deal of one game row.

The same moves as in `reference.py`, in place, without an allocation in a step. A game, its deck and
the table's parameters come as array rows or, inside loops over a batch, as pointers (`row_of`).
"""

from __future__ import annotations

import numpy as np

from thegame_env.cards import (
    FRAME,
    any_legal,
    bit_hi,
    bit_lo,
    count,
    fits,
    holds,
    lay,
    next_play,
    open_frame,
    pile_of,
    trick_index,
)
from thegame_env.compiled import inlined, kernel
from thegame_env.deal import MAX_MOVEMENT, OPENING_LEVELS, shuffle_into
from thegame_env.layout import (
    DECK_AT,
    GAME,
    GAME_ROW,
    HANDS,
    LEFT,
    OWED,
    P_AGREED,
    P_CARDS,
    P_EMPTY,
    P_HAND,
    P_MINIMUM,
    P_NOBODY,
    P_PLAYERS,
    P_TRICK,
    PLAYED,
    PLAYING,
    PLAYS,
    SEAT,
    SEED,
    STARTER,
    STATUS,
    STEPS,
    STUCK,
    TOPS,
    TRICKS,
    TURNS,
    WON,
)
from thegame_env.rules import N_PILES


@inlined
def seat_has_legal(game, p, seat):
    """Whether the seat holds a card that may be laid now."""
    return any_legal(
        game[HANDS + 2 * seat],
        game[HANDS + 2 * seat + 1],
        game[TOPS],
        game[TOPS + 1],
        game[TOPS + 2],
        game[TOPS + 3],
        p,
    )


@inlined
def owed_by(deck_size, hand_size, p):
    """Plays owed in a turn that starts with these sizes."""
    return min(p[P_MINIMUM] if deck_size else p[P_EMPTY], hand_size)


@inlined
def hand_count(game, seat):
    """Cards in the seat's hand."""
    return count(game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1])


@inlined
def may_end(game, p):
    """Whether END_TURN is legal for the acting seat."""
    if game[STATUS] != PLAYING:
        return False
    if game[PLAYS] >= game[OWED]:
        return True
    return p[P_NOBODY] == 1 and not seat_has_legal(game, p, game[SEAT])


@inlined
def is_legal(game, p, action):
    """Whether the action is legal; False for anything outside the codec."""
    cards = p[P_CARDS]
    if action < 0 or action > N_PILES * cards or game[STATUS] != PLAYING:
        return False
    if action == N_PILES * cards:
        return may_end(game, p)
    pile = pile_of(action, cards)
    index = action - pile * cards
    seat = game[SEAT]
    if not holds(game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1], index):
        return False
    return fits(pile, game[TOPS + pile], index, p[P_TRICK])


@inlined
def settle(game, p):
    """Set STATUS: won without cards, stuck when the acting seat cannot go on."""
    if game[LEFT] == 0:
        game[STATUS] = WON
        return
    if game[PLAYS] >= game[OWED] or seat_has_legal(game, p, game[SEAT]):
        return
    if p[P_NOBODY]:
        for seat in range(p[P_PLAYERS]):
            if seat_has_legal(game, p, seat):
                return
    game[STATUS] = STUCK


@inlined
def cards_between(deck, start, stop):
    """The set of the deck's cards at start..stop-1: `(lo, hi)`."""
    lo, hi = 0, 0
    for i in range(start, stop):
        index = np.int64(deck[i]) - 2
        lo |= bit_lo(index)
        hi |= bit_hi(index)
    return lo, hi


@inlined
def end_turn(game, deck, p):
    """Refill the acting seat and pass the turn on; a seat without cards is skipped."""
    cards, players, seat = p[P_CARDS], p[P_PLAYERS], game[SEAT]
    at = game[DECK_AT]
    drawn = min(p[P_HAND] - hand_count(game, seat), cards - at)
    lo, hi = cards_between(deck, at, at + drawn)
    game[HANDS + 2 * seat] |= lo
    game[HANDS + 2 * seat + 1] |= hi
    game[DECK_AT] = at + max(drawn, 0)
    size = 0
    for _ in range(players):
        seat = seat + 1 if seat + 1 < players else 0
        size = hand_count(game, seat)
        if size:
            break
    game[SEAT] = seat
    game[PLAYS] = 0
    game[OWED] = owed_by(cards - game[DECK_AT], size, p)
    game[TURNS] += 1


@inlined
def act(game, deck, p, action):
    """Take a legal action: lay the card or end the turn, then settle the game."""
    cards = p[P_CARDS]
    game[STEPS] += 1
    if action == N_PILES * cards:
        end_turn(game, deck, p)
        settle(game, p)
        return
    pile = pile_of(action, cards)
    index = action - pile * cards
    seat = game[SEAT]
    lo, hi = bit_lo(index), bit_hi(index)
    if index == trick_index(pile, game[TOPS + pile], cards, p[P_TRICK]):
        game[TRICKS] += 1
    game[TOPS + pile] = index + 2
    game[HANDS + 2 * seat] &= ~lo
    game[HANDS + 2 * seat + 1] &= ~hi
    game[PLAYED] |= lo
    game[PLAYED + 1] |= hi
    game[PLAYS] += 1
    game[LEFT] -= 1
    if game[LEFT] and not (game[HANDS + 2 * seat] | game[HANDS + 2 * seat + 1]):
        end_turn(game, deck, p)
    settle(game, p)


# --- the deal ------------------------------------------------------------------------------------


@kernel
def least_movement(lo, hi, owed, p, limit):
    """Least movement of an opening turn of exactly `owed` plays, if at most `limit` (else above).

    Depth-first by `next_play`; the last word of a frame is the movement so far.
    """
    cards, trick = p[P_CARDS], p[P_TRICK]
    best = min(limit + 1, MAX_MOVEMENT)
    stack = np.zeros((owed + 1, FRAME), np.int64)
    open_frame(stack, 0, lo, hi, 1, 1, cards + 2, cards + 2)
    depth = 0
    while depth >= 0:
        if depth == owed:
            best = min(best, stack[depth, FRAME - 1])
            depth -= 1
            continue
        pile, index = next_play(stack, depth, p)
        if pile < 0:
            depth -= 1
            continue
        top = stack[depth, 2 + pile]
        moved = stack[depth, FRAME - 1] + (index + 2 - top if pile < 2 else top - index - 2)
        if moved - trick * (owed - depth - 1) < best:
            lay(stack, depth, pile, index)
            depth += 1
            stack[depth, FRAME - 1] = moved
    return best


@kernel
def opening_level(lo, hi, p):
    """The level 0..3 that a hand announces before the first turn (see deal.opening_level)."""
    owed = owed_by(1, count(lo, hi), p)
    least = least_movement(lo, hi, owed, p, OPENING_LEVELS[2] * owed)
    level = 0
    for bound in OPENING_LEVELS:
        level += least <= bound * owed
    return level


@kernel
def begin(game, deck, p):
    """Deal the game row from its deck row, choose the starter, open the first turn."""
    cards, players, size = p[P_CARDS], p[P_PLAYERS], p[P_HAND]
    seed, index = game[SEED], game[GAME]
    for i in range(GAME_ROW):
        game[i] = 0
    game[SEED], game[GAME] = seed, index
    game[TOPS] = game[TOPS + 1] = 1
    game[TOPS + 2] = game[TOPS + 3] = cards + 2
    for seat in range(players):
        lo, hi = cards_between(deck, seat * size, (seat + 1) * size)
        game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1] = lo, hi
    game[DECK_AT] = players * size
    game[LEFT] = cards
    if p[P_AGREED]:
        best = -1
        for seat in range(players):
            level = opening_level(game[HANDS + 2 * seat], game[HANDS + 2 * seat + 1], p)
            if level > best:
                best = level
                game[SEAT] = seat
    game[STARTER] = game[SEAT]
    game[OWED] = owed_by(cards - game[DECK_AT], size, p)
    game[TURNS] = 1
    settle(game, p)


@kernel
def deal_next(game, deck, p):
    """Deal the next game of this slot's seed."""
    game[GAME] += 1
    shuffle_into(deck, p[P_CARDS], np.uint64(game[SEED]), np.uint64(game[GAME]))
    begin(game, deck, p)
