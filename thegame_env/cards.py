"""Kernels over sets of cards (two words of 49 bits) and the legality of plays.

Everything that the engine, the observations and the agents ask of a hand stands here once.
"""

from __future__ import annotations

import numpy as np

from thegame_env.compiled import (
    highest_bit,
    inlined,
    kernel,
    lowest_bit,
    popcount,
    reverse_bits,
    spread_8,
    spread_32,
)
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
def shifted(lo, hi, start):
    """The bits from index `start` (-49..98) on as one word; below index 0 they are zeros."""
    return window(lo, hi, start) if start >= 0 else lo << -start


@inlined
def write_set(lo, hi, cards, out, at):
    """Write the set as `cards` values 0 or 1 to `out` (any dtype) from `at` on."""
    write_bits(lo | hi << WORD, min(cards, 64), out, at)
    write_bits(hi >> (64 - WORD), cards - 64, out, at + 64)


@inlined
def write_bits(word, size, out, at):
    """Write the lowest `size` (at most 64) bits of a word as 0 or 1 to `out` from `at` on."""
    done = 0
    while done + 8 <= size:
        spread_8(out, at + done, word >> done)
        done += 8
    while done < size:
        out[at + done] = (word >> done) & 1
        done += 1


@inlined
def write_mask(lo, hi, cards, out, at):
    """`write_set` for int8 masks: 32 values at a time."""
    if cards < 96:
        write_set(lo, hi, cards, out, at)
        return
    spread_32(out, at, lo)
    spread_32(out, at + 32, lo >> 32 | hi << (WORD - 32))
    spread_32(out, at + 64, hi >> (64 - WORD))
    for index in range(96, cards):
        out[at + index] = (hi >> (index - WORD)) & 1


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
def fresh_cards(up1, up2, down1, down2, cards):
    """The cards that at most one pile has passed: without memory, the best guess at the unseen."""
    a_lo, a_hi = beyond(0, up1, cards)
    b_lo, b_hi = beyond(1, up2, cards)
    c_lo, c_hi = beyond(2, down1, cards)
    d_lo, d_hi = beyond(3, down2, cards)
    lo = (a_lo & b_lo & (c_lo | d_lo)) | (c_lo & d_lo & (a_lo | b_lo))
    hi = (a_hi & b_hi & (c_hi | d_hi)) | (c_hi & d_hi & (a_hi | b_hi))
    return lo, hi


@inlined
def legal_anywhere(up1, up2, down1, down2, p):
    """The cards that may be laid on some pile, whoever holds them: `(lo, hi)`."""
    u1, u2 = P_LEGAL + 2 * up1, P_LEGAL + 2 * up2
    d1, d2 = P_LEGAL + 2 * (P_TOPS + down1), P_LEGAL + 2 * (P_TOPS + down2)
    return p[u1] | p[u2] | p[d1] | p[d2], p[u1 + 1] | p[u2 + 1] | p[d1 + 1] | p[d2 + 1]


@inlined
def any_legal(lo, hi, up1, up2, down1, down2, p):
    """Whether some card of the hand may be laid on some pile."""
    mask_lo, mask_hi = legal_anywhere(up1, up2, down1, down2, p)
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


# --- looking for sequences of plays -------------------------------------------------------------

FRAME = 10
"""Words of a frame: hand (2), tops (4), next pile, its untried plays (2), one for the caller.

A search keeps its frames in an own stack, int64[depth, FRAME], because numba cannot load
self-recursive kernels from its disk cache.
"""


@inlined
def open_frame(stack, depth, lo, hi, up1, up2, down1, down2):
    """Begin a frame: a hand and four tops, no play tried."""
    stack[depth, 0], stack[depth, 1] = lo, hi
    stack[depth, 2], stack[depth, 3] = up1, up2
    stack[depth, 4], stack[depth, 5] = down1, down2
    stack[depth, 6] = stack[depth, 7] = stack[depth, 8] = 0


@inlined
def next_play(stack, depth, p):
    """The frame's next play `(pile, index)`, pile -1 when all are tried; of like piles one only."""
    while not (stack[depth, 7] | stack[depth, 8]):
        pile = stack[depth, 6]
        if pile == 4:
            return -1, 0
        stack[depth, 6] += 1
        top = stack[depth, 2 + pile]
        if not (pile & 1 and top == stack[depth, 1 + pile]):
            lo, hi = legal_set(stack[depth, 0], stack[depth, 1], pile, top, p)
            stack[depth, 7], stack[depth, 8] = lo, hi
    index = first(stack[depth, 7], stack[depth, 8])
    stack[depth, 7] &= ~bit_lo(index)
    stack[depth, 8] &= ~bit_hi(index)
    return stack[depth, 6] - 1, index


@inlined
def lay(stack, depth, pile, index):
    """Begin the frame below: the same hand and tops after the play."""
    for i in range(6):
        stack[depth + 1, i] = stack[depth, i]
    stack[depth + 1, 0] &= ~bit_lo(index)
    stack[depth + 1, 1] &= ~bit_hi(index)
    stack[depth + 1, 2 + pile] = index + 2
    stack[depth + 1, 6] = stack[depth + 1, 7] = stack[depth + 1, 8] = 0


@inlined
def count_legal(lo, hi, up1, up2, down1, down2, p):
    """Number of cards of the hand that may be laid on some pile."""
    mask_lo, mask_hi = legal_anywhere(up1, up2, down1, down2, p)
    return count(lo & mask_lo, hi & mask_hi)


@kernel
def can_reach(lo, hi, up1, up2, down1, down2, owed, p):
    """Whether some sequence of `owed` legal plays exists.

    All cards that are legal now can be laid, tricks first and then each pile in its order; so the
    search goes deeper only where fewer cards are legal now than are owed.
    """
    if owed <= count_legal(lo, hi, up1, up2, down1, down2, p):
        return True
    stack = np.empty((owed, FRAME), np.int64)
    open_frame(stack, 0, lo, hi, up1, up2, down1, down2)
    depth = 0
    while depth >= 0:
        pile, index = next_play(stack, depth, p)
        if pile < 0:
            depth -= 1
            continue
        if depth + 1 == owed:
            return True
        lay(stack, depth, pile, index)
        depth += 1
        if owed - depth <= count_legal(
            stack[depth, 0],
            stack[depth, 1],
            stack[depth, 2],
            stack[depth, 3],
            stack[depth, 4],
            stack[depth, 5],
            p,
        ):
            return True
    return False


# --- table talk ----------------------------------------------------------------------------------


@inlined
def pile_level(lo, hi, pile, top, p):
    """What a hand says of a pile: 2 it holds the trick, 1 a step of at most 4, 0 neither."""
    if holds(lo, hi, trick_index(pile, top, p[P_CARDS], p[P_TRICK])):
        return 2
    start = top - 1 if pile < 2 else top - 2 - TALK_STEP
    steps = shifted(lo, hi, start) & ((1 << TALK_STEP) - 1)
    return 1 if steps else 0


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
