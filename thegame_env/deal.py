"""Deals: the deck order as a function of (seed, game index), and the agreed starter.

Both engines use these functions. The stream is SplitMix64 (Steele, Lea, Flood 2014), keyed by seed
and game index, and the shuffle is Fisher-Yates with an unbiased bounded draw (Lemire 2019), so a
deal depends on nothing else: not on the batch size, not on the thread count.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from thegame_env.compiled import inlined, kernel
from thegame_env.rules import N_PILES, Rules

Tops = tuple[int, ...]
MAX_MOVEMENT = 1_000_000
"""Stands for "no such turn"."""

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)

OPENING_LEVELS = (4, 7, 10)
"""Movement a play of the best opening turn up to which a seat announces level 3, 2, 1 (else 0).

The three limits cut the openings of the official game into four groups of similar size: of 20,000
random hands of six, 28, 23, 27 and 22 % have the levels 0 to 3 (hands of seven: 20, 22, 29, 29 %).
Where three plays are owed, good openings are rarer (hands of six at profi: 31, 32, 25, 12 %).
"""


@inlined
def mix(value):
    """SplitMix64's finaliser: uint64 -> uint64."""
    value = (value ^ (value >> _S30)) * _MIX1
    value = (value ^ (value >> _S27)) * _MIX2
    return value ^ (value >> _S31)


@inlined
def stream(seed, game):
    """State of the random stream of game `game` under `seed` (uint64)."""
    return mix(mix(np.uint64(seed) + _GAMMA) + np.uint64(game) * _GAMMA)


@inlined
def bounded(state, bound):
    """An unbiased draw from 0..bound-1 and the stream's next state: `(draw, state)`."""
    limit = np.uint64(bound)
    while True:
        state = state + _GAMMA
        product = (mix(state) >> _S32) * limit
        low = product & _LOW32
        if low >= limit or low >= (_LOW32 - limit + np.uint64(1)) % limit:
            return np.int64(product >> _S32), state


@kernel
def shuffle_into(deck, cards, seed, game):
    """Write the deck order of (seed, game) into `deck` (int8[N]); deck[0] is dealt first."""
    state = stream(seed, game)
    for i in range(cards):
        deck[i] = np.int8(i + 2)
    for i in range(cards - 1, 0, -1):
        j, state = bounded(state, i + 1)
        deck[i], deck[j] = deck[j], deck[i]


def deal(rules: Rules, seed: int, game: int = 0) -> tuple[int, ...]:
    """The deck order of game `game` under `seed`; seat 0's hand comes first, then seat 1's, ..."""
    deck = np.empty(rules.cards, np.int8)
    shuffle_into(deck, rules.cards, as_seed(seed), as_seed(game))
    return tuple(int(card) for card in deck)


def as_seed(seed: int) -> np.uint64:
    """A whole number >= 0 as the uint64 that keys a deal (modulo 2**64); ValueError otherwise."""
    try:
        value = operator.index(seed)
    except TypeError:
        raise ValueError(f"a seed must be a whole number, not {seed!r}") from None
    if isinstance(seed, bool) or value < 0:
        raise ValueError(f"a seed must be a whole number from 0 up, not {seed!r}")
    return np.uint64(value & 0xFFFFFFFFFFFFFFFF)


def check_deck(rules: Rules, deck: Sequence[int] | npt.NDArray[np.integer]) -> tuple[int, ...]:
    """The deck as a tuple of ints; ValueError names a missing, double or unknown card."""
    try:
        cards = tuple(operator.index(card) for card in deck)
    except TypeError:
        raise ValueError("a deck must be a sequence of whole numbers") from None
    for card in cards:
        if not rules.low < card < rules.high:
            raise ValueError(f"the deck holds {card}, cards are {rules.low + 1}-{rules.high - 1}")
    seen = set(cards)
    if len(seen) < len(cards):
        double = next(card for i, card in enumerate(cards) if card in cards[:i])
        raise ValueError(f"the deck holds card {double} twice")
    missing = [card for card in rules.deck if card not in seen]
    if missing:
        raise ValueError(f"the deck lacks card {missing[0]} ({len(missing)} missing in all)")
    return cards


def opening_level(rules: Rules, hand: Sequence[int]) -> int:
    """How good a seat calls its best opening turn: 0 (poor) to 3, from its own hand alone.

    The movement of a turn is the sum of its gaps, a trick counting minus the trick distance; the
    best opening is the turn of exactly the plays owed that moves the untouched piles least.
    """
    owed = rules.owed(1, len(hand))
    movement = _least_movement(rules, frozenset(hand), rules.starts, owed)
    return sum(movement <= limit * owed for limit in OPENING_LEVELS)


def _least_movement(rules: Rules, hand: frozenset[int], tops: Tops, owed: int) -> int:
    if not owed:
        return 0
    best = MAX_MOVEMENT
    for pile in range(N_PILES):
        if tops[pile] in tops[:pile]:  # two untouched piles of a kind are alike
            continue
        sign = 1 if pile < 2 else -1
        for card in hand:
            gap = (card - tops[pile]) * sign
            if gap > 0 or gap == -rules.trick:
                after = (*tops[:pile], card, *tops[pile + 1 :])
                best = min(best, gap + _least_movement(rules, hand - {card}, after, owed - 1))
    return best


def agreed_starter(rules: Rules, hands: Sequence[Sequence[int]]) -> int:
    """The seat that announces the best opening level; ties go to the lowest seat."""
    levels = [opening_level(rules, hand) for hand in hands]
    return levels.index(max(levels))
