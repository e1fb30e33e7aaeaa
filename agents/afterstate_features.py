"""Features of an afterstate, as seen by the seat that made it: the input of the learned value.

All facts are told from each pile in its own direction (a descending pile is mirrored), and in a
canonical frame: the direction with more room first, in each direction the pile with more room
first. So the eight symmetries of the game (mirror, and swaps of like piles) are one input.

Beyond the observation `relative` it tells which trick pairs (c, then c - 10) are still alive ahead
of each pile, and how the cards in hand and unseen fit: the smallest gap on any pile, in buckets.
"""

from __future__ import annotations

import numpy as np

from agents.plans import N_DEPTH, N_HI, N_LO
from thegame_env.cards import beyond, count, mirrored, shifted, window
from thegame_env.compiled import inlined, kernel, lowest_bit, popcount
from thegame_env.layout import (
    P_CARDS,
    P_EMPTY,
    P_HAND,
    P_MEMORY,
    P_MINIMUM,
    P_NOBODY,
    P_PLAYERS,
    P_TALK,
    P_TRICK,
    TALK_NONE,
    TALK_STUCK,
    V_DECK,
    V_LEFT,
    V_SIZES,
    V_TALK,
    V_TOPS,
    V_UNSEEN,
    WORD,
)
from thegame_env.rules import MAX_CARDS, MAX_SEATS, N_PILES

VERSION = 3
"""Raised whenever a feature changes: weights name the version they were trained on. Version 3 tells
seats without memory how far a plan moves each pile; for others it is version 2."""
W = 40
BEHIND = 10
FAR_PAIRS = 50
PILE = 3 * W + 2 * BEHIND + 3 + 2 * (MAX_SEATS - 1) + 2 + W + 1
"""Per pile: hand, unseen and live trick pairs at gaps 1..W; hand and unseen behind the top down to
the trick; room, own and unseen cards beyond; talk (step, trick) by offset; moved since the view
was taken or not, by how much (with talk, or without memory); trick pairs in the hand at gaps 1..W;
live pairs up to gap W + FAR_PAIRS in sixteenths."""
CARDS = 2 * MAX_CARDS
"""Hand and unseen cards, in the canonical frame."""
FIT_EDGES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 98)
FITS = len(FIT_EDGES) + 2
"""Buckets of the smallest gap: the trick, up to each edge, none (dead)."""
SHARED = 2 * FITS + 4 + MAX_SEATS + MAX_SEATS + 5 + 3 + MAX_SEATS - 1
SIZE = N_PILES * PILE + CARDS + SHARED
"""Length of the vector: four pile blocks, the cards, the shared facts."""


# Offsets of a pile's block.
OWN, UNSEEN, PAIRS, BACK = 0, W, 2 * W, 3 * W
BACK_UNSEEN = BACK + BEHIND
ROOM = BACK_UNSEEN + BEHIND
OWN_BEYOND, UNSEEN_BEYOND = ROOM + 1, ROOM + 2
TALK = ROOM + 3
MOVED = TALK + 2 * (MAX_SEATS - 1)
OWN_PAIRS = MOVED + 2
PAIRS_BEYOND = OWN_PAIRS + W
_AHEAD = (1 << W) - 1
_FAR = (1 << FAR_PAIRS) - 1


def _within() -> np.ndarray:
    """Cards at a gap of at most each edge from each top: int64[2, 102, edges, 2], bits by index."""
    table = np.zeros((2, MAX_CARDS + 4, len(FIT_EDGES), 2), np.int64)
    for top in range(1, MAX_CARDS + 4):
        for e, edge in enumerate(FIT_EDGES):
            for direction, cards in enumerate(
                (range(top + 1, top + edge + 1), range(top - edge, top))
            ):
                for index in (card - 2 for card in cards if 2 <= card < MAX_CARDS + 2):
                    table[direction, top, e, index // WORD] |= 1 << (index % WORD)
    return table


_WITHIN = _within()


@inlined
def _bit_of(card, word):
    """The bit of a card in the word (0 or 1) of a set; 0 where it does not exist."""
    index = card - 2 - word * WORD
    return 1 << index if 0 <= index < WORD else 0


@inlined
def write_fits(lo, hi, unseen_lo, unseen_hi, node, trick, out, at):
    """Cards of the hand and unseen ones in buckets of their smallest gap on any pile."""
    up1, up2, down1, down2 = node[0], node[1], node[2], node[3]
    near_lo = _bit_of(up1 - trick, 0) | _bit_of(up2 - trick, 0)
    near_lo |= _bit_of(down1 + trick, 0) | _bit_of(down2 + trick, 0)
    near_hi = _bit_of(up1 - trick, 1) | _bit_of(up2 - trick, 1)
    near_hi |= _bit_of(down1 + trick, 1) | _bit_of(down2 + trick, 1)
    own, unseen = count(lo & near_lo, hi & near_hi), count(unseen_lo & near_lo, unseen_hi & near_hi)
    out[at] = np.float32(own * 0.125)
    out[at + FITS] = np.float32(unseen * 0.0625)
    for e in range(len(FIT_EDGES)):
        near_lo |= _WITHIN[0, up1, e, 0] | _WITHIN[0, up2, e, 0]
        near_lo |= _WITHIN[1, down1, e, 0] | _WITHIN[1, down2, e, 0]
        near_hi |= _WITHIN[0, up1, e, 1] | _WITHIN[0, up2, e, 1]
        near_hi |= _WITHIN[1, down1, e, 1] | _WITHIN[1, down2, e, 1]
        now = count(lo & near_lo, hi & near_hi)
        now_unseen = count(unseen_lo & near_lo, unseen_hi & near_hi)
        out[at + e + 1] = np.float32((now - own) * 0.125)
        out[at + FITS + e + 1] = np.float32((now_unseen - unseen) * 0.0625)
        own, unseen = now, now_unseen
    out[at + FITS - 1] = np.float32((count(lo, hi) - own) * 0.125)
    out[at + 2 * FITS - 1] = np.float32((count(unseen_lo, unseen_hi) - unseen) * 0.0625)


@inlined
def pile_words(top, hand_lo, hand_hi, lo, hi, p):
    """What a pile sees, all cards and tops given in its own direction.

    Returns `(own, unseen, pairs, back, back_unseen, own_pairs, far_pairs)`: own cards, unseen ones
    and live pairs ahead, own and unseen cards behind, pairs in the hand ahead, each as bits; and
    the number of live pairs further ahead.
    """
    trick = p[P_TRICK]
    back, back_unseen = shifted(hand_lo, hand_hi, top - trick - 2), shifted(lo, hi, top - trick - 2)
    alive = back | back_unseen
    behind = (1 << min(trick, BEHIND)) - 1
    start = top + W - trick - 2
    far = window(hand_lo, hand_hi, start) | window(lo, hi, start) if start >= 0 else 0
    far_pairs = (far >> (trick + 1)) & (far >> 1) & _FAR
    return (
        window(hand_lo, hand_hi, top - 1) & _AHEAD,
        window(lo, hi, top - 1) & _AHEAD,
        (alive >> (trick + 1)) & (alive >> 1) & _AHEAD,
        back & behind,
        back_unseen & behind,
        (back >> (trick + 1)) & (back >> 1) & _AHEAD,
        popcount(far_pairs),
    )


@inlined
def pile_counts(top, hand_lo, hand_hi, lo, hi, p):
    """Room of a pile, own and unseen cards beyond its top, each as a share."""
    cards = p[P_CARDS]
    mask_lo, mask_hi = beyond(0, top, cards)
    return (
        np.float32((cards + 1 - top) / cards),
        np.float32(count(hand_lo & mask_lo, hand_hi & mask_hi) / p[P_HAND]),
        np.float32(count(lo & mask_lo, hi & mask_hi) / cards),
    )


@inlined
def _write_word(word, out, at):
    while word:
        out[at + lowest_bit(word)] = np.float32(1.0)
        word &= word - 1


@inlined
def _write_pile(row, pile, top, before, hand_lo, hand_hi, lo, hi, p, out, at):
    """Write one pile's block; all cards and tops are given in the pile's own direction."""
    own, unseen, pairs, back, back_unseen, own_pairs, far_pairs = pile_words(
        top, hand_lo, hand_hi, lo, hi, p
    )
    _write_word(own, out, at + OWN)
    _write_word(unseen, out, at + UNSEEN)
    _write_word(pairs, out, at + PAIRS)
    _write_word(back, out, at + BACK)
    _write_word(back_unseen, out, at + BACK_UNSEEN)
    _write_word(own_pairs, out, at + OWN_PAIRS)
    out[at + PAIRS_BEYOND] = np.float32((popcount(pairs) + far_pairs) * 0.0625)
    counts = pile_counts(top, hand_lo, hand_hi, lo, hi, p)
    out[at + ROOM], out[at + OWN_BEYOND], out[at + UNSEEN_BEYOND] = counts
    for offset in range(MAX_SEATS - 1):
        level = (row[V_TALK + offset] >> (2 * pile)) & 3
        out[at + TALK + offset] = np.float32(level > 0)
        out[at + TALK + MAX_SEATS - 1 + offset] = np.float32(level > 1)
    if p[P_TALK] != TALK_NONE or not p[P_MEMORY]:
        out[at + MOVED] = np.float32(top != before)
        out[at + MOVED + 1] = np.float32((top - before) / 10.0)


@inlined
def frame_of(node, cards):
    """The canonical frame: `(swap, pile 0, 1, 2, 3)`, the pile that stands in each place.

    `swap` is 1 where the descending piles have more room and so come first, else 0.
    """
    swap = node[2] + node[3] - 4 > 2 * (cards + 1) - node[0] - node[1]
    up, down = (0 if node[0] <= node[1] else 1), (2 if node[2] >= node[3] else 3)
    if swap:
        return 1, down, 5 - down, up, 1 - up
    return 0, up, 1 - up, down, 5 - down


@inlined
def unseen_of(row, p):
    """The unseen cards; for a seat that does not remember, those that it must think so.

    Without memory every card that is neither in the hand nor on top may be unseen, but the sizes of
    deck and hands say how many are, and the tops tell more: in the second third of a game, 68, 57,
    45 and 30 % of the cards that no, one, two or three piles have passed are unseen (five players).
    So the cards that the fewest piles had passed before this turn are taken, class by class, until
    they are enough.
    """
    lo, hi = row[V_UNSEEN], row[V_UNSEEN + 1]
    if p[P_MEMORY]:
        return lo, hi
    cards, wanted = p[P_CARDS], row[V_DECK]
    for offset in range(1, p[P_PLAYERS]):
        wanted += row[V_SIZES + offset]
    a_lo, a_hi = beyond(0, row[V_TOPS], cards)
    b_lo, b_hi = beyond(0, row[V_TOPS + 1], cards)
    c_lo, c_hi = beyond(2, row[V_TOPS + 2], cards)
    d_lo, d_hi = beyond(2, row[V_TOPS + 3], cards)
    both_lo, either_lo, both_hi, either_hi = a_lo & b_lo, a_lo | b_lo, a_hi & b_hi, a_hi | b_hi
    pair_lo, one_lo, pair_hi, one_hi = c_lo & d_lo, c_lo | d_lo, c_hi & d_hi, c_hi | d_hi
    few_lo, few_hi = lo & both_lo & pair_lo, hi & both_hi & pair_hi
    if count(few_lo, few_hi) < wanted:
        few_lo = lo & ((both_lo & one_lo) | (pair_lo & either_lo))
        few_hi = hi & ((both_hi & one_hi) | (pair_hi & either_hi))
    if count(few_lo, few_hi) < wanted:
        few_lo = lo & (both_lo | pair_lo | (either_lo & one_lo))
        few_hi = hi & (both_hi | pair_hi | (either_hi & one_hi))
    if count(few_lo, few_hi) < wanted:
        few_lo, few_hi = lo & (either_lo | one_lo), hi & (either_hi | one_hi)
    if count(few_lo, few_hi) < wanted:
        few_lo, few_hi = lo, hi
    return few_lo, few_hi


@kernel
def features_into(row, node, p, out):
    """Write the features of the afterstate `node` of the view `row` into `out` (float32[SIZE])."""
    cards = p[P_CARDS]
    out[:] = np.float32(0.0)
    lo, hi = node[N_LO], node[N_HI]
    unseen_lo, unseen_hi = unseen_of(row, p)
    mirror_lo, mirror_hi = mirrored(lo, hi, cards)
    mirror_unseen_lo, mirror_unseen_hi = mirrored(unseen_lo, unseen_hi, cards)
    flip = cards + 3
    frame = frame_of(node, cards)
    for k in range(N_PILES):
        pile, at = frame[k + 1], k * PILE
        if pile >= 2:
            top, before = flip - node[pile], flip - row[V_TOPS + pile]
            _write_pile(
                row, pile, top, before, mirror_lo, mirror_hi, mirror_unseen_lo, mirror_unseen_hi,
                p, out, at,
            )  # fmt: skip
        else:
            top, before = node[pile], row[V_TOPS + pile]
            _write_pile(row, pile, top, before, lo, hi, unseen_lo, unseen_hi, p, out, at)
    at = N_PILES * PILE
    if frame[0]:
        lo, hi, unseen_lo, unseen_hi = mirror_lo, mirror_hi, mirror_unseen_lo, mirror_unseen_hi
    _write_word(lo, out, at)
    _write_word(hi, out, at + WORD)
    _write_word(unseen_lo, out, at + MAX_CARDS)
    _write_word(unseen_hi, out, at + MAX_CARDS + WORD)
    write_shared(row, node, p, out, at + CARDS)


@kernel
def features_of(rows, turns, states, p, out):
    """Write the features of afterstates states[i] of the views rows[turns[i]] into out[i]."""
    for i in range(turns.shape[0]):
        features_into(rows[turns[i]], states[i], p, out[i])


@inlined
def write_shared(row, node, p, out, at):
    """Write the facts that no pile owns (float32[SHARED]) into `out` from `at` on."""
    cards, depth, held = p[P_CARDS], node[N_DEPTH], count(node[N_LO], node[N_HI])
    unseen_lo, unseen_hi = unseen_of(row, p)
    write_fits(node[N_LO], node[N_HI], unseen_lo, unseen_hi, node, p[P_TRICK], out, at)
    at += 2 * FITS
    out[at] = np.float32(held / 8.0)
    out[at + 1] = np.float32(row[V_DECK] / cards)
    out[at + 2] = np.float32((row[V_LEFT] - depth) / cards)
    out[at + 3] = np.float32(row[V_DECK] == 0)
    at += 4
    for offset in range(1, MAX_SEATS):
        out[at + offset] = np.float32(row[V_SIZES + offset] / 8.0)
    out[at] = np.float32(min(p[P_HAND] - held, row[V_DECK]) / 8.0)
    at += MAX_SEATS
    for players in range(1, MAX_SEATS + 1):
        out[at + players - 1] = np.float32(p[P_PLAYERS] == players)
    at += MAX_SEATS
    out[at] = np.float32(p[P_HAND] / 8.0)
    out[at + 1] = np.float32(p[P_MINIMUM] / 3.0)
    out[at + 2] = np.float32(p[P_EMPTY] / 3.0)
    out[at + 3] = np.float32(p[P_NOBODY])
    out[at + 4] = np.float32(p[P_MEMORY])
    at += 5
    for setting in range(3):
        out[at + setting] = np.float32(p[P_TALK] == setting)
    at += 3
    for offset in range(MAX_SEATS - 1):
        out[at + offset] = np.float32((row[V_TALK + offset] & TALK_STUCK) != 0)
