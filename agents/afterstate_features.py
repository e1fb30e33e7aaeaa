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
from thegame_env.cards import (
    beyond,
    bit_hi,
    bit_lo,
    count,
    first,
    mirrored,
    window,
)
from thegame_env.compiled import inlined, kernel
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

VERSION = 1
"""Raised whenever a feature changes: weights name the version they were trained on."""
W = 40
BEHIND = 10
PILE = 3 * W + 2 * BEHIND + 3 + 2 * (MAX_SEATS - 1) + 2
"""Per pile: hand, unseen and live trick pairs at gaps 1..W; hand and unseen behind the top down to
the trick; room, own and unseen cards beyond; talk (step, trick) by offset, and since the talk was
heard: moved or not, by how much."""
CARDS = 2 * MAX_CARDS
"""Hand and unseen cards, in the canonical frame."""
FIT_EDGES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 98)
FITS = len(FIT_EDGES) + 2
"""Buckets of the smallest gap: the trick, up to each edge, none (dead)."""
SHARED = 2 * FITS + 4 + MAX_SEATS + MAX_SEATS + 5 + 3 + MAX_SEATS - 1
SIZE = N_PILES * PILE + CARDS + SHARED
"""Length of the vector: four pile blocks, the cards, the shared facts."""


@inlined
def _fit(card, up1, up2, down1, down2, trick):
    """Bucket of the smallest gap of a card; up1 and down1 are the piles with less room."""
    if card in (up1 - trick, up2 - trick, down1 + trick, down2 + trick):
        return 0
    gap = 1_000
    if card > up1:
        gap = card - up1
    elif card > up2:
        gap = card - up2
    if card < down1:
        gap = min(gap, down1 - card)
    elif card < down2:
        gap = min(gap, down2 - card)
    for bucket in range(len(FIT_EDGES)):
        if gap <= FIT_EDGES[bucket]:
            return bucket + 1
    return FITS - 1


@inlined
def _add_fits(lo, hi, tops, trick, scale, out, at):
    up1, up2 = max(tops[0], tops[1]), min(tops[0], tops[1])
    down1, down2 = min(tops[2], tops[3]), max(tops[2], tops[3])
    while lo | hi:
        index = first(lo, hi)
        lo &= ~bit_lo(index)
        hi &= ~bit_hi(index)
        out[at + _fit(index + 2, up1, up2, down1, down2, trick)] += np.float32(scale)


@inlined
def _shift(lo, hi, start):
    return window(lo, hi, start) if start >= 0 else lo << -start


@inlined
def _write_pile(row, pile, top, before, hand_lo, hand_hi, lo, hi, p, out, at):
    """Write one pile's block; all cards and tops are given in the pile's own direction."""
    cards, trick = p[P_CARDS], p[P_TRICK]
    ahead, unseen = window(hand_lo, hand_hi, top - 1), window(lo, hi, top - 1)
    back = _shift(hand_lo, hand_hi, top - trick - 2)
    back_unseen = _shift(lo, hi, top - trick - 2)
    alive = back | back_unseen
    pairs = (alive >> (trick + 1)) & (alive >> 1)
    for i in range(W):
        out[at + i] = np.float32((ahead >> i) & 1)
        out[at + W + i] = np.float32((unseen >> i) & 1)
        out[at + 2 * W + i] = np.float32((pairs >> i) & 1)
    at += 3 * W
    for i in range(min(trick, BEHIND)):
        out[at + i] = np.float32((back >> i) & 1)
        out[at + BEHIND + i] = np.float32((back_unseen >> i) & 1)
    at += 2 * BEHIND
    mask_lo, mask_hi = beyond(0, top, cards)
    out[at] = np.float32((cards + 1 - top) / cards)
    out[at + 1] = np.float32(count(hand_lo & mask_lo, hand_hi & mask_hi) / p[P_HAND])
    out[at + 2] = np.float32(count(lo & mask_lo, hi & mask_hi) / cards)
    at += 3
    for offset in range(MAX_SEATS - 1):
        level = (row[V_TALK + offset] >> (2 * pile)) & 3
        out[at + offset] = np.float32(level > 0)
        out[at + MAX_SEATS - 1 + offset] = np.float32(level > 1)
    at += 2 * (MAX_SEATS - 1)
    if p[P_TALK] != TALK_NONE:
        out[at] = np.float32(top != before)
        out[at + 1] = np.float32((top - before) / 10.0)


@kernel
def features_into(row, node, p, out):
    """Write the features of the afterstate `node` of the view `row` into `out` (float32[SIZE])."""
    cards, trick = p[P_CARDS], p[P_TRICK]
    out[:] = np.float32(0.0)
    lo, hi = node[N_LO], node[N_HI]
    unseen_lo = row[V_UNSEEN] if p[P_MEMORY] else 0
    unseen_hi = row[V_UNSEEN + 1] if p[P_MEMORY] else 0
    mirror_lo, mirror_hi = mirrored(lo, hi, cards)
    mirror_unseen_lo, mirror_unseen_hi = mirrored(unseen_lo, unseen_hi, cards)
    flip = cards + 3
    room_up = 2 * (cards + 1) - node[0] - node[1]
    room_down = node[2] + node[3] - 4
    swap = room_down > room_up
    for k in range(N_PILES):
        falling = (k >= 2) != swap
        a = 2 if falling else 0
        nearer = node[a] >= node[a + 1] if falling else node[a] <= node[a + 1]
        pile = a + (k & 1 if nearer else 1 - (k & 1))
        at = k * PILE
        if falling:
            top, before = flip - node[pile], flip - row[V_TOPS + pile]
            _write_pile(
                row, pile, top, before, mirror_lo, mirror_hi, mirror_unseen_lo, mirror_unseen_hi,
                p, out, at,
            )  # fmt: skip
        else:
            top, before = node[pile], row[V_TOPS + pile]
            _write_pile(row, pile, top, before, lo, hi, unseen_lo, unseen_hi, p, out, at)
    at = N_PILES * PILE
    tops = (node[0], node[1], node[2], node[3])
    fits = at + CARDS
    _add_fits(lo, hi, tops, trick, 1.0 / 8.0, out, fits)
    _add_fits(unseen_lo, unseen_hi, tops, trick, 1.0 / 16.0, out, fits + FITS)
    if swap:
        lo, hi, unseen_lo, unseen_hi = mirror_lo, mirror_hi, mirror_unseen_lo, mirror_unseen_hi
    for i in range(min(cards, WORD)):
        out[at + i] = np.float32((lo >> i) & 1)
        out[at + MAX_CARDS + i] = np.float32((unseen_lo >> i) & 1)
    for i in range(max(cards - WORD, 0)):
        out[at + WORD + i] = np.float32((hi >> i) & 1)
        out[at + MAX_CARDS + WORD + i] = np.float32((unseen_hi >> i) & 1)
    _write_shared(row, node, p, count(lo, hi), out, fits + 2 * FITS)


@inlined
def _write_shared(row, node, p, held, out, at):
    cards, depth = p[P_CARDS], node[N_DEPTH]
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
