"""What a turn leaves behind, as one number: the score that `sequence` and its kin plan by.

Within a turn the unseen cards do not change, and a pile's top is always one of the four tops at the
start or an own card. So everything that depends on one top alone is worked out once a turn, for
each of these *marks*, and the score of a plan is a sum of a few table entries (see `score`).

A hand is a word of *slots* here: bit i is the i-th lowest card that was held when the search began.
Mark i < SLOTS is the card of slot i; marks SLOTS .. SLOTS + 3 are the four tops.

The score is linear in fifteen terms. Their weights change with the deck: one set at the full deck,
one at its last card (between them they are interpolated), one when it is empty.
"""

from __future__ import annotations

import numpy as np

from agents.card_sets import count_above, count_below, has, pairs_above, pairs_below
from thegame_env.cards import bit_hi, bit_lo, count, first
from thegame_env.compiled import inlined, kernel, popcount
from thegame_env.layout import (
    P_CARDS,
    P_HAND,
    P_PLAYERS,
    P_TRICK,
    V_DECK,
    V_HAND,
    V_TOPS,
    V_UNSEEN,
)
from thegame_env.rules import N_PILES

TERMS = (
    ("move", "the four piles together moved one card value on (negative: away from the start)"),
    ("best_room", "an unseen card beyond the top of a direction's pile with more room"),
    ("worst_room", "an unseen card beyond the top of its other pile"),
    ("root_room", "square root of the unseen cards beyond a top"),
    ("own_room", "an own card (held when the turn began) beyond a top"),
    ("card", "a card laid"),
    ("trick", "the trick of a pile is unseen"),
    ("near", "an unseen card at most NEAR beyond a top"),
    ("far", "an unseen card NEAR + 1 .. FAR beyond a top"),
    ("pair", "a trick pair, both cards alive, ahead of a top"),
    ("pair_near", "such a pair at most FAR beyond a top"),
    ("pair_held", "a trick pair in the hand that is left"),
    ("dead_own", "an own card that no pile takes"),
    ("dead_unseen", "an unseen card that no pile takes"),
    ("empty_hand", "no card is left in the hand"),
)
"""Name of every term and what it counts, in the order of the weights."""
(
    W_MOVE,
    W_BEST,
    W_WORST,
    W_ROOT,
    W_OWN,
    W_CARD,
    W_TRICK,
    W_NEAR,
    W_FAR,
    W_PAIR,
    W_PAIR_NEAR,
    W_HELD,
    W_DEAD_OWN,
    W_DEAD,
    W_EMPTY,
) = range(len(TERMS))
N_TERMS = len(TERMS)
FULL_DECK, LAST_DECK, NO_DECK = 0, 1, 2
PHASES = 3
NEAR, FAR = 3, 8

SLOTS = 24
"""The most cards in hand that a turn is planned with."""
MARKS = SLOTS + N_PILES
UP_FACT, DOWN_FACT, UP_TRICK, DOWN_TRICK, SETS = 0, MARKS, 2 * MARKS, 3 * MARKS, 4 * MARKS
"""Integer tables by mark. A fact packs the card or top, how many own cards lie before it (from
the low end), and the unseen cards beyond it; a trick table holds the slot that tricks, as a bit."""
N_SLOTS, PAIR_TOPS, PAIR_BASES, N_UNSEEN = SETS, SETS + 1, SETS + 2, SETS + 3
"""Single integers: own cards; slots that are the upper, and the lower, card of a held pair."""
INTS = SETS + 4
UP_BEST, UP_WORST, DOWN_BEST, DOWN_WORST, WEIGHTS = 0, MARKS, 2 * MARKS, 3 * MARKS, 4 * MARKS
"""Score tables by mark, and behind them the weights of this turn."""
FLOATS = WEIGHTS + N_TERMS


@inlined
def card_of(fact):
    """The card or top of a fact."""
    return fact >> 16


@inlined
def before(fact):
    """How many own cards lie below the mark of an `UP_FACT` (itself included) or `DOWN_FACT`."""
    return (fact >> 8) & 255


@inlined
def room(fact):
    """How many unseen cards lie beyond the mark."""
    return fact & 255


@inlined
def weigh(row, p, weights, floats):
    """Write this turn's weights behind the score tables.

    Args:
        row: View row.
        p: Parameter row.
        weights: float64[PHASES, N_TERMS].
        floats: float64[FLOATS].
    """
    deck, most = row[V_DECK], p[P_CARDS] - p[P_PLAYERS] * p[P_HAND]
    share = deck / max(most, 1)
    for term in range(N_TERMS):
        full, last = weights[FULL_DECK, term], weights[LAST_DECK, term]
        between = last + share * (full - last)
        floats[WEIGHTS + term] = between if deck else weights[NO_DECK, term]


@kernel
def describe(row, p, asked, ints, floats):
    """Fill the tables of a turn; its weights must stand in `floats` already.

    Args:
        row: View row of the acting seat, with at most SLOTS cards in hand.
        p: Parameter row.
        asked: float64[piles], added to the score of a pile that stays as it is.
        ints: Out, int64[INTS].
        floats: Out, float64[FLOATS].
    """
    trick = p[P_TRICK]
    lo, hi, n = row[V_HAND], row[V_HAND + 1], 0
    unseen_lo, unseen_hi = row[V_UNSEEN], row[V_UNSEEN + 1]
    high_lo, high_hi = pairs_above(lo | unseen_lo, hi | unseen_hi, trick)
    low_lo, low_hi = pairs_below(lo | unseen_lo, hi | unseen_hi, trick)
    ints[PAIR_TOPS], ints[PAIR_BASES] = 0, 0
    ints[N_UNSEEN] = count(unseen_lo, unseen_hi)
    left_lo, left_hi = lo, hi
    while left_lo | left_hi:
        index = first(left_lo, left_hi)
        left_lo &= ~bit_lo(index)
        left_hi &= ~bit_hi(index)
        _mark_up(lo, hi, unseen_lo, unseen_hi, high_lo, high_hi, index + 2, n, p, ints, floats)
        _mark_down(lo, hi, unseen_lo, unseen_hi, low_lo, low_hi, index + 2, n, p, ints, floats)
        ints[PAIR_TOPS] |= (ints[UP_TRICK + n] != 0) << n
        ints[PAIR_BASES] |= (ints[DOWN_TRICK + n] != 0) << n
        n += 1
    ints[N_SLOTS] = n
    for pile in range(2):
        mark = SLOTS + pile
        top = row[V_TOPS + pile]
        _mark_up(lo, hi, unseen_lo, unseen_hi, high_lo, high_hi, top, mark, p, ints, floats)
        floats[UP_BEST + mark] += asked[pile]
        floats[UP_WORST + mark] += asked[pile]
    for pile in range(2, N_PILES):
        mark = SLOTS + pile
        top = row[V_TOPS + pile]
        _mark_down(lo, hi, unseen_lo, unseen_hi, low_lo, low_hi, top, mark, p, ints, floats)
        floats[DOWN_BEST + mark] += asked[pile]
        floats[DOWN_WORST + mark] += asked[pile]


@inlined
def _mark_up(lo, hi, unseen_lo, unseen_hi, pairs_lo, pairs_hi, top, mark, p, ints, floats):
    """Fill the tables of one mark for the ascending piles."""
    end = p[P_CARDS] + 2
    partner = top - p[P_TRICK] - 2
    held = has(lo, hi, partner)
    ints[UP_TRICK + mark] = held << (count_below(lo, hi, partner + 2) & 63)
    beyond = count_above(unseen_lo, unseen_hi, top)
    after_near = count_above(unseen_lo, unseen_hi, min(top + NEAR, end))
    after_far = count_above(unseen_lo, unseen_hi, min(top + FAR, end))
    pairs = count_above(pairs_lo, pairs_hi, top)
    near_pairs = pairs - count_above(pairs_lo, pairs_hi, min(top + FAR, end))
    score = _mark_score(
        beyond, beyond - after_near, after_near - after_far, pairs, near_pairs,
        has(unseen_lo, unseen_hi, partner), count_above(lo, hi, top), top, floats,
    )  # fmt: skip
    floats[UP_BEST + mark] = score + floats[WEIGHTS + W_BEST] * beyond
    floats[UP_WORST + mark] = score + floats[WEIGHTS + W_WORST] * beyond
    below = count_below(lo, hi, min(top + 1, end))
    ints[UP_FACT + mark] = (top << 16) | (below << 8) | beyond


@inlined
def _mark_down(lo, hi, unseen_lo, unseen_hi, pairs_lo, pairs_hi, top, mark, p, ints, floats):
    """Fill the tables of one mark for the descending piles."""
    partner = top + p[P_TRICK] - 2
    held = has(lo, hi, partner)
    ints[DOWN_TRICK + mark] = held << (count_below(lo, hi, partner + 2) & 63)
    beyond = count_below(unseen_lo, unseen_hi, top)
    after_near = count_below(unseen_lo, unseen_hi, top - NEAR)
    after_far = count_below(unseen_lo, unseen_hi, top - FAR)
    pairs = count_below(pairs_lo, pairs_hi, top)
    near_pairs = pairs - count_below(pairs_lo, pairs_hi, top - FAR)
    below = count_below(lo, hi, top)
    score = _mark_score(
        beyond, beyond - after_near, after_near - after_far, pairs, near_pairs,
        has(unseen_lo, unseen_hi, partner), below, p[P_CARDS] + 3 - top, floats,
    )  # fmt: skip
    floats[DOWN_BEST + mark] = score + floats[WEIGHTS + W_BEST] * beyond
    floats[DOWN_WORST + mark] = score + floats[WEIGHTS + W_WORST] * beyond
    ints[DOWN_FACT + mark] = (top << 16) | (below << 8) | beyond


@inlined
def _mark_score(beyond, near, far, pairs, near_pairs, trick, own, way, floats):
    """The terms that depend on one top alone; `way` is the top counted from the pile's start."""
    return (
        floats[WEIGHTS + W_ROOT] * np.sqrt(beyond)
        + floats[WEIGHTS + W_NEAR] * near
        + floats[WEIGHTS + W_FAR] * far
        + floats[WEIGHTS + W_PAIR] * pairs
        + floats[WEIGHTS + W_PAIR_NEAR] * near_pairs
        + floats[WEIGHTS + W_TRICK] * trick
        + floats[WEIGHTS + W_OWN] * own
        - floats[WEIGHTS + W_MOVE] * way
    )


@inlined
def score(hand, up1, up2, down1, down2, ints, floats):
    """The score of an afterstate: the slots still held, and the marks on the four piles.

    The term `card` is left out; add it a card laid.
    """
    fact, other = ints[UP_FACT + up1], ints[UP_FACT + up2]
    first_is_best = fact <= other
    up_fact = fact if first_is_best else other
    best, worst = (up1, up2) if first_is_best else (up2, up1)
    value = floats[UP_BEST + best] + floats[UP_WORST + worst]
    fact, other = ints[DOWN_FACT + down1], ints[DOWN_FACT + down2]
    first_is_best = fact >= other
    down_fact = fact if first_is_best else other
    best, worst = (down1, down2) if first_is_best else (down2, down1)
    value += floats[DOWN_BEST + best] + floats[DOWN_WORST + worst]
    dead = max(ints[N_UNSEEN] - room(up_fact) - room(down_fact), 0)
    value += floats[WEIGHTS + W_DEAD] * dead
    dead_own = popcount(hand & stranded(up_fact, down_fact))
    value += floats[WEIGHTS + W_DEAD_OWN] * dead_own
    tops = hand & ints[PAIR_TOPS]
    while tops:
        slot = popcount((tops & -tops) - 1)
        tops &= tops - 1
        value += floats[WEIGHTS + W_HELD] * ((hand & ints[UP_TRICK + slot]) != 0)
    return value + floats[WEIGHTS + W_EMPTY] * (hand == 0)


@inlined
def stranded(up_fact, down_fact):
    """The slots of cards that lie between the two directions' best tops."""
    return ((1 << before(up_fact)) - 1) & (-1 << before(down_fact))
