"""The distinct plans of a turn: which cards a seat may lay, in which order, and when it stops.

Within a turn nothing is random, so a plan is judged by its *afterstate* (hand and tops before the
refill). Orders that lead to the same afterstate are one plan. The search is breadth-first over
afterstates with a hash set; it lays at each one only the plays of smallest gap, and beyond the
minimum only gaps within reach, which loses little and keeps a turn to some dozens of plans.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from thegame_env.cards import bit_hi, bit_lo, count, first, legal_set
from thegame_env.compiled import inlined, kernel
from thegame_env.layout import (
    P_CARDS,
    P_HAND,
    P_NOBODY,
    V_HAND,
    V_MAY_END,
    V_OWED,
    V_TOPS,
)
from thegame_env.rules import N_PILES

Int64 = npt.NDArray[np.int64]

N_TOPS, N_LO, N_HI, N_MOVED, N_DEPTH, N_PARENT, N_ACTION, N_CHILDREN = 0, 4, 5, 6, 7, 8, 9, 10
"""Columns of a node: the afterstate, its net movement and cards laid, and how it was reached."""
NODE = 11
STATE = N_DEPTH + 1
"""Leading columns of a node that tell the afterstate itself."""
MAX_NODES = 4096
MAX_BRANCH = 16
_SLOTS = 4 * MAX_NODES
_STAMP, _NODE = 0, 1


class Workspace:
    """The arrays that the search works in; one a thread, reused by every call.

    Attributes:
        nodes: int64[MAX_NODES, NODE].
        slots: The hash set: int64[slots, 2] of (stamp, node).
        stamp: int64[1], the running number of the search.
        kept: int64[MAX_NODES], nodes selected as plans.
        keys: float64[MAX_NODES], their order.
    """

    def __init__(self) -> None:
        self.nodes: Int64 = np.zeros((MAX_NODES, NODE), np.int64)
        self.slots: Int64 = np.zeros((_SLOTS, 2), np.int64)
        self.stamp: Int64 = np.zeros(1, np.int64)
        self.kept: Int64 = np.zeros(MAX_NODES, np.int64)
        self.keys = np.zeros(MAX_NODES)

    @property
    def arrays(self) -> tuple[Int64, Int64, Int64, Int64, npt.NDArray[np.float64]]:
        """The arguments `nodes, slots, stamp, kept, keys` of the kernels."""
        return self.nodes, self.slots, self.stamp, self.kept, self.keys


@inlined
def _slot_of(nodes, slots, stamp, lo, hi, up1, up2, down1, down2):
    """The hash slot that holds this afterstate, or the free one where it belongs."""
    tops = up1 | (up2 << 8) | (down1 << 16) | (down2 << 24)
    key = (lo * 0x9E3779B1) ^ (hi * 0x85EBCA77) ^ (tops * 0xC2B2AE3D)
    at = (key ^ (key >> 29)) & (_SLOTS - 1)
    while slots[at, _STAMP] == stamp:
        node = slots[at, _NODE]
        if (
            nodes[node, N_LO] == lo
            and nodes[node, N_HI] == hi
            and nodes[node, 0] == up1
            and nodes[node, 1] == up2
            and nodes[node, 2] == down1
            and nodes[node, 3] == down2
        ):
            return at
        at = (at + 1) & (_SLOTS - 1)
    return at


@inlined
def _root(nodes, row):
    for pile in range(N_PILES):
        nodes[0, pile] = row[V_TOPS + pile]
    nodes[0, N_LO], nodes[0, N_HI] = row[V_HAND], row[V_HAND + 1]
    for column in range(N_MOVED, NODE):
        nodes[0, column] = 0
    nodes[0, N_PARENT] = -1


@kernel
def search_plans(row, p, branch, reach, nodes, slots, stamp):
    """Fill `nodes` with the afterstates that the turn can reach; returns how many.

    Args:
        row: View row of the acting seat.
        p: Parameter row.
        branch: Plays of smallest gap tried at each afterstate (at most MAX_BRANCH).
        reach: Largest gap laid once the minimum is met.
        nodes: See Workspace, as the following two.
        slots: See there.
        stamp: See there.
    """
    cards, owed = p[P_CARDS], row[V_OWED]
    gaps, plays = np.empty(MAX_BRANCH, np.int64), np.empty(MAX_BRANCH, np.int64)
    stamp[0] += 1
    _root(nodes, row)
    n, at = 1, 0
    while at < n:
        depth, lo, hi = nodes[at, N_DEPTH], nodes[at, N_LO], nodes[at, N_HI]
        limit = reach if depth >= owed else cards
        found = 0
        for pile in range(N_PILES):
            top = nodes[at, pile]
            if pile & 1 and top == nodes[at, pile - 1]:
                continue
            left_lo, left_hi = legal_set(lo, hi, pile, top, p)
            while left_lo | left_hi:
                index = first(left_lo, left_hi)
                left_lo &= ~bit_lo(index)
                left_hi &= ~bit_hi(index)
                gap = index + 2 - top if pile < 2 else top - index - 2
                if gap > limit or (found == branch and gap >= gaps[found - 1]):
                    continue
                found = min(found + 1, branch)
                i = found - 1
                while i > 0 and gaps[i - 1] > gap:
                    gaps[i], plays[i] = gaps[i - 1], plays[i - 1]
                    i -= 1
                gaps[i], plays[i] = gap, pile * cards + index
        for i in range(found):
            pile = plays[i] // cards
            index = plays[i] - pile * cards
            new_lo, new_hi = lo & ~bit_lo(index), hi & ~bit_hi(index)
            up1 = index + 2 if pile == 0 else nodes[at, 0]
            up2 = index + 2 if pile == 1 else nodes[at, 1]
            down1 = index + 2 if pile == 2 else nodes[at, 2]
            down2 = index + 2 if pile == 3 else nodes[at, 3]
            nodes[at, N_CHILDREN] += 1
            slot = _slot_of(nodes, slots, stamp[0], new_lo, new_hi, up1, up2, down1, down2)
            if slots[slot, _STAMP] == stamp[0] or n == MAX_NODES:
                continue
            slots[slot, _STAMP], slots[slot, _NODE] = stamp[0], n
            nodes[n, 0], nodes[n, 1], nodes[n, 2], nodes[n, 3] = up1, up2, down1, down2
            nodes[n, N_LO], nodes[n, N_HI] = new_lo, new_hi
            nodes[n, N_MOVED], nodes[n, N_DEPTH] = nodes[at, N_MOVED] + gaps[i], depth + 1
            nodes[n, N_PARENT], nodes[n, N_ACTION], nodes[n, N_CHILDREN] = at, plays[i], 0
            n += 1
        at += 1
    return n


CARD_WORTH = 4.0
"""Movement that one more card laid is worth when plans are ordered before they are valued."""


@kernel
def select_plans(row, p, n, most, nodes, kept, keys):
    """Select the plans among `n` nodes: the `most` of least movement, best first.

    Returns `(plans, complete)`: how many stand in `kept`, and whether they meet the minimum. Where
    no plan can, the game is lost; then only the node that lays the most cards is kept.
    """
    owed, passes = row[V_OWED], p[P_NOBODY] == 1
    found, deepest = 0, 0
    for node in range(n):
        depth = nodes[node, N_DEPTH]
        deepest = node if depth > nodes[deepest, N_DEPTH] else deepest
        if depth == 0 and not row[V_MAY_END]:
            continue
        if depth < owed and not (passes and nodes[node, N_CHILDREN] == 0):
            continue
        key = nodes[node, N_MOVED] - CARD_WORTH * depth
        if found == most and key >= keys[found - 1]:
            continue
        found = min(found + 1, most)
        i = found - 1
        while i > 0 and keys[i - 1] > key:
            keys[i], kept[i] = keys[i - 1], kept[i - 1]
            i -= 1
        keys[i], kept[i] = key, node
    if found == 0:
        kept[0] = deepest
        return 1, False
    return found, True


@kernel
def plan_actions(p, nodes, node, out):
    """Write the actions of a plan into `out` (int64[hand + 1]), END_TURN last; returns how many.

    A plan that empties the hand ends the turn (or the game) by itself.
    """
    depth = nodes[node, N_DEPTH]
    at = node
    for i in range(depth - 1, -1, -1):
        out[i] = nodes[at, N_ACTION]
        at = nodes[at, N_PARENT]
    if count(nodes[node, N_LO], nodes[node, N_HI]) == 0:
        return depth
    out[depth] = N_PILES * p[P_CARDS]
    return depth + 1


@kernel
def first_action(p, nodes, node):
    """The first action of a plan: its first play, or END_TURN for the plan that stops now."""
    at, action = node, N_PILES * p[P_CARDS]
    while nodes[at, N_PARENT] >= 0:
        action = nodes[at, N_ACTION]
        at = nodes[at, N_PARENT]
    return action


def longest_plan(p: Int64) -> int:
    """Actions that a plan can have: a full hand and END_TURN."""
    return int(p[P_HAND]) + 1
