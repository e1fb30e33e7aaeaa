"""`rollout`: flat Monte Carlo over the plans of a turn.

The plans that `sequence` scores best are each played to the end by `greedy` over many deals of what
the seat cannot see, the same deals for every plan (common random numbers); after each quarter of
the deals the worse half of the plans is dropped. The best mean wins. It knows its own hand, the
tops, the sizes, its own memory and, if the table talks, what is said.

At a silent table the whole turn follows one search; where the table talks, every card is a new one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.base import Actions, Agent, Rows, Streams
from agents.card_sets import count_below
from agents.greedy import finish_greedy
from agents.plans import (
    N_CHILDREN,
    N_DEPTH,
    N_HI,
    N_LO,
    Workspace,
    longest_plan,
    plan_actions,
    search_plans,
)
from agents.sequence import weights_for
from agents.turn_score import FLOATS, INTS, SLOTS, W_CARD, WEIGHTS, describe, score, weigh
from agents.unseen_deals import deal_unseen, new_pool, unseen_into
from thegame_env.cards import count
from thegame_env.compiled import inlined, kernel
from thegame_env.engine import parameters
from thegame_env.layout import (
    GAME_ROW,
    HANDS,
    LEFT,
    P_CARDS,
    P_NOBODY,
    P_TALK,
    PLAYING,
    PLAYS,
    STATUS,
    TALK_NONE,
    TOPS,
    V_HAND,
    V_MAY_END,
    V_OWED,
    V_PLAYS,
    V_TOPS,
)
from thegame_env.moves import end_turn, settle
from thegame_env.rules import N_PILES, Table

BRANCH, REACH = 8, 15
"""Plays tried at each afterstate of the plan search, and the largest gap beyond the minimum."""
ROUNDS = 4
WIN_WORTH = 6.0
"""What a won playout counts beside its cards: as if it had left so many fewer."""
SOLO_EXTRA, TEAM_EXTRA = 0, 6
"""`extra` of the greedy players in the playouts (4, 6 and 8 were tried on development deals)."""


@inlined
def _slots_held(row, node):
    """The slots that are still held in an afterstate (see turn_score)."""
    left_lo, left_hi = row[V_HAND], row[V_HAND + 1]
    held, slot = 0, 0
    while left_lo | left_hi:
        in_lo = left_lo != 0
        bit = (left_lo & -left_lo) if in_lo else (left_hi & -left_hi)
        left_lo, left_hi = (left_lo ^ bit, left_hi) if in_lo else (left_lo, left_hi ^ bit)
        kept = (node[N_LO] if in_lo else node[N_HI]) & bit
        held |= (1 if kept else 0) << slot
        slot += 1
    return held


@inlined
def _mark(row, node, pile):
    """The mark on a pile of an afterstate."""
    top = node[pile]
    if top == row[V_TOPS + pile]:
        return SLOTS + pile
    return count_below(row[V_HAND], row[V_HAND + 1], top)


@kernel
def best_plans(row, p, most, weights, nodes, slots, stamp, kept, keys, ints, floats):
    """The plans of a turn that `sequence` scores best, best first, as nodes in `kept`.

    Returns `(plans, complete)` as `plans.select_plans` does.
    """
    n = search_plans(row, p, BRANCH, REACH, nodes, slots, stamp)
    ranked = count(row[V_HAND], row[V_HAND + 1]) <= SLOTS
    if ranked:
        weigh(row, p, weights, floats)
        describe(row, p, np.zeros(N_PILES), ints, floats)
    owed, found, deepest = row[V_OWED], 0, 0
    for at in range(n):
        node = nodes[at]
        depth = node[N_DEPTH]
        deepest = at if depth > nodes[deepest, N_DEPTH] else deepest
        if depth == 0 and not row[V_MAY_END]:
            continue
        if depth < owed and not (p[P_NOBODY] == 1 and node[N_CHILDREN] == 0):
            continue
        key = -4.0 * depth
        if ranked:
            key = -floats[WEIGHTS + W_CARD] * depth - score(
                _slots_held(row, node), _mark(row, node, 0), _mark(row, node, 1),
                _mark(row, node, 2), _mark(row, node, 3), ints, floats,
            )  # fmt: skip
        if found == most and key >= keys[found - 1]:
            continue
        found = min(found + 1, most)
        i = found - 1
        while i > 0 and keys[i - 1] > key:
            keys[i], kept[i] = keys[i - 1], kept[i - 1]
            i -= 1
        keys[i], kept[i] = key, at
    if found == 0:
        kept[0] = deepest
        return 1, False
    return found, True


@kernel
def play_plan(game, node, deck, p, extra):
    """Cards left when the acting seat leaves the afterstate `node` and all play on greedily."""
    game[LEFT] -= node[N_DEPTH]
    if game[LEFT] == 0:
        return 0
    game[HANDS], game[HANDS + 1] = node[N_LO], node[N_HI]
    for pile in range(N_PILES):
        game[TOPS + pile] = node[pile]
    game[PLAYS] += node[N_DEPTH]
    end_turn(game, deck, p)
    settle(game, p)
    return finish_greedy(game, deck, p, extra) if game[STATUS] == PLAYING else game[LEFT]


@kernel
def judge(row, p, deals, extra, plans, nodes, kept, sums, pool, state):
    """Order the first `plans` nodes of `kept` by their playouts, best first; the next stream state.

    Args:
        row: View row.
        p: Parameter row.
        deals: Deals for the plans that last to the end.
        extra: Of the greedy players.
        plans: How many plans stand in `kept`.
        nodes: The afterstates.
        kept: In and out, int64.
        sums: Workspace float64, as long as `kept`.
        pool: Workspace of `deal_unseen`.
        state: Random stream.
    """
    game, scratch = np.zeros(GAME_ROW, np.int64), np.zeros(GAME_ROW, np.int64)
    deck = np.zeros(p[P_CARDS], np.int8)
    hidden = unseen_into(row, pool)
    sums[:plans] = 0.0
    for round_ in range(ROUNDS):
        for _ in range(deals * round_ // ROUNDS, deals * (round_ + 1) // ROUNDS):
            state = deal_unseen(row, p, pool, hidden, state, game, deck)
            for k in range(plans):
                scratch[:] = game
                left = play_plan(scratch, nodes[kept[k]], deck, p, extra)
                sums[k] += left if left else -WIN_WORTH
        for k in range(1, plans):
            total, node, i = sums[k], kept[k], k
            while i > 0 and sums[i - 1] > total:
                sums[i], kept[i] = sums[i - 1], kept[i - 1]
                i -= 1
            sums[i], kept[i] = total, node
        plans = max(plans // 2, min(plans, 2))
    return state


class RolloutAgent(Agent):
    """See the module; keeps the plan of a turn under way, by the game's stream and position."""

    def __init__(self, name: str, table: Table, deals: int, plans: int) -> None:
        self.name, self.deals, self.plans = name, deals, plans
        self.extra = SOLO_EXTRA if table.players == 1 else TEAM_EXTRA
        self.weights = weights_for(table)
        self._work, self._pool = Workspace(), new_pool()
        self._tables = (np.zeros(INTS, np.int64), np.zeros(FLOATS))
        self._actions = np.zeros(longest_plan(parameters(table)), np.int64)
        self._planned: dict[bytes, list[int]] = {}

    def act_rows(self, rows: Rows, p: Rows, streams: Streams) -> Actions:
        """See Agent.act_rows."""
        actions = np.empty(len(rows), np.int64)
        for i, row in enumerate(rows):
            rest = self._planned.pop(place(row, streams[i]), None)
            if rest is None:
                rest, streams[i] = self._search(row, p, streams[i])
            actions[i] = rest[0]
            if len(rest) > 1 and p[P_TALK] == TALK_NONE:
                self._planned[place(row, streams[i], rest[0], int(p[P_CARDS]))] = rest[1:]
        return actions

    def _search(
        self, row: npt.NDArray[np.int64], p: Rows, state: np.uint64
    ) -> tuple[list[int], np.uint64]:
        nodes, _, _, kept, keys = self._work.arrays
        found, complete = best_plans(
            row, p, self.plans, self.weights, *self._work.arrays, *self._tables
        )
        if found > 1:
            state = np.uint64(
                judge(row, p, self.deals, self.extra, found, nodes, kept, keys, self._pool, state)
            )
        length = plan_actions(p, nodes, kept[0], self._actions)
        if not complete:
            length -= 1  # it lays what it can; END_TURN is not legal behind it
        return [int(action) for action in self._actions[: max(length, 1)]], state


def place(
    row: npt.NDArray[np.int64], state: np.uint64, action: int | None = None, cards: int = 0
) -> bytes:
    """A key for a seat's position in one game, or for the one after its play `action`."""
    key = np.array([*row[V_HAND : V_HAND + 2], *row[V_TOPS : V_TOPS + 4], row[V_PLAYS]], np.int64)
    if action is not None:
        pile, index = divmod(action, cards)
        key[0 if index < 49 else 1] &= ~(1 << (index if index < 49 else index - 49))
        key[2 + pile], key[6] = index + 2, key[6] + 1
    return key.tobytes() + np.uint64(state).tobytes()


def make(table: Table, *, deals: int = 100, plans: int = 40) -> Agent:
    """The agent `rollout`.

    Args:
        table: What is played.
        deals: Deals that the plans which last are played out on.
        plans: Plans judged.
    """
    for name, value in (("deals", deals), ("plans", plans)):
        if not isinstance(value, int) or value < 1:
            raise ValueError(f"rollout: {name} must be a whole number from 1 up, not {value!r}")
    given = [f"deals={deals}"] * (deals != 100) + [f"plans={plans}"] * (plans != 40)
    name = "rollout" + (":" + ",".join(given) if given else "")
    return RolloutAgent(name, table, deals, plans)
