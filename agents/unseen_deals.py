"""Kernels that deal the cards a seat cannot see: whole games that agree with a view row.

The promise: they read the view row and nothing else, so they cannot leak the true hands or the
deck; a dealt game has the view's hand sizes and deck size; what the seat remembers is on the piles
(without memory, which cards have been played is drawn too); and with talk, every other seat's hand
says what that seat says. In a dealt game the view's seat is seat 0 and the other seats follow.

Without talk the deal is uniform. With talk the hands are drawn one after the other, each uniform
over the hands that say the heard word (by rejection among the cards that the word allows; a hand
for which that fails often is completed by hand). This is close to, not exactly, the distribution
given all that was heard, because an earlier hand does not make room for a later one; a deal in
which a later seat cannot say its word any more is drawn anew. Where no try agrees altogether (near
the end, when few cards are hidden, or when no hand can say the word), the one that agrees in most
parts is taken, and cards are swapped at random as long as that loses no agreement.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thegame_env.cards import (
    all_hi,
    all_lo,
    beyond,
    bit_hi,
    bit_lo,
    count,
    first,
    holds,
    legal_set,
    talk_word,
    trick_index,
)
from thegame_env.compiled import inlined, kernel
from thegame_env.deal import bounded
from thegame_env.layout import (
    DECK_AT,
    HANDS,
    LEFT,
    OWED,
    P_CARDS,
    P_PLAYERS,
    P_TALK,
    P_TRICK,
    PLAYED,
    PLAYS,
    STATUS,
    TALK_AVOID,
    TALK_NONE,
    TALK_STEP,
    TALK_STUCK,
    TOPS,
    TURNS,
    V_DECK,
    V_HAND,
    V_LEFT,
    V_PLAYS,
    V_SIZES,
    V_STATUS,
    V_TALK,
    V_TOPS,
    V_UNSEEN,
)
from thegame_env.moves import owed_by
from thegame_env.rules import MAX_CARDS, MAX_SEATS, N_PILES

DEAL_TRIES = 6
"""Deals drawn at most until every seat says its word."""
HAND_TRIES = 24
"""Hands drawn at most until one says the word, before it is completed by hand."""
SWAPS = 400
"""Random swaps tried at most on the best of them."""
WORD_PARTS = N_PILES + 1
"""Parts of a talk word: a level a pile, and "I cannot reach my minimum"."""


def new_pool() -> npt.NDArray[np.int8]:
    """The workspace of the kernels below, one a thread: int8[2, MAX_CARDS], a pool and a spare."""
    return np.zeros((2, MAX_CARDS), np.int8)


@kernel
def unseen_into(row, pool):
    """List the unseen cards of a view row in `pool[0]`; returns how many there are."""
    lo, hi, n = row[V_UNSEEN], row[V_UNSEEN + 1], 0
    while lo | hi:
        index = first(lo, hi)
        lo &= ~bit_lo(index)
        hi &= ~bit_hi(index)
        pool[0, n] = np.int8(index + 2)
        n += 1
    return n


@kernel
def deal_unseen(row, p, pool, n, state, game, deck):
    """Deal one game that agrees with the view row; returns the stream's next state.

    Args:
        row: View row of the acting seat.
        p: Parameter row.
        pool: Workspace that `unseen_into` has filled; its order changes from deal to deal.
        n: Number of cards in it.
        state: Random stream.
        game: Out, int64[GAME_ROW]; counters are those of `engine.write_game`.
        deck: Out, int8[N].
    """
    if p[P_TALK] == TALK_NONE or p[P_PLAYERS] == 1:
        dealt = 0
    else:
        dealt, state = _deal_hands(row, p, pool, n, state)
    state = draw_front(pool, dealt, row[V_LEFT] - count(row[V_HAND], row[V_HAND + 1]), n, state)
    _write_game(row, p, pool, game, deck)
    return state


@inlined
def draw_front(pool, start, stop, end, state):
    """Draw the cards at start..stop-1 of the pool uniformly from those at start..end-1."""
    for i in range(start, min(stop, end - 1)):
        j, state = bounded(state, end - i)
        pool[0, i], pool[0, i + j] = pool[0, i + j], pool[0, i]
    return state


@inlined
def pool_set(pool, start, stop):
    """The set of the pool's cards at start..stop-1: `(lo, hi)`."""
    lo, hi = 0, 0
    for i in range(start, stop):
        index = np.int64(pool[0, i]) - 2
        lo |= bit_lo(index)
        hi |= bit_hi(index)
    return lo, hi


@kernel
def _write_game(row, p, pool, game, deck):
    """Write the game whose hidden cards stand in the pool: hands by offset, then the deck."""
    cards, own = p[P_CARDS], count(row[V_HAND], row[V_HAND + 1])
    game[:] = 0
    deck[:] = 0
    held_lo, held_hi = row[V_HAND], row[V_HAND + 1]
    game[HANDS], game[HANDS + 1] = held_lo, held_hi
    at = 0
    for offset in range(1, p[P_PLAYERS]):
        size = row[V_SIZES + offset]
        lo, hi = pool_set(pool, at, at + size)
        game[HANDS + 2 * offset], game[HANDS + 2 * offset + 1] = lo, hi
        held_lo |= lo
        held_hi |= hi
        at += size
    start = cards - row[V_DECK]
    for i in range(row[V_DECK]):
        deck[start + i] = pool[0, at + i]
    lo, hi = pool_set(pool, at, at + row[V_DECK])
    game[PLAYED] = all_lo(cards) & ~(held_lo | lo)
    game[PLAYED + 1] = all_hi(cards) & ~(held_hi | hi)
    for pile in range(N_PILES):
        game[TOPS + pile] = row[V_TOPS + pile]
    game[DECK_AT], game[PLAYS], game[LEFT] = start, row[V_PLAYS], row[V_LEFT]
    game[OWED] = owed_by(row[V_DECK], own + row[V_PLAYS], p)
    game[STATUS], game[TURNS] = row[V_STATUS], 1


# --- what the others say -------------------------------------------------------------------------


@kernel
def _deal_hands(row, p, pool, n, state):
    """Deal the other hands so that they say what was heard: `(cards dealt, state)`."""
    needs = np.zeros((N_PILES, 2), np.int64)
    dealt, best = 0, -1
    full = WORD_PARTS * (p[P_PLAYERS] - 1)
    for _ in range(DEAL_TRIES):
        dealt, agreed = 0, 0
        for offset in range(1, p[P_PLAYERS]):
            size = row[V_SIZES + offset]
            parts, state = _deal_hand(row, p, pool, needs, dealt, size, n, offset, state)
            agreed += parts
            dealt += size
        if agreed == full:
            return dealt, state
        if agreed > best:
            best = agreed
            pool[1, :n] = pool[0, :n]
    pool[0, :n] = pool[1, :n]
    return dealt, _swap_cards(row, p, pool, dealt, n, best, state)


@kernel
def _swap_cards(row, p, pool, dealt, n, agreed, state):
    """Swap hidden cards at random wherever that loses no agreement, until all words are said."""
    for _ in range(SWAPS):
        a, state = bounded(state, max(dealt, 1))
        b, state = bounded(state, n)
        first_seat, other_seat = _holder(row, a), _holder(row, b)
        if first_seat == other_seat:
            continue
        before = _says(row, p, pool, first_seat) + _says(row, p, pool, other_seat)
        pool[0, a], pool[0, b] = pool[0, b], pool[0, a]
        after = _says(row, p, pool, first_seat) + _says(row, p, pool, other_seat)
        if after < before:
            pool[0, a], pool[0, b] = pool[0, b], pool[0, a]
            continue
        agreed += after - before
        if agreed == WORD_PARTS * (p[P_PLAYERS] - 1):
            break
    return state


@inlined
def _holder(row, at):
    """The offset of the seat whose hand stands at this place of the pool, 0 for the rest."""
    end = 0
    for offset in range(1, MAX_SEATS):
        end += row[V_SIZES + offset]
        if at < end:
            return offset
    return 0


@kernel
def _says(row, p, pool, offset):
    """How many parts of its word the hand of a seat in the pool says; 0 for the deck."""
    if offset == 0:
        return 0
    start, size = 0, row[V_SIZES + offset]
    for other in range(1, offset):
        start += row[V_SIZES + other]
    lo, hi = pool_set(pool, start, start + size)
    owed = owed_by(row[V_DECK], size, p)
    return _agreement(row, p, lo, hi, owed, row[V_TALK + offset - 1])


@kernel
def _deal_hand(row, p, pool, needs, start, size, n, offset, state):
    """Deal one hand at start.. of the pool: `(parts of the word that it says, state)`."""
    word = row[V_TALK + offset - 1]
    banned_lo, banned_hi = _read_word(row, p, word, needs)
    middle = _sort_out(pool, start, n, banned_lo, banned_hi)
    owed = owed_by(row[V_DECK], size, p)
    enough = middle - start >= size
    for _ in range(HAND_TRIES if enough else 1):
        if word & TALK_STUCK:
            state = _draw_stuck(row, p, pool, start, size, middle, n, owed, state)
        else:
            state = _draw_hand(pool, start, size, middle, n, state)
        lo, hi = pool_set(pool, start, start + size)
        if _met(lo, hi, needs):
            parts = _agreement(row, p, lo, hi, owed, word)
            if parts == WORD_PARTS:
                return parts, state
    state = _complete_hand(pool, needs, start, size, middle, state)
    lo, hi = pool_set(pool, start, start + size)
    return _agreement(row, p, lo, hi, owed, word), state


@inlined
def _asked_for(pile, top, p):
    """The cards within a step of at most TALK_STEP, and that of the trick: two sets."""
    cards = p[P_CARDS]
    near_lo, near_hi = beyond(pile, top, cards)
    far = min(top + TALK_STEP, cards + 1) if pile < 2 else max(top - TALK_STEP, 2)
    far_lo, far_hi = beyond(pile, far, cards)
    index = trick_index(pile, top, cards, p[P_TRICK])
    trick_lo = bit_lo(index) if index >= 0 else 0
    trick_hi = bit_hi(index) if index >= 0 else 0
    return near_lo & ~far_lo, near_hi & ~far_hi, trick_lo, trick_hi


@kernel
def _read_word(row, p, word, needs):
    """What a word tells of its hand: the cards that it cannot hold, `(lo, hi)`.

    `needs` (int64[piles, 2]) receives, for each pile, a set of which it holds at least one card
    (empty where nothing is needed).
    """
    banned_lo, banned_hi = 0, 0
    avoid = p[P_TALK] == TALK_AVOID
    for pile in range(N_PILES):
        step_lo, step_hi, trick_lo, trick_hi = _asked_for(pile, row[V_TOPS + pile], p)
        level = (word >> (2 * pile)) & 3
        needs[pile, 0], needs[pile, 1] = 0, 0
        if level == 2:
            needs[pile, 0], needs[pile, 1] = trick_lo, trick_hi
        elif level == 1:
            needs[pile, 0] = step_lo | (trick_lo if avoid else 0)
            needs[pile, 1] = step_hi | (trick_hi if avoid else 0)
        if level < 2 and not (level == 1 and avoid):
            banned_lo |= trick_lo
            banned_hi |= trick_hi
        if level == 0:
            banned_lo |= step_lo
            banned_hi |= step_hi
    return banned_lo, banned_hi


@inlined
def _met(lo, hi, needs):
    """Whether a hand holds a card of every set that is needed."""
    met = True
    for pile in range(N_PILES):
        need_lo, need_hi = needs[pile, 0], needs[pile, 1]
        met &= ((need_lo | need_hi) == 0) | (((lo & need_lo) | (hi & need_hi)) != 0)
    return met


@kernel
def _agreement(row, p, lo, hi, owed, word):
    """How many parts of the word (the four levels, and "I cannot reach") the hand says."""
    says = talk_word(
        lo, hi, row[V_TOPS], row[V_TOPS + 1], row[V_TOPS + 2], row[V_TOPS + 3], owed, p
    )
    parts = np.int64((says & TALK_STUCK) == (word & TALK_STUCK))
    for pile in range(N_PILES):
        parts += ((says ^ word) >> (2 * pile)) & 3 == 0
    return parts


@inlined
def _sort_out(pool, start, end, lo, hi):
    """Move the cards of a set to the end of start..end-1; returns where they begin."""
    while start < end:
        card = pool[0, start]
        if holds(lo, hi, np.int64(card) - 2):
            end -= 1
            pool[0, start], pool[0, end] = pool[0, end], card
        else:
            start += 1
    return end


@inlined
def _draw_hand(pool, start, size, middle, n, state):
    """Draw a hand from start..middle-1, and what is missing from the cards behind them."""
    own = min(size, middle - start)
    state = draw_front(pool, start, start + own, middle, state)
    return draw_front(pool, start + own, start + size, n, state)


@kernel
def _draw_stuck(row, p, pool, start, size, middle, n, owed, state):
    """Draw a hand with fewer cards than are owed that may be laid now, as a stuck hand has."""
    lo, hi = 0, 0
    for pile in range(N_PILES):
        legal_lo, legal_hi = legal_set(
            all_lo(p[P_CARDS]), all_hi(p[P_CARDS]), pile, row[V_TOPS + pile], p
        )
        lo |= legal_lo
        hi |= legal_hi
    idle = _sort_out(pool, start, middle, lo, hi)
    if idle - start + owed <= size:
        return _draw_hand(pool, start, size, middle, n, state)
    live, state = _live_cards(size, idle - start, middle - idle, owed, state)
    state = draw_front(pool, start, start + size - live, idle, state)
    state = draw_front(pool, idle, idle + live, middle, state)
    for i in range(live):
        a, b = start + size - live + i, idle + i
        pool[0, a], pool[0, b] = pool[0, b], pool[0, a]
    return state


@kernel
def _live_cards(size, idle, live, owed, state):
    """How many of a hand's cards may be laid now, given that they are fewer than owed.

    The hypergeometric law of `size` cards from `idle` and `live` ones, cut off at owed - 1.
    """
    low, high = max(size - idle, 0), min(min(owed - 1, live), size)
    weight, total = 1.0, 1.0
    for j in range(low, high):
        weight *= (live - j) * (size - j) / ((j + 1.0) * (idle - size + j + 1.0))
        total += weight
    draw, state = bounded(state, 1 << 30)
    rest = draw / (1 << 30) * total
    weight = 1.0
    for j in range(low, high):
        rest -= weight
        if rest < 0.0:
            return j, state
        weight *= (live - j) * (size - j) / ((j + 1.0) * (idle - size + j + 1.0))
    return high, state


@kernel
def _complete_hand(pool, needs, start, size, middle, state):
    """Swap cards into the hand until it holds one of every needed set that is left to it."""
    for pile in range(N_PILES):
        need_lo, need_hi = needs[pile, 0], needs[pile, 1]
        lo, hi = pool_set(pool, start, start + size)
        if not (need_lo | need_hi) or (lo & need_lo) | (hi & need_hi):
            continue
        found, taken = 0, -1
        for i in range(start + size, middle):
            if holds(need_lo, need_hi, np.int64(pool[0, i]) - 2):
                found += 1
                draw, state = bounded(state, found)
                taken = i if draw == 0 else taken
        if taken < 0:
            continue
        shift, state = bounded(state, size)
        for i in range(size):
            given = start + (i + shift) % size
            index = np.int64(pool[0, given]) - 2
            if not _serves(lo, hi, index, needs):
                pool[0, given], pool[0, taken] = pool[0, taken], pool[0, given]
                break
    return state


@inlined
def _serves(lo, hi, index, needs):
    """Whether the card is the hand's only one of some needed set."""
    rest_lo, rest_hi = lo & ~bit_lo(index), hi & ~bit_hi(index)
    only = False
    for pile in range(N_PILES):
        a, b = needs[pile, 0], needs[pile, 1]
        only |= ((lo & a) | (hi & b)) != 0 and ((rest_lo & a) | (rest_hi & b)) == 0
    return only
