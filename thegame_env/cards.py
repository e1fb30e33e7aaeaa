"""Kernels over sets of cards (two words of 49 bits) and the legality of plays.

Everything that the engine, the observations and the agents ask of a hand stands here once.
"""

from __future__ import annotations

import numpy as np

from thegame_env.compiled import highest_bit, inlined, kernel, lowest_bit, popcount, reverse_bits
from thegame_env.layout import (
    FULL,
    P_CARDS,
    P_LEGAL,
    P_TALK,
    P_TOPS,
    P_TRICK,
    TALK_AVOID,
    TALK_OPEN,
    TALK_STEP,
    TALK_STUCK,
    WORD,
)


@inlined
def bit_lo(index):
    """The first word of the set {index}."""
    return 1 << index if index < WORD else 0


@inlined
def bit_hi(index):
    """The second word of the set {index}."""
    return 1 << (index - WORD) if index >= WORD else 0


@inlined
def holds(lo, hi, index):
    """Whether card index `index` (card - 2) is in the set; False outside 0..97."""
    if index < 0 or index >= 2 * WORD:
        return False
    if index < WORD:
        return (lo >> index) & 1 == 1
    return (hi >> (index - WORD)) & 1 == 1


@inlined
def count(lo, hi):
    """Number of cards in the set."""
    return popcount(lo) + popcount(hi)


@inlined
def all_lo(cards):
    """First word of the set of all `cards` cards."""
    return FULL if cards >= WORD else (1 << cards) - 1


@inlined
def all_hi(cards):
    """Second word of the set of all `cards` cards."""
    return (1 << (cards - WORD)) - 1 if cards > WORD else 0


@inlined
def first(lo, hi):
    """Index of the lowest card of a set that is not empty."""
    return lowest_bit(lo) if lo else WORD + lowest_bit(hi)


@inlined
def last(lo, hi):
    """Index of the highest card of a set that is not empty."""
    return WORD + highest_bit(hi) if hi else highest_bit(lo)


@inlined
def nth(lo, hi, n):
    """Index of the n-th lowest card (n from 0) of a set with more than n cards.

    The first eight rounds are free of branches: a random n would mispredict every one of them.
    """
    low = popcount(lo)
    in_lo = n < low
    word = lo if in_lo else hi
    skip = n if in_lo else n - low
    for _ in range(8):
        word = word & (word - 1) if skip > 0 else word
        skip -= 1
    while skip > 0:
        word &= word - 1
        skip -= 1
    return lowest_bit(word) + (0 if in_lo else WORD)


@kernel
def mirrored(lo, hi, cards):
    """The set seen from the other direction: index i becomes cards - 1 - i."""
    new_lo = (reverse_bits(hi) >> (64 - WORD)) & FULL
    new_hi = (reverse_bits(lo) >> (64 - WORD)) & FULL
    shift = 2 * WORD - cards
    if shift == 0:
        return new_lo, new_hi
    if shift >= WORD:
        return new_hi >> (shift - WORD), 0
    return ((new_lo >> shift) | (new_hi << (WORD - shift))) & FULL, new_hi >> shift


@inlined
def window(lo, hi, start):
    """The bits from index `start` (0..98) on as one word; at least 49 of them are valid."""
    if start >= WORD:
        return hi >> (start - WORD)
    return (lo >> start) | (hi << (WORD - start))


@inlined
def beyond(pile, top, cards):
    """The set of cards that lie in the pile's direction beyond `top`: `(lo, hi)`."""
    if pile < 2:
        low, high = top - 1, cards
    else:
        low, high = 0, top - 2
    lo = (1 << min(high, WORD)) - (1 << min(low, WORD))
    hi = (1 << max(high - WORD, 0)) - (1 << max(low - WORD, 0))
    return lo, hi


@inlined
def trick_index(pile, top, cards, trick):
    """Index of the card that plays the backwards trick on the pile; -1 where none exists."""
    index = top - trick - 2 if pile < 2 else top + trick - 2
    return index if 0 <= index < cards else -1


@inlined
def fits(pile, top, index, trick):
    """Whether the card of this index may lie on the pile."""
    card = index + 2
    if pile < 2:
        return card > top or card == top - trick
    return card < top or card == top + trick


@inlined
def pile_of(action, cards):
    """Pile of a play in the action codec (comparisons are far cheaper than a division)."""
    return (action >= cards) + (action >= 2 * cards) + (action >= 3 * cards)


@inlined
def legal_set(lo, hi, pile, top, p):
    """The cards of a hand that may be laid on the pile: `(lo, hi)`; `p` is a parameter row."""
    at = P_LEGAL + 2 * (P_TOPS * (pile >> 1) + top)
    return lo & p[at], hi & p[at + 1]


@inlined
def any_legal(lo, hi, up1, up2, down1, down2, p):
    """Whether some card of the hand may be laid on some pile."""
    u1, u2 = P_LEGAL + 2 * up1, P_LEGAL + 2 * up2
    d1, d2 = P_LEGAL + 2 * (P_TOPS + down1), P_LEGAL + 2 * (P_TOPS + down2)
    mask_lo = p[u1] | p[u2] | p[d1] | p[d2]
    mask_hi = p[u1 + 1] | p[u2 + 1] | p[d1 + 1] | p[d2 + 1]
    return ((lo & mask_lo) | (hi & mask_hi)) != 0


@kernel
def legal_tables(p):
    """Fill the legal sets of a parameter row whose cards and trick are set."""
    cards, trick = p[P_CARDS], p[P_TRICK]
    for direction in range(2):
        for top in range(1, cards + 3):
            lo, hi = beyond(2 * direction, top, cards)
            index = trick_index(2 * direction, top, cards, trick)
            if index >= 0:
                lo |= bit_lo(index)
                hi |= bit_hi(index)
            at = P_LEGAL + 2 * (P_TOPS * direction + top)
            p[at], p[at + 1] = lo, hi


@kernel
def can_reach(lo, hi, up1, up2, down1, down2, owed, p):
    """Whether some sequence of `owed` legal plays exists.

    All cards that are legal now can be laid, tricks first and then each pile in its order; so the
    search goes deeper only where fewer cards are legal now than are owed.
    """
    if owed <= 0:
        return True
    tops = (up1, up2, down1, down2)
    union_lo, union_hi = 0, 0
    for pile in range(4):
        legal_lo, legal_hi = legal_set(lo, hi, pile, tops[pile], p)
        union_lo |= legal_lo
        union_hi |= legal_hi
    if count(union_lo, union_hi) >= owed:
        return True
    return _search_reach(lo, hi, tops, owed, p)


@kernel
def _search_reach(lo, hi, tops, owed, p):
    """Depth-first search behind `can_reach`.

    An explicit stack, because numba cannot load a self-recursive kernel from its disk cache. A
    frame is one choice: hand, tops, and the next (pile, card) to try as a running number.
    """
    cards, trick = p[P_CARDS], p[P_TRICK]
    stack = np.empty((owed + 1, 7), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 6] = lo, hi, 0
    for pile in range(4):
        stack[0, 2 + pile] = tops[pile]
    depth = 0
    while depth >= 0:
        frame = stack[depth]
        choice = frame[6]
        if choice == 4 * cards:
            depth -= 1
            continue
        frame[6] += 1
        pile, index = choice // cards, choice % cards
        if not holds(frame[0], frame[1], index) or not fits(pile, frame[2 + pile], index, trick):
            continue
        if depth + 1 == owed:
            return True
        depth += 1
        stack[depth] = frame
        stack[depth, 0] &= ~bit_lo(index)
        stack[depth, 1] &= ~bit_hi(index)
        stack[depth, 2 + pile] = index + 2
        stack[depth, 6] = 0
    return False


@kernel
def pile_level(lo, hi, pile, top, p):
    """What a hand says of a pile: 2 it holds the trick, 1 a step of at most 4, 0 neither."""
    cards = p[P_CARDS]
    index = trick_index(pile, top, cards, p[P_TRICK])
    if index >= 0 and holds(lo, hi, index):
        return 2
    for gap in range(1, TALK_STEP + 1):
        card = top + gap if pile < 2 else top - gap
        if 2 <= card < cards + 2 and holds(lo, hi, card - 2):
            return 1
    return 0


@kernel
def talk_word(lo, hi, up1, up2, down1, down2, owed, p):
    """The talk of a hand under the table's setting, as a talk word (see layout.V_TALK)."""
    word = 0
    tops = (up1, up2, down1, down2)
    for pile in range(4):
        level = pile_level(lo, hi, pile, tops[pile], p)
        if p[P_TALK] == TALK_AVOID:
            level = min(level, 1)
        word |= level << (2 * pile)
    if p[P_TALK] == TALK_OPEN and not can_reach(lo, hi, up1, up2, down1, down2, owed, p):
        word |= TALK_STUCK
    return word
