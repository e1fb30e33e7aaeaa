"""`greedy`: the trick first, else the smallest gap; on past the minimum while gaps are small.

The oldest rule of thumb of the game's players. It knows its own hand, the tops and what it owes.
Ties go to the first pile in codec order.
"""

from __future__ import annotations

from agents.base import Agent, KernelAgent
from thegame_env.cards import beyond, first, holds, last, trick_index
from thegame_env.compiled import inlined, kernel
from thegame_env.layout import P_CARDS, P_TRICK, V_HAND, V_MAY_END, V_OWED, V_TOPS
from thegame_env.rules import N_PILES, Table

NO_GAP = 1_000


@inlined
def smallest_gap(lo, hi, pile, top, p):
    """The best play of a hand on one pile: `(gap, card index)`, NO_GAP where there is none.

    The trick counts as gap minus the trick distance, so it is always the smallest.
    """
    cards = p[P_CARDS]
    index = trick_index(pile, top, cards, p[P_TRICK])
    if index >= 0 and holds(lo, hi, index):
        return -p[P_TRICK], index
    mask_lo, mask_hi = beyond(pile, top, cards)
    lo, hi = lo & mask_lo, hi & mask_hi
    if not lo | hi:
        return NO_GAP, -1
    index = first(lo, hi) if pile < 2 else last(lo, hi)
    return (index + 2 - top if pile < 2 else top - index - 2), index


@kernel
def greedy_action(lo, hi, up1, up2, down1, down2, owed, may_end, extra, p):
    """The greedy action of a hand at the given tops; -1 where no action is legal."""
    best, choice = NO_GAP, -1
    tops = (up1, up2, down1, down2)
    for pile in range(N_PILES):
        gap, index = smallest_gap(lo, hi, pile, tops[pile], p)
        if gap < best:
            best, choice = gap, pile * p[P_CARDS] + index
    if may_end and (choice < 0 or (owed <= 0 and best > extra)):
        return N_PILES * p[P_CARDS]
    return choice


@kernel
def act_greedy(rows, p, streams, actions, extra):
    """Fill `actions` (int64[n]) for the view rows `rows` (int64[n, VIEW_ROW])."""
    for i in range(rows.shape[0]):
        row = rows[i]
        actions[i] = greedy_action(
            row[V_HAND],
            row[V_HAND + 1],
            row[V_TOPS],
            row[V_TOPS + 1],
            row[V_TOPS + 2],
            row[V_TOPS + 3],
            row[V_OWED],
            row[V_MAY_END],
            extra,
            p,
        )


def make(table: Table, extra: int = -10) -> Agent:
    """The agent `greedy`: `extra` is the largest gap that it plays beyond the minimum."""
    if not isinstance(extra, int):
        raise ValueError(f"greedy: extra must be a whole number, not {extra!r}")
    name = "greedy" if extra == -10 else f"greedy:extra={extra}"
    return KernelAgent(name, act_greedy, extra)
