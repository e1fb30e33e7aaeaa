"""Branch-free questions about sets of cards (two words of 49 bits), for the agents' inner loops.

A mispredicted branch costs more than all the arithmetic here, and a hand gives no pattern to learn.
"""

from __future__ import annotations

from thegame_env.compiled import highest_bit, inlined, lowest_bit, popcount
from thegame_env.layout import FULL, WORD

NONE_ABOVE = 2 * WORD
"""`nearest_above` answers with this or more where there is no such card."""


@inlined
def nearest_above(lo, hi, top):
    """Index of the lowest card above `top`, NONE_ABOVE or more where there is none."""
    low, high = min(top - 1, WORD), max(top - 1 - WORD, 0)
    lo = (lo >> low) << low
    hi = (hi >> high) << high
    return lowest_bit(lo) if lo else WORD + lowest_bit(hi)


@inlined
def nearest_below(lo, hi, top):
    """Index of the highest card below `top`, -1 where there is none."""
    lo &= (1 << min(max(top - 2, 0), WORD)) - 1
    hi &= (1 << max(top - 2 - WORD, 0)) - 1
    return WORD + highest_bit(hi) if hi else highest_bit(lo)


@inlined
def count_above(lo, hi, top):
    """Number of cards above `top`."""
    return popcount(lo >> min(top - 1, WORD)) + popcount(hi >> max(top - 1 - WORD, 0))


@inlined
def count_below(lo, hi, top):
    """Number of cards below `top`."""
    lo &= (1 << min(max(top - 2, 0), WORD)) - 1
    hi &= (1 << max(top - 2 - WORD, 0)) - 1
    return popcount(lo) + popcount(hi)


@inlined
def has(lo, hi, index):
    """1 if the card of this index is in the set, else 0; any index from -100 to 112 may be asked.

    Indices beyond the cards are answered with 0.
    """
    low = lo >> min(max(index, 0), 63)
    high = hi >> min(max(index - WORD, 0), 63)
    return (low if index < WORD else high) & 1 & (index >= 0)


@inlined
def pairs_above(lo, hi, trick):
    """The cards whose trick partner, `trick` lower, is in the set too: `(lo, hi)`."""
    up_lo, up_hi = (lo << trick) & FULL, ((hi << trick) | (lo >> (WORD - trick))) & FULL
    return lo & up_lo, hi & up_hi


@inlined
def pairs_below(lo, hi, trick):
    """The cards whose trick partner, `trick` higher, is in the set too: `(lo, hi)`."""
    down_lo, down_hi = ((lo >> trick) | (hi << (WORD - trick))) & FULL, hi >> trick
    return lo & down_lo, hi & down_hi
